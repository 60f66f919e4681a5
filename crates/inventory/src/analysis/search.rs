//! Searching analyses, for the administration: those of products whose titles match, and those of
//! the newest whose text matches. Both searches are bounded, however many analyses there are.

use db::{Conn, Error};

use super::{result::AnalysisSummary, store::results};
use crate::{
    State,
    rest::{Refusal, page::PageRequest},
};

/// The newest analyses whose texts are searched.
const MAX_READ: usize = 2_000;
/// The newest matches that are shown.
const MAX_FOUND: usize = 1_000;

/// A search for analyses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AnalysisSearch {
    /// Its words, without case and accents.
    pub(crate) words: Vec<String>,
    /// The products whose titles they find, and whether there are more.
    pub(crate) titled: (Vec<i64>, bool),
    /// Only of this product.
    pub(crate) product: Option<i64>,
}

/// The matches of a search.
#[derive(Debug)]
pub(crate) struct AnalysisMatches {
    /// How many.
    pub(crate) count: u64,
    /// One page of them, newest first.
    pub(crate) page: Vec<AnalysisSummary>,
    /// Whether there may be more.
    pub(crate) is_cut: bool,
}

/// One page of the analyses that match a search.
pub(crate) async fn find(
    state: &State,
    search: AnalysisSearch,
    wanted: PageRequest,
) -> Result<AnalysisMatches, Refusal> {
    let (mut products, is_many) = search.titled.clone();
    products.retain(|id| search.product.is_none_or(|product| product == *id));
    let read = async move |conn: &mut Conn| {
        let (ids, is_all) = matching_ids(conn, &search, &products).await?;
        let count = ids.len() as u64;
        let (_, offset) = wanted.within(count)?;
        let number = |signed: i64| usize::try_from(signed).unwrap_or_default();
        let page: Vec<i64> = ids
            .into_iter()
            .skip(number(offset))
            .take(number(wanted.limit()))
            .collect();
        Ok::<_, Refusal>(AnalysisMatches {
            count,
            page: results::of_ids(conn, &page).await?,
            is_cut: is_many || !is_all,
        })
    };
    state.db.read(read).await
}

/// The ids of matches, newest first, and whether these are all.
async fn matching_ids(
    conn: &mut Conn,
    search: &AnalysisSearch,
    products: &[i64],
) -> Result<(Vec<i64>, bool), Error> {
    let more_than = |most: usize| i64::try_from(most.saturating_add(1)).unwrap_or(i64::MAX);
    let mut ids = results::newest_of(conn, products, more_than(MAX_FOUND)).await?;
    let texts = results::texts(conn, search.product, more_than(MAX_READ)).await?;
    let is_read = texts.len() <= MAX_READ;
    for (id, product, text) in texts.into_iter().take(MAX_READ) {
        let is_other = product.is_none_or(|product| !products.contains(&product));
        let text = db::fold(&text);
        if is_other && search.words.iter().all(|word| text.contains(word)) {
            ids.push(id);
        }
    }
    ids.sort_unstable_by(|one, other| other.cmp(one));
    let is_all = is_read && ids.len() <= MAX_FOUND;
    ids.truncate(MAX_FOUND);
    Ok((ids, is_all))
}
