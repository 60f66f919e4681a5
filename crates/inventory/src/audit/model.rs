//! The types of the audit log.

use db::{Row, Timestamp};
use resource::{
    FieldType, Named, Record, Value, choice, chosen, differences, id, integer, reference, resource,
    time, token,
};
use serde::{Deserialize, Serialize};

use crate::access::Model;

/// The most characters of a value that are stored.
const VALUE_LENGTH: usize = 200;

choice! {
    /// An action on a record.
    pub enum Action {
        /// The record was created.
        Added = "added", ("Adicionado", "Added");
        /// Fields were changed.
        Changed = "changed", ("Alterado", "Changed");
        /// The record was deleted.
        Deleted = "deleted", ("Excluído", "Deleted");
        /// An import created many records.
        Imported = "imported", ("Importado", "Imported");
        /// A change was requested from checkout. The result is another entry.
        Asked = "asked", ("Solicitado", "Requested");
        /// Checkout refused the requested change.
        Refused = "refused", ("Recusado", "Refused");
        /// The order was canceled.
        Canceled = "canceled", ("Cancelado", "Cancelled");
        /// The payment was refunded.
        Refunded = "refunded", ("Devolvido", "Refunded");
    }
}

/// A changed field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldChange {
    /// The name of the field.
    pub field: String,
    /// The values before and after, empty for NULL. `None` for secrets and personal data, whose
    /// values are not stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<(String, String)>,
}

/// The changed fields of an entry, stored as JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldChanges(pub Vec<FieldChange>);

resource! {
    /// An entry of the audit log. The alias of its table is `e`.
    pub struct Entry, EntryInput {
        // Ascends with time.
        id: i64 = id(),
        created_at: Timestamp = time("Criado em", "Created at").listed_for_staff(),
        // `None` for actions of the program itself.
        user: Option<Named> = reference("Usuário", "User", "users").listed_for_staff().read_from("e.user_id, e.user_name"),
        action: Action = chosen("Ação", "Action").filtered().listed_for_staff(),
        // The code name. A later version of the program may not have the model any more.
        model: String = token("Registro de", "Model").listed_for_staff(),
        // `None` for imports, and for records of checkout, whose ids are not numbers.
        object_id: Option<i64> = integer("Número do objeto", "Object id", 1, i64::MAX).hidden(),
        // The display name of the record at that time.
        object: String = token("Objeto", "Object").listed_for_staff().read_from("e.object_text"),
        fields: FieldChanges = token("Campos", "Fields").listed_for_staff().read_from("e.changes"),
    }
}

/// The filters and the order of a list of entries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogSelection {
    /// Only actions of this user.
    pub user: Option<i64>,
    /// Only actions of this kind.
    pub action: Option<Action>,
    /// Only records of the model with this code name.
    pub model: Option<String>,
    /// Start, inclusive, and end, exclusive.
    pub between: Option<(Timestamp, Timestamp)>,
    /// Folded words. Each must occur in the record's display name or in the user's name.
    pub words: Vec<String>,
    /// Whether to sort ascending by time.
    pub is_oldest_first: bool,
}

impl FieldChange {
    /// A field whose values are not stored.
    pub(crate) fn named(field: &str) -> Self {
        Self {
            field: field.to_owned(),
            values: None,
        }
    }

    /// Fields whose values are not stored.
    pub(crate) fn all_named(fields: &[&str]) -> Vec<Self> {
        fields.iter().map(|field| Self::named(field)).collect()
    }

    /// A field with the values before and after, cut to [`VALUE_LENGTH`].
    pub(crate) fn of(field: &str, before: Value<'_>, after: Value<'_>) -> Self {
        let cut = |value: Value<'_>| value.named().chars().take(VALUE_LENGTH).collect();
        Self {
            field: field.to_owned(),
            values: Some((cut(before), cut(after))),
        }
    }
}

impl FieldType for FieldChanges {
    type Submitted = String;

    /// `None`, because pages format changes themselves.
    fn value(&self) -> Option<Value<'_>> {
        None
    }

    fn from_row(row: &Row<'_>, at: &mut usize) -> Result<Self, db::Error> {
        let stored = String::from_row(row, at)?;
        Ok(Self(serde_json::from_str(&stored).unwrap_or_default()))
    }
}

impl FieldChanges {
    /// The names of the fields.
    pub fn names(&self) -> Vec<&str> {
        let changes = self.0.iter();
        changes.map(|change| change.field.as_str()).collect()
    }
}

impl Entry {
    /// The model, if this version of the program has it.
    pub fn known_model(&self) -> Option<Model> {
        Model::parse(&self.model)
    }
}

/// The fields in which two versions of a record differ.
pub(crate) fn changes<R: Record>(before: &R, after: &R) -> Vec<FieldChange> {
    let differences = differences(before, after).into_iter();
    differences
        .map(|(field, before, after)| {
            if field.is_personal {
                FieldChange::named(field.name)
            } else {
                FieldChange::of(field.name, before, after)
            }
        })
        .collect()
}
