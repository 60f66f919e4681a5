//! SQL that looks up whole names, and words of titles while a user types. Each statement reads a
//! bounded number of index entries, whatever the number of products and words.

use std::collections::BTreeSet;

use db::{Conn, Engine, Error, Query, Row};
use resource::sql;

use super::super::{begins, near::variants, words::Key};

/// The ids of the records of a table that a name in `column` means. If there are exact matches,
/// only these; otherwise case and accents do not matter. At most two, which tells the caller that
/// the name is ambiguous.
pub(crate) async fn ids_of_name(
    conn: &mut Conn,
    table: &'static str,
    column: &'static str,
    name: &str,
) -> Result<Vec<i64>, Error> {
    let mut query = Query::new("SELECT ");
    query.push(column).push(" = ").bind(name);
    query.push(", id FROM ").push(table).push(" WHERE ");
    query
        .push(column)
        .push("_folded = ")
        .bind(sql::folded(name));
    query.push(" ORDER BY 1 DESC, id LIMIT 2");
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let found: Vec<(bool, i64)> = conn.all_of(&query, read).await?;
    let has_exact = found.iter().any(|(is_exact, _)| *is_exact);
    let meant = found
        .into_iter()
        .filter(|(is_exact, _)| *is_exact == has_exact);
    Ok(meant.map(|(_, id)| id).collect())
}

/// Where in a word of a title the text must occur.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Within {
    Beginning,
    Anywhere,
}

/// The most words that are read, including those whose products were all deleted.
const MOST_LOOKED_AT: i64 = 400;

/// The ids of the first words that contain a text and have products.
pub(crate) async fn words_with(
    conn: &mut Conn,
    text: &str,
    within: Within,
    most: i64,
) -> Result<Vec<i64>, Error> {
    let (source, column) = match within {
        Within::Beginning => (
            "SELECT s.id AS id, s.word AS text FROM search_words AS s WHERE ",
            "s.word",
        ),
        Within::Anywhere => (
            "SELECT e.word_id AS id, e.ending AS text FROM search_endings AS e WHERE ",
            "e.ending",
        ),
    };
    let mut query = Query::new("SELECT few.id FROM (");
    begins(query.push(source), column, text);
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
    // A word may have several endings that begin with the text.
    ids.retain(|id| seen.insert(*id));
    Ok(ids)
}

/// Whether a word of a title contains a text. True for a text that is too short for the index.
pub(crate) async fn has_word(conn: &mut Conn, text: &str) -> Result<bool, Error> {
    let Some(key) = Key::of(text) else {
        return Ok(true);
    };
    let found = words_with(conn, &key.beginning, Within::Anywhere, 1).await?;
    Ok(!found.is_empty())
}

/// The words of titles, or their beginnings, that a user may have meant by a mistyped word:
/// complete words first, then the more likely mistakes. One index seek per variant.
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
    let matches = |is_complete: bool| {
        let found = found.iter().filter(move |(variant, word)| match word {
            Some(word) if is_complete => word == variant,
            Some(word) => word != variant && word.starts_with(variant.as_str()),
            None => false,
        });
        found.map(|(variant, _)| variant.clone())
    };
    Ok(matches(true).chain(matches(false)).take(most).collect())
}

/// Adds the condition on the ids of the words that a key finds, as the right side of a comparison.
/// PostgreSQL gets an array, so that it uses the index for each id, whatever its planner estimates.
pub(crate) fn push_word_ids(query: &mut Query, engine: Engine, key: &Key) {
    let (before, after) = match engine {
        Engine::Sqlite => (" IN (", ")"),
        Engine::Postgres => (" = ANY (ARRAY(", "))"),
    };
    query.push(before);
    push_endings(query, "SELECT e.word_id", key);
    query.push(after);
}

/// Adds the statement that selects from the endings of a key, `e`.
fn push_endings(query: &mut Query, select: &'static str, key: &Key) {
    query.push(select).push(" FROM search_endings AS e WHERE ");
    begins(query, "e.ending", &key.beginning);
}

/// The index entries of a key.
pub(crate) struct Entries {
    /// The number of entries, counted up to the bound plus one.
    pub(crate) count: u64,
    /// The number of words that the entries belong to.
    pub(crate) words: i64,
    /// The id of the word, if there is only one.
    pub(crate) only: Option<i64>,
}

/// Counts the index entries of a key, up to `most` plus one.
pub(crate) async fn entries_of(conn: &mut Conn, key: &Key, most: u64) -> Result<Entries, Error> {
    let engine = conn.engine();
    let mut query = Query::new("SELECT (");
    push_endings(&mut query, "SELECT min(e.word_id)", key);
    query.push("), (");
    push_endings(&mut query, "SELECT count(DISTINCT e.word_id)", key);
    query.push("), (SELECT count(*) FROM (SELECT 1 FROM product_words AS w WHERE w.word_id");
    push_word_ids(&mut query, engine, key);
    let limit = i64::try_from(most).unwrap_or(i64::MAX).saturating_add(1);
    query.push(" LIMIT ").bind(limit).push(") AS counted)");
    conn.one_of(&query, |row| {
        let (first_word, words): (Option<i64>, i64) = (row.get(0)?, row.get(1)?);
        Ok(Entries {
            count: row.get::<i64>(2)?.unsigned_abs(),
            words,
            only: first_word.filter(|_| words == 1),
        })
    })
    .await
}
