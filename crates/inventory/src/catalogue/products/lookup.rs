//! Interprets a search that matches no title: as a brand, a category, a word with one mistyped
//! letter, or the beginning of a serie number. Pages use it; the API searches titles alone, as
//! specified. Brands and categories are few and are scanned. Words and serie numbers are read from
//! indexes, so the duration does not grow with the catalogue.

use std::collections::BTreeMap;

use db::{Conn, Error};
use resource::{Record as _, filters};

use super::{ProductRecord, first_matches, store};
use crate::{
    State,
    catalogue::named::{self, Kind, NamedRecord},
    listing::{PageRange, QueryStats},
    rest::{Refusal, list::search_words, query::Parameters},
    search::{self, Key},
};

/// The most names that are read per word.
const NAMES: i64 = 50;
/// A search with more words is not interpreted.
const MOST_WORDS: usize = 6;
/// The fewest characters of a serie number's beginning. Shorter ones match too many numbers.
const SHORTEST: usize = 2;

/// The interpretation of a search that matches no title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Interpretation {
    /// Some words are the name of a brand or a category.
    Named { kind: Kind, id: i64, name: String },
    /// The search with corrected spelling.
    Respelled(String),
}

/// Interprets a search. If no title contains all words, looks for a brand or category that some
/// words name, and searches titles for the other words. If there is none, corrects the spelling of
/// words. Returns the parameters to search with, and the interpretation if they differ.
pub(crate) async fn interpret(
    state: &State,
    parameters: &Parameters,
) -> Result<(Parameters, Option<Interpretation>), Refusal> {
    if search_words(parameters).is_empty() || count(state, parameters).await? > 0 {
        return Ok((parameters.clone(), None));
    }
    interpretation(state, parameters).await
}

/// Same as [`interpret`] for a search that is known to match no title.
async fn interpretation(
    state: &State,
    parameters: &Parameters,
) -> Result<(Parameters, Option<Interpretation>), Refusal> {
    let words = search_words(parameters);
    let unchanged = || (parameters.clone(), None);
    if words.is_empty() || words.len() > MOST_WORDS {
        return Ok(unchanged());
    }
    for kind in [Kind::Brand, Kind::Category] {
        if parameters.get(kind.name()).is_some() {
            continue;
        }
        let Some((record, rest)) = best_matching_record(state, kind, &words).await? else {
            continue;
        };
        let mut narrowed = parameters.clone();
        narrowed.set(kind.name(), record.id.to_string());
        narrowed.set("search", rest);
        if count(state, &narrowed).await? > 0 {
            let named = Interpretation::Named {
                kind,
                id: record.id,
                name: record.name,
            };
            return Ok((narrowed, Some(named)));
        }
    }
    let Some(respelled) = respelled(state, parameters, words).await? else {
        return Ok(unchanged());
    };
    let mut narrowed = parameters.clone();
    narrowed.set("search", respelled.clone());
    if count(state, &narrowed).await? == 0 {
        return Ok(unchanged());
    }
    Ok((narrowed, Some(Interpretation::Respelled(respelled))))
}

/// The most corrections of one word that are checked.
const MOST_SPELLINGS: usize = 5;

/// Corrects each word that no title contains by one that differs by one letter. `None` if no word
/// or not every word can be corrected, or if the search is the beginning of a serie number.
async fn respelled(
    state: &State,
    parameters: &Parameters,
    words: Vec<String>,
) -> Result<Option<String>, Refusal> {
    let text = parameters.get("search").unwrap_or_default();
    if !numbered_like(state, text, (1, 0)).await?.is_empty() {
        return Ok(None);
    }
    let read = async move |conn: &mut Conn| {
        let (mut respelled, mut is_changed) = (Vec::new(), false);
        for word in &words {
            if search::has_word(conn, word).await? {
                respelled.push(quoted(word));
                continue;
            }
            let Some(nearest_word) = nearest_word(conn, word).await? else {
                return Ok(None);
            };
            respelled.push(nearest_word);
            is_changed = true;
        }
        Ok::<_, Error>(is_changed.then(|| respelled.join(" ")))
    };
    Ok(state.db.read(read).await?)
}

/// The most likely word of a title that differs from this one by one letter.
async fn nearest_word(conn: &mut Conn, word: &str) -> Result<Option<String>, Error> {
    for nearest_word in search::nearest(conn, word, MOST_SPELLINGS).await? {
        if search::has_word(conn, &nearest_word).await? {
            return Ok(Some(nearest_word));
        }
    }
    Ok(None)
}

/// The record whose name contains most of the words, and a search for the remaining words.
async fn best_matching_record(
    state: &State,
    kind: Kind,
    words: &[String],
) -> Result<Option<(NamedRecord, String)>, Refusal> {
    let mut found = BTreeMap::new();
    for word in words {
        for record in named::best(state, kind, &quoted(word), NAMES).await? {
            found.insert(record.id, record);
        }
    }
    let missing = |record: &NamedRecord| -> Vec<String> {
        let name = db::fold(&record.name);
        let rest = words.iter().filter(|word| !name.contains(word.as_str()));
        rest.map(|word| quoted(word)).collect()
    };
    let best = found.into_values().min_by_key(|record| {
        // Of names with the same number of matching words, the shortest wins.
        (missing(record).len(), record.name.len(), record.id)
    });
    Ok(best.map(|record| {
        let rest = missing(&record).join(" ");
        (record, rest)
    }))
}

/// A word in search syntax. A phrase is quoted so that it stays together.
fn quoted(word: &str) -> String {
    if word.contains(' ') {
        format!("\"{word}\"")
    } else {
        word.to_owned()
    }
}

async fn count(state: &State, parameters: &Parameters) -> Result<u64, Refusal> {
    let selection = store::selection(parameters)?;
    let shared = state.clone();
    let read = async move |conn: &mut Conn| {
        let query_stats = selection.stats(conn, &shared.list_stats).await?;
        Ok::<_, Refusal>(query_stats.count)
    };
    state.db.read(read).await
}

/// A range of the products whose serie numbers begin with a text, ordered by serie number.
pub(crate) async fn numbered_like(
    state: &State,
    text: &str,
    range: PageRange,
) -> Result<Vec<ProductRecord>, Refusal> {
    let text = text.to_owned();
    let read = async move |conn: &mut Conn| numbered_range(conn, &text, range).await;
    Ok(state.db.read(read).await?)
}

async fn numbered_range(
    conn: &mut Conn,
    text: &str,
    range: PageRange,
) -> Result<Vec<ProductRecord>, Error> {
    let Some(prefix) = prefix(text) else {
        return Ok(Vec::new());
    };
    let list = store::numbered(prefix);
    list.page(conn, &QueryStats::UNKNOWN, range).await
}

/// The folded text to compare with serie numbers. `None` if it is too short or cannot occur in one.
fn prefix(text: &str) -> Option<String> {
    let prefix = db::fold(text.trim());
    let is_long_enough = !prefix.contains('\0') && prefix.chars().nth(SHORTEST - 1).is_some();
    is_long_enough.then_some(prefix)
}

/// Products whose serie numbers begin with a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SerieNumberMatches {
    /// The beginning, as it was typed.
    pub(crate) text: String,
    /// How many of the products are listed.
    pub(crate) count: u64,
    /// Whether there are more products than are listed.
    pub(crate) is_cut: bool,
}

/// The most products that are listed by serie number. A longer beginning finds the others.
const MOST_NUMBERED: u64 = 10_000;

impl SerieNumberMatches {
    /// The products whose serie numbers begin with the search. `None` if titles match, if there are
    /// other filters, or if there are no such products. `understood` are the parameters that
    /// [`interpret`] returned.
    pub(crate) async fn find(
        state: &State,
        understood: &Parameters,
    ) -> Result<Option<Self>, Refusal> {
        let others = filters(ProductRecord::FIELDS);
        let is_narrowed = others.iter().any(|name| understood.get(name).is_some())
            || understood.get("archived") == Some("true");
        let text = understood.get("search").unwrap_or_default();
        let Some(prefix) = prefix(text).filter(|_| !is_narrowed) else {
            return Ok(None);
        };
        if count(state, understood).await? > 0 {
            return Ok(None);
        }
        let list = store::numbered(prefix);
        let limit = i64::try_from(MOST_NUMBERED).unwrap_or(i64::MAX);
        let limit = limit.saturating_add(1);
        let read = async move |conn: &mut Conn| list.count_up_to(conn, limit).await;
        let counted = state.db.read(read).await?;
        Ok((counted > 0).then(|| Self {
            text: text.trim().to_owned(),
            count: counted.min(MOST_NUMBERED),
            is_cut: counted > MOST_NUMBERED,
        }))
    }

    pub(crate) async fn part(
        &self,
        state: &State,
        limit: i64,
        offset: i64,
    ) -> Result<Vec<ProductRecord>, Refusal> {
        let left = i64::try_from(self.count).unwrap_or(i64::MAX) - offset;
        if left <= 0 {
            return Ok(Vec::new());
        }
        numbered_like(state, &self.text, (limit.min(left), offset)).await
    }

    /// Calls `take` with every product.
    pub(crate) async fn each(
        &self,
        conn: &mut Conn,
        mut take: impl FnMut(&ProductRecord) -> Result<(), Error>,
    ) -> Result<(), Refusal> {
        let all = i64::try_from(self.count).unwrap_or(i64::MAX);
        for product in numbered_range(conn, &self.text, (all, 0)).await? {
            take(&product)?;
        }
        Ok(())
    }
}

/// The first products of the list's page for these parameters.
pub(crate) async fn first(
    state: &State,
    parameters: &Parameters,
    limit: i64,
) -> Result<Vec<ProductRecord>, Refusal> {
    let (understood, _) = interpret(state, parameters).await?;
    match SerieNumberMatches::find(state, &understood).await? {
        Some(numbered) => numbered.part(state, limit, 0).await,
        None => first_matches(state, &understood, limit).await,
    }
}

/// The most products by which other records (inflows, ledger entries, …) are searched.
const MOST_MEANT: usize = 100;

/// The ids of the products that a text finds, by which other records are searched, and whether
/// there are more than are returned. None for an empty text.
pub(crate) async fn few(state: &State, text: &str) -> Result<(Vec<i64>, bool), Refusal> {
    let most = i64::try_from(MOST_MEANT).unwrap_or(i64::MAX);
    let found = listed(state, text, most.saturating_add(1)).await?;
    let ids = found.iter().take(MOST_MEANT).map(|product| product.id);
    Ok((ids.collect(), found.len() > MOST_MEANT))
}

/// The products that a text finds in the list of products, including archived ones.
async fn listed(state: &State, text: &str, limit: i64) -> Result<Vec<ProductRecord>, Refusal> {
    if text.contains('\0') {
        return Ok(Vec::new());
    }
    if let Some(product) = super::with_serie_number(state, text).await? {
        return Ok(vec![product]);
    }
    let parameters = Parameters::of("search", text);
    let found = first_matches(state, &parameters, limit).await?;
    filled_up(state, &parameters, found, limit).await
}

/// Whether the index of words covers one of the words. Otherwise a search reads every title.
pub(super) fn is_indexed(words: &[String]) -> bool {
    words.iter().any(|word| Key::of(word).is_some())
}

/// Adds to products found by title those whose serie numbers begin with the search. If there are
/// none at all, searches again with the interpretation.
pub(super) async fn filled_up(
    state: &State,
    parameters: &Parameters,
    mut found: Vec<ProductRecord>,
    limit: i64,
) -> Result<Vec<ProductRecord>, Refusal> {
    let text = parameters.get("search").unwrap_or_default();
    let room = limit - i64::try_from(found.len()).unwrap_or(limit);
    if room > 0 {
        for product in numbered_like(state, text, (room, 0)).await? {
            if found.iter().all(|other| other.id != product.id) {
                found.push(product);
            }
        }
    }
    if found.is_empty() && is_indexed(&search_words(parameters)) {
        let (understood, _) = interpret(state, parameters).await?;
        found = first_matches(state, &understood, limit).await?;
    } else if found.is_empty()
        && let (understood, Some(_)) = interpretation(state, parameters).await?
    {
        found = first_matches(state, &understood, limit).await?;
    }
    Ok(found)
}
