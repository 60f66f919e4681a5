//! Saved views: lists with their filters and order, each under a name that its user gave it. They
//! are the user's own, come with the session of every page, and stand in the navigation below their
//! list.

mod lists;
mod model;
pub(crate) mod pages;
mod store;

pub(crate) use lists::canonical;

use db::Tx;

use crate::{
    State,
    access::Caller,
    accounts::{session::SavedView, users},
    idempotency::IdempotencyKey,
    rest::{
        Refusal,
        fields::{FieldErrors, Members},
    },
    work::{Work, write, write_once},
};
use model::{MAX_VIEWS, NAME_TAKEN, read_name, too_many};

/// Saves a list of this address, which is as [`canonical`] writes it, under the name that a form
/// brings.
///
/// # Errors
///
/// A name that is blank, too long or taken; more views than one user may have; faults of the store.
pub(crate) async fn save(
    state: &State,
    caller: &Caller,
    address: String,
    members: &Members,
    key: Option<IdempotencyKey>,
) -> Result<SavedView, Refusal> {
    let (name, user) = (read_name(members)?, caller.id);
    let job = async move |work: &mut Work<'_>| {
        let tx = &mut *work.tx;
        // Whoever saves a view at the same time waits, so that both are counted.
        users::lock(tx, user).await?;
        if store::count(tx, user).await? >= MAX_VIEWS {
            return Err(Refusal::Conflict(too_many()));
        }
        let view = store::insert(tx, user, &name, &address).await?;
        Ok((view.id, view))
    };
    let replay = async move |work: &mut Work<'_>, id: i64| {
        let found = store::find(work.tx, id, user).await?;
        found.ok_or(Refusal::NotFound)
    };
    write_once(state, caller, key, job, replay)
        .await
        .map_err(taken)
}

/// Gives a view of the user's the name that a form brings.
///
/// # Errors
///
/// A name that is blank, too long or taken; [`Refusal::NotFound`]; faults of the store.
pub(crate) async fn rename(
    state: &State,
    caller: &Caller,
    id: i64,
    members: &Members,
) -> Result<SavedView, Refusal> {
    let (name, user) = (read_name(members)?, caller.id);
    let job = async move |work: &mut Work<'_>| {
        let renamed = store::rename(work.tx, id, user, &name).await?;
        renamed.ok_or(Refusal::NotFound)
    };
    write(state, caller, job).await.map_err(taken)
}

/// Removes a view of the user's. A view that is gone already is no error.
pub(crate) async fn remove(state: &State, caller: &Caller, id: i64) -> Result<(), Refusal> {
    let user = caller.id;
    let delete = async move |tx: &mut Tx| store::delete(tx, id, user).await;
    Ok(state.db.write::<_, db::Error, _>(delete).await?)
}

/// A name that another view of the user has.
fn taken(refusal: Refusal) -> Refusal {
    match refusal {
        Refusal::Database(error) if error.is_unique("saved_views_user_id_name_folded_key") => {
            FieldErrors::of("name", NAME_TAKEN).into()
        }
        refusal => refusal,
    }
}
