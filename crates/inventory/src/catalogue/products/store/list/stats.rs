//! The exact number of products that a selection matches, cached until the catalogue changes.
//!
//! Every change of a product increments the version of the catalogue in its own transaction, in any
//! process. A count that was read between two reads of the same version is valid while the version
//! stays the same. Movements change neither counts nor version.

use std::{collections::HashMap, sync::Mutex};

use db::{Conn, Error, OwnedValue, lock_mutex};

use super::{ARCHIVED, ProductRecord, STOCK, WORDS};
use crate::{
    aggregates::{self, Dimension},
    listing::{COMMON, Condition, DrivingTerm, QueryStats, Selection, Test},
    search::{self, Key},
};

/// The cache of statistics by conditions, each with its version. Cleared when it is full.
#[derive(Debug, Default)]
pub(crate) struct StatsCache(Mutex<HashMap<Vec<Condition>, (i64, QueryStats)>>);

/// The most indexed words of a title of 500 characters: each has three or more, and a space.
const MOST_WORDS: i64 = 125;
const CAPACITY: usize = 2048;

impl StatsCache {
    fn get(&self, conditions: &[Condition], version: i64) -> Option<QueryStats> {
        let cache = lock_mutex(&self.0);
        let (cached_version, stats) = cache.get(conditions)?;
        (*cached_version == version).then(|| stats.clone())
    }

    fn insert(&self, conditions: &[Condition], version: i64, stats: &QueryStats) {
        let mut cache = lock_mutex(&self.0);
        if cache.len() >= CAPACITY {
            cache.clear();
        }
        cache.insert(conditions.to_vec(), (version, stats.clone()));
    }
}

impl Selection<ProductRecord> {
    /// The number of selected products, and the statistics by which the access path is chosen.
    pub(in crate::catalogue::products) async fn stats(
        &self,
        conn: &mut Conn,
        cache: &StatsCache,
    ) -> Result<QueryStats, Error> {
        let conditions = &self.conditions;
        let version = aggregates::version(conn).await?;
        if let Some(stats) = cache.get(conditions, version) {
            return Ok(stats);
        }
        let stats = read_stats(conn, self).await?;
        if aggregates::version(conn).await? == version {
            cache.insert(conditions, version, &stats);
        }
        Ok(stats)
    }
}

async fn read_stats(
    conn: &mut Conn,
    selection: &Selection<ProductRecord>,
) -> Result<QueryStats, Error> {
    let all = aggregates::count_products(conn, None).await?;
    // Archived products are few. They are counted separately and subtracted.
    let mut open = selection.clone();
    let is_archived_out = |condition: &mut Condition| condition.test == Test::IsNull(true);
    let without_archived = open.conditions.extract_if(.., is_archived_out).next();
    let driving = driving_term(conn, &open).await?;
    let count = match open.conditions.as_slice() {
        [] => all,
        [
            Condition {
                field,
                test: Test::Is(OwnedValue::Integer(id)),
                ..
            },
        ] => {
            let dimension = match *field {
                "brand" => Dimension::Brand,
                _ => Dimension::Category,
            };
            aggregates::count_products(conn, Some((dimension, *id))).await?
        }
        _ => open.count(conn, driving.as_ref()).await?,
    };
    let archived = match &without_archived {
        Some(_) => {
            let driving = archived_term(conn).await?;
            open.count(conn, Some(&driving)).await?.min(count)
        }
        None => 0,
    };
    Ok(QueryStats {
        count: count - archived,
        all,
        ids: None,
        driving,
        idle: without_archived.filter(|_| archived == 0),
    })
}

/// The condition that the fewest products match, if they are few: a word of titles, or being
/// archived. A single word is used even if it is common, because its index has the order of titles.
async fn driving_term(
    conn: &mut Conn,
    selection: &Selection<ProductRecord>,
) -> Result<Option<DrivingTerm>, Error> {
    let mut terms = Vec::new();
    for condition in &selection.conditions {
        match &condition.test {
            Test::Contains(word) => {
                if let Some(key) = Key::of(word) {
                    terms.push(word_term(conn, condition, key).await?);
                }
            }
            Test::IsNull(false) => terms.push(archived_term(conn).await?),
            _ => {}
        }
    }
    let rarest = terms.into_iter().min_by_key(|term| term.entries);
    let is_all = selection.conditions.len() == 1;
    Ok(rarest.filter(|term| term.entries <= COMMON || (is_all && term.entries_of_one == 1)))
}

async fn word_term(conn: &mut Conn, condition: &Condition, key: Key) -> Result<DrivingTerm, Error> {
    let index_entries = search::entries_of(conn, &key, COMMON).await?;
    let answers = key.exact.then(|| condition.clone());
    let test = index_entries.only.map_or(Test::Matches(key), Test::is);
    Ok(DrivingTerm {
        table: &WORDS,
        condition: Condition::new("word", "word_id", test),
        answers,
        entries: index_entries.count,
        entries_of_one: index_entries.words.clamp(1, MOST_WORDS),
    })
}

async fn archived_term(conn: &mut Conn) -> Result<DrivingTerm, Error> {
    let condition = Condition::new(ARCHIVED.name, "archived_at", Test::IsNull(false));
    let sql = "SELECT count(*) FROM product_stock WHERE archived_at IS NOT NULL";
    let entries: i64 = conn.one(sql, &[], |row| row.get(0)).await?;
    Ok(DrivingTerm {
        table: &STOCK,
        answers: Some(condition.clone()),
        condition,
        entries: entries.unsigned_abs(),
        entries_of_one: 1,
    })
}
