//! How many products a filter selects, counted exactly and once for each state of the catalogue.
//!
//! Every change of a product increments the version of the catalogue in its own transaction. A count that was read in the same statement as a
//! version is valid as long as that version is, in this process and whoever makes the change; movements change neither.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use db::{Conn, Engine, Error, Query};

use crate::{
    aggregates::{self, Dimension},
    ways::COMMON,
};

use super::{
    Fetched, Filter, Filtering, Lead, Selection, push_endings, push_fetched, push_word_ids,
};

/// What a filter selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::catalogue::products) struct Measured {
    /// How many products.
    pub(in crate::catalogue::products) count: u64,
    /// About how many products there are in all.
    pub(super) products: u64,
    /// The rarest word that the index of titles knows.
    pub(super) lead: Option<Lead>,
    /// How many archived ones a filter leaves out.
    pub(super) left_out: u64,
    version: i64,
}

/// What was measured, by filter. Bounded: emptied when it is full.
#[derive(Debug, Default)]
pub(crate) struct Measures(Mutex<HashMap<Filter, Measured>>);

/// Most filters that are remembered.
const MOST: usize = 2048;

impl Measures {
    fn get(&self, filter: &Filter, version: i64) -> Option<Measured> {
        let found = self.lock().get(filter).copied();
        found.filter(|measured| measured.version == version)
    }

    fn keep(&self, filter: &Filter, measured: Measured) {
        let mut kept = self.lock();
        if kept.len() >= MOST {
            kept.clear();
        }
        kept.insert(filter.clone(), measured);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Filter, Measured>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Products that the aggregates count together: those of a category or brand, or all.
struct Group(Option<(Dimension, i64)>);

impl Lead {
    /// Whether it finds few enough to be gone through.
    pub(super) fn is_few(self) -> bool {
        self.entries <= COMMON
    }
}

impl Selection {
    /// How many products are selected, and what the way to a page depends on.
    pub(in crate::catalogue::products) async fn measure(
        &self,
        conn: &mut Conn,
        known: &Measures,
    ) -> Result<Measured, Error> {
        let mut measured = Measured {
            count: 0,
            products: 0,
            lead: None,
            left_out: 0,
            version: 0,
        };
        if self.filter.is_empty() {
            return Ok(measured);
        }
        measured.version = version(conn).await?;
        if let Some(same) = known.get(&self.filter, measured.version) {
            return Ok(same);
        }
        if self.filter.archived == Some(false) {
            return self.measure_without_archived(conn, known, measured).await;
        }
        if let Some(Group(group)) = self.filter.aggregated() {
            measured.count = aggregates::count_products(conn, group).await?;
            measured.products = match group {
                None => measured.count,
                Some(_) => aggregates::count_products(conn, None).await?,
            };
            if version(conn).await? == measured.version {
                known.keep(&self.filter, measured);
            }
            return Ok(measured);
        }
        measured.lead = self.filter.find_lead(conn).await?;
        let before = measured.version;
        (measured.version, measured.products, measured.count) =
            self.filter.count(conn, measured.lead).await?;
        // A lead of another state of the catalogue is good for this answer and no other.
        if measured.version == before {
            known.keep(&self.filter, measured);
        }
        Ok(measured)
    }
}

impl Selection {
    /// All that match, less the archived ones: what counts all of them is fast, and those are few.
    async fn measure_without_archived(
        &self,
        conn: &mut Conn,
        known: &Measures,
        at: Measured,
    ) -> Result<Measured, Error> {
        let all = self.with_archived();
        let measured = Box::pin(all.measure(conn, known)).await?;
        let left_out = self.filter.count_archived(conn).await?.min(measured.count);
        let measured = Measured {
            count: measured.count - left_out,
            left_out,
            ..measured
        };
        if version(conn).await? == at.version && measured.version == at.version {
            known.keep(&self.filter, measured);
        }
        Ok(measured)
    }
}

async fn version(conn: &mut Conn) -> Result<i64, Error> {
    conn.one(
        "SELECT CAST(COALESCE(SUM(version), 0) AS BIGINT) FROM product_versions",
        &[],
        |row| row.get(0),
    )
    .await
}

impl Filter {
    /// What the aggregates know the number of: all products, those of one category, or those of one brand.
    fn aggregated(&self) -> Option<Group> {
        if self.has_range() || !self.words.is_empty() || self.archived.is_some() {
            return None;
        }
        match (self.category, self.brand) {
            (None, None) => Some(Group(None)),
            (Some(category), None) => Some(Group(Some((Dimension::Category, category)))),
            (None, Some(brand)) => Some(Group(Some((Dimension::Brand, brand)))),
            (Some(_), Some(_)) => None,
        }
    }

    /// The word that leads to the fewest products, if any does to few, or if it is all that is asked for.
    async fn find_lead(&self, conn: &mut Conn) -> Result<Option<Lead>, Error> {
        let keys: Vec<_> = self.keys().collect();
        if keys.is_empty() {
            return Ok(None);
        }
        let engine = conn.engine();
        let mut query = Query::new("SELECT ");
        for (number, (_, key)) in keys.iter().enumerate() {
            query.push(if number == 0 { "" } else { ", " });
            query.push("(SELECT min(e.word_id) FROM search_endings AS e");
            push_endings(&mut query, key);
            query.push("), (SELECT max(e.word_id) FROM search_endings AS e");
            push_endings(&mut query, key);
            query.push("), (SELECT count(DISTINCT e.word_id) FROM search_endings AS e");
            push_endings(&mut query, key);
            query.push(
                "), (SELECT count(*) FROM (SELECT 1 FROM product_words AS w WHERE w.word_id ",
            );
            push_word_ids(&mut query, engine, key);
            query
                .push(" LIMIT ")
                .bind(i64::try_from(COMMON + 1).unwrap_or(i64::MAX))
                .push(") AS bounded)");
        }
        let leads = conn
            .one_of(&query, |row| {
                let mut leads = Vec::with_capacity(keys.len());
                for (number, (word, _)) in keys.iter().enumerate() {
                    let least: Option<i64> = row.get(number * 4)?;
                    let most: Option<i64> = row.get(number * 4 + 1)?;
                    leads.push(Lead {
                        word: *word,
                        only: least.filter(|_| least == most),
                        forms: row.get::<i64>(number * 4 + 2)?.unsigned_abs(),
                        entries: row.get::<i64>(number * 4 + 3)?.unsigned_abs(),
                    });
                }
                Ok(leads)
            })
            .await?;
        let rarest = leads.into_iter().min_by_key(|lead| lead.entries);
        Ok(rarest.filter(|lead| lead.is_few() || (self.is_one_word() && lead.only.is_some())))
    }

    /// How many archived products match what else is asked for.
    async fn count_archived(&self, conn: &mut Conn) -> Result<u64, Error> {
        let others = self.with_archived();
        let mut query = Query::new(
            "SELECT count(*) FROM product_stock AS z JOIN products AS p ON p.id = z.product_id WHERE z.archived_at IS NOT NULL",
        );
        others.push_references(&mut query, Filtering::RowByRow, false);
        others.push_ranges(&mut query, Filtering::RowByRow);
        others.push_words(&mut query, None);
        conn.one_of(&query, |row| row.get::<i64>(0))
            .await
            .map(i64::unsigned_abs)
    }

    /// Version, greatest id and count, all of one moment.
    async fn count(&self, conn: &mut Conn, lead: Option<Lead>) -> Result<(i64, u64, u64), Error> {
        let mut query = Query::new(
            "SELECT (SELECT CAST(COALESCE(SUM(v.version), 0) AS BIGINT) FROM product_versions AS v),
                    (SELECT COALESCE(max(x.id), 0) FROM products AS x), (",
        );
        self.push_count(&mut query, conn.engine(), lead);
        query.push(")");
        conn.one_of(&query, |row| {
            let (products, count): (i64, i64) = (row.get(1)?, row.get(2)?);
            Ok((row.get(0)?, products.unsigned_abs(), count.unsigned_abs()))
        })
        .await
    }

    fn push_count(&self, query: &mut Query, engine: Engine, lead: Option<Lead>) {
        match lead {
            Some(lead) if self.is_in_entries() => {
                query.push(if lead.only.is_some() {
                    "SELECT count(*) FROM product_words AS w"
                } else {
                    "SELECT count(DISTINCT w.product_id) FROM product_words AS w"
                });
                self.push_entries(query, engine, lead);
            }
            Some(lead) if lead.is_few() => {
                query.push(
                    "SELECT count(*) FROM (SELECT DISTINCT w.product_id AS id FROM product_words AS w",
                );
                self.push_lead(query, engine, lead);
                query.push(") AS few");
                push_fetched(query, engine, Fetched::Products);
                query.push(" WHERE TRUE");
                self.push_references(query, Filtering::RowByRow, false);
                self.push_ranges(query, Filtering::RowByRow);
                self.push_words(query, Some(lead));
            }
            _ => {
                query.push("SELECT count(*) FROM products AS p WHERE TRUE");
                self.push_references(query, Filtering::Planned, false);
                self.push_ranges(query, Filtering::Planned);
                self.push_words(query, None);
            }
        }
    }
}
