//! The lists of named records. There are few records, so orders other than by name or id are sorted
//! without an index.

use std::sync::LazyLock;

use resource::{Record as _, sql};

use super::super::{BY_NAME, Kind, model::NamedRecord};
use crate::{
    listing::{Condition, Index, List, Selection, Table, Test},
    rest::{
        list::{ordering, search_words},
        query::Parameters,
    },
};

static COLUMNS: LazyLock<&'static str> =
    LazyLock::new(|| sql::columns(NamedRecord::FIELDS, "r").leak());

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
        List::of(
            Box::leak(Box::new(table)),
            NamedRecord::FIELDS,
            || (*COLUMNS, ""),
            NamedRecord::from_row,
        )
    })
});

#[expect(clippy::indexing_slicing, reason = "each kind has its list")]
fn list_of(kind: Kind) -> &'static List<NamedRecord> {
    let lists: &[List<NamedRecord>] = LISTS.as_slice();
    &lists[kind as usize]
}

/// Selects the records whose names contain all words of the search.
pub(in super::super) fn selection(kind: Kind, parameters: &Parameters) -> Selection<NamedRecord> {
    let words = search_words(parameters).into_iter();
    let contains = |word| Condition::new("name", "name_folded", Test::Contains(word));
    Selection {
        list: list_of(kind),
        conditions: words.map(contains).collect(),
        order: ordering(parameters, NamedRecord::NAMES, BY_NAME),
    }
}
