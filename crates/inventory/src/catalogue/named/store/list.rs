//! The lists of named records. They are few: any order but that by name or id is sorted.

use std::sync::LazyLock;

use db::{Conn, Error};
use resource::{Record as _, sql};

use super::super::{Kind, model::NamedRecord};
use crate::{
    listing::{Condition, Index, List, QueryStats, Selection, Table, Test},
    rest::list::OrderBy,
};

static COLUMNS: LazyLock<&'static str> =
    LazyLock::new(|| sql::columns(NamedRecord::FIELDS, "r").leak());

const TABLE: Table = Table {
    alias: "r",
    indexes: &[Index::primary(None, "id"), Index::of("name")],
    ..Table::OWN
};

/// The list of each kind.
static LISTS: LazyLock<[List; Kind::ALL.len()]> = LazyLock::new(|| {
    Kind::ALL.map(|kind| List {
        fields: NamedRecord::FIELDS,
        own: Box::leak(Box::new(Table {
            name: kind.path(),
            ..TABLE
        })),
        record: || (*COLUMNS, ""),
        ..List::PLAIN
    })
});

#[expect(clippy::indexing_slicing, reason = "each kind has its list")]
fn list_of(kind: Kind) -> &'static List {
    let lists: &[List] = LISTS.as_slice();
    &lists[kind as usize]
}

fn selection(kind: Kind, words: &[String], order: &[OrderBy]) -> Selection {
    let words = words.iter().cloned();
    let contains = |word| Condition::new("name", "name_folded", Test::Contains(word));
    Selection {
        list: list_of(kind),
        conditions: words.map(contains).collect(),
        order: order.to_vec(),
    }
}

/// How many have all words in their names.
pub(in super::super) async fn count(
    conn: &mut Conn,
    kind: Kind,
    words: &[String],
) -> Result<u64, Error> {
    selection(kind, words, &[]).count(conn, None).await
}

/// One page of them, in order.
pub(in super::super) async fn page(
    conn: &mut Conn,
    kind: Kind,
    words: &[String],
    order: &[OrderBy],
    limit: i64,
    offset: i64,
) -> Result<Vec<NamedRecord>, Error> {
    let some = limit.unsigned_abs();
    let stats = QueryStats::of(some, some);
    let selection = selection(kind, words, order);
    let part = (limit, offset);
    selection
        .page(conn, &stats, part, NamedRecord::from_row)
        .await
}
