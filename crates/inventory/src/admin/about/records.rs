//! The return types of a model's functions: records, pages of records, and counts.

use resource::laid_out;
use serde::{Deserialize, Serialize};

use super::Both;
pub(in crate::admin) use crate::page::value::FieldValue;
use crate::{
    events::{Secret, endpoints::digest_of},
    page::records::{id_of, name_of},
};

/// The number of records of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::admin) struct RecordCount {
    pub(in crate::admin) number: u64,
    /// Whether counting stopped at `number`, so that there are more records.
    pub(in crate::admin) is_more: bool,
}

/// One page of a list.
#[derive(Debug)]
pub(in crate::admin) struct RecordPage {
    /// The number of records on all pages.
    pub(in crate::admin) count: RecordCount,
    pub(in crate::admin) records: Vec<ModelRecord>,
    /// The limit of the search, when it did not cover all records.
    pub(in crate::admin) note: Option<Both>,
}

/// A record: the source of the cells of a list, of the read-only page and of the initial form.
#[derive(Debug, Clone)]
pub(in crate::admin) struct ModelRecord {
    pub(in crate::admin) id: i64,
    pub(in crate::admin) text: String,
    /// All readable fields, by name.
    pub(in crate::admin) facts: Vec<(&'static str, FieldValue)>,
}

/// A saved record. Stored with the idempotency key of its form.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::admin) struct SavedRecord {
    pub(in crate::admin) id: i64,
    pub(in crate::admin) text: String,
    /// A new secret, which is shown once. It is not stored with the idempotency key.
    #[serde(skip)]
    pub(in crate::admin) secret: Option<String>,
    /// The digest of the secret: a repeated form shows it again unless it was changed since.
    pub(in crate::admin) secret_digest: String,
}

impl ModelRecord {
    /// Converts a described record.
    pub(in crate::admin) fn described<R: resource::Record>(record: &R) -> Self {
        let values = record.values_of(&laid_out(R::FIELDS)).into_iter();
        Self {
            id: id_of(record),
            text: name_of(record),
            facts: values
                .map(|(field, value)| (field.name, FieldValue::of(field, value)))
                .collect(),
        }
    }

    /// Replaces the value of a field.
    #[must_use]
    pub(in crate::admin) fn with(mut self, name: &'static str, cell: FieldValue) -> Self {
        let mut facts = self.facts.iter_mut();
        if let Some((_, shown)) = facts.find(|(known, _)| *known == name) {
            *shown = cell;
        }
        self
    }

    /// The value of a field. `Empty` if there is no such field.
    pub(in crate::admin) fn fact(&self, name: &str) -> &FieldValue {
        let found = self.facts.iter().find(|(known, _)| *known == name);
        found.map_or(&FieldValue::Empty, |(_, cell)| cell)
    }
}

impl SavedRecord {
    /// Adds a new secret, to be shown.
    pub(in crate::admin) fn with_secret(self, secret: &Secret) -> Self {
        Self {
            secret_digest: digest_of(secret),
            secret: Some(secret.reveal()),
            ..self
        }
    }
}

impl From<(i64, String)> for SavedRecord {
    fn from((id, text): (i64, String)) -> Self {
        Self {
            id,
            text,
            secret: None,
            secret_digest: String::new(),
        }
    }
}
