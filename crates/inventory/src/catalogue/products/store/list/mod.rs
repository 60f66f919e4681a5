//! The list of products: its filters, orders, tables and indexes. `listing` reads the pages,
//! `stats` counts the matches.
//!
//! Each order has one index, which includes the filtered columns. Quantity and time of the last
//! change are in the stock row, because every sale changes them. The index of words has copies of
//! the filtered and ordered columns, so a search rarely reads products.

mod stats;
#[cfg(test)]
mod tests;

pub(crate) use stats::StatsCache;

use db::{Money, Timestamp};
use resource::Record as _;

use super::super::model::ProductRecord;
use crate::{
    listing::{Columns, Condition, Index, List, Selection, Table, Test, between},
    rest::{
        fields::FieldErrors,
        list::{FilterKind, Filters, OrderBy, QueryFilter, ordering, search_words},
        query::Parameters,
    },
};

pub(in crate::catalogue::products) const ARCHIVED: QueryFilter = QueryFilter {
    name: "archived",
    kind: FilterKind::Truth,
    about: "`false`: without archived products; `true`: only these. Without it both.",
};

pub(in crate::catalogue::products) const BY_TITLE: OrderBy = OrderBy {
    field: "title",
    descending: false,
};

static PRODUCTS: Table = Table {
    name: "products",
    alias: "p",
    indexes: &[
        Index::primary(None, "id"),
        Index::within("category", "id", "products_category"),
        Index::within("brand", "id", "products_brand"),
    ],
    is_indexed_by_field: true,
    ..Table::OWN
};

static STOCK: Table = Table {
    name: "product_stock",
    alias: "s",
    id: "product_id",
    fields: &["quantity", "updated_at", "archived"],
    copies: &["category", "brand"],
    indexes: &[Index::of("quantity"), Index::of("updated_at")],
    is_indexed_by_field: false,
};

static WORDS: Table = Table {
    name: "product_words",
    alias: "w",
    id: "product_id",
    fields: &["word"],
    copies: &["title", "category", "brand", "cost_price", "selling_price"],
    indexes: &[Index::primary(Some("word"), "title")],
    is_indexed_by_field: false,
};

pub(crate) static LIST: List<ProductRecord> = List {
    others: &[&STOCK, &WORDS],
    clusters: &[
        (
            &["title", "description", "cost_price", "selling_price"],
            &["category", "brand", "selling_price", "title"],
        ),
        (&["category", "brand"], &["category", "brand", "title"]),
        // Ids follow the time of creation.
        (&["id", "updated_at"], &["created_at"]),
    ],
    record: Columns::OfFields(
        || ProductRecord::FIELDS,
        " JOIN product_stock AS s ON s.product_id = p.id",
    ),
    ..List::described(&PRODUCTS)
};

/// Selects products by a query string.
pub(in crate::catalogue::products) fn selection(
    parameters: &Parameters,
) -> Result<Selection<ProductRecord>, FieldErrors> {
    let mut filters = Filters::new(parameters);
    let mut conditions = Vec::new();
    for (field, column) in [("category", "category_id"), ("brand", "brand_id")] {
        let id = filters.id(field);
        conditions.extend(id.map(|id| Condition::new(field, column, Test::is(id))));
    }
    for field in ProductRecord::FIELDS {
        let Some((least, greatest)) = field.bounds else {
            continue;
        };
        let (least, greatest) = (filters.least_price(least), filters.greatest_price(greatest));
        if least.is_some_and(|least| least > Money::MAX)
            || greatest.is_some_and(|greatest| greatest < Money::ZERO)
        {
            // No price is within the bounds.
            conditions.push(Condition::new("id", "id", Test::IsOneOf(Vec::new())));
            continue;
        }
        let least = least.map(|least| Test::AtLeast(least.max(Money::ZERO).into()));
        let greatest = greatest.map(|most| Test::AtMost(most.min(Money::MAX).into()));
        let tests = [least, greatest].into_iter().flatten();
        conditions.extend(tests.map(|test| Condition::new(field.name, field.name, test)));
    }
    let words = search_words(parameters).into_iter();
    conditions
        .extend(words.map(|word| Condition::new("title", "title_folded", Test::Contains(word))));
    let archived = filters.truth(ARCHIVED.name);
    conditions.extend(
        archived
            .map(|archived| Condition::new(ARCHIVED.name, "archived_at", Test::IsNull(!archived))),
    );
    filters.finish().into_result()?;
    let mut selection = Selection {
        list: &LIST,
        conditions,
        order: ordering(parameters, ProductRecord::FIELDS, BY_TITLE),
    };
    selection.drop_constant_orders();
    Ok(selection)
}

/// Selects products by the beginning of their folded serie numbers, without archived ones.
pub(in crate::catalogue::products) fn numbered(beginning: String) -> Selection<ProductRecord> {
    let begins = Test::Begins(beginning);
    Selection {
        list: &LIST,
        conditions: vec![
            Condition::new("serie_number", "serie_number_folded", begins),
            Condition::new(ARCHIVED.name, "archived_at", Test::IsNull(true)),
        ],
        order: vec![OrderBy {
            field: "serie_number",
            descending: false,
        }],
    }
}

impl Selection<ProductRecord> {
    /// Whether all products are selected, ordered by one field at most. The aggregates have their
    /// number and an index has their order.
    pub(in crate::catalogue::products) fn is_everything(&self) -> bool {
        let is_nearly_all = |condition: &Condition| condition.test == Test::IsNull(true);
        self.conditions.iter().all(is_nearly_all) && self.order.len() <= 1
    }

    /// Limits the list to products created in a period (start inclusive, end exclusive).
    pub(in crate::catalogue::products) fn created(
        mut self,
        created: Option<(Timestamp, Timestamp)>,
    ) -> Self {
        self.conditions.extend(between(created));
        self
    }
}
