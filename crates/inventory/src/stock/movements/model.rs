//! Inflows and outflows, and what a client may set of them.

use std::sync::LazyLock;

use db::{Money, Timestamp};
use resource::{
    Field, Named, Record as _, Titled, Words, id, integer, reference, resource, schema::example,
    text, time,
};
use serde_json::{Value, json};

use crate::{
    access::Model,
    catalogue::MAX_DESCRIPTION,
    rest::fields::{Draft, Members, Mode},
    stock::ledger,
};

/// What inflows are called.
pub(crate) const INFLOW_WORDS: Words =
    Words::feminine(("entrada", "inflow"), ("entradas", "inflows"));
/// What outflows are called.
pub(crate) const OUTFLOW_WORDS: Words =
    Words::feminine(("saída", "outflow"), ("saídas", "outflows"));

resource! {
    /// A movement as the API shows it. Its table is called `m` in statements.
    pub struct MovementRecord, MovementInput {
        id: i64 = id().listed_for_staff(),
        supplier: Option<Named> = reference("Fornecedor", "Supplier", "suppliers").listed().minor(),
        product: Titled = reference("Produto", "Product", "products").name().listed(),
        quantity: i64 = integer("Quantidade", "Quantity", 1, i64::MAX).listed()
            .help("Soma-se ao estoque do produto, ou sai dele.", "Added to the product's stock, or taken from it."),
        description: Option<String> = text("Descrição", "Description", MAX_DESCRIPTION).long().listed().minor(),
        created_at: Timestamp = time("Criado em", "Created at").listed().short("Quando", "When"),
        updated_at: Timestamp = time("Alterado em", "Updated at").read_from("m.created_at").hidden(),
    }
}

/// An outflow has no supplier.
static OUTFLOW: LazyLock<Vec<&'static Field>> = LazyLock::new(|| {
    let fields = MovementRecord::FIELDS.iter().copied();
    fields
        .filter(|field| *field != MovementRecord::supplier)
        .collect()
});

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

    /// Its place in addresses, and its table.
    pub const fn path(self) -> &'static str {
        match self {
            Self::Inflow => "inflows",
            Self::Outflow => "outflows",
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
    pub(crate) fn example(self) -> Value {
        let said = [
            (
                "supplier",
                json!({"id": 1, "name": "Distribuidora Central"}),
            ),
            ("product", json!({"id": 1, "title": "Arroz 5 kg"})),
            ("quantity", json!(if self == Self::Inflow { 10 } else { 2 })),
        ];
        example(self.fields(), &said)
    }

    /// The fields, in the order of answers and errors.
    pub(crate) fn fields(self) -> &'static [&'static Field] {
        match self {
            Self::Inflow => MovementRecord::FIELDS,
            Self::Outflow => &OUTFLOW,
        }
    }

    /// What a body or a form says of one.
    pub(crate) fn draft(self, members: &Members) -> Draft<MovementRecord> {
        Draft::read_fields(self.fields(), members, Mode::Whole)
    }

    /// The ledger's word for making one, and for deleting one.
    pub(super) const fn kinds(self) -> (ledger::EntryKind, ledger::EntryKind) {
        match self {
            Self::Inflow => (ledger::EntryKind::Inflow, ledger::EntryKind::InflowReversed),
            Self::Outflow => (
                ledger::EntryKind::Outflow,
                ledger::EntryKind::OutflowReversed,
            ),
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
