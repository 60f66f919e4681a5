//! The suggestions while a user types: first products whose titles begin with the text, then those
//! with a word that begins with it, then those with a word that contains it. The work is bounded
//! for any number of products. The list of products finds what is not suggested.

use std::collections::BTreeMap;

use db::{Conn, Error};

use super::{
    ProductRecord, lookup,
    store::{self, offers},
};
use crate::{
    State,
    rest::{
        Refusal,
        list::{search_problem, search_words},
        query::Parameters,
    },
    search::{self, Key, Within},
};

/// The most words of the index that are read for one word of the text.
const MOST_WORDS: i64 = 40;

/// The suggestions for a text. An exact serie number suggests that product alone. Otherwise:
/// products whose titles contain all words, matches at the beginnings of words first, then products
/// whose serie numbers begin with the text. If there are none: what the list of products finds.
/// Archived products are suggested only by exact serie number, so that the user who scans one
/// learns why it cannot be booked.
pub(crate) async fn best(
    state: &State,
    text: &str,
    limit: i64,
) -> Result<Vec<ProductRecord>, Refusal> {
    let mut parameters = Parameters::of("search", text);
    if search_problem(&parameters).is_some() {
        return Ok(Vec::new());
    }
    if let Some(product) = super::with_serie_number(state, text).await? {
        return Ok(vec![product]);
    }
    parameters.set("archived", "false");
    let words = search_words(&parameters);
    let folded = db::fold(text.trim());
    let read = async move |conn: &mut Conn| {
        let ids = titled(conn, &folded, &words, limit).await?;
        records(conn, &ids).await
    };
    let found = state.db.read::<_, Error, _>(read).await?;
    lookup::filled_up(state, &parameters, found, limit).await
}

/// The ids of products whose titles contain all words, best matches first.
async fn titled(
    conn: &mut Conn,
    text: &str,
    words: &[String],
    limit: i64,
) -> Result<Vec<i64>, Error> {
    let mut ids = offers::titled_from(conn, text, limit).await?;
    if words.is_empty() {
        return Ok(ids);
    }
    let is_indexed = lookup::is_indexed(words);
    for within in [Within::Beginning, Within::Anywhere] {
        let room = limit - i64::try_from(ids.len()).unwrap_or(limit);
        if room <= 0 {
            break;
        }
        let mut sets = Vec::new();
        for text in index_lookups(words, within) {
            sets.push(search::words_with(conn, &text, within, MOST_WORDS).await?);
        }
        // `append_new` skips the products that are found already.
        let others = match offers::rarest(conn, sets).await? {
            Some(lead) => offers::under(conn, &lead, words, within, limit).await?,
            None => Vec::new(),
        };
        append_new(&mut ids, others);
        if !is_indexed {
            append_new(
                &mut ids,
                offers::among_first(conn, words, within, limit).await?,
            );
        }
    }
    ids.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(ids)
}

/// The text to look up in the index for each word; for a phrase, one of its words. Words that are
/// too short for the index are skipped if there are others.
fn index_lookups(words: &[String], within: Within) -> Vec<String> {
    let is_indexed = lookup::is_indexed(words);
    let words = words
        .iter()
        .filter(|word| !is_indexed || Key::of(word).is_some());
    let index_lookups = words.map(|word| {
        let part = word.split(' ').next().unwrap_or_default();
        match (Key::of(word), Key::of(part)) {
            (_, Some(key)) if within == Within::Beginning => key.beginning,
            (Some(key), _) if within == Within::Anywhere => key.beginning,
            _ => part.to_owned(),
        }
    });
    index_lookups.filter(|text| !text.is_empty()).collect()
}

fn append_new(ids: &mut Vec<i64>, others: Vec<i64>) {
    for id in others {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
}

async fn records(conn: &mut Conn, ids: &[i64]) -> Result<Vec<ProductRecord>, Error> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let found = store::LIST.of_ids(conn, ids).await?;
    let mut found: BTreeMap<i64, ProductRecord> = found
        .into_iter()
        .map(|product| (product.id, product))
        .collect();
    Ok(ids.iter().filter_map(|id| found.remove(id)).collect())
}
