//! Paid orders whose goods leave by themselves: a checkout tells of each order that was paid, and the items that have the serie number of
//! a product become outflows, all of an order or none, and each order once. An order that cannot be booked waits until somebody tries
//! again, or says that it was booked by hand. How one outflow is booked is in `movements`; checkout is known by its events alone.

pub(crate) mod api;
mod event;
mod model;
pub(crate) mod pages;
mod store;

pub(crate) use model::{Line, PaidOrder};

use db::{Conn, Tx};
use serde_json::value::to_raw_value;
use web::locale::Locale;

use super::{
    Work,
    movements::{self, Movement},
};
use crate::{
    State,
    access::{Actor, Caller},
    audit,
    rest::{Refusal, fields::Members, json::Titled},
};
use event::NewOrder;
pub(crate) use model::State as OrderState;

/// Orders that wait: the oldest, and how many there are in all.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) count: i64,
    pub(crate) first: Vec<PaidOrder>,
}

/// Takes a paid order: books it, unless it was told before; what became of it. The program itself books, as it does imports.
async fn receive(state: &State, order: NewOrder) -> Result<OrderState, Refusal> {
    let (work, language) = (Work::of(state, Actor(None)), state.config.language);
    let name = order.id.clone();
    let write = async move |tx: &mut Tx| {
        let Some(id) = store::insert(tx, &order, work.now).await? else {
            let stands = store::state_of(tx, &order.id).await?;
            return Ok::<_, Refusal>((stands, false));
        };
        let order = book(tx, id, &work, language).await?;
        Ok((order.state, true))
    };
    let (stands, is_new) = state.db.write(write).await?;
    if is_new {
        state.changes.notify();
        if stands == OrderState::Waiting {
            tracing::warn!(
                order = name,
                "a paid order cannot be booked out of stock; it waits on the dashboard"
            );
        }
    }
    Ok(stands)
}

/// Tries again to book an order that waits; the order as it is afterwards, and whether it waited before.
///
/// # Errors
///
/// [`Refusal::NotFound`], and faults of the store.
pub(crate) async fn try_again(
    state: &State,
    caller: &Caller,
    id: i64,
) -> Result<(PaidOrder, bool), Refusal> {
    let (work, language) = (Work::of(state, caller), state.config.language);
    end(state, id, async move |tx: &mut Tx| {
        book(tx, id, &work, language).await
    })
    .await
}

/// Puts an order that waits aside, because somebody booked its goods by hand; the order as it is afterwards, and whether it waited before.
///
/// # Errors
///
/// [`Refusal::NotFound`], and faults of the store.
pub(crate) async fn put_aside(
    state: &State,
    caller: &Caller,
    id: i64,
) -> Result<(PaidOrder, bool), Refusal> {
    let (work, language) = (Work::of(state, caller), state.config.language);
    end(state, id, async move |tx: &mut Tx| {
        store::set_state(tx, id, OrderState::ByHand).await?;
        let order = present(tx, id).await?;
        let text = order.name(language);
        audit::record_order(tx, &work.actor, &text, work.now).await?;
        Ok(order)
    })
    .await
}

/// Does something to an order if it waits, which nobody else ends meanwhile.
async fn end<F>(state: &State, id: i64, act: F) -> Result<(PaidOrder, bool), Refusal>
where
    F: AsyncFn(&mut Tx) -> Result<PaidOrder, Refusal> + Clone + Send + 'static,
{
    let write = async move |tx: &mut Tx| {
        if store::lock_waiting(tx, id).await? {
            Ok::<_, Refusal>((act(tx).await?, true))
        } else {
            Ok((present(tx, id).await?, false))
        }
    };
    let ended = state.db.write(write).await?;
    state.changes.notify();
    Ok(ended)
}

/// Books every line of an order, or none; the order as it is afterwards. Descriptions are in this language: nobody reads along when an
/// order is told.
async fn book(tx: &mut Tx, id: i64, work: &Work, language: Locale) -> Result<PaidOrder, Refusal> {
    let order = present(tx, id).await?;
    lock_stock(tx, &order).await?;
    // What is locked stays as it is read here.
    let order = present(tx, id).await?;
    if order.shortages().next().is_some() {
        return Ok(order);
    }
    let description = order.name(language);
    for line in &order.lines {
        let Some((product, _)) = &line.product else {
            continue;
        };
        let members = members(product, line, &description);
        let outflow = movements::add(tx, Movement::Outflow, &members, work).await?;
        store::set_outflow(tx, line.id, outflow.id).await?;
    }
    store::set_state(tx, id, OrderState::Booked).await?;
    present(tx, id).await
}

async fn lock_stock(tx: &mut Tx, order: &PaidOrder) -> Result<(), db::Error> {
    let products = order.lines.iter().filter_map(|line| line.product.as_ref());
    super::store::lock_quantities(tx, products.map(|(product, _)| product.id)).await
}

/// A line as what creates an outflow.
fn members(product: &Titled, line: &Line, description: &str) -> Members {
    let fields = [
        ("product", to_raw_value(&product.id)),
        ("quantity", to_raw_value(&line.quantity)),
        ("description", to_raw_value(description)),
    ];
    // Numbers and texts are always JSON.
    let fields = fields
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value.ok()?)));
    fields.collect()
}

async fn present(conn: &mut Conn, id: i64) -> Result<PaidOrder, Refusal> {
    store::find(conn, id).await?.ok_or(Refusal::NotFound)
}

/// One order.
///
/// # Errors
///
/// [`Refusal::NotFound`], and faults of the store.
pub(crate) async fn read(state: &State, id: i64) -> Result<PaidOrder, Refusal> {
    state
        .db
        .read(async move |conn| present(conn, id).await)
        .await
}

/// The order that an outflow came from, without its lines.
///
/// # Errors
///
/// Faults of the store.
pub(crate) async fn of_outflow(state: &State, outflow: i64) -> Result<Option<PaidOrder>, Refusal> {
    let read = async move |conn: &mut Conn| store::of_outflow(conn, outflow).await;
    Ok(state.db.read(read).await?)
}

/// The orders that wait, at most so many, the oldest first.
///
/// # Errors
///
/// Faults of the store.
pub(crate) async fn waiting(state: &State, limit: i64) -> Result<Waiting, Refusal> {
    let read = async move |conn: &mut Conn| {
        let (first, count) = store::waiting(conn, limit).await?;
        Ok::<_, db::Error>(Waiting { count, first })
    };
    Ok(state.db.read(read).await?)
}
