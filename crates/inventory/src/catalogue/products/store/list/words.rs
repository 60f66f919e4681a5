//! Pages of a search, read from the index of words alone: each entry is stored in the order of titles and has beside it everything that a
//! list filters and orders by, but for descriptions, serie numbers and stock, so that no product is read.

use db::{Engine, Query};

use super::{Lead, Selection, page::First};

/// No title has more words than this that the index knows: those are of three characters or more, and a title is of 500.
const MOST_WORDS: u64 = 125;
/// What an entry has in the places of an order.
const KEYS: [&str; 6] = ["key_1", "key_2", "key_3", "key_4", "key_5", "key_6"];

impl Selection {
    pub(super) fn push_titles(&self, query: &mut Query, engine: Engine, lead: Lead) {
        query.push("w.product_id AS id FROM product_words AS w");
        self.filter.push_lead(query, engine, lead);
        let is_descending = self.order.first().is_some_and(|by| by.descending);
        query.push(if is_descending {
            " ORDER BY w.title_folded DESC, w.product_id"
        } else {
            " ORDER BY w.title_folded, w.product_id"
        });
    }

    /// Whether the entries of a word have every field that orders.
    pub(super) fn is_of_entries(&self) -> bool {
        self.order.iter().all(|by| entry_field(by.field).is_some())
    }

    /// The first entries of a word, in order. A product that has several words that begin as asked stands under each of them, and there
    /// it has the same place in the order.
    pub(super) fn push_entries(&self, query: &mut Query, engine: Engine, lead: Lead, wanted: i64) {
        if lead.only.is_some() {
            query.push("w.product_id AS id");
            return self.push_sorted(query, engine, lead);
        }
        query.push("found.id FROM (SELECT w.product_id AS id");
        for (by, key) in self.order.iter().zip(KEYS) {
            let field = entry_field(by.field).unwrap_or("w.product_id");
            query.push(", ").push(field).push(" AS ").push(key);
        }
        self.push_sorted(query, engine, lead);
        query
            .push(" LIMIT ")
            .bind(lead.times(wanted))
            .push(") AS found GROUP BY found.id");
        let keys = || self.order.iter().zip(KEYS);
        for (_, key) in keys() {
            query.push(", ").push(key);
        }
        query.push(" ORDER BY ");
        for (by, key) in keys() {
            let direction = if by.descending { " DESC, " } else { ", " };
            query.push(key).push(direction);
        }
        query.push("found.id");
    }

    fn push_sorted(&self, query: &mut Query, engine: Engine, lead: Lead) {
        query.push(" FROM product_words AS w");
        for (table, joined) in [
            (
                First::Categories,
                "categories AS category ON category.id = w.category_id",
            ),
            (First::Brands, "brands AS brand ON brand.id = w.brand_id"),
        ] {
            if self.needs(table) {
                query.push(engine.join_in_order()).push(joined);
            }
        }
        self.filter.push_entries(query, engine, lead);
        query.push(" ORDER BY ");
        for by in &self.order {
            query
                .push(entry_field(by.field).unwrap_or("w.product_id"))
                .push(if by.descending { " DESC, " } else { ", " });
        }
        query.push("w.product_id");
    }
}

impl Lead {
    /// So many entries have as many products as are wanted.
    fn times(self, wanted: i64) -> i64 {
        let times = i64::try_from(self.forms.clamp(1, MOST_WORDS));
        wanted.saturating_mul(times.unwrap_or(1))
    }
}

/// Where an entry of a word has a field that orders. Names are wrapped, or PostgreSQL would go from name to name, and each time through
/// all entries.
fn entry_field(field: &str) -> Option<&'static str> {
    match field {
        "id" => Some("w.product_id"),
        "title" => Some("w.title_folded"),
        "category" => Some("COALESCE(category.name_folded, '')"),
        "brand" => Some("COALESCE(brand.name_folded, '')"),
        "cost_price" => Some("w.cost_price"),
        "selling_price" => Some("w.selling_price"),
        _ => None,
    }
}
