//! Statements that look words of titles up while somebody types. Each reads a bounded number of
//! entries, however many products and words there are.

use std::collections::BTreeSet;

use db::{Conn, Engine, Error, Query};

use super::super::{
    near::variants,
    words::{Key, successor},
};

/// Where in a word of a title the text stands that is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Within {
    /// At its beginning.
    Beginning,
    /// Anywhere.
    Anywhere,
}

/// So many words are looked at, for those of which no product is left any more.
const MOST_LOOKED_AT: i64 = 400;

/// The first words of titles that have a text, of which there are products.
pub(crate) async fn words_with(
    conn: &mut Conn,
    text: &str,
    within: Within,
    most: i64,
) -> Result<Vec<i64>, Error> {
    let mut query = Query::new("SELECT few.id FROM (");
    query.push(match within {
        Within::Beginning => {
            "SELECT s.id AS id, s.word AS text FROM search_words AS s WHERE s.word >= "
        }
        Within::Anywhere => {
            "SELECT e.word_id AS id, e.ending AS text FROM search_endings AS e WHERE e.ending >= "
        }
    });
    query.bind(text);
    if let Some(beyond) = successor(text) {
        query
            .push(match within {
                Within::Beginning => " AND s.word < ",
                Within::Anywhere => " AND e.ending < ",
            })
            .bind(beyond);
    }
    query
        .push(" ORDER BY text LIMIT ")
        .bind(MOST_LOOKED_AT)
        .push(
            ") AS few WHERE EXISTS (SELECT 1 FROM product_words AS w WHERE w.word_id = few.id)
             ORDER BY few.text LIMIT ",
        )
        .bind(most);
    let mut seen = BTreeSet::new();
    let mut ids = conn.all_of(&query, |row| row.get::<i64>(0)).await?;
    // A word may have several endings that begin so.
    ids.retain(|id| seen.insert(*id));
    Ok(ids)
}

/// Whether a word of some title has a text; true of one that is too short to be looked up.
pub(crate) async fn has_word(conn: &mut Conn, text: &str) -> Result<bool, Error> {
    let Some(key) = Key::of(text) else {
        return Ok(true);
    };
    let found = words_with(conn, &key.least, Within::Anywhere, 1).await?;
    Ok(!found.is_empty())
}

/// The words, or beginnings of words, of titles that somebody may have meant who typed this one:
/// whole words first, and then the likelier slips. One seek in an index for each variant.
pub(crate) async fn nearest(
    conn: &mut Conn,
    typed: &str,
    most: usize,
) -> Result<Vec<String>, Error> {
    let variants = variants(typed);
    if variants.is_empty() {
        return Ok(Vec::new());
    }
    let mut query = Query::new("WITH variants (place, text) AS (VALUES ");
    for (place, variant) in (0_i64..).zip(&variants) {
        query
            .push(if place == 0 { "(CAST(" } else { ", (CAST(" })
            .bind(place)
            .push(" AS BIGINT), CAST(")
            .bind(variant.as_str())
            .push(" AS TEXT))");
    }
    query.push(
        ") SELECT v.text, (SELECT min(s.word) FROM search_words AS s WHERE s.word >= v.text) FROM variants AS v
           ORDER BY v.place",
    );
    let found = conn
        .all_of(&query, |row| {
            Ok((row.get::<String>(0)?, row.get::<Option<String>>(1)?))
        })
        .await?;
    let is = |whole: bool| {
        let found = found.iter().filter(move |(variant, word)| match word {
            Some(word) if whole => word == variant,
            Some(word) => word != variant && word.starts_with(variant.as_str()),
            None => false,
        });
        found.map(|(variant, _)| variant.clone())
    };
    Ok(is(true).chain(is(false)).take(most).collect())
}

/// Adds the words of titles that a key finds, as the right side of a comparison. It is an array on
/// PostgreSQL, which reaches the index entry by entry then, whatever the planner expects to find.
pub(crate) fn push_word_ids(query: &mut Query, engine: Engine, key: &Key) {
    let (before, after) = match engine {
        Engine::Sqlite => (" IN (", ")"),
        Engine::Postgres => (" = ANY (ARRAY(", "))"),
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

/// What the index has under a key.
pub(crate) struct Entries {
    /// How many, counted up to a bound and one more.
    pub(crate) count: u64,
    /// Under how many words of titles they are.
    pub(crate) words: i64,
    /// The word, if it is only one.
    pub(crate) only: Option<i64>,
}

/// What the index has under a key; entries are counted up to `most` and one more.
pub(crate) async fn entries_of(conn: &mut Conn, key: &Key, most: u64) -> Result<Entries, Error> {
    let engine = conn.engine();
    let mut query = Query::new("SELECT (SELECT min(e.word_id) FROM search_endings AS e");
    push_endings(&mut query, key);
    query.push("), (SELECT count(DISTINCT e.word_id) FROM search_endings AS e");
    push_endings(&mut query, key);
    query.push("), (SELECT count(*) FROM (SELECT 1 FROM product_words AS w WHERE w.word_id");
    push_word_ids(&mut query, engine, key);
    let limit = i64::try_from(most).unwrap_or(i64::MAX).saturating_add(1);
    query.push(" LIMIT ").bind(limit).push(") AS counted)");
    conn.one_of(&query, |row| {
        let (least, words): (Option<i64>, i64) = (row.get(0)?, row.get(1)?);
        Ok(Entries {
            count: row.get::<i64>(2)?.unsigned_abs(),
            words,
            only: least.filter(|_| words == 1),
        })
    })
    .await
}
