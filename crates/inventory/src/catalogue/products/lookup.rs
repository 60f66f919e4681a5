//! What people may mean by a search that no title matches: a brand, a category, a word with one
//! letter mistyped, the beginning of a serie number. The API searches titles alone, as specified;
//! pages ask here too. Brands and categories are few and are scanned, words and serie numbers have
//! an index, so none of it slows down with the catalogue.

use std::collections::BTreeMap;

use db::{Conn, Error};
use resource::{Record as _, filters};

use super::{ProductRecord, part, store::ProductList};
use crate::{
    State,
    catalogue::named::{self, Kind, NamedRecord},
    listing::{PageRange, QueryStats},
    rest::{Refusal, list::search_words, query::Parameters},
    search::{self, Key},
};

/// Names that are looked at for one word.
const NAMES: i64 = 50;
/// Of so many words on, no name is looked for among them.
const MOST_WORDS: usize = 6;
/// A beginning of fewer characters begins too many numbers to mean one.
const SHORTEST: usize = 2;

/// What words of a search mean that no title has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Interpretation {
    /// A brand or a category.
    Named {
        /// Which of the two.
        kind: Kind,
        /// Its id.
        id: i64,
        /// Its name.
        name: String,
    },
    /// The same words, those with one letter mistyped as titles have them.
    Respelled(String),
}

/// What a search selects: where no title has its words, the products of the brand or category that
/// some of them name, whose titles have the others; else the products whose titles have nearly
/// these words.
///
/// # Errors
///
/// Filters that cannot be read, and faults of the store.
pub(crate) async fn interpret(
    state: &State,
    parameters: &Parameters,
) -> Result<(Parameters, Option<Interpretation>), Refusal> {
    if search_words(parameters).is_empty() || count(state, parameters).await? > 0 {
        return Ok((parameters.clone(), None));
    }
    interpretation(state, parameters).await
}

/// The same of words that no title has, as is known.
async fn interpretation(
    state: &State,
    parameters: &Parameters,
) -> Result<(Parameters, Option<Interpretation>), Refusal> {
    let words = search_words(parameters);
    let nothing = || (parameters.clone(), None);
    if words.is_empty() || words.len() > MOST_WORDS {
        return Ok(nothing());
    }
    for kind in [Kind::Brand, Kind::Category] {
        if parameters.get(kind.name()).is_some() {
            continue;
        }
        let Some((record, rest)) = best_named(state, kind, &words).await? else {
            continue;
        };
        let mut other = parameters.clone();
        other.set(kind.name(), record.id.to_string());
        other.set("search", rest);
        if count(state, &other).await? > 0 {
            let meant = Interpretation::Named {
                kind,
                id: record.id,
                name: record.name,
            };
            return Ok((other, Some(meant)));
        }
    }
    let Some(respelled) = respelled(state, parameters, words).await? else {
        return Ok(nothing());
    };
    let mut other = parameters.clone();
    other.set("search", respelled.clone());
    if count(state, &other).await? == 0 {
        return Ok(nothing());
    }
    Ok((other, Some(Interpretation::Respelled(respelled))))
}

/// So many words that may be meant are looked at.
const MOST_SPELLINGS: usize = 5;

/// A search whose words titles have, one letter of each changed where no title has it. None where
/// nothing needs to change, or where the search begins a serie number.
async fn respelled(
    state: &State,
    parameters: &Parameters,
    words: Vec<String>,
) -> Result<Option<String>, Refusal> {
    let text = parameters.get("search").unwrap_or_default();
    if !numbered_like(state, text, 1).await?.is_empty() {
        return Ok(None);
    }
    let read = async move |conn: &mut Conn| {
        let (mut respelled, mut is_changed) = (Vec::new(), false);
        for word in &words {
            if search::has_word(conn, word).await? {
                respelled.push(quoted(word));
                continue;
            }
            let Some(near) = near(conn, word).await? else {
                return Ok(None);
            };
            respelled.push(near);
            is_changed = true;
        }
        Ok::<_, Error>(is_changed.then(|| respelled.join(" ")))
    };
    Ok(state.db.read(read).await?)
}

/// The likeliest word of a title that differs from one by a letter.
async fn near(conn: &mut Conn, word: &str) -> Result<Option<String>, Error> {
    for near in search::nearest(conn, word, MOST_SPELLINGS).await? {
        if search::has_word(conn, &near).await? {
            return Ok(Some(near));
        }
    }
    Ok(None)
}

/// The record whose name has most of the words, and the words that it has not, as a search.
async fn best_named(
    state: &State,
    kind: Kind,
    words: &[String],
) -> Result<Option<(NamedRecord, String)>, Refusal> {
    let mut found = BTreeMap::new();
    for word in words {
        let parameters = Parameters::of("search", &quoted(word));
        for record in named::part(state, kind, &parameters, NAMES, 0).await? {
            found.insert(record.id, record);
        }
    }
    let missing = |record: &NamedRecord| -> Vec<String> {
        let name = db::fold(&record.name);
        let rest = words.iter().filter(|word| !name.contains(word.as_str()));
        rest.map(|word| quoted(word)).collect()
    };
    let best = found.into_values().min_by_key(|record| {
        // Of names with as many of the words the shortest is meant.
        (missing(record).len(), record.name.len(), record.id)
    });
    Ok(best.map(|record| {
        let rest = missing(&record).join(" ");
        (record, rest)
    }))
}

/// A word as it is searched for: a phrase stays together.
fn quoted(word: &str) -> String {
    if word.contains(' ') {
        format!("\"{word}\"")
    } else {
        word.to_owned()
    }
}

async fn count(state: &State, parameters: &Parameters) -> Result<u64, Refusal> {
    let selection = ProductList::parse(parameters)?;
    let shared = state.clone();
    let read = async move |conn: &mut Conn| {
        let measured = selection.stats(conn, &shared.list_stats).await?;
        Ok::<_, Refusal>(measured.count)
    };
    state.db.read(read).await
}

/// The products whose serie numbers begin with a text, the first of them.
pub(crate) async fn numbered_like(
    state: &State,
    text: &str,
    limit: i64,
) -> Result<Vec<ProductRecord>, Refusal> {
    numbered_part(state, text, (limit, 0)).await
}

/// A stretch of the products whose serie numbers begin with a text, in the order of their numbers.
pub(crate) async fn numbered_part(
    state: &State,
    text: &str,
    part: PageRange,
) -> Result<Vec<ProductRecord>, Refusal> {
    let text = text.to_owned();
    let read = async move |conn: &mut Conn| numbered_within(conn, &text, part).await;
    Ok(state.db.read(read).await?)
}

async fn numbered_within(
    conn: &mut Conn,
    text: &str,
    part: PageRange,
) -> Result<Vec<ProductRecord>, Error> {
    let Some(beginning) = beginning(text) else {
        return Ok(Vec::new());
    };
    let list = ProductList::numbered(beginning);
    list.selection.page(conn, &QueryStats::UNKNOWN, part).await
}

/// A text as serie numbers may begin with it; none where it begins too many, or none.
fn beginning(text: &str) -> Option<String> {
    let beginning = db::fold(text.trim());
    let is_some = !beginning.contains('\0') && beginning.chars().nth(SHORTEST - 1).is_some();
    is_some.then_some(beginning)
}

/// Products that are listed by the beginning of their serie numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SerieNumberMatches {
    /// The beginning, as it was typed.
    pub(crate) text: String,
    /// How many of them are listed.
    pub(crate) count: u64,
    /// Whether there are more.
    pub(crate) is_cut: bool,
}

/// So many products are listed by the beginning of their serie numbers: who types on finds the
/// others.
const MOST_NUMBERED: u64 = 10_000;

impl SerieNumberMatches {
    /// Those that a search means which no title has, if nothing else is asked for; `understood` is
    /// how the search was understood.
    ///
    /// # Errors
    ///
    /// Filters that cannot be read, and faults of the store.
    pub(crate) async fn find(
        state: &State,
        understood: &Parameters,
    ) -> Result<Option<Self>, Refusal> {
        let others = filters(ProductRecord::FIELDS);
        let is_narrowed = others.iter().any(|name| understood.get(name).is_some())
            || understood.get("archived") == Some("true");
        let text = understood.get("search").unwrap_or_default();
        let Some(beginning) = beginning(text).filter(|_| !is_narrowed) else {
            return Ok(None);
        };
        if count(state, understood).await? > 0 {
            return Ok(None);
        }
        let list = ProductList::numbered(beginning);
        let most = i64::try_from(MOST_NUMBERED).unwrap_or(i64::MAX);
        let most = most.saturating_add(1);
        let read = async move |conn: &mut Conn| list.selection.count_up_to(conn, most).await;
        let counted = state.db.read(read).await?;
        Ok((counted > 0).then(|| Self {
            text: text.trim().to_owned(),
            count: counted.min(MOST_NUMBERED),
            is_cut: counted > MOST_NUMBERED,
        }))
    }

    /// A stretch of them.
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
        numbered_part(state, &self.text, (limit.min(left), offset)).await
    }

    /// All of them.
    ///
    /// # Errors
    ///
    /// Faults of the store, and those of `take`.
    pub(crate) async fn each(
        &self,
        conn: &mut Conn,
        mut take: impl FnMut(&ProductRecord) -> Result<(), Error>,
    ) -> Result<(), Refusal> {
        let all = i64::try_from(self.count).unwrap_or(i64::MAX);
        for product in numbered_within(conn, &self.text, (all, 0)).await? {
            take(&product)?;
        }
        Ok(())
    }
}

/// The first products that a list's page shows for these parameters, on all its pages.
///
/// # Errors
///
/// Filters that cannot be read, and faults of the store.
pub(crate) async fn first(
    state: &State,
    parameters: &Parameters,
    limit: i64,
) -> Result<Vec<ProductRecord>, Refusal> {
    let (understood, _) = interpret(state, parameters).await?;
    match SerieNumberMatches::find(state, &understood).await? {
        Some(numbered) => numbered.part(state, limit, 0).await,
        None => part(state, &understood, limit, 0).await,
    }
}

/// So many products are what a search of something else means by their words.
const MOST_MEANT: usize = 100;

/// The products that a text finds, for what is searched by them, and whether there are more than
/// are looked at; none for no text.
pub(crate) async fn few(state: &State, text: &str) -> Result<(Vec<i64>, bool), Refusal> {
    let most = i64::try_from(MOST_MEANT).unwrap_or(i64::MAX);
    let found = listed(state, text, most.saturating_add(1)).await?;
    let ids = found.iter().take(MOST_MEANT).map(|product| product.id);
    Ok((ids.collect(), found.len() > MOST_MEANT))
}

/// As the list of products finds them, in its order, archived ones too.
async fn listed(state: &State, text: &str, limit: i64) -> Result<Vec<ProductRecord>, Refusal> {
    if text.contains('\0') {
        return Ok(Vec::new());
    }
    if let Some(product) = super::with_serie_number(state, text).await? {
        return Ok(vec![product]);
    }
    let parameters = Parameters::of("search", text);
    let found = part(state, &parameters, limit, 0).await?;
    filled_up(state, &parameters, found, limit).await
}

/// Whether the index of titles has what leads to a search; else every title would have to be looked
/// at.
pub(super) fn is_indexed(words: &[String]) -> bool {
    words.iter().any(|word| Key::of(word).is_some())
}

/// What titles found for a search, and behind it the products whose serie numbers begin with it;
/// where there are none, those that it means.
pub(super) async fn filled_up(
    state: &State,
    parameters: &Parameters,
    mut found: Vec<ProductRecord>,
    limit: i64,
) -> Result<Vec<ProductRecord>, Refusal> {
    let text = parameters.get("search").unwrap_or_default();
    let room = limit - i64::try_from(found.len()).unwrap_or(limit);
    if room > 0 {
        for product in numbered_like(state, text, room).await? {
            if found.iter().all(|other| other.id != product.id) {
                found.push(product);
            }
        }
    }
    if found.is_empty() && is_indexed(&search_words(parameters)) {
        let (understood, _) = interpret(state, parameters).await?;
        found = part(state, &understood, limit, 0).await?;
    } else if found.is_empty()
        && let (understood, Some(_)) = interpretation(state, parameters).await?
    {
        found = part(state, &understood, limit, 0).await?;
    }
    Ok(found)
}
