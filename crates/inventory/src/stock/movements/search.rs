//! Searching movements, for the administration: those of the products whose titles match, and among the newest those whose
//! product, description or user matches. Both searches are bounded, however many movements there are.

use db::{Conn, Error};

pub(crate) use super::store::search::SearchScope;
use super::{
    Movement, MovementRecord,
    store::search::{self, Key},
};
use crate::{State, rest::Refusal};

/// The texts of so many movements are looked at: those of the newest.
const MOST_READ: usize = 10_000;
/// So many of what is found are shown: the newest.
const MOST_FOUND: usize = 1_000;

/// What is looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SearchQuery {
    /// Words, folded.
    pub(crate) words: Vec<String>,
    /// The products whose titles they find, and whether there are more.
    pub(crate) titled: (Vec<i64>, bool),
    /// Among which.
    pub(crate) scope: SearchScope,
}

/// What was found.
#[derive(Debug)]
pub(crate) struct SearchResult {
    /// The newest of it, in no order.
    pub(crate) movements: Vec<MovementRecord>,
    /// Whether there may be more.
    pub(crate) is_cut: bool,
}

/// The movements that words find.
pub(crate) async fn search(
    state: &State,
    movement: Movement,
    sought: SearchQuery,
) -> Result<SearchResult, Refusal> {
    let (mut products, mut is_cut) = sought.titled.clone();
    products.retain(|id| sought.scope.product.is_none_or(|product| product == *id));
    let read = async move |conn: &mut Conn| {
        let mut keys = of_products(conn, movement, &sought, &products).await?;
        let (others, is_read) = of_texts(conn, movement, &sought, &products).await?;
        keys.extend(others);
        keys.sort_unstable_by(|one, other| other.cmp(one));
        let is_all = is_read && keys.len() <= MOST_FOUND;
        keys.truncate(MOST_FOUND);
        let ids = keys.into_iter().map(|(_, id)| id);
        let movements = search::of_ids(conn, movement, ids).await?;
        Ok::<_, Error>((movements, is_all))
    };
    let (movements, is_all) = state.db.read(read).await?;
    is_cut |= !is_all;
    Ok(SearchResult { movements, is_cut })
}

/// One more than is shown.
async fn of_products(
    conn: &mut Conn,
    movement: Movement,
    sought: &SearchQuery,
    products: &[i64],
) -> Result<Vec<Key>, Error> {
    let limit = i64::try_from(MOST_FOUND + 1).unwrap_or(i64::MAX);
    search::newest_of(conn, movement, &sought.scope, products, limit).await
}

/// Those of other products whose texts have the words, and whether all texts were looked at.
async fn of_texts(
    conn: &mut Conn,
    movement: Movement,
    sought: &SearchQuery,
    products: &[i64],
) -> Result<(Vec<Key>, bool), Error> {
    let limit = i64::try_from(MOST_READ + 1).unwrap_or(i64::MAX);
    let texts = search::texts(conn, movement, &sought.scope, limit).await?;
    let is_read = texts.len() <= MOST_READ;
    let others = texts
        .into_iter()
        .take(MOST_READ)
        .filter(|texts| !products.contains(&texts.product));
    let mut keys: Vec<Key> = others
        .filter(|texts| {
            let text = db::fold(&texts.text);
            sought.words.iter().all(|word| text.contains(word))
        })
        .map(|texts| texts.key)
        .collect();
    // The ledger may speak of one movement twice, where an import has used an id again.
    keys.dedup();
    Ok((keys, is_read))
}
