//! Products: what the shop sells, and at which price. Quantities belong to the ledger (`stock`): a quantity that is written here
//! becomes an opening or an adjustment there.

mod api;
mod edit;
mod import;
pub(crate) mod lookup;
mod model;
mod offers;
pub(crate) mod pages;
mod store;
pub(crate) mod within;

pub use api::Products;
pub(crate) use edit::{Edit, edit};
pub(crate) use import::{add, examine, examine_removal, serie_number, withdraw};
pub(crate) use lookup::few;
pub(crate) use model::WORDS;
pub use model::{MAX_SERIE_NUMBER, ProductInput, ProductRecord};
pub(crate) use offers::best;

use db::{Conn, Timestamp, Tx};
use resource::{Input as _, Record as _, Value};

use crate::{
    State,
    access::{Actor, Caller, Model},
    aggregates,
    audit::{self, Action},
    catalogue::{Referring, refuse_when_referenced},
    idempotency::{on_conflict, once},
    rest::{
        Message, Refusal,
        fields::{FieldErrors, Members, Mode, Setting, read_all},
        given::Given,
        query::Parameters,
        resource::{Page, Repeatable, Wanted},
    },
    stock::{self, Work},
};
use model::serie_number_taken;
use store::{ARCHIVED, BY_TITLE, Selection};

/// One page of the products that the query string selects.
///
/// # Errors
///
/// Filters that cannot be read, a page that does not exist, and faults of the store.
pub async fn list(state: &State, parameters: &Parameters) -> Result<Page<ProductRecord>, Refusal> {
    list_selected(state, parameters, Selection::parse(parameters)?).await
}

/// The same of the products that were created from one moment on, and before another.
///
/// # Errors
///
/// As of [`list`].
pub(crate) async fn list_created(
    state: &State,
    parameters: &Parameters,
    created: Option<(Timestamp, Timestamp)>,
) -> Result<Page<ProductRecord>, Refusal> {
    let selection = Selection::parse(parameters)?.created(created);
    list_selected(state, parameters, selection).await
}

async fn list_selected(
    state: &State,
    parameters: &Parameters,
    selection: Selection,
) -> Result<Page<ProductRecord>, Refusal> {
    let wanted = Wanted::parse(state, parameters)?;
    let is_short = selection.is_everything() && wanted.is_near();
    let shared = state.clone();
    let read = async move |conn: &mut Conn| {
        let measured = selection.measure(conn, &shared.measures).await?;
        let (number, offset) = wanted.within(measured.count)?;
        let results = selection
            .page(conn, &measured, wanted.limit(), offset)
            .await?;
        Ok(Page {
            count: measured.count,
            number,
            size: wanted.size,
            results,
        })
    };
    // An index leads to the first pages of all products at once.
    if is_short {
        state.db.look_up(read).await
    } else {
        state.db.read(read).await
    }
}

/// A part of what [`list`] has on all its pages, in the same order.
///
/// # Errors
///
/// Filters that cannot be read, and faults of the store.
pub(crate) async fn part(
    state: &State,
    parameters: &Parameters,
    limit: i64,
    offset: i64,
) -> Result<Vec<ProductRecord>, Refusal> {
    let selection = Selection::parse(parameters)?;
    let shared = state.clone();
    state
        .db
        .read(async move |conn| {
            let measured = selection.measure(conn, &shared.measures).await?;
            Ok(selection.page(conn, &measured, limit, offset).await?)
        })
        .await
}

/// Every product that a list selects, in its order.
///
/// # Errors
///
/// Filters that cannot be read, faults of the store, and those of `take`.
pub(crate) async fn each(
    conn: &mut Conn,
    state: &State,
    parameters: &Parameters,
    take: impl FnMut(&ProductRecord) -> Result<(), db::Error>,
) -> Result<(), Refusal> {
    let selection = Selection::parse(parameters)?;
    let measured = selection.measure(conn, &state.measures).await?;
    Ok(selection.each(conn, &measured, take).await?)
}

/// The product of a serie number.
///
/// # Errors
///
/// Faults of the store.
pub(crate) async fn with_serie_number(
    state: &State,
    serie_number: &str,
) -> Result<Option<ProductRecord>, Refusal> {
    let serie_number = serie_number.trim().to_owned();
    Ok(state
        .db
        .read(
            async move |conn| match store::with_serie_number(conn, &serie_number).await? {
                Some(id) => store::find(conn, id).await,
                None => Ok(None),
            },
        )
        .await?)
}

/// What is wrong with the fields of a form, as far as it can be told without the store.
pub(crate) fn problems(members: &Members, mode: Mode) -> FieldErrors {
    read_all::<ProductRecord>(members, mode).1
}

/// Everything that is wrong with a whole form: also what only the store knows. `own` is the product that it changes.
///
/// # Errors
///
/// Faults of the store.
pub(crate) async fn all_problems(
    state: &State,
    own: Option<i64>,
    members: &Members,
) -> Result<FieldErrors, Refusal> {
    let (input, errors) = read_all::<ProductRecord>(members, Mode::Whole);
    let look = async move |conn: &mut Conn| inspect(conn, own, &input, errors.clone()).await;
    state.db.read(look).await
}

/// One product.
///
/// # Errors
///
/// Faults of the store.
pub async fn read(state: &State, id: i64) -> Result<Option<ProductRecord>, Refusal> {
    let find = async move |conn: &mut Conn| store::find(conn, id).await;
    Ok(state.db.look_up::<_, db::Error, _>(find).await?)
}

/// Creates a product; its quantity becomes the opening of its ledger.
///
/// # Errors
///
/// Invalid fields, and faults of the store.
pub async fn create(
    state: &State,
    caller: &Caller,
    members: &Members,
) -> Result<ProductRecord, Refusal> {
    create_once(state, caller, members, None).await
}

/// As [`create`]; what is asked for again under the same key is the product that was created the first time.
///
/// # Errors
///
/// As [`create`], and a product that is gone again.
pub(crate) async fn create_once(
    state: &State,
    caller: &Caller,
    members: &Members,
    key: Option<Repeatable>,
) -> Result<ProductRecord, Refusal> {
    let (input, errors) = read_all::<ProductRecord>(members, Mode::Whole);
    let (actor, now) = (Actor::from(caller), state.clock.now());
    let write = async move |tx: &mut Tx| {
        let record = within::made(tx, &input, errors.clone(), &actor, now).await?;
        Ok((record.id, record))
    };
    let again = async |tx: &mut Tx, id| store::find(tx, id).await?.ok_or(Refusal::NotFound);
    let created = once(state, key, write, again).await;
    let record = created.map_err(taken)?;
    state.changes.notify();
    Ok(record)
}

async fn insert(
    tx: &mut Tx,
    input: &ProductInput,
    errors: FieldErrors,
    given: &Given,
    actor: &Actor,
    now: Timestamp,
) -> Result<i64, Refusal> {
    check(tx, None, input, errors).await?;
    let mut product = input.clone();
    product.id = given.id.map_or(Setting::Kept, Setting::Set);
    product.created_at = Setting::Set(given.created_at.unwrap_or(now));
    let id = store::insert(tx, &product).await?;
    aggregates::record_new_product(tx, id).await?;
    let quantity = product.quantity.get().copied().unwrap_or_default();
    stock::open(tx, id, quantity, actor, now).await?;
    if let Some(updated_at) = given.updated_at.or(given.created_at) {
        store::set_updated_at(tx, id, updated_at).await?;
    }
    Ok(id)
}

/// How many products there are.
pub(crate) async fn count(conn: &mut Conn) -> Result<u64, Refusal> {
    let all = Selection::parse(&Parameters::parse(""))?;
    Ok(all.measure(conn, &Measures::default()).await?.count)
}

pub(crate) use store::{Measures, after, find, move_version, note_change, numbered, titled};

/// Changes a product; `None` when it is gone. A quantity that differs becomes an adjustment in its ledger.
///
/// # Errors
///
/// Invalid fields, and faults of the store.
pub async fn update(
    state: &State,
    caller: &Caller,
    id: i64,
    members: &Members,
    mode: Mode,
) -> Result<Option<ProductRecord>, Refusal> {
    let (input, errors) = read_all::<ProductRecord>(members, mode);
    let work = Work::of(state, caller);
    let write = async move |tx: &mut Tx| change(tx, id, &input, errors.clone(), &work).await;
    let updated = on_conflict(&state.db, write).await.map_err(taken)?;
    if updated.is_some() {
        state.changes.notify();
    }
    Ok(updated)
}

async fn change(
    tx: &mut Tx,
    id: i64,
    input: &ProductInput,
    errors: FieldErrors,
    work: &Work,
) -> Result<Option<ProductRecord>, Refusal> {
    check(tx, Some(id), input, errors).await?;
    let before = store::find(tx, id).await?;
    // The stock row goes first: it is what movements lock too.
    if !store::update_stock(tx, id, input, work.now).await? {
        return Ok(None);
    }
    let standing = aggregates::product_snapshot(tx, id)
        .await?
        .filter(|standing| is_counted_otherwise(standing, input));
    if standing.is_some() {
        aggregates::record_deleted_product(tx, id).await?;
    }
    store::update(tx, id, input).await?;
    if let Some(standing) = standing {
        aggregates::record_changed_product(tx, id, &standing).await?;
    }
    if let Setting::Set(quantity) = input.quantity {
        stock::adjust(tx, id, quantity, None, work).await?;
    }
    let after = store::find(tx, id).await?;
    if let (Some(before), Some(after)) = (&before, &after) {
        let changes = audit::changes(before, after);
        let action = Action::Edited(&changes);
        let Work { actor, now, .. } = work;
        audit::record(tx, actor, action, Model::Product, id, &after.title, *now).await?;
    }
    Ok(after)
}

/// Whether an input writes anything otherwise that the aggregates count the product by.
fn is_counted_otherwise(before: &aggregates::ProductSnapshot, input: &ProductInput) -> bool {
    before.is_changed_by(
        input.category.get().map(|category| category.id),
        input.brand.get().map(|brand| brand.id),
        input.cost_price.get().copied(),
        input.selling_price.get().copied(),
    )
}

/// The moments when the first and the last product were created.
///
/// # Errors
///
/// Faults of the store.
pub(crate) async fn created_span(state: &State) -> Result<Option<(Timestamp, Timestamp)>, Refusal> {
    Ok(state
        .db
        .read(async |conn| store::created_span(conn).await)
        .await?)
}

/// What refers to a product, and keeps it from being deleted: inflows and outflows.
///
/// # Errors
///
/// Faults of the store.
pub async fn referring(state: &State, id: i64) -> Result<[Referring; 3], Refusal> {
    Ok(state
        .db
        .read(async move |conn| store::referring(conn, id).await)
        .await?)
}

/// Deletes a product that no movement refers to; whether it was there. Its ledger stays.
///
/// # Errors
///
/// 409 while movements refer to it, and faults of the store.
pub async fn delete(state: &State, caller: &Caller, id: i64) -> Result<bool, Refusal> {
    let (actor, now) = (Actor::from(caller), state.clock.now());
    let remove = async move |tx: &mut Tx| remove(tx, id, &actor, now).await;
    let is_deleted = on_conflict(&state.db, remove).await?;
    if is_deleted {
        state.changes.notify();
    }
    Ok(is_deleted)
}

/// Deletes a product within a transaction, as [`delete`] does.
pub(crate) async fn remove(
    tx: &mut Tx,
    id: i64,
    actor: &Actor,
    now: Timestamp,
) -> Result<bool, Refusal> {
    refuse_when_referenced(&WORDS, &store::referring(tx, id).await?)?;
    stock::close(tx, id).await?;
    let Some(title) = store::delete(tx, id).await? else {
        return Ok(false);
    };
    audit::record(tx, actor, Action::Deleted, Model::Product, id, &title, now).await?;
    Ok(true)
}

/// Refuses when anything is wrong with the fields, also what only the store knows.
async fn check(
    conn: &mut Conn,
    own: Option<i64>,
    input: &ProductInput,
    errors: FieldErrors,
) -> Result<(), Refusal> {
    let errors = inspect(conn, own, input, errors).await?;
    if errors.is_empty() {
        Ok(())
    } else {
        Err(errors.in_order(ProductRecord::NAMES).into())
    }
}

/// Adds what only the store knows to the errors of the fields.
async fn inspect(
    conn: &mut Conn,
    own: Option<i64>,
    input: &ProductInput,
    mut errors: FieldErrors,
) -> Result<FieldErrors, Refusal> {
    for (field, value) in input.values() {
        if let (Some(target), Value::Reference { id, name, .. }) = (field.target, value)
            && !store::exists(conn, target.path, id).await?
        {
            errors.add(field.name, Message::unknown_record(name));
        }
    }
    if let Setting::Set(Some(serie_number)) = &input.serie_number
        && store::with_serie_number(conn, serie_number)
            .await?
            .is_some_and(|other| Some(other) != own)
    {
        errors.add(ProductRecord::serie_number.name, serie_number_taken());
    }
    Ok(errors)
}

/// A serie number that another product has, or a row of an import that is under way.
fn taken(refusal: Refusal) -> Refusal {
    match refusal {
        Refusal::Database(error)
            if error.is_unique("products_serie_number_key")
                || error.is_unique("import_serie_numbers_pkey") =>
        {
            FieldErrors::of("serie_number", serie_number_taken()).into()
        }
        refusal => refusal,
    }
}
