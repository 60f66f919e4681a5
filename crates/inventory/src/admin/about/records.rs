//! What the functions of a model return: records, pages of them, and what refers to them.

use resource::{Kind, laid_out};
use serde::{Deserialize, Serialize};
use web::locale::Locale;

use super::Both;
pub(in crate::admin) use crate::page::value::FieldValue;

/// How many records a list has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::admin) struct RecordCount {
    /// As many were counted.
    pub(in crate::admin) number: u64,
    /// Whether counting stopped there.
    pub(in crate::admin) is_more: bool,
}

/// One page of a list.
#[derive(Debug)]
pub(in crate::admin) struct RecordPage {
    /// How many there are on all pages.
    pub(in crate::admin) count: RecordCount,
    /// Those of this page.
    pub(in crate::admin) records: Vec<ModelRecord>,
    /// Where a search ended, when it did not look at everything.
    pub(in crate::admin) note: Option<Both>,
}

/// A record: lists show of it what their columns name, its own page everything, and forms begin with it.
#[derive(Debug, Clone)]
pub(in crate::admin) struct ModelRecord {
    /// The record's id.
    pub(in crate::admin) id: i64,
    /// The record's name.
    pub(in crate::admin) text: String,
    /// Everything that can be read of it.
    pub(in crate::admin) facts: Vec<(&'static str, FieldValue)>,
}

/// A record that was saved; kept with the once-only token of its form.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::admin) struct SavedRecord {
    /// The record's id.
    pub(in crate::admin) id: i64,
    /// The record's name.
    pub(in crate::admin) text: String,
    /// What its reader must note now, since nobody can show it again. It is stored nowhere.
    #[serde(skip)]
    pub(in crate::admin) secret: Option<String>,
}

impl ModelRecord {
    /// A record with what can be read of it.
    pub(in crate::admin) fn of(
        id: i64,
        text: impl Into<String>,
        facts: Vec<(&'static str, FieldValue)>,
    ) -> Self {
        Self {
            id,
            text: text.into(),
            facts,
        }
    }

    /// A described record.
    pub(in crate::admin) fn described<R: resource::Record>(record: &R) -> Self {
        let values = record.values().into_iter();
        let cells: Vec<_> = values
            .map(|(field, value)| (field, FieldValue::of(field, value)))
            .collect();
        let find = |field: &resource::Field| cells.iter().find(|(known, _)| *known == field);
        let name = cells.iter().find(|(field, _)| field.is_name);
        let id = cells.iter().find(|(field, _)| field.kind == Kind::Id);
        let shown = laid_out(R::FIELDS).into_iter();
        Self {
            id: match id {
                Some((_, FieldValue::Number(id))) => *id,
                _ => 0,
            },
            text: name.map_or_else(String::new, |(_, name)| name.shown(Locale::En)),
            facts: shown
                .filter_map(|field| Some((field.name, find(field)?.1.clone())))
                .collect(),
        }
    }

    /// With another cell in the place of a fact.
    #[must_use]
    pub(in crate::admin) fn with(mut self, name: &'static str, cell: FieldValue) -> Self {
        let mut facts = self.facts.iter_mut();
        if let Some((_, shown)) = facts.find(|(known, _)| *known == name) {
            *shown = cell;
        }
        self
    }

    /// What can be read under a name; nothing when there is no such fact.
    pub(in crate::admin) fn fact(&self, name: &str) -> &FieldValue {
        let found = self.facts.iter().find(|(known, _)| *known == name);
        found.map_or(&FieldValue::Empty, |(_, cell)| cell)
    }
}

impl SavedRecord {
    /// A record without a secret.
    pub(in crate::admin) const fn of(id: i64, text: String) -> Self {
        Self {
            id,
            text,
            secret: None,
        }
    }
}

impl From<(i64, String)> for SavedRecord {
    fn from((id, text): (i64, String)) -> Self {
        Self::of(id, text)
    }
}

impl RecordCount {
    /// Exactly so many.
    pub(in crate::admin) const fn exact(number: u64) -> Self {
        Self {
            number,
            is_more: false,
        }
    }
}
