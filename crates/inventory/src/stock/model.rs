//! The entries of the ledger, and the records that lists show of them.

use db::Timestamp;
use resource::{Field, choice, chosen, id, integer, reference, resource, time, token};
use serde::Serialize;
use utoipa::{ToSchema, openapi::Object};
use web::openapi::one_of;

use super::{Explanation, Reason};
use crate::{
    movement::Movement,
    rest::json::{self, Titled},
};

choice! {
    /// The origin of a change.
    pub enum EntryKind {
        /// The quantity that a product was created with.
        Opening = "opening", ("Saldo inicial", "Opening");
        /// Goods received.
        Inflow = "inflow", ("Entrada", "Inflow");
        /// Goods shipped out.
        Outflow = "outflow", ("Saída", "Outflow");
        /// A quantity set directly.
        Adjustment = "adjustment", ("Ajuste", "Adjustment");
        /// The deletion of an inflow.
        InflowReversed = "inflow_reversed", ("Entrada desfeita", "Inflow undone");
        /// The deletion of an outflow.
        OutflowReversed = "outflow_reversed", ("Saída desfeita", "Outflow undone");
    }
}

impl EntryKind {
    /// The kind of movement that the entry refers to, if any.
    pub(super) const fn movement(self) -> Option<Movement> {
        match self {
            Self::Inflow | Self::InflowReversed => Some(Movement::Inflow),
            Self::Outflow | Self::OutflowReversed => Some(Movement::Outflow),
            Self::Opening | Self::Adjustment => None,
        }
    }
}

/// A change to apply.
#[derive(Debug, Clone, Copy)]
pub(super) struct NewEntry<'a> {
    pub(super) product: i64,
    pub(super) kind: EntryKind,
    pub(super) change: i64,
    /// The id of the movement, for inflows, outflows and their reversals.
    pub(super) reference: Option<i64>,
    /// The supplier of an inflow.
    pub(super) supplier: Option<i64>,
    /// The reason for an adjustment.
    pub(super) explanation: Option<&'a Explanation>,
    /// The time of an imported or deleted movement. `None`: the time of the write, as the entry has.
    pub(super) moved_at: Option<Timestamp>,
    /// Whether the product's opening included the movement, so that the quantity stays.
    pub(super) is_past: bool,
    /// Whether the movement is a row of an import, which was checked when the import began.
    pub(super) is_imported: bool,
}

impl NewEntry<'_> {
    /// A change without movement and explanation.
    pub(super) const fn new(product: i64, kind: EntryKind, change: i64) -> Self {
        Self {
            product,
            kind,
            change,
            reference: None,
            supplier: None,
            explanation: None,
            moved_at: None,
            is_past: false,
            is_imported: false,
        }
    }
}

/// One row of a product's ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LedgerRow {
    /// The row's id; later rows have larger ones.
    #[schema(minimum = 1, read_only)]
    pub id: i64,
    /// What the change came from.
    #[schema(schema_with = kinds)]
    pub kind: EntryKind,
    /// Units added; negative when units were removed.
    pub change: i64,
    /// The product's quantity after this row.
    #[schema(minimum = 0)]
    pub balance_after: i64,
    /// When it was booked, even if its movement was imported with an earlier time: UTC, with six
    /// digits of fraction or none.
    #[serde(serialize_with = "json::time")]
    #[schema(value_type = String, format = DateTime, read_only)]
    pub created_at: Timestamp,
    /// The user's name; null if the program made the change.
    #[schema(required)]
    pub user: Option<String>,
    /// The movement, if the row belongs to one.
    #[schema(required, inline)]
    pub reference: Option<Reference>,
    /// Why; of an adjustment that somebody gave a reason for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = reasons, required = false)]
    pub reason: Option<Reason>,
    /// A note on the reason, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub note: Option<String>,
}

fn kinds() -> Object {
    one_of(EntryKind::ALL.map(EntryKind::name))
}

fn reasons() -> Object {
    one_of(Reason::ALL.map(Reason::name))
}

fn reference_types() -> Object {
    one_of(Movement::ALL.map(Movement::name))
}

/// The movement that a ledger row belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = LedgerReference)]
pub struct Reference {
    /// Which way the goods moved.
    #[serde(rename = "type")]
    #[schema(schema_with = reference_types)]
    pub kind: &'static str,
    /// The record's id.
    pub id: i64,
}

resource! {
    /// A product with its own threshold.
    pub struct OwnThreshold, OwnThresholdInput {
        product: Titled = reference("Produto", "Product", "products").name().listed_for_staff(),
        quantity: i64 = integer("Quantidade", "Quantity", 0, i64::MAX).read_only().listed_for_staff(),
        threshold: i64 = integer("Estoque mínimo", "Low-stock threshold", 0, i64::MAX).edited_in_list()
            .help("Abaixo desta quantidade o produto conta como estoque baixo.", "Below this quantity the product counts as low stock."),
    }
}

/// A product's own threshold as an optional form field. Blank means that the shop's threshold
/// applies.
pub(crate) const OPTIONAL_THRESHOLD: &Field = &Field {
    is_nullable: true,
    ..*OwnThreshold::threshold
};

resource! {
    /// A row of the whole shop's ledger, as the administration shows it.
    pub struct LedgerEntry, LedgerEntryInput {
        id: i64 = id().listed_for_staff(),
        product: i64 = integer("Produto", "Product", 1, i64::MAX).read_from("l.product_id").listed_for_staff(),
        // `None` if the product was deleted.
        title: Option<String> = token("Título", "Title").read_from("p.title").hidden(),
        kind: EntryKind = chosen("Tipo", "Kind").listed_for_staff(),
        change: i64 = integer("Mudança", "Change", i64::MIN, i64::MAX).listed_for_staff(),
        balance_after: i64 = integer("Saldo depois", "Balance after", 0, i64::MAX).listed_for_staff(),
        // The movement's id.
        reference: Option<i64> = integer("Referência", "Reference", 1, i64::MAX).read_from("l.reference_id").listed_for_staff(),
        // `None` if the program itself made the change.
        user: Option<String> = token("Usuário", "User").read_from("l.user_name").listed_for_staff(),
        created_at: Timestamp = time("Criado em", "Created at").listed_for_staff(),
        reason: Option<String> = token("Motivo", "Reason").listed_for_staff(),
        note: Option<String> = token("Observação", "Note").listed_for_staff(),
    }
}
