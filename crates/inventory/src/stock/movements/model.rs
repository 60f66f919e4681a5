//! The fields of inflows and outflows, and their input.

use std::sync::LazyLock;

use db::{Money, Timestamp};
use resource::{
    Field, Named, Record as _, Titled, id, integer, reference, resource, schema::example, text,
    time, truth,
};
use serde_json::{Value, json};

use crate::{movement::Movement, rest::fields::MAX_DESCRIPTION, stock::model::EntryKind};

/// The audit-log field for the inflows that a supplier's form changed.
pub(crate) const INFLOWS: &Field = &truth("Entradas", "Inflows").named("inflows");

resource! {
    /// A movement as the API shows it. SQL uses the alias `m` for its table.
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

/// The fields of an outflow, which has no supplier.
static OUTFLOW: LazyLock<Vec<&'static Field>> = LazyLock::new(|| {
    let fields = MovementRecord::FIELDS.iter().copied();
    fields
        .filter(|field| *field != MovementRecord::supplier)
        .collect()
});

impl Movement {
    /// An example for the OpenAPI document.
    pub(crate) fn example(self) -> Value {
        let values = [
            (
                "supplier",
                json!({"id": 1, "name": "Distribuidora Central"}),
            ),
            ("product", json!({"id": 1, "title": "Arroz 5 kg"})),
            ("quantity", json!(if self == Self::Inflow { 10 } else { 2 })),
        ];
        example(self.fields(), &values)
    }

    /// The fields, in the order of responses and errors.
    pub(crate) fn fields(self) -> &'static [&'static Field] {
        match self {
            Self::Inflow => MovementRecord::FIELDS,
            Self::Outflow => &OUTFLOW,
        }
    }

    /// The kinds of ledger entries for creating and deleting a movement.
    pub(in crate::stock) const fn kinds(self) -> (EntryKind, EntryKind) {
        match self {
            Self::Inflow => (EntryKind::Inflow, EntryKind::InflowReversed),
            Self::Outflow => (EntryKind::Outflow, EntryKind::OutflowReversed),
        }
    }
}

/// A movement's ledger entry.
#[derive(Debug, Clone)]
pub(crate) struct MovementEntry {
    /// The user who booked the movement. `None` if the program did, or if it is not recorded.
    pub(crate) user: Option<String>,
    /// The product's quantity afterwards.
    pub(crate) balance_after: i64,
    /// The price of one unit at the time: cost price for inflows, selling price for outflows.
    pub(crate) price: Money,
}
