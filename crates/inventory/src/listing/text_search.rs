//! Searches of what is read newest first, where no index has the words: the records of products
//! whose titles have them, and of the others those that come first, whose texts are read. Both are
//! bounded, however long the list is.

use db::{Conn, Error, Row, Timestamp};

use super::{Condition, List, PageRange, Selection, Test};

/// What a search reads of a list.
#[derive(Debug)]
pub(crate) struct TextSearch {
    /// The list, of which a record is its time, its id, its product's id, and its text.
    pub(crate) texts: &'static List<SearchedText>,
    /// The texts of so many records are read.
    pub(crate) most_read: usize,
    /// So many matches are shown: those that come first.
    pub(crate) most_found: usize,
}

/// What is searched for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TextQuery {
    /// Words, folded, each of which a text must have.
    pub(crate) words: Vec<String>,
    /// The products whose titles have them, and whether there are more.
    pub(crate) titled: (Vec<i64>, bool),
}

/// A part of the records that match.
#[derive(Debug)]
pub(crate) struct Matches<T> {
    /// How many are counted.
    pub(crate) count: u64,
    pub(crate) records: Vec<T>,
    /// Whether there may be more.
    pub(crate) is_cut: bool,
}

/// A record's place in the order, its product, and its text.
pub(crate) type SearchedText = ((Timestamp, i64), Option<i64>, String);

/// Reads a text.
pub(crate) fn text_of(row: &Row<'_>) -> Result<SearchedText, Error> {
    Ok(((row.get(0)?, row.get(1)?), row.get(2)?, row.get(3)?))
}

impl<T: 'static> Selection<T> {
    /// A part of the records that a search finds.
    pub(crate) async fn search(
        &self,
        conn: &mut Conn,
        of: &TextSearch,
        sought: &TextQuery,
        (limit, offset): PageRange,
    ) -> Result<Matches<T>, Error> {
        let (ids, is_cut) = self.search_ids(conn, of, sought).await?;
        let number = |signed: i64| usize::try_from(signed).unwrap_or(usize::MAX);
        let on_page = ids.iter().skip(number(offset)).take(number(limit));
        let page = self.with_ids(on_page.copied().collect());
        Ok(Matches {
            count: ids.len() as u64,
            records: page.first(conn, limit).await?,
            is_cut,
        })
    }

    /// The records of these ids, in the same order.
    pub(crate) fn with_ids(&self, ids: Vec<i64>) -> Self {
        Self {
            conditions: vec![Condition::new("id", "id", Test::IsOneOf(ids))],
            ..self.clone()
        }
    }

    /// The ids of the records that a search finds, in order, and whether there may be more.
    pub(crate) async fn search_ids(
        &self,
        conn: &mut Conn,
        of: &TextSearch,
        sought: &TextQuery,
    ) -> Result<(Vec<i64>, bool), Error> {
        let (products, is_many) = &sought.titled;
        let texts = self.of_list(of.texts);
        let mut places = Vec::new();
        if !products.is_empty() {
            let mut titled = texts.clone();
            let test = Test::IsOneOf(products.clone());
            let condition = Condition::new("product", "product_id", test);
            titled.conditions.push(condition);
            let found = titled.first(conn, one_more(of.most_found)).await?;
            places.extend(found.into_iter().map(|(place, ..)| place));
        }
        let read_texts = texts.first(conn, one_more(of.most_read)).await?;
        let is_read = read_texts.len() <= of.most_read;
        let others = read_texts.into_iter().take(of.most_read);
        let others = others.filter(|(_, product, text)| {
            let is_titled = product.is_some_and(|product| products.contains(&product));
            let text = db::fold(text);
            !is_titled && sought.words.iter().all(|word| text.contains(word))
        });
        places.extend(others.map(|(place, ..)| place));
        places.sort_unstable();
        // The ledger may speak of one movement twice, where an import has used an id again.
        places.dedup();
        if !self.is_oldest_first() {
            places.reverse();
        }
        let is_cut = *is_many || !is_read || places.len() > of.most_found;
        places.truncate(of.most_found);
        Ok((places.into_iter().map(|(_, id)| id).collect(), is_cut))
    }

    fn is_oldest_first(&self) -> bool {
        self.order.first().is_some_and(|by| !by.descending)
    }
}

/// So many, and one more, which tells that there are more.
fn one_more(most: usize) -> i64 {
    i64::try_from(most.saturating_add(1)).unwrap_or(i64::MAX)
}
