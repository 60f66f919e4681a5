//! The lists of brands, categories and suppliers. They are few: any order but that by name or id is
//! sorted.

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

/// The list of a table.
macro_rules! list {
    ($table:literal) => {{
        static TABLE: Table = Table {
            name: $table,
            alias: "r",
            indexes: &[Index::primary(None, "id"), Index::of("name")],
            ..Table::OWN
        };
        static LIST: List<NamedRecord> = List::of(
            &TABLE,
            NamedRecord::FIELDS,
            || (*COLUMNS, ""),
            NamedRecord::from_row,
        );
        &LIST
    }};
}

fn list_of(kind: Kind) -> &'static List<NamedRecord> {
    match kind {
        Kind::Brand => list!("brands"),
        Kind::Category => list!("categories"),
        Kind::Supplier => list!("suppliers"),
    }
}

/// Those that have all words in their names.
pub(in super::super) fn selection(kind: Kind, parameters: &Parameters) -> Selection<NamedRecord> {
    let words = search_words(parameters).into_iter();
    let contains = |word| Condition::new("name", "name_folded", Test::Contains(word));
    Selection {
        list: list_of(kind),
        conditions: words.map(contains).collect(),
        order: ordering(parameters, NamedRecord::NAMES, BY_NAME),
    }
}
