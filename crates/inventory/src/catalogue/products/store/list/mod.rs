//! The list of products: its filters, its orders, and the statement for each combination.
//!
//! A page of a million products must come within some milliseconds, whatever the filter and the order:
//!
//! - The ids of a page are read in order from an index, and the records are joined afterwards (`page`).
//!   Each order has one index, which has the filters beside it. The number of matches decides the way:
//!   along the index, where many match, or by sorting the matches, where few do.
//! - Counts of whole lists, categories and brands come from the exact totals of `aggregates`. Any other
//!   filter is counted once for each state of the catalogue (`measure`).
//! - The order by the name of a category or brand is merged from the first products of each.
//! - A search reads the index of words alone, which stores all that a list filters and orders by (`words`).
//! - Quantity and time of the last change have few indexes, because every sale changes them. So up to
//!   some thousand matches are sorted.
//!
//! `plans` proves by the query plans of both engines that no combination scans the table.

mod measure;
mod page;
#[cfg(test)]
mod plans;
mod words;

pub(crate) use measure::Measures;

use db::{Engine, Money, Query, Timestamp};
use resource::Record as _;

use super::super::model::ProductRecord;
use crate::{
    rest::{
        fields::FieldErrors,
        list::{FilterKind, Filters, OrderBy, QueryFilter, ordering, search_words},
        query::Parameters,
    },
    search::{self, Key},
};

/// The choice between archived products and the others.
pub(in crate::catalogue::products) const ARCHIVED: QueryFilter = QueryFilter {
    name: "archived",
    kind: FilterKind::Truth,
    about: "`false`: without archived products; `true`: only these. Without it both.",
};

/// The order of a list that is asked for none.
pub(in crate::catalogue::products) const BY_TITLE: OrderBy = OrderBy {
    field: "title",
    descending: false,
};

/// Which products are asked for, and in which order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::catalogue::products) struct Selection {
    filter: Filter,
    order: Vec<OrderBy>,
}

/// Which products are asked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Filter {
    category: Option<i64>,
    brand: Option<i64>,
    min_price: Option<Money>,
    max_price: Option<Money>,
    /// Created from this moment on, and before this one. The API does not ask for it.
    created: Option<(Timestamp, Timestamp)>,
    /// Of other amounts than the price.
    bounds: Vec<Bound>,
    words: Vec<String>,
    /// Only archived ones, or only the others; without a choice both.
    archived: Option<bool>,
}

/// The least or the greatest value of an amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Bound {
    /// The field, which is the column.
    name: &'static str,
    is_least: bool,
    value: Money,
}

/// A word of a search that the index of titles finds: its number in the filter, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Lead {
    /// Which word of the filter.
    word: usize,
    /// The one word of titles that it occurs in, when there is only one.
    only: Option<i64>,
    /// In how many words of titles it occurs.
    forms: u64,
    /// Entries that the index has under it, products that have it twice counted twice.
    entries: u64,
}

/// Whether filters stand as the engine's planner may use them, or so that no index is chosen for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Filtering {
    Planned,
    /// A range of what orders as the planner may use it, all else row by row.
    Ranged,
    RowByRow,
}

impl Selection {
    /// Reads the query string.
    ///
    /// # Errors
    ///
    /// The messages of all filters that cannot be read.
    pub(in crate::catalogue::products) fn parse(
        parameters: &Parameters,
    ) -> Result<Self, FieldErrors> {
        let mut filters = Filters::new(parameters);
        let mut selection = Self {
            filter: Filter {
                category: filters.id("category"),
                brand: filters.id("brand"),
                min_price: filters.least_price("min_price"),
                max_price: filters.greatest_price("max_price"),
                created: None,
                bounds: bounds(&mut filters),
                words: search_words(parameters),
                archived: filters.truth(ARCHIVED.name),
            },
            order: ordering(parameters, ProductRecord::NAMES, BY_TITLE),
        };
        // All products of one category have the same category.
        let filter = &selection.filter;
        let (category, brand) = (filter.category.is_some(), filter.brand.is_some());
        selection.order.retain(|by| match by.field {
            "category" => !category,
            "brand" => !brand,
            _ => true,
        });
        let errors = filters.finish();
        if errors.is_empty() {
            Ok(selection)
        } else {
            Err(errors)
        }
    }

    /// Whether all products are asked for, by one field at most: the aggregates know how many, and an index has the order.
    pub(in crate::catalogue::products) fn is_everything(&self) -> bool {
        self.filter.is_none() && self.order.len() <= 1
    }

    /// Of these, the ones that were created from one moment on, and before another.
    pub(in crate::catalogue::products) fn created(
        mut self,
        created: Option<(Timestamp, Timestamp)>,
    ) -> Self {
        self.filter.created = created;
        self
    }
}

/// The bounds of the amounts that no plan knows of.
fn bounds(filters: &mut Filters<'_>) -> Vec<Bound> {
    let mut bounds = Vec::new();
    for field in ProductRecord::FIELDS {
        let Some((least, greatest)) = field.bounds else {
            continue;
        };
        if *field == ProductRecord::selling_price {
            continue;
        }
        let values = [
            (true, filters.least_price(least)),
            (false, filters.greatest_price(greatest)),
        ];
        let name = field.name;
        for (is_least, value) in values {
            bounds.extend(value.map(|value| Bound {
                name,
                is_least,
                value,
            }));
        }
    }
    bounds
}

impl Filter {
    /// Whether no amount can lie within the bounds, so that nothing needs to be asked.
    fn is_empty(&self) -> bool {
        let is_beyond = |bound: &Bound| match bound.value {
            value if bound.is_least => value > Money::MAX,
            value => value < Money::ZERO,
        };
        self.bounds.iter().any(is_beyond)
            || self.min_price.is_some_and(|min| min > Money::MAX)
            || self.max_price.is_some_and(|max| max < Money::ZERO)
    }

    fn has_price(&self) -> bool {
        self.min_price.is_some() || self.max_price.is_some()
    }

    /// Whether it asks for a stretch of prices, of time or of another amount.
    fn has_range(&self) -> bool {
        self.has_price() || !self.is_in_entries()
    }

    /// Whether the index of words has all that it asks for.
    fn is_in_entries(&self) -> bool {
        self.created.is_none() && self.bounds.is_empty()
    }

    /// Nothing is asked for: all products are.
    const fn none() -> Self {
        Self {
            category: None,
            brand: None,
            min_price: None,
            max_price: None,
            created: None,
            bounds: Vec::new(),
            words: Vec::new(),
            archived: None,
        }
    }

    /// Whether nothing is asked for, but perhaps that archived products stay away.
    fn is_none(&self) -> bool {
        self.archived != Some(true) && self.with_archived() == Self::none()
    }

    /// The same, whether archived or not.
    fn with_archived(&self) -> Self {
        Self {
            archived: None,
            ..self.clone()
        }
    }

    /// Whether products are archived: the condition on a column that has their ids. It is wrapped, so that PostgreSQL expects every
    /// second product to fulfil it and goes on along the index that has the order.
    fn push_archived(&self, query: &mut Query, column: &'static str) {
        let Some(archived) = self.archived else {
            return;
        };
        query
            .push(" AND COALESCE((SELECT z.archived_at IS ")
            .push(if archived { "NOT NULL" } else { "NULL" })
            .push(" FROM product_stock AS z WHERE z.product_id = ")
            .push(column)
            .push("), FALSE)");
    }

    /// Whether one word is all that is asked for.
    fn is_one_word(&self) -> bool {
        self.words.len() == 1
            && self.category.is_none()
            && self.brand.is_none()
            && !self.has_range()
    }

    /// The words that the index of titles knows, with their places.
    fn keys(&self) -> impl Iterator<Item = (usize, Key)> {
        let keys = self
            .words
            .iter()
            .map(String::as_str)
            .map(Key::of)
            .enumerate();
        keys.filter_map(|(place, key)| Some((place, key?)))
    }

    /// Category and brand, of `products AS p` or of `product_stock AS s`.
    fn push_references(&self, query: &mut Query, filtering: Filtering, of_stock: bool) {
        let columns = match (of_stock, filtering) {
            (true, _) => [" AND s.category_id = ", " AND s.brand_id = "],
            (false, Filtering::Planned) => [" AND p.category_id = ", " AND p.brand_id = "],
            (false, _) => [" AND +p.category_id = ", " AND +p.brand_id = "],
        };
        for (column, id) in columns.into_iter().zip([self.category, self.brand]) {
            if let Some(id) = id {
                query.push(column).bind(id);
            }
        }
    }

    /// The bounds of price, time and other amounts, of `products AS p`. A sign before a column, or a
    /// function around it, keeps its index out of the plan, on both engines.
    fn push_ranges(&self, query: &mut Query, filtering: Filtering) {
        let is_planned = filtering != Filtering::RowByRow;
        self.push_archived(query, "p.id");
        if let Some(min) = self.min_price {
            query
                .push(if is_planned {
                    " AND p.selling_price >= "
                } else {
                    " AND +p.selling_price >= "
                })
                .bind(min.max(Money::ZERO));
        }
        if let Some(max) = self.max_price {
            query
                .push(if is_planned {
                    " AND p.selling_price <= "
                } else {
                    " AND +p.selling_price <= "
                })
                .bind(max.min(Money::MAX));
        }
        self.push_others(query, filtering);
    }

    /// The bounds that the index of words does not have.
    fn push_others(&self, query: &mut Query, filtering: Filtering) {
        let is_planned = filtering != Filtering::RowByRow;
        for bound in &self.bounds {
            query
                .push(if is_planned { " AND p." } else { " AND +p." })
                .push(bound.name)
                .push(if bound.is_least { " >= " } else { " <= " })
                .bind(bound.value.clamp(Money::ZERO, Money::MAX));
        }
        if let Some((from, until)) = self.created {
            let (after, before) = if is_planned {
                (" AND p.created_at >= ", " AND p.created_at < ")
            } else {
                (
                    " AND COALESCE(p.created_at, p.created_at) >= ",
                    " AND COALESCE(p.created_at, p.created_at) < ",
                )
            };
            query.push(after).bind(from).push(before).bind(until);
        }
    }

    /// The words, of `products AS p`: all of them, or all that the lead does not answer for.
    fn push_words(&self, query: &mut Query, lead: Option<Lead>) {
        search::often_contains(query, "p.title_folded", &self.words_beside(lead));
    }

    /// The words that the lead does not answer for.
    fn words_beside(&self, lead: Option<Lead>) -> Vec<String> {
        let answered = lead.filter(|lead| self.is_answered_by(*lead));
        let words = self.words.iter().enumerate();
        words
            .filter(|(place, _)| answered.is_none_or(|lead| lead.word != *place))
            .map(|(_, word)| word.clone())
            .collect()
    }

    /// What is asked for, of the entries `product_words AS w` that a lead finds: everything that [`push_others`](Self::push_others) does not.
    fn push_entries(&self, query: &mut Query, engine: Engine, lead: Lead) {
        self.push_lead(query, engine, lead);
        if let Some(category) = self.category {
            query.push(" AND w.category_id = ").bind(category);
        }
        if let Some(brand) = self.brand {
            query.push(" AND w.brand_id = ").bind(brand);
        }
        if let Some(min) = self.min_price {
            query
                .push(" AND w.selling_price >= ")
                .bind(min.max(Money::ZERO));
        }
        if let Some(max) = self.max_price {
            query
                .push(" AND w.selling_price <= ")
                .bind(max.min(Money::MAX));
        }
        search::contains(query, "w.title_folded", &self.words_beside(Some(lead)));
    }

    /// Whether every product that the lead finds has its word.
    fn is_answered_by(&self, lead: Lead) -> bool {
        let key = self
            .words
            .get(lead.word)
            .map(String::as_str)
            .and_then(Key::of);
        key.is_some_and(|key| key.exact)
    }

    /// The products that the lead finds: the condition on `product_words AS w`.
    fn push_lead(&self, query: &mut Query, engine: Engine, lead: Lead) {
        let key = self
            .words
            .get(lead.word)
            .map(String::as_str)
            .and_then(Key::of);
        match (lead.only, key) {
            (Some(only), _) => {
                query.push(" WHERE w.word_id = ").bind(only);
            }
            (None, Some(key)) => {
                query.push(" WHERE w.word_id ");
                push_word_ids(query, engine, &key);
            }
            (None, None) => {
                query.push(" WHERE FALSE");
            }
        }
        self.push_archived(query, "w.product_id");
    }
}

/// The words of titles that a key finds, as the right side of a comparison. An array on PostgreSQL: it reaches the index entry by entry
/// whatever the planner expects to find.
fn push_word_ids(query: &mut Query, engine: Engine, key: &Key) {
    let (before, after) = match engine {
        Engine::Sqlite => ("IN (", ")"),
        Engine::Postgres => ("= ANY (ARRAY(", "))"),
    };
    query
        .push(before)
        .push("SELECT e.word_id FROM search_endings AS e");
    push_endings(query, key);
    query.push(after);
}

/// The endings that a key finds: the condition on `search_endings AS e`.
fn push_endings(query: &mut Query, key: &Key) {
    query.push(" WHERE e.ending >= ").bind(key.least.as_str());
    if let Some(beyond) = &key.beyond {
        query.push(" AND e.ending < ").bind(beyond.as_str());
    }
}

/// A table's row of each of the few products, fetched one by one: `few` goes first on both engines, whatever the planner expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fetched {
    Products,
    Stock,
}

fn push_fetched(query: &mut Query, engine: Engine, table: Fetched) {
    query.push(match (engine, table) {
        (Engine::Sqlite, Fetched::Products) => " CROSS JOIN products AS p ON p.id = few.id",
        (Engine::Sqlite, Fetched::Stock) => " CROSS JOIN product_stock AS s ON s.product_id = few.id",
        (Engine::Postgres, Fetched::Products) => {
            " CROSS JOIN LATERAL (SELECT * FROM products AS q WHERE q.id = few.id OFFSET 0) AS p"
        }
        (Engine::Postgres, Fetched::Stock) => {
            " CROSS JOIN LATERAL (SELECT * FROM product_stock AS q WHERE q.product_id = few.id OFFSET 0) AS s"
        }
    });
}
