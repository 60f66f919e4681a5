//! The list of products: its filters, its orders, and the statement that each combination becomes.
//! The ids of a page come in order from an index; the records are joined afterwards.

use db::{Conn, Error, Money, Query};

use super::{
    super::model::{FIELDS, ProductRecord},
    RECORD_COLUMNS, record_of,
};
use crate::{
    rest::{
        fields::FieldErrors,
        list::{Filters, OrderBy, ordering, search_words},
        query::Parameters,
    },
    search,
    tallies::{self, Dimension},
};

/// Which products are asked for, and in which order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::catalogue::products) struct Selection {
    category: Option<i64>,
    brand: Option<i64>,
    min_price: Option<Money>,
    max_price: Option<Money>,
    words: Vec<String>,
    order: Vec<OrderBy>,
}

/// The table whose index gives the order of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lead {
    Products,
    Stock,
    Categories,
    Brands,
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
        let selection = Self {
            category: filters.id("category"),
            brand: filters.id("brand"),
            min_price: filters.least_price("min_price"),
            max_price: filters.greatest_price("max_price"),
            words: search_words(parameters),
            order: ordering(
                parameters,
                &FIELDS,
                OrderBy {
                    field: "title",
                    descending: false,
                },
            ),
        };
        let errors = filters.finish();
        if errors.is_empty() {
            Ok(selection)
        } else {
            Err(errors)
        }
    }

    /// Whether no price can lie within the bounds, so that nothing needs to be asked.
    fn is_empty(&self) -> bool {
        self.min_price.is_some_and(|min| min > Money::MAX)
            || self.max_price.is_some_and(|max| max < Money::ZERO)
    }

    /// What the tallies know the number of: all products, those of one category, or those of one brand.
    fn tallied(&self) -> Option<Option<(Dimension, i64)>> {
        if self.min_price.is_some() || self.max_price.is_some() || !self.words.is_empty() {
            return None;
        }
        match (self.category, self.brand) {
            (None, None) => Some(None),
            (Some(category), None) => Some(Some((Dimension::Category, category))),
            (None, Some(brand)) => Some(Some((Dimension::Brand, brand))),
            (Some(_), Some(_)) => None,
        }
    }

    /// How many products are selected.
    pub(in crate::catalogue::products) async fn count(
        &self,
        conn: &mut Conn,
    ) -> Result<u64, Error> {
        if self.is_empty() {
            return Ok(0);
        }
        if let Some(group) = self.tallied() {
            return tallies::count_products(conn, group).await;
        }
        let mut query = Query::new("SELECT count(*) FROM products AS p WHERE TRUE");
        self.push_filters(&mut query, Lead::Products);
        conn.one_of(&query, |row| row.get::<i64>(0))
            .await
            .map(i64::unsigned_abs)
    }

    /// One page of them.
    pub(in crate::catalogue::products) async fn page(
        &self,
        conn: &mut Conn,
        limit: i64,
        offset: i64,
    ) -> Result<Vec<ProductRecord>, Error> {
        if self.is_empty() {
            return Ok(Vec::new());
        }
        let lead = self
            .order
            .first()
            .map_or(Lead::Products, |by| lead_of(by.field));
        let mut query = Query::new("SELECT ");
        query
            .push(RECORD_COLUMNS)
            .push(" FROM (SELECT p.id FROM ")
            .push(match lead {
                Lead::Products => "products AS p",
                Lead::Stock => "product_stock AS s CROSS JOIN products AS p",
                Lead::Categories => "categories AS c CROSS JOIN products AS p",
                Lead::Brands => "brands AS b CROSS JOIN products AS p",
            });
        self.push_joins(&mut query, lead);
        query.push(match lead {
            Lead::Products => " WHERE TRUE",
            Lead::Stock => " WHERE p.id = s.product_id",
            Lead::Categories => " WHERE p.category_id = c.id",
            Lead::Brands => " WHERE p.brand_id = b.id",
        });
        self.push_filters(&mut query, lead);
        self.push_order(&mut query);
        query
            .push(" LIMIT ")
            .bind(limit)
            .push(" OFFSET ")
            .bind(offset);
        query.push(
            ") AS page
             JOIN products AS p ON p.id = page.id
             JOIN product_stock AS s ON s.product_id = p.id
             JOIN categories AS c ON c.id = p.category_id
             JOIN brands AS b ON b.id = p.brand_id",
        );
        self.push_order(&mut query);
        conn.all_of(&query, record_of).await
    }

    /// Tables that only a later term of the order needs.
    fn push_joins(&self, query: &mut Query, lead: Lead) {
        let needs =
            |table: Lead| lead != table && self.order.iter().any(|by| lead_of(by.field) == table);
        if needs(Lead::Stock) {
            query.push(" JOIN product_stock AS s ON s.product_id = p.id");
        }
        if needs(Lead::Categories) {
            query.push(" JOIN categories AS c ON c.id = p.category_id");
        }
        if needs(Lead::Brands) {
            query.push(" JOIN brands AS b ON b.id = p.brand_id");
        }
    }

    fn push_filters(&self, query: &mut Query, lead: Lead) {
        let is_stock = lead == Lead::Stock;
        if let Some(category) = self.category {
            query
                .push(if is_stock {
                    " AND s.category_id = "
                } else {
                    " AND p.category_id = "
                })
                .bind(category);
        }
        if let Some(brand) = self.brand {
            query
                .push(if is_stock {
                    " AND s.brand_id = "
                } else {
                    " AND p.brand_id = "
                })
                .bind(brand);
        }
        if let Some(min) = self.min_price {
            query
                .push(" AND p.selling_price >= ")
                .bind(min.max(Money::ZERO));
        }
        if let Some(max) = self.max_price {
            query
                .push(" AND p.selling_price <= ")
                .bind(max.min(Money::MAX));
        }
        search::contains(query, "p.title_folded", &self.words);
    }

    fn push_order(&self, query: &mut Query) {
        query.push(" ORDER BY ");
        for by in &self.order {
            query.push(match (by.field, by.descending) {
                ("title", false) => "p.title_folded, ",
                ("title", true) => "p.title_folded DESC, ",
                ("category", false) => "c.name_folded, ",
                ("category", true) => "c.name_folded DESC, ",
                ("brand", false) => "b.name_folded, ",
                ("brand", true) => "b.name_folded DESC, ",
                ("description", false) => "p.description_key NULLS FIRST, ",
                ("description", true) => "p.description_key DESC NULLS LAST, ",
                ("serie_number", false) => "p.serie_number_folded NULLS FIRST, ",
                ("serie_number", true) => "p.serie_number_folded DESC NULLS LAST, ",
                ("cost_price", false) => "p.cost_price, ",
                ("cost_price", true) => "p.cost_price DESC, ",
                ("selling_price", false) => "p.selling_price, ",
                ("selling_price", true) => "p.selling_price DESC, ",
                ("quantity", false) => "s.quantity, ",
                ("quantity", true) => "s.quantity DESC, ",
                ("created_at", false) => "p.created_at, ",
                ("created_at", true) => "p.created_at DESC, ",
                ("updated_at", false) => "s.updated_at, ",
                ("updated_at", true) => "s.updated_at DESC, ",
                (_, false) => "p.id, ",
                (_, true) => "p.id DESC, ",
            });
        }
        query.push("p.id");
    }
}

fn lead_of(field: &str) -> Lead {
    match field {
        "quantity" | "updated_at" => Lead::Stock,
        "category" => Lead::Categories,
        "brand" => Lead::Brands,
        _ => Lead::Products,
    }
}
