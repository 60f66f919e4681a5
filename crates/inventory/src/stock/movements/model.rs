//! Inflows and outflows, and what a client may set of them.

use db::{Money, Timestamp};
use resource::{Field, Words, id, integer, names, reference, text, time};
use serde::Serialize;

use crate::{
    accounts::Model,
    catalogue::MAX_DESCRIPTION,
    rest::{
        fields::{FieldErrors, Members, Mode, Reader, Reference},
        json::{self, Named, Titled},
        openapi::EXAMPLE_TIME,
    },
    stock::ledger,
};

/// What inflows are called.
pub(crate) const INFLOW_WORDS: Words =
    Words::feminine(("entrada", "inflow"), ("entradas", "inflows"));
/// What outflows are called.
pub(crate) const OUTFLOW_WORDS: Words =
    Words::feminine(("saída", "outflow"), ("saídas", "outflows"));

const INFLOW: [&Field; 7] = [
    &id().named("id"),
    &reference::<Named>("Fornecedor", "Supplier", "suppliers").named("supplier"),
    &reference::<Titled>("Produto", "Product", "products").named("product"),
    &integer::<i64>("Quantidade", "Quantity", 1, i64::MAX).named("quantity"),
    &text::<Option<String>>("Descrição", "Description", MAX_DESCRIPTION)
        .long()
        .named("description"),
    &time::<Timestamp>("Criado em", "Created at").named("created_at"),
    &time::<Timestamp>("Alterado em", "Updated at").named("updated_at"),
];
const OUTFLOW: [&Field; 6] = {
    let [
        id,
        _supplier,
        product,
        quantity,
        description,
        created_at,
        updated_at,
    ] = INFLOW;
    [id, product, quantity, description, created_at, updated_at]
};

/// Which way goods move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Movement {
    /// Goods received from a supplier.
    Inflow,
    /// Goods shipped out.
    Outflow,
}

impl Movement {
    /// What one is called in messages.
    pub const fn name(self) -> &'static str {
        self.model().code()
    }

    /// Its place in addresses.
    pub const fn path(self) -> &'static str {
        match self {
            Self::Inflow => "inflows",
            Self::Outflow => "outflows",
        }
    }

    /// What takes one back without deleting it.
    #[must_use]
    pub const fn opposite(self) -> Self {
        match self {
            Self::Inflow => Self::Outflow,
            Self::Outflow => Self::Inflow,
        }
    }

    /// Whose permissions count.
    pub const fn model(self) -> Model {
        match self {
            Self::Inflow => Model::Inflow,
            Self::Outflow => Model::Outflow,
        }
    }

    /// What its records are called.
    pub(crate) const fn words(self) -> &'static Words {
        match self {
            Self::Inflow => &INFLOW_WORDS,
            Self::Outflow => &OUTFLOW_WORDS,
        }
    }

    /// One as the API's document shows it.
    pub(crate) fn example(self) -> MovementRecord {
        let supplier = Named {
            id: 1,
            name: "Distribuidora Central".to_owned(),
        };
        MovementRecord {
            id: 1,
            supplier: (self == Self::Inflow).then_some(supplier),
            product: Titled {
                id: 1,
                title: "Arroz 5 kg".to_owned(),
            },
            quantity: if self == Self::Inflow { 10 } else { 2 },
            description: None,
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
        }
    }

    /// The fields, in the order of answers and errors.
    pub(crate) const fn described(self) -> &'static [&'static Field] {
        match self {
            Self::Inflow => &INFLOW,
            Self::Outflow => &OUTFLOW,
        }
    }

    /// Their names; each of them orders a list.
    pub(super) const fn fields(self) -> &'static [&'static str] {
        const INFLOW_NAMES: [&str; 7] = names(&INFLOW);
        const OUTFLOW_NAMES: [&str; 6] = names(&OUTFLOW);
        match self {
            Self::Inflow => &INFLOW_NAMES,
            Self::Outflow => &OUTFLOW_NAMES,
        }
    }

    /// The ledger's word for making one, and for deleting one.
    pub(super) const fn kinds(self) -> (ledger::Kind, ledger::Kind) {
        match self {
            Self::Inflow => (ledger::Kind::Inflow, ledger::Kind::InflowReversed),
            Self::Outflow => (ledger::Kind::Outflow, ledger::Kind::OutflowReversed),
        }
    }

    /// What a movement of so many units does to the product's quantity.
    pub(crate) const fn change(self, quantity: i64) -> i64 {
        match self {
            Self::Inflow => quantity,
            Self::Outflow => -quantity,
        }
    }
}

/// What the ledger's entry says of a movement.
#[derive(Debug, Clone)]
pub(crate) struct MovementEntry {
    /// Who booked it; none where nobody did, or nobody wrote it down.
    pub(crate) user: Option<String>,
    /// The product's quantity afterwards.
    pub(crate) balance_after: i64,
    /// The price of one unit at that moment: what it cost for goods in, what it was sold for for goods out.
    pub(crate) price: Money,
}

/// A movement as the API shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MovementRecord {
    /// Its id.
    pub id: i64,
    /// Who delivered the goods; of inflows only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supplier: Option<Named>,
    /// What moved.
    pub product: Titled,
    /// How many units, 1 or more.
    pub quantity: i64,
    /// Up to 65,536 characters.
    pub description: Option<String>,
    /// When it was booked.
    #[serde(serialize_with = "json::time")]
    pub created_at: Timestamp,
    /// The same: a movement never changes.
    #[serde(serialize_with = "json::time")]
    pub updated_at: Timestamp,
}

/// What a client sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Input {
    pub(super) supplier: Option<Reference>,
    pub(super) product: Option<Reference>,
    pub(super) quantity: Option<i64>,
    pub(super) description: Option<String>,
}

impl Input {
    /// The fields of a body, and what is wrong with them.
    pub(super) fn read(movement: Movement, members: &Members) -> (Self, FieldErrors) {
        let mut reader = Reader::new(members, Mode::Whole);
        let input = Self {
            supplier: if movement == Movement::Inflow {
                reader.reference("supplier")
            } else {
                None
            },
            product: reader.reference("product"),
            quantity: reader.integer("quantity", 1, i64::MAX),
            description: reader
                .optional_text("description", MAX_DESCRIPTION)
                .into_new(),
        };
        (input, reader.finish())
    }
}
