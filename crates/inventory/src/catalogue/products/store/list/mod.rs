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
    listing::{Bound, Columns, Condition, Index, List, Selection, Table, Test, between},
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

#[derive(Debug, Clone)]
pub(in crate::catalogue::products) struct ProductList {
    pub(in crate::catalogue::products) selection: Selection<ProductRecord>,
    /// Whether no price can be within the bounds, so that no query is needed.
    is_impossible: bool,
}

impl ProductList {
    /// Parses the query string.
    pub(in crate::catalogue::products) fn parse(
        parameters: &Parameters,
    ) -> Result<Self, FieldErrors> {
        let mut filters = Filters::new(parameters);
        let mut conditions = Vec::new();
        for (field, column) in [("category", "category_id"), ("brand", "brand_id")] {
            let id = filters.id(field);
            conditions.extend(id.map(|id| Condition::new(field, column, Test::Is(id))));
        }
        let mut is_impossible = false;
        for field in ProductRecord::FIELDS {
            let Some((least, greatest)) = field.bounds else {
                continue;
            };
            if let Some(least) = filters.least_price(least) {
                is_impossible |= least > Money::MAX;
                let test = Test::AtLeast(Bound::Amount(least.max(Money::ZERO)));
                conditions.push(Condition::new(field.name, field.name, test));
            }
            if let Some(greatest) = filters.greatest_price(greatest) {
                is_impossible |= greatest < Money::ZERO;
                let test = Test::AtMost(Bound::Amount(greatest.min(Money::MAX)));
                conditions.push(Condition::new(field.name, field.name, test));
            }
        }
        let words = search_words(parameters).into_iter();
        conditions.extend(
            words.map(|word| Condition::new("title", "title_folded", Test::Contains(word))),
        );
        let archived = filters.truth(ARCHIVED.name);
        conditions.extend(
            archived.map(|archived| {
                Condition::new(ARCHIVED.name, "archived_at", Test::IsNull(!archived))
            }),
        );
        filters.finish().into_result()?;
        let mut selection = Selection {
            list: &LIST,
            conditions,
            order: ordering(parameters, ProductRecord::NAMES, BY_TITLE),
        };
        selection.drop_constant_orders();
        Ok(Self {
            selection,
            is_impossible,
        })
    }

    /// Selects products by the beginning of their folded serie numbers, without archived ones.
    pub(in crate::catalogue::products) fn numbered(beginning: String) -> Self {
        let begins = Test::Begins(beginning);
        let selection = Selection {
            list: &LIST,
            conditions: vec![
                Condition::new("serie_number", "serie_number_folded", begins),
                Condition::new(ARCHIVED.name, "archived_at", Test::IsNull(true)),
            ],
            order: vec![OrderBy {
                field: "serie_number",
                descending: false,
            }],
        };
        Self {
            selection,
            is_impossible: false,
        }
    }

    /// Whether all products are selected, ordered by one field at most. The aggregates have their
    /// number and an index has their order.
    pub(in crate::catalogue::products) fn is_everything(&self) -> bool {
        let conditions = &self.selection.conditions;
        let is_nearly_all = |condition: &Condition| condition.test == Test::IsNull(true);
        conditions.iter().all(is_nearly_all) && self.selection.order.len() <= 1
    }

    /// Limits the list to products created in a period (start inclusive, end exclusive).
    pub(in crate::catalogue::products) fn created(
        mut self,
        created: Option<(Timestamp, Timestamp)>,
    ) -> Self {
        self.selection.conditions.extend(between(created));
        self
    }
}
