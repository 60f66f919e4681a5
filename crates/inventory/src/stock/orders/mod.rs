//! Outflows for paid orders. A checkout sends an event for each paid order. The items with a
//! product's serie number become outflows, all of an order or none, and once per order. An order
//! that cannot be booked waits until a user retries it or marks it as booked by hand. `movements`
//! books the outflows. Checkout is known only by its events.

pub(crate) mod api;
mod event;
mod model;
mod store;

pub(crate) use model::{OrderLine, OrderState, PaidOrder, WaitingOrders};

use db::Conn;
use resource::{Field, Reference, truth};
use web::locale::Locale;

use super::movements::{Movement, MovementInput};
use crate::{
    State,
    access::{Actor, Caller, Model},
    api::resource::ApiResource as _,
    audit::{self, FieldChange},
    rest::{Refusal, fields::Draft},
    work::{Work, write},
};
use event::NewOrder;

/// The audit-log field for marking a waiting order as booked by hand.
pub(crate) const BY_HAND: &Field =
    &truth("Baixa feita à mão", "Booked by hand").named("booked_by_hand");

/// Stores and books a paid order. Returns the stored state if the order was received before. The
/// ledger shows no user for these outflows.
async fn receive(state: &State, order: NewOrder) -> Result<OrderState, Refusal> {
    let (name, language) = (order.id.clone(), state.config.language);
    let job = async move |work: &mut Work<'_>| {
        let Some(id) = store::insert(work.tx, &order, work.now).await? else {
            let stored = store::state_of(work.tx, &order.id).await?;
            return Ok::<_, Refusal>((stored, false));
        };
        Ok((book(work, id, language).await?.state, true))
    };
    let (order_state, is_new) = write(state, Actor(None), job).await?;
    if is_new && order_state == OrderState::Waiting {
        tracing::warn!(
            order = name,
            "a paid order cannot be booked; it waits on the dashboard until a user retries it or books it by hand"
        );
    }
    Ok(order_state)
}

/// Retries the booking of a waiting order. Returns the order afterwards, and whether it was waiting
/// before.
pub(crate) async fn retry(
    state: &State,
    caller: &Caller,
    id: i64,
) -> Result<(PaidOrder, bool), Refusal> {
    let language = state.config.language;
    let job = async move |work: &mut Work<'_>| book(work, id, language).await;
    end(state, caller, id, job).await
}

/// Marks a waiting order as booked by hand. Returns the order afterwards, and whether it was
/// waiting before.
pub(crate) async fn mark_booked_by_hand(
    state: &State,
    caller: &Caller,
    id: i64,
) -> Result<(PaidOrder, bool), Refusal> {
    let language = state.config.language;
    let job = async move |work: &mut Work<'_>| {
        store::set_state(work.tx, id, OrderState::BookedByHand).await?;
        let order = present(work.tx, id).await?;
        let (changes, name) = ([FieldChange::named(BY_HAND.name)], order.name(language));
        audit::record_changes(work, &changes, Model::Outflow, None::<i64>, &name).await?;
        Ok(order)
    };
    end(state, caller, id, job).await
}

/// Runs `act` on an order if it is waiting. Its row is locked until the transaction ends.
async fn end<F>(
    state: &State,
    caller: &Caller,
    id: i64,
    act: F,
) -> Result<(PaidOrder, bool), Refusal>
where
    F: AsyncFn(&mut Work<'_>) -> Result<PaidOrder, Refusal> + Clone + Send + 'static,
{
    let job = async move |work: &mut Work<'_>| {
        if store::lock_waiting(work.tx, id).await? {
            Ok::<_, Refusal>((act(work).await?, true))
        } else {
            Ok((present(work.tx, id).await?, false))
        }
    };
    write(state, caller, job).await
}

/// Books every line of an order, or none. `language` is that of the outflows' descriptions.
async fn book(work: &mut Work<'_>, id: i64, language: Locale) -> Result<PaidOrder, Refusal> {
    let order = present(work.tx, id).await?;
    let products = order.lines.iter().filter_map(|line| line.product.as_ref());
    let products = products.map(|(product, _)| product.id);
    super::store::lock_quantities(work, products).await?;
    // Reads again, because the stock is locked only now.
    let order = present(work.tx, id).await?;
    if order.shortages().next().is_some() {
        return Ok(order);
    }
    let description = order.name(language);
    for line in &order.lines {
        let Some((product, _)) = &line.product else {
            continue;
        };
        let draft = Draft::of_input(MovementInput {
            product: Some(Reference::of(product.id)),
            quantity: Some(line.quantity),
            description: Some(Some(description.clone())),
            ..MovementInput::default()
        });
        let outflow = Movement::Outflow.create(work, &draft).await?;
        store::set_outflow(work.tx, line.id, outflow.id).await?;
    }
    store::set_state(work.tx, id, OrderState::Booked).await?;
    present(work.tx, id).await
}

async fn present(conn: &mut Conn, id: i64) -> Result<PaidOrder, Refusal> {
    store::find(conn, id).await?.ok_or(Refusal::NotFound)
}

pub(crate) async fn read(state: &State, id: i64) -> Result<PaidOrder, Refusal> {
    state
        .db
        .read(async move |conn| present(conn, id).await)
        .await
}

/// The order that an outflow belongs to, without its lines.
pub(crate) async fn of_outflow(state: &State, outflow: i64) -> Result<Option<PaidOrder>, Refusal> {
    let read = async move |conn: &mut Conn| store::of_outflow(conn, outflow).await;
    Ok(state.db.read(read).await?)
}

/// The order with this id in the checkout, without its lines. `None` if it was not paid, or has no
/// goods that leave by themselves.
pub(crate) async fn of_checkout(state: &State, order: &str) -> Result<Option<PaidOrder>, Refusal> {
    let order = order.to_owned();
    let read = async move |conn: &mut Conn| store::of_checkout(conn, &order).await;
    Ok(state.db.read(read).await?)
}

/// The oldest waiting orders, at most `limit`, and the number of all.
pub(crate) async fn waiting(state: &State, limit: i64) -> Result<WaitingOrders, Refusal> {
    let read = async move |conn: &mut Conn| store::waiting(conn, limit).await;
    Ok(state.db.read(read).await?)
}
