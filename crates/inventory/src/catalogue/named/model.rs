//! What a brand, a category or a supplier is.

use db::Timestamp;
use serde::Serialize;

use crate::{
    accounts::Model,
    catalogue::{MAX_DESCRIPTION, MAX_NAME},
    rest::{
        fields::{FieldErrors, Members, Mode, Reader, Setting},
        given::Given,
        json,
        metadata::{self, Field},
    },
};

/// Which of the three.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Who makes a product.
    Brand,
    /// What sort of product it is.
    Category,
    /// Who delivers goods.
    Supplier,
}

impl Kind {
    /// What one is called in messages.
    pub const fn name(self) -> &'static str {
        self.model().code()
    }

    /// Its place in addresses.
    pub const fn path(self) -> &'static str {
        match self {
            Self::Brand => "brands",
            Self::Category => "categories",
            Self::Supplier => "suppliers",
        }
    }

    /// Whose permissions count.
    pub const fn model(self) -> Model {
        match self {
            Self::Brand => Model::Brand,
            Self::Category => Model::Category,
            Self::Supplier => Model::Supplier,
        }
    }
}

/// The fields, in the order of answers and errors.
pub(super) const DESCRIBED: [Field; 5] = [
    Field::ID,
    Field::text("name", MAX_NAME),
    Field::text("description", MAX_DESCRIPTION).optional(),
    Field::CREATED_AT,
    Field::UPDATED_AT,
];
/// Their names; each of them orders a list.
pub(super) const FIELDS: [&str; 5] = metadata::names(&DESCRIBED);

/// A record as the API shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NamedRecord {
    /// The id; 0 before it is stored.
    pub id: i64,
    /// 1 to 500 characters.
    pub name: String,
    /// Up to 65,536 characters.
    pub description: Option<String>,
    /// When it was created.
    #[serde(serialize_with = "json::time")]
    pub created_at: Timestamp,
    /// When it was last changed.
    #[serde(serialize_with = "json::time")]
    pub updated_at: Timestamp,
}

/// What a client may set. Absent members of an update stay as they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Input {
    pub(super) name: Option<String>,
    pub(super) description: Setting<String>,
}

impl Input {
    pub(super) fn read(members: &Members, mode: Mode) -> Result<Self, FieldErrors> {
        let mut reader = Reader::new(members, mode);
        let input = Self {
            name: reader.name("name", MAX_NAME),
            description: reader.optional_text("description", MAX_DESCRIPTION),
        };
        let errors = reader.finish();
        if errors.is_empty() {
            Ok(input)
        } else {
            Err(errors)
        }
    }
}

impl NamedRecord {
    pub(super) fn new(input: Input, given: &Given, now: Timestamp) -> Self {
        let created_at = given.created_at.unwrap_or(now);
        Self {
            id: 0,
            name: input.name.unwrap_or_default(),
            description: input.description.into_new(),
            created_at,
            updated_at: given.updated_at.unwrap_or(created_at),
        }
    }
}
