//! One page of products: first the ids in order, then the records.

use db::{Conn, Engine, Error, Query};
use resource::{Record as _, find, sql};

use super::{
    super::{super::model::ProductRecord, COLUMNS, JOINS},
    Fetched, Filtering, Lead, Selection,
    measure::Measured,
    push_fetched,
};

use crate::ways::{LOOKED_UP, MOST_OF_A_GROUP, Reach};

/// The way to a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Under the one word of titles that is asked for, where the titles stand in order.
    Titles(Lead),
    /// From the products of a word, which are sorted.
    Word(Lead),
    /// From the entries of a word, which have all that they are sorted by.
    Entries(Lead),
    /// From the products that category, brand and price let through, which are sorted.
    Few,
    /// Along the index that has the order.
    Along(Filtering),
    /// From the first of each category or brand, in the order of their names.
    Groups(Filtering),
}

/// The table whose index gives the order of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum First {
    Products,
    Stock,
    Categories,
    Brands,
}

impl Selection {
    /// One page of them.
    pub(in crate::catalogue::products) async fn page(
        &self,
        conn: &mut Conn,
        measured: &Measured,
        limit: i64,
        offset: i64,
    ) -> Result<Vec<ProductRecord>, Error> {
        if measured.count == 0 {
            return Ok(Vec::new());
        }
        let query = self.statement(Query::new(""), conn.engine(), measured, (limit, offset));
        conn.all_of(&query, ProductRecord::from_row).await
    }

    /// All of them, one by one.
    pub(in crate::catalogue::products) async fn each(
        &self,
        conn: &mut Conn,
        measured: &Measured,
        mut take: impl FnMut(&ProductRecord) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let all = i64::try_from(measured.count).unwrap_or(i64::MAX);
        let query = self.statement(Query::new(""), conn.engine(), measured, (all, 0));
        // Nothing is kept of a row.
        conn.all_of(&query, |row| take(&ProductRecord::from_row(row)?))
            .await
            .map(drop)
    }

    /// The statement that gives a page, behind what `query` begins with.
    pub(super) fn statement(
        &self,
        query: Query,
        engine: Engine,
        measured: &Measured,
        (limit, offset): (i64, i64),
    ) -> Query {
        // Where nothing is left out, nothing needs to be asked.
        if self.filter.archived == Some(false) && measured.left_out == 0 {
            let all = self.with_archived();
            return all.statement(query, engine, measured, (limit, offset));
        }
        let way = self.way(measured, limit.saturating_add(offset).unsigned_abs());
        self.by_way(query, engine, way, (limit, offset))
    }

    /// The same, whether archived or not.
    pub(super) fn with_archived(&self) -> Self {
        Self {
            filter: self.filter.with_archived(),
            order: self.order.clone(),
        }
    }

    /// As [`statement`](Self::statement), by one way. Every way gives the same page.
    pub(super) fn by_way(
        &self,
        mut query: Query,
        engine: Engine,
        way: Way,
        (limit, offset): (i64, i64),
    ) -> Query {
        if way == Way::Few {
            query.push("WITH few (id) AS MATERIALIZED (SELECT p.id FROM products AS p WHERE TRUE");
            self.filter
                .push_references(&mut query, Filtering::Planned, false);
            self.filter.push_ranges(&mut query, Filtering::Planned);
            query.push(") ");
        }
        let most = limit.saturating_add(offset);
        query.push("SELECT ").push(*COLUMNS).push(" FROM (SELECT ");
        match way {
            Way::Titles(lead) => self.push_titles(&mut query, engine, lead),
            Way::Word(lead) => self.push_found(&mut query, engine, Some(lead)),
            Way::Entries(lead) => self.push_entries(&mut query, engine, lead, most),
            Way::Few => self.push_found(&mut query, engine, None),
            Way::Along(filtering) => self.push_along(&mut query, filtering),
            Way::Groups(filtering) => self.push_groups(&mut query, engine, filtering, most),
        }
        query
            .push(" LIMIT ")
            .bind(limit)
            .push(" OFFSET ")
            .bind(offset);
        query
            .push(") AS page")
            .push(engine.join_in_order())
            .push("products AS p ON p.id = page.id")
            .push(*JOINS);
        self.push_order(&mut query);
        query
    }

    /// Decides by what each way has to look at: along an index as many rows as bring the page together, given how many of all match;
    /// else all that match.
    fn way(&self, measured: &Measured, wanted: u64) -> Way {
        let first = self.order.first().map_or("", |by| by.field);
        let filter = &self.filter;
        let lead = measured.lead;
        if let Some(lead) = lead
            && lead.only.is_some()
            && self.order.len() == 1
            && first == "title"
            && filter.is_one_word()
            && filter.is_answered_by(lead)
        {
            return Way::Titles(lead);
        }
        let has_reference = filter.category.is_some() || filter.brand.is_some();
        let is_clustered = match first {
            "title" | "description" | "cost_price" | "selling_price" => {
                has_reference || filter.has_price() || !filter.words.is_empty()
            }
            "category" | "brand" => has_reference || !filter.words.is_empty(),
            // Ids follow time.
            "" | "id" | "updated_at" => filter.created.is_some(),
            _ => false,
        };
        let reach = Reach {
            wanted,
            matches: measured.count,
            all: measured.products,
        };
        let along = if is_clustered {
            reach.along_clusters()
        } else {
            reach.along()
        };
        // Of one that is left, the product is looked up, unless its entry says enough.
        let has_entries = filter.is_in_entries();
        let way = match lead.filter(|lead| lead.is_few()) {
            Some(lead)
                if has_entries
                    && self.is_of_entries()
                    && lead.entries <= along.saturating_mul(LOOKED_UP) =>
            {
                Way::Entries(lead)
            }
            Some(lead)
                if has_entries
                    && (lead.entries / LOOKED_UP).saturating_add(measured.count) <= along =>
            {
                Way::Word(lead)
            }
            Some(lead) if lead.entries <= along => Way::Word(lead),
            _ if !filter.words.is_empty() => Way::Along(Filtering::RowByRow),
            _ if self.is_in_index(first) => Way::Along(Filtering::Planned),
            _ if reach.is_sorted_within(along) => Way::Few,
            _ if self.is_ranged_by(first) => Way::Along(Filtering::Ranged),
            _ => Way::Along(Filtering::RowByRow),
        };
        match way {
            Way::Along(filtering)
                if matches!(first, "category" | "brand")
                    && self.order.len() == 1
                    && filter.words.is_empty()
                    && wanted <= MOST_OF_A_GROUP =>
            {
                Way::Groups(filtering)
            }
            way => way,
        }
    }

    /// Whether an index has just the rows that are asked for, in just this order.
    fn is_in_index(&self, first: &str) -> bool {
        let filter = &self.filter;
        if filter.archived == Some(true) {
            return false;
        }
        let is_whole = !filter.has_range() || self.is_ranged_by(first);
        let has_reference = filter.category.is_some() || filter.brand.is_some();
        is_whole && (!has_reference || matches!(first, "" | "id"))
    }

    /// Whether the only range that is asked for is one of what orders.
    fn is_ranged_by(&self, first: &str) -> bool {
        let filter = &self.filter;
        match (filter.has_price(), filter.created.is_some()) {
            _ if !filter.bounds.is_empty() => false,
            (true, false) => first == "selling_price",
            (false, true) => first == "created_at",
            _ => false,
        }
    }

    /// The products that a word leads to, or those of the statement's `few`, in order.
    fn push_found(&self, query: &mut Query, engine: Engine, lead: Option<Lead>) {
        query.push("few.id FROM ");
        if let Some(lead) = lead {
            query.push("(SELECT DISTINCT w.product_id AS id FROM product_words AS w");
            self.filter.push_entries(query, engine, lead);
            query.push(") AS ");
        }
        query.push("few");
        push_fetched(query, engine, Fetched::Products);
        if self.needs(First::Stock) {
            push_fetched(query, engine, Fetched::Stock);
        }
        self.push_named(query, First::Products);
        query.push(" WHERE TRUE");
        if lead.is_some() {
            self.filter.push_others(query, Filtering::RowByRow);
        }
        self.push_order(query);
    }

    /// The products along the index that has the order.
    fn push_along(&self, query: &mut Query, filtering: Filtering) {
        let first = self
            .order
            .first()
            .map_or(First::Products, |by| first_of(by.field));
        if first == First::Stock && self.is_of_stock_alone() {
            return self.push_along_stock(query, filtering);
        }
        query.push("p.id FROM ").push(match first {
            First::Products => "products AS p",
            First::Stock => "product_stock AS s CROSS JOIN products AS p",
            First::Categories => "categories AS category CROSS JOIN products AS p",
            First::Brands => "brands AS brand CROSS JOIN products AS p",
        });
        if first != First::Stock && self.needs(First::Stock) {
            query.push(" JOIN product_stock AS s ON s.product_id = p.id");
        }
        self.push_named(query, first);
        query.push(match first {
            First::Products => " WHERE TRUE",
            First::Stock => " WHERE p.id = s.product_id",
            First::Categories => " WHERE p.category_id = category.id",
            First::Brands => " WHERE p.brand_id = brand.id",
        });
        self.filter
            .push_references(query, filtering, first == First::Stock);
        self.filter.push_ranges(query, filtering);
        self.filter.push_words(query, None);
        if first == First::Stock {
            // The same number as the product's, and the one that its index has.
            self.push_fields(query);
            query.push("s.product_id");
        } else {
            self.push_order(query);
        }
    }

    /// Whether a row of the stock tells all that filter and order ask.
    fn is_of_stock_alone(&self) -> bool {
        let filter = &self.filter;
        !filter.has_range()
            && filter.words.is_empty()
            && self
                .order
                .iter()
                .all(|by| first_of(by.field) == First::Stock)
    }

    fn push_along_stock(&self, query: &mut Query, filtering: Filtering) {
        query.push("s.product_id AS id FROM product_stock AS s WHERE TRUE");
        self.filter.push_references(query, filtering, true);
        self.filter.push_archived(query, "s.product_id");
        self.push_fields(query);
        query.push("s.product_id");
    }

    /// As many of each category or brand as the page may need, which is a look at the beginning of each: sorted by name, none of the others
    /// comes before them.
    fn push_groups(&self, query: &mut Query, engine: Engine, filtering: Filtering, most: i64) {
        let by = self.order.first();
        let is_category = by.is_some_and(|by| by.field == "category");
        query.push(match (engine, is_category) {
            (Engine::Sqlite, true) => {
                "x.id FROM categories AS g CROSS JOIN products AS x ON x.id IN ("
            }
            (Engine::Sqlite, false) => {
                "x.id FROM brands AS g CROSS JOIN products AS x ON x.id IN ("
            }
            (Engine::Postgres, true) => "x.id FROM categories AS g CROSS JOIN LATERAL (",
            (Engine::Postgres, false) => "x.id FROM brands AS g CROSS JOIN LATERAL (",
        });
        query
            .push("SELECT p.id FROM products AS p WHERE ")
            .push(if is_category {
                "p.category_id = g.id"
            } else {
                "p.brand_id = g.id"
            });
        self.filter.push_references(query, filtering, false);
        self.filter.push_ranges(query, filtering);
        query.push(" ORDER BY p.id LIMIT ").bind(most);
        query.push(match engine {
            Engine::Sqlite => ")",
            Engine::Postgres => ") AS x",
        });
        query.push(if by.is_some_and(|by| by.descending) {
            " ORDER BY g.name_folded DESC, x.id"
        } else {
            " ORDER BY g.name_folded, x.id"
        });
    }

    pub(super) fn needs(&self, table: First) -> bool {
        self.order.iter().any(|by| first_of(by.field) == table)
    }

    /// Tables of names that the order needs, beside the one that is there.
    fn push_named(&self, query: &mut Query, present: First) {
        if present != First::Categories && self.needs(First::Categories) {
            query.push(" JOIN categories AS category ON category.id = p.category_id");
        }
        if present != First::Brands && self.needs(First::Brands) {
            query.push(" JOIN brands AS brand ON brand.id = p.brand_id");
        }
    }

    pub(super) fn push_order(&self, query: &mut Query) {
        self.push_fields(query);
        query.push("p.id");
    }

    /// The fields that order, before the id that decides between equals.
    fn push_fields(&self, query: &mut Query) {
        query.push(" ORDER BY ");
        for by in &self.order {
            if let Some(field) = find(ProductRecord::FIELDS, by.field) {
                sql::push_order(query, "p", field, by.descending);
            }
        }
    }
}

fn first_of(field: &str) -> First {
    match field {
        "quantity" | "updated_at" => First::Stock,
        "category" => First::Categories,
        "brand" => First::Brands,
        _ => First::Products,
    }
}
