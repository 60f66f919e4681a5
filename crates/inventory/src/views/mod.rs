//! Saved views: lists with filters and order that a user saved under a name. A view belongs to one
//! user, is loaded with the session of every page, and appears in the navigation below its list.

mod lists;
pub(crate) mod pages;
mod store;

pub(crate) use lists::canonical;

use db::Tx;
use resource::{Field, text};

use crate::{
    State,
    access::Caller,
    accounts::{session::SavedView, users},
    idempotency::IdempotencyKey,
    rest::{
        Message, Refusal,
        fields::{FieldErrors, Members, Mode, Reader},
    },
    work::{Work, write, write_once},
};

/// The most views of one user.
const MAX_VIEWS: i64 = 30;
/// The most characters of a name.
const MAX_NAME: usize = 60;
const NAME: &Field = &text::<String>("Nome", "Name", MAX_NAME).named("name");
/// The most bytes of an address. One with the longest search fits.
const MAX_ADDRESS: usize = 4000;
/// The error if another view of the user has the name.
const NAME_TAKEN: Message = Message::fixed(
    "Você já tem uma visão com este nome.",
    "You already have a view with this name.",
);

/// Saves a list under the name in a form. `address` must be [`canonical`].
///
/// # Errors
///
/// A name that is blank, too long or in use; too many views; errors of the database.
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
        // The lock makes concurrent requests wait, so that both views are counted.
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
        .map_err(name_error)
}

/// Renames a view of the user to the name in a form.
///
/// # Errors
///
/// A name that is blank, too long or in use; [`Refusal::NotFound`]; errors of the database.
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
    write(state, caller, job).await.map_err(name_error)
}

/// Deletes a view of the user. A missing view is no error.
pub(crate) async fn remove(state: &State, caller: &Caller, id: i64) -> Result<(), Refusal> {
    let user = caller.id;
    let delete = async move |tx: &mut Tx| store::delete(tx, id, user).await;
    Ok(state.db.write::<_, db::Error, _>(delete).await?)
}

/// Turns the violation of the names' unique key into an error of the field.
fn name_error(refusal: Refusal) -> Refusal {
    match refusal {
        Refusal::Database(error) if error.is_unique("saved_views_user_id_name_folded_key") => {
            FieldErrors::of("name", NAME_TAKEN).into()
        }
        refusal => refusal,
    }
}

/// Parses the name in a form.
fn read_name(members: &Members) -> Result<String, FieldErrors> {
    let mut reader = Reader::new(members, Mode::Whole);
    let name: Option<String> = reader.read(NAME);
    match name {
        Some(name) => Ok(name.replace(char::is_control, " ")),
        None => Err(reader.finish()),
    }
}

/// The error if the user has too many views.
fn too_many() -> Message {
    Message::new(
        format!("Você já tem {MAX_VIEWS} visões salvas. Remova uma antes de salvar outra."),
        format!("You already have {MAX_VIEWS} saved views. Remove one before you save another."),
    )
}
