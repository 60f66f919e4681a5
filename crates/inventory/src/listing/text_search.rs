//! Text search in lists whose texts have no search index. It finds the records of products whose
//! titles match, and scans the texts of a limited number of further records, in the order of the
//! list. So the cost does not grow with the list.

use db::{Conn, Error, Row, Timestamp};

use super::{Condition, List, PageRange, Selection, Test};
use crate::{State, rest::Refusal};

/// The limits of a text search in one list.
#[derive(Debug)]
pub(crate) struct TextSearch {
    /// The list with the searched texts.
    pub(crate) texts: &'static List<SearchedText>,
    /// The most records whose texts are scanned.
    pub(crate) most_read: usize,
    /// The most matches that are returned.
    pub(crate) most_found: usize,
}

/// A search request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TextQuery {
    /// Folded words. A text must contain all of them.
    pub(crate) words: Vec<String>,
    /// The ids of products whose titles match, and whether there are more.
    pub(crate) titled: (Vec<i64>, bool),
}

/// A range of the matching records.
#[derive(Debug)]
pub(crate) struct Matches<T> {
    /// The number of matches. May be limited, see the function that returns it.
    pub(crate) count: u64,
    pub(crate) records: Vec<T>,
    /// Whether there may be matches that were not found.
    pub(crate) is_cut: bool,
}

/// The sort key of a record, the id of its product, and its text.
pub(crate) type SearchedText = ((Timestamp, i64), Option<i64>, String);

pub(crate) fn text_of(row: &Row<'_>) -> Result<SearchedText, Error> {
    Ok(((row.get(0)?, row.get(1)?), row.get(2)?, row.get(3)?))
}

impl<T: 'static> Selection<T> {
    /// Searches, and reads a range of the matches.
    pub(crate) async fn search(
        &self,
        conn: &mut Conn,
        text_search: &TextSearch,
        text_query: &TextQuery,
        (limit, offset): PageRange,
    ) -> Result<Matches<T>, Error> {
        let (ids, is_cut) = self.search_ids(conn, text_search, text_query).await?;
        let number = |signed: i64| usize::try_from(signed).unwrap_or(usize::MAX);
        let on_page = ids.iter().skip(number(offset)).take(number(limit));
        let page = self.with_ids(on_page.copied().collect());
        Ok(Matches {
            count: ids.len() as u64,
            records: page.first(conn, limit).await?,
            is_cut,
        })
    }

    /// A range of the records, in a transaction of its own: without words of all, which are counted
    /// up to `most`, else of those that a search finds.
    pub(crate) async fn matches(
        self,
        state: &State,
        text_search: &'static TextSearch,
        words: Vec<String>,
        range: PageRange,
        most: i64,
    ) -> Result<Matches<T>, Refusal>
    where
        T: Send,
    {
        let text_query = TextQuery {
            words,
            ..TextQuery::default()
        };
        let read = async move |conn: &mut Conn| {
            if text_query.words.is_empty() {
                return self.part_of_many(conn, range, most).await;
            }
            self.search(conn, text_search, &text_query, range).await
        };
        Ok(state.db.read(read).await?)
    }

    /// Selects the records with these ids, in the same order.
    pub(crate) fn with_ids(&self, ids: Vec<i64>) -> Self {
        Self {
            conditions: vec![Condition::new("id", "id", Test::IsOneOf(ids))],
            ..self.clone()
        }
    }

    /// The ids of the matches in order, and whether there may be more.
    pub(crate) async fn search_ids(
        &self,
        conn: &mut Conn,
        text_search: &TextSearch,
        text_query: &TextQuery,
    ) -> Result<(Vec<i64>, bool), Error> {
        let (products, is_many) = &text_query.titled;
        let texts = self.of_list(text_search.texts);
        let mut places = Vec::new();
        if !products.is_empty() {
            let mut titled = texts.clone();
            let test = Test::IsOneOf(products.clone());
            let condition = Condition::new("product", "product_id", test);
            titled.conditions.push(condition);
            let found = titled.first(conn, one_more(text_search.most_found)).await?;
            places.extend(found.into_iter().map(|(place, ..)| place));
        }
        let read_texts = texts.first(conn, one_more(text_search.most_read)).await?;
        let is_read = read_texts.len() <= text_search.most_read;
        let others = read_texts.into_iter().take(text_search.most_read);
        let others = others.filter(|(_, product, text)| {
            let is_titled = product.is_some_and(|product| products.contains(&product));
            let text = db::fold(text);
            !is_titled && text_query.words.iter().all(|word| text.contains(word))
        });
        places.extend(others.map(|(place, ..)| place));
        places.sort_unstable();
        // The ledger may have two entries of one movement, if an import has reused its id.
        places.dedup();
        let is_oldest_first = self.order.first().is_some_and(|by| !by.descending);
        if !is_oldest_first {
            places.reverse();
        }
        let is_cut = *is_many || !is_read || places.len() > text_search.most_found;
        places.truncate(text_search.most_found);
        Ok((places.into_iter().map(|(_, id)| id).collect(), is_cut))
    }
}

/// Adds one row to a limit, which shows that there are more.
fn one_more(most: usize) -> i64 {
    i64::try_from(most.saturating_add(1)).unwrap_or(i64::MAX)
}
