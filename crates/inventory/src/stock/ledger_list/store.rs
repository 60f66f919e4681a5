//! The list of the whole shop's ledger: its table with its indexes.

use resource::Record as _;

use super::{super::LedgerEntry, LedgerFilter};
use crate::listing::{Columns, Condition, Index, List, Selection, Table, Test, between, by_time};

static ENTRIES: Table = Table {
    name: "ledger_entries",
    alias: "l",
    indexes: &[
        Index::primary(None, "id"),
        Index::of("created_at"),
        Index::within("product", "created_at", "ledger_entries_product_created_at"),
    ],
    ..Table::OWN
};

pub(super) static LIST: List<LedgerEntry> = List {
    record: Columns::OfFields(
        || LedgerEntry::FIELDS,
        " LEFT JOIN products AS p ON p.id = l.product_id",
    ),
    ..List::described(&ENTRIES)
};

impl LedgerFilter {
    pub(super) fn selection(self) -> Selection<LedgerEntry> {
        let products = self.products.map(Test::IsOneOf).into_iter();
        let products = products.map(|test| Condition::new("product", "product_id", test));
        Selection {
            list: &LIST,
            conditions: products.chain(between(self.between)).collect(),
            order: by_time(!self.is_oldest_first),
        }
    }
}
