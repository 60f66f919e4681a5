//! Brands, categories and suppliers: records with a name and a description. One shape, one implementation;
//! what differs is the table and what refers to it.

mod api;
mod kind;
mod model;
pub(crate) mod pages;
mod store;

pub use kind::{About, Kind};
pub use model::{NamedInput, NamedRecord};

use db::{Conn, Timestamp, Tx};
use resource::Record as _;

use crate::{
    State,
    access::{Actor, Caller},
    audit::{self, Action},
    catalogue::{Referring, refuse_when_referenced},
    idempotency::{on_conflict, once},
    rest::{
        Refusal,
        fields::{FieldErrors, Members, Mode, Setting, read as read_fields},
        given::Given,
        list::{OrderBy, ordering, search_words},
        query::Parameters,
        resource::{Page, Repeatable, Wanted},
    },
};

/// The order of a list that is asked for none.
const BY_NAME: OrderBy = OrderBy {
    field: NamedRecord::name.name,
    descending: false,
};

/// The order that a list is asked for.
fn order(parameters: &Parameters) -> Vec<OrderBy> {
    ordering(parameters, NamedRecord::NAMES, BY_NAME)
}

/// One page of the records of a kind.
///
/// # Errors
///
/// A page that does not exist, and faults of the store.
pub async fn list(
    state: &State,
    kind: Kind,
    parameters: &Parameters,
) -> Result<Page<NamedRecord>, Refusal> {
    let order = order(parameters);
    let words = search_words(parameters);
    let wanted = Wanted::parse(state, parameters)?;
    let read = async move |conn: &mut Conn| {
        let count = store::count(conn, kind, &words).await?;
        let (number, offset) = wanted.within(count)?;
        let results = store::page(conn, kind, &words, &order, wanted.limit(), offset).await?;
        Ok(Page {
            count,
            number,
            size: wanted.size,
            results,
        })
    };
    state.db.read(read).await
}

/// A part of what [`list`] has on all its pages, in the same order.
///
/// # Errors
///
/// Faults of the store.
pub(crate) async fn part(
    state: &State,
    kind: Kind,
    parameters: &Parameters,
    limit: i64,
    offset: i64,
) -> Result<Vec<NamedRecord>, Refusal> {
    let order = order(parameters);
    let words = search_words(parameters);
    Ok(state
        .db
        .read(async move |conn| store::page(conn, kind, &words, &order, limit, offset).await)
        .await?)
}

/// All that a list selects, in its order.
///
/// # Errors
///
/// Faults of the store.
pub(crate) async fn all(
    conn: &mut Conn,
    kind: Kind,
    parameters: &Parameters,
) -> Result<Vec<NamedRecord>, db::Error> {
    let order = order(parameters);
    store::page(conn, kind, &search_words(parameters), &order, i64::MAX, 0).await
}

/// The first of those whose name has all words of a text.
///
/// # Errors
///
/// Faults of the store.
pub(crate) async fn best(
    state: &State,
    kind: Kind,
    text: &str,
    limit: i64,
) -> Result<Vec<NamedRecord>, Refusal> {
    part(state, kind, &Parameters::of("search", text), limit, 0).await
}

/// One record.
///
/// # Errors
///
/// Faults of the store.
pub async fn read(state: &State, kind: Kind, id: i64) -> Result<Option<NamedRecord>, Refusal> {
    let find = async move |conn: &mut Conn| store::find(conn, kind, id).await;
    Ok(state.db.look_up::<_, db::Error, _>(find).await?)
}

/// Creates a record.
///
/// # Errors
///
/// Invalid fields, and faults of the store.
pub async fn create(
    state: &State,
    caller: &Caller,
    kind: Kind,
    members: &Members,
) -> Result<NamedRecord, Refusal> {
    create_once(state, caller, kind, members, None).await
}

/// As [`create`]; what is asked for again under the same key is the record that was created the first time.
///
/// # Errors
///
/// As [`create`], and a record that is gone again.
pub(crate) async fn create_once(
    state: &State,
    caller: &Caller,
    kind: Kind,
    members: &Members,
    key: Option<Repeatable>,
) -> Result<NamedRecord, Refusal> {
    let (members, actor, now) = (members.clone(), Actor::from(caller), state.clock.now());
    let write = async move |tx: &mut Tx| {
        let record = create_within(tx, kind, &members, &actor, now).await?;
        Ok((record.id, record))
    };
    let again = async move |tx: &mut Tx, id| {
        let found = store::find(tx, kind, id).await?;
        found.ok_or(Refusal::NotFound)
    };
    once(state, key, write, again).await
}

/// Creates a record within a transaction, as [`create`] does.
pub(crate) async fn create_within(
    tx: &mut Tx,
    kind: Kind,
    members: &Members,
    actor: &Actor,
    now: Timestamp,
) -> Result<NamedRecord, Refusal> {
    let record = add(tx, kind, members, &Given::default(), now).await?;
    note(tx, actor, Action::Added, kind, &record, now).await?;
    Ok(record)
}

/// What is wrong with the fields of a form, as far as it can be told without the store.
pub(crate) fn problems(members: &Members, mode: Mode) -> FieldErrors {
    read_fields::<NamedRecord>(members, mode)
        .err()
        .unwrap_or_default()
}

/// Writes down what was done to a record.
async fn note(
    tx: &mut Tx,
    actor: &Actor,
    action: Action<'_>,
    kind: Kind,
    record: &NamedRecord,
    now: Timestamp,
) -> Result<(), db::Error> {
    audit::record(
        tx,
        actor,
        action,
        kind.model(),
        record.id,
        &record.name,
        now,
    )
    .await
}

/// Adds a record within a transaction: what the API creates, and what an import brings.
pub(crate) async fn add(
    tx: &mut Tx,
    kind: Kind,
    members: &Members,
    given: &Given,
    now: Timestamp,
) -> Result<NamedRecord, Refusal> {
    let mut input = read_fields::<NamedRecord>(members, Mode::Whole)?;
    let created_at = given.created_at.unwrap_or(now);
    input.id = given.id.map_or(Setting::Kept, Setting::Set);
    input.created_at = Setting::Set(created_at);
    input.updated_at = Setting::Set(given.updated_at.unwrap_or(created_at));
    Ok(store::insert(tx, kind, &input).await?)
}

/// How many there are of a kind.
pub(crate) async fn count(conn: &mut Conn, kind: Kind) -> Result<u64, db::Error> {
    store::count(conn, kind, &[]).await
}

pub(crate) use store::{NameSteps, after, called, find};

/// Changes a record; `None` when it is gone.
///
/// # Errors
///
/// Invalid fields, and faults of the store.
pub async fn update(
    state: &State,
    caller: &Caller,
    kind: Kind,
    id: i64,
    members: &Members,
    mode: Mode,
) -> Result<Option<NamedRecord>, Refusal> {
    let members = members.clone();
    let (actor, now) = (Actor::from(caller), state.clock.now());
    state
        .db
        .write(async move |tx| update_within(tx, (kind, id), &members, mode, &actor, now).await)
        .await
}

/// Changes a record as its form does; `None` when it is gone. What is absent stays as it is. `refused` is asked about the record as it
/// stands: nobody else changes it until it is written.
///
/// # Errors
///
/// What is refused, invalid fields, and faults of the store.
pub(crate) async fn edit(
    state: &State,
    caller: &Caller,
    (kind, id): (Kind, i64),
    members: Members,
    refused: impl Fn(&NamedRecord) -> FieldErrors + Send + 'static,
) -> Result<Option<NamedRecord>, Refusal> {
    let (actor, now) = (Actor::from(caller), state.clock.now());
    let write = async move |tx: &mut Tx| {
        let Some(before) = held(tx, kind, id).await? else {
            return Ok(None);
        };
        let errors = refused(&before);
        if !errors.is_empty() {
            return Err(Refusal::from(errors));
        }
        update_within(tx, (kind, id), &members, Mode::Partial, &actor, now).await
    };
    state.db.write(write).await
}

/// Changes a record within a transaction, as [`update`] does.
pub(crate) async fn update_within(
    tx: &mut Tx,
    (kind, id): (Kind, i64),
    members: &Members,
    mode: Mode,
    actor: &Actor,
    now: Timestamp,
) -> Result<Option<NamedRecord>, Refusal> {
    let mut input = read_fields::<NamedRecord>(members, mode)?;
    input.updated_at = Setting::Set(now);
    let before = store::find(tx, kind, id).await?;
    let after = store::update(tx, kind, id, &input).await?;
    if let (Some(before), Some(after)) = (before, &after) {
        let changes = audit::changes(&before, after);
        note(tx, actor, Action::Edited(&changes), kind, after, now).await?;
    }
    Ok(after)
}

/// A record, which nobody else changes until the transaction ends.
pub(crate) async fn held(
    tx: &mut Tx,
    kind: Kind,
    id: i64,
) -> Result<Option<NamedRecord>, db::Error> {
    store::hold(tx, kind, id).await?;
    store::find(tx, kind, id).await
}

/// What refers to a record, and keeps it from being deleted.
///
/// # Errors
///
/// Faults of the store.
pub async fn referring(state: &State, kind: Kind, id: i64) -> Result<Vec<Referring>, Refusal> {
    Ok(state
        .db
        .read(async move |conn| store::referring(conn, kind, id).await)
        .await?)
}

/// Refuses what would keep a record from being deleted.
pub(crate) async fn examine_removal(conn: &mut Conn, kind: Kind, id: i64) -> Result<(), Refusal> {
    refuse_when_referenced(
        &kind.about().words,
        &store::referring(conn, kind, id).await?,
    )
}

/// Deletes a record that nothing refers to; whether it was there.
///
/// # Errors
///
/// 409 while other records refer to it, and faults of the store.
pub async fn delete(state: &State, caller: &Caller, kind: Kind, id: i64) -> Result<bool, Refusal> {
    let (actor, now) = (Actor::from(caller), state.clock.now());
    let remove = async move |tx: &mut Tx| remove(tx, kind, id, &actor, now).await;
    on_conflict(&state.db, remove).await
}

/// Deletes a record within a transaction, as [`delete`] does.
pub(crate) async fn remove(
    tx: &mut Tx,
    kind: Kind,
    id: i64,
    actor: &Actor,
    now: Timestamp,
) -> Result<bool, Refusal> {
    refuse_when_referenced(&kind.about().words, &store::referring(tx, kind, id).await?)?;
    let Some(name) = store::delete(tx, kind, id).await? else {
        return Ok(false);
    };
    audit::record(tx, actor, Action::Deleted, kind.model(), id, &name, now).await?;
    Ok(true)
}
