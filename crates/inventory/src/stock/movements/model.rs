//! Inflows and outflows, and what a client may set of them.

use std::sync::LazyLock;

use db::{Money, Timestamp};
use resource::{
    Field, Named, Record as _, Titled, id, integer, reference, resource, schema::example, text,
    time, truth,
};
use serde_json::{Value, json};

use crate::{
    movement::Movement,
    rest::fields::{Draft, MAX_DESCRIPTION, Members, Mode},
    stock::ledger,
};

/// The inflows that a form of a supplier has changed.
pub(crate) const INFLOWS: &Field = &truth("Entradas", "Inflows").named("inflows");

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

impl Movement {
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
}

/// What the ledger's entry says of a movement.
#[derive(Debug, Clone)]
pub(crate) struct MovementEntry {
    /// Who booked it; none where nobody did, or nobody wrote it down.
    pub(crate) user: Option<String>,
    /// The product's quantity afterwards.
    pub(crate) balance_after: i64,
    /// The price of one unit at that moment: what it cost for goods in, what it was sold for for
    /// goods out.
    pub(crate) price: Money,
}
