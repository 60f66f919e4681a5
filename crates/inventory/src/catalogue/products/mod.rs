//! Products and their prices. Quantities belong to the ledger (`stock`): writing a quantity here
//! creates an opening entry or an adjustment there.

pub(crate) mod lookup;
mod model;
mod offers;
mod store;
mod write;

pub(crate) use lookup::few;
pub use model::{MAX_SERIE_NUMBER, ProductInput, ProductRecord};
pub(crate) use offers::best;
pub use write::Products;
pub(crate) use write::{change_form, check_import, find_locked, serie_number};

use db::{Conn, Timestamp};

use crate::{
    State,
    rest::{
        Refusal,
        fields::{Draft, FieldErrors, Members, Mode},
        page::{Page, PageRequest},
        query::Parameters,
    },
};
use store::{ARCHIVED, BY_TITLE};

/// One page of the products that the query string selects.
pub async fn list(state: &State, parameters: &Parameters) -> Result<Page<ProductRecord>, Refusal> {
    list_created(state, parameters, None).await
}

/// Same as [`list`], limited to products created in a period (start inclusive, end exclusive).
pub(crate) async fn list_created(
    state: &State,
    parameters: &Parameters,
    created: Option<(Timestamp, Timestamp)>,
) -> Result<Page<ProductRecord>, Refusal> {
    let selection = store::selection(parameters)?.created(created);
    let request = PageRequest::parse(state, parameters)?;
    let is_short = selection.is_everything() && request.is_near();
    let shared = state.clone();
    let read = async move |conn: &mut Conn| {
        let query_stats = selection.stats(conn, &shared.list_stats).await?;
        selection.list(conn, &query_stats, request).await
    };
    // The first pages of all products come directly from an index.
    if is_short {
        state.db.read_inline(read).await
    } else {
        state.db.read(read).await
    }
}

/// The first of the products that [`list`] returns on all its pages, in the same order.
pub(crate) async fn first_matches(
    state: &State,
    parameters: &Parameters,
    limit: i64,
) -> Result<Vec<ProductRecord>, Refusal> {
    let selection = store::selection(parameters)?;
    let shared = state.clone();
    state
        .db
        .read(async move |conn| {
            let query_stats = selection.stats(conn, &shared.list_stats).await?;
            let range = (limit, 0);
            Ok(selection.page(conn, &query_stats, range).await?)
        })
        .await
}

/// Calls `take` with every product that a list selects, in order.
pub(crate) async fn each(
    conn: &mut Conn,
    state: &State,
    parameters: &Parameters,
    take: impl FnMut(&ProductRecord) -> Result<(), db::Error>,
) -> Result<(), Refusal> {
    let selection = store::selection(parameters)?;
    let query_stats = selection.stats(conn, &state.list_stats).await?;
    Ok(selection.each(conn, &query_stats, take).await?)
}

pub(crate) async fn with_serie_number(
    state: &State,
    serie_number: &str,
) -> Result<Option<ProductRecord>, Refusal> {
    let serie_number = serie_number.trim().to_owned();
    if serie_number.contains('\0') {
        return Ok(None);
    }
    Ok(state
        .db
        .read(
            async move |conn| match store::id_of_serie_number(conn, &serie_number).await? {
                Some(id) => store::find(conn, id).await,
                None => Ok(None),
            },
        )
        .await?)
}

/// All validation errors of a complete form, including those that need the database. `own` is the
/// id of the product that the form edits.
pub(crate) async fn all_problems(
    state: &State,
    own: Option<i64>,
    members: &Members,
) -> Result<FieldErrors, Refusal> {
    let draft = Draft::read(members, Mode::Whole);
    let look = async move |conn: &mut Conn| write::inspect(conn, own, &draft).await;
    state.db.read(look).await
}

/// One product.
pub async fn read(state: &State, id: i64) -> Result<Option<ProductRecord>, Refusal> {
    Ok(state.db.find_by_key(&store::BY_ID, id).await?)
}

pub(crate) use store::{LIST, StatsCache, find, id_of_serie_number};
