//! Searching analyses, for the administration: those of the products whose titles match, and among the newest those whose text matches.
//! Both searches are bounded, however many analyses there are.

use db::{Conn, Error};

use super::{result::Summary, store::results};
use crate::{
    State,
    catalogue::products,
    rest::{Refusal, resource::PageRequest},
};

/// The texts of so many analyses are looked at: those of the newest.
const MOST_READ: usize = 2_000;
/// So many of what is found are shown: the newest.
const MOST_FOUND: usize = 1_000;

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sought {
    /// As it was typed.
    pub(crate) text: String,
    /// Its words, folded.
    pub(crate) words: Vec<String>,
    /// Of one product.
    pub(crate) product: Option<i64>,
}

/// What was found.
#[derive(Debug)]
pub(crate) struct Found {
    /// How many.
    pub(crate) count: u64,
    /// One page of them, newest first.
    pub(crate) page: Vec<Summary>,
    /// Whether there may be more.
    pub(crate) is_cut: bool,
}

/// One page of the analyses that words find.
///
/// # Errors
///
/// A page that does not exist, and faults of the store.
pub(crate) async fn search(
    state: &State,
    sought: Sought,
    wanted: PageRequest,
) -> Result<Found, Refusal> {
    let (mut products, is_many) = products::few(state, &sought.text).await?;
    products.retain(|id| sought.product.is_none_or(|product| product == *id));
    let read = async move |conn: &mut Conn| {
        let (ids, is_all) = ids(conn, &sought, &products).await?;
        let count = ids.len() as u64;
        let (_, offset) = wanted.within(count)?;
        let number = |signed: i64| usize::try_from(signed).unwrap_or_default();
        let page: Vec<i64> = ids
            .into_iter()
            .skip(number(offset))
            .take(number(wanted.limit()))
            .collect();
        Ok::<_, Refusal>(Found {
            count,
            page: results::of_ids(conn, &page).await?,
            is_cut: is_many || !is_all,
        })
    };
    state.db.read(read).await
}

/// What is found, newest first, and whether it is everything.
async fn ids(
    conn: &mut Conn,
    sought: &Sought,
    products: &[i64],
) -> Result<(Vec<i64>, bool), Error> {
    let more_than = |most: usize| i64::try_from(most.saturating_add(1)).unwrap_or(i64::MAX);
    let mut ids = results::newest_of(conn, products, more_than(MOST_FOUND)).await?;
    let texts = results::texts(conn, sought.product, more_than(MOST_READ)).await?;
    let is_read = texts.len() <= MOST_READ;
    for (id, product, text) in texts.into_iter().take(MOST_READ) {
        let is_other = product.is_none_or(|product| !products.contains(&product));
        let text = db::fold(&text);
        if is_other && sought.words.iter().all(|word| text.contains(word)) {
            ids.push(id);
        }
    }
    ids.sort_unstable_by(|one, other| other.cmp(one));
    let is_all = is_read && ids.len() <= MOST_FOUND;
    ids.truncate(MOST_FOUND);
    Ok((ids, is_all))
}
