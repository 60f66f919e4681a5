//! The products that are offered while somebody types: those whose titles begin so first, then
//! those with a word that begins so, then those that have it within a word. Bounded work, however
//! many products there are: what it leaves out, the list of products finds.

use std::collections::BTreeMap;

use db::{Conn, Error};

use super::{
    ProductRecord, lookup,
    store::{self, offers},
};
use crate::{
    State,
    rest::{Refusal, list::search_words, query::Parameters},
    search::{self, Key, Within},
};

/// So many words of titles are looked at for one word of a text.
const MOST_WORDS: i64 = 40;

/// The product of a serie number alone; else the first of those whose titles have all words of a
/// text, those at whose words' beginnings it stands before the others, then of those whose serie
/// numbers begin with it; else what the list of products shows for it. Archived products are found
/// by their serie numbers alone, so that whoever scans one is told why it does not move.
pub(crate) async fn best(
    state: &State,
    text: &str,
    limit: i64,
) -> Result<Vec<ProductRecord>, Refusal> {
    if text.contains('\0') {
        return Ok(Vec::new());
    }
    if let Some(product) = super::with_serie_number(state, text).await? {
        return Ok(vec![product]);
    }
    let mut parameters = Parameters::of("search", text);
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

/// The ids of those whose titles have all words of a text, the best first.
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
        for text in sought(words, within) {
            sets.push(search::words_with(conn, &text, within, MOST_WORDS).await?);
        }
        // What is found already may be found again.
        let others = match offers::rarest(conn, sets).await? {
            Some(lead) => offers::under(conn, &lead, words, within, limit).await?,
            None => Vec::new(),
        };
        add(&mut ids, others);
        if !is_indexed {
            add(
                &mut ids,
                offers::among_first(conn, words, within, limit).await?,
            );
        }
    }
    ids.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(ids)
}

/// What of each word is looked up in the index: of a phrase a part. Words too short for the index
/// lead nowhere while there are others.
fn sought(words: &[String], within: Within) -> Vec<String> {
    let is_indexed = lookup::is_indexed(words);
    let words = words
        .iter()
        .filter(|word| !is_indexed || Key::of(word).is_some());
    let sought = words.map(|word| {
        let part = word.split(' ').next().unwrap_or_default();
        match (Key::of(word), Key::of(part)) {
            (_, Some(key)) if within == Within::Beginning => key.least,
            (Some(key), _) if within == Within::Anywhere => key.least,
            _ => part.to_owned(),
        }
    });
    sought.filter(|text| !text.is_empty()).collect()
}

fn add(ids: &mut Vec<i64>, others: Vec<i64>) {
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
    let found = store::offers::of_ids(conn, ids).await?;
    let mut found: BTreeMap<i64, ProductRecord> = found
        .into_iter()
        .map(|product| (product.id, product))
        .collect();
    Ok(ids.iter().filter_map(|id| found.remove(id)).collect())
}
