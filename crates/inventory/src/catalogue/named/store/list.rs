//! The lists of named records. There are few records, so orders other than by name or id are sorted
//! without an index.

use std::sync::LazyLock;

use super::super::{Kind, model::NamedRecord};
use crate::{
    listing::{Index, List, Selection, Table},
    rest::query::Parameters,
};

const TABLE: Table = Table {
    alias: "r",
    indexes: &[Index::primary(None, "id"), Index::of("name")],
    ..Table::OWN
};

static LISTS: LazyLock<[List<NamedRecord>; Kind::ALL.len()]> = LazyLock::new(|| {
    Kind::ALL.map(|kind| {
        let table = Table {
            name: kind.path(),
            ..TABLE
        };
        List::described(Box::leak(Box::new(table)))
    })
});

#[expect(clippy::indexing_slicing, reason = "each kind has its list")]
pub(crate) fn list_of(kind: Kind) -> &'static List<NamedRecord> {
    let lists: &[List<NamedRecord>] = LISTS.as_slice();
    &lists[kind as usize]
}

/// Selects the records whose names contain all words of the search.
pub(in super::super) fn selection(kind: Kind, parameters: &Parameters) -> Selection<NamedRecord> {
    list_of(kind).select(parameters, "name_folded", [])
}
