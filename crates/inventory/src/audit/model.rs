//! A row of the audit log.

use db::{Row, Timestamp};
use resource::{
    FieldType, Named, Record, Text, Value, choice, chosen, differences, id, integer, reference,
    resource, time, token,
};
use serde::{Deserialize, Serialize};

use crate::access::Model;

/// Characters of a value that are kept.
const VALUE_LENGTH: usize = 200;

/// What is done to a record, with the fields that it changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action<'a> {
    /// It was made.
    Added,
    /// These of its fields were changed, whose values are not kept.
    Changed(&'a [&'a str]),
    /// Its fields were changed like this.
    Edited(&'a [FieldChange]),
    /// It is gone.
    Deleted,
    /// Many came at once.
    Imported,
    /// Checkout is asked for a change of its record. What came of it is a row of its own.
    Asked,
    /// Checkout did not do what it was asked for.
    Refused,
    /// An order can no longer be paid.
    Canceled,
    /// Money was given back.
    Refunded,
}

choice! {
    /// What was done to a record.
    pub enum ActionKind {
        /// It was made.
        Added = "added", ("Adicionado", "Added");
        /// Fields of it were changed.
        Changed = "changed", ("Alterado", "Changed");
        /// It is gone.
        Deleted = "deleted", ("Excluído", "Deleted");
        /// Many came at once.
        Imported = "imported", ("Importado", "Imported");
        /// Checkout was asked for a change of its record.
        Asked = "asked", ("Solicitado", "Requested");
        /// Checkout did not do it.
        Refused = "refused", ("Recusado", "Refused");
        /// An order can no longer be paid.
        Canceled = "canceled", ("Cancelado", "Cancelled");
        /// Money was given back.
        Refunded = "refunded", ("Devolvido", "Refunded");
    }
}

/// A field that was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldChange {
    /// Its name.
    pub field: String,
    /// What it was and what it became, as the program writes them; blank for nothing. None where values are not kept: of secrets, and
    /// personal data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<(String, String)>,
}

/// The changed fields of a row, which the store has as JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldChanges(pub Vec<FieldChange>);

resource! {
    /// One row of the log. Its table is called `e` in statements.
    pub struct Entry, EntryInput {
        // Later rows have larger ones.
        id: i64 = id(),
        created_at: Timestamp = time("Criado em", "Created at").listed_for_staff(),
        // None is the program itself.
        user: Option<Named> = reference("Usuário", "User", "users").listed_for_staff().read_from("e.user_id, e.user_name"),
        action: ActionKind = chosen("Ação", "Action").filtered().listed_for_staff(),
        // By its code name: the model may be gone from the program.
        model: String = token("Registro de", "Model").listed_for_staff(),
        // None when there were many, or when another service keeps it under an id that is no number.
        object_id: Option<i64> = integer("Número do objeto", "Object id", 1, i64::MAX).hidden(),
        // What people call it, as it was then.
        object: String = token("Objeto", "Object").listed_for_staff().read_from("e.object_text"),
        fields: FieldChanges = token("Campos", "Fields").listed_for_staff().read_from("e.changes"),
    }
}

/// Which rows of the log are asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogSelection {
    /// What one user did.
    pub user: Option<i64>,
    /// What was done in one way.
    pub done: Option<ActionKind>,
    /// What was done to records of one kind, by its code name.
    pub model: Option<String>,
    /// From this moment on, and before this one.
    pub between: Option<(Timestamp, Timestamp)>,
    /// What was done to records whose text has each of these folded words, or by somebody whose name has.
    pub words: Vec<String>,
    /// The oldest first.
    pub is_oldest_first: bool,
}

impl Action<'_> {
    /// What was done, without the fields.
    pub const fn done(self) -> ActionKind {
        match self {
            Self::Added => ActionKind::Added,
            Self::Changed(_) | Self::Edited(_) => ActionKind::Changed,
            Self::Deleted => ActionKind::Deleted,
            Self::Imported => ActionKind::Imported,
            Self::Asked => ActionKind::Asked,
            Self::Refused => ActionKind::Refused,
            Self::Canceled => ActionKind::Canceled,
            Self::Refunded => ActionKind::Refunded,
        }
    }

    /// The changed fields, as they are stored: JSON, or nothing.
    pub(super) fn stored(self) -> String {
        let changes: Vec<FieldChange> = match self {
            Self::Changed(fields) => fields
                .iter()
                .map(|field| FieldChange::named(field))
                .collect(),
            Self::Edited(changes) => changes.to_vec(),
            _ => return String::new(),
        };
        // Texts are always JSON.
        serde_json::to_string(&changes).unwrap_or_default()
    }
}

impl FieldChange {
    /// A field whose values are not kept.
    pub(crate) fn named(field: &str) -> Self {
        Self {
            field: field.to_owned(),
            values: None,
        }
    }

    /// A field that had a value, and has another.
    pub(crate) fn of(field: &str, before: Value<'_>, after: Value<'_>) -> Self {
        let kept = |value: Value<'_>| value.named().chars().take(VALUE_LENGTH).collect();
        Self {
            field: field.to_owned(),
            values: Some((kept(before), kept(after))),
        }
    }
}

impl FieldType for FieldChanges {
    type Submitted = String;

    /// None: pages show changes in words of their own.
    fn value(&self) -> Option<Value<'_>> {
        None
    }

    fn from_row(row: &Row<'_>, at: &mut usize) -> Result<Self, db::Error> {
        let stored = String::from_row(row, at)?;
        Ok(Self(serde_json::from_str(&stored).unwrap_or_default()))
    }
}

impl Text for FieldChanges {}

impl FieldChanges {
    /// The names of the fields.
    pub fn names(&self) -> Vec<&str> {
        let changes = self.0.iter();
        changes.map(|change| change.field.as_str()).collect()
    }
}

impl Entry {
    /// The model, while the program knows it.
    pub fn known_model(&self) -> Option<Model> {
        Model::parse(&self.model)
    }
}

/// How a record was changed: what [`Action::Edited`] takes.
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
