//! Invariants of orders. The end of an order, its payment and overpayments are read from the
//! service's tables.

use std::sync::Arc;
use std::time::Duration;

use db::{Conn, Db, Engine, Error};

use super::order_events::{self, OrderFacts};
use super::store::{self, Books, Order};
use crate::promises::Promises;
use crate::provider::Payment;
use crate::world::{Life, World};

/// How soon an order has ended whose time is over, and what must not be paid any more is cancelled
/// at the provider.
pub(crate) const SOON: Duration = Duration::from_secs(180);

/// Checks, while nothing goes wrong, that orders end in time, and that nothing that the service
/// knows of still waits for its payer then: nothing but the boleto of an order that has expired,
/// which may have been paid already.
pub(crate) async fn have_ended(world: &Arc<World>) {
    let running = world.replicas.running();
    let Some(replica) = running.first() else {
        return world.violated("no replica runs".to_owned());
    };
    let then = world.now() - SOON;
    let life = Arc::<Life>::clone(&replica.life);
    let database = Db::simulated(Arc::clone(&world.database), Engine::Sqlite, life);
    let late = database
        .read(async move |conn: &mut Conn| store::late(conn, then).await)
        .await;
    match late {
        Ok(late) => late.into_iter().for_each(|what| world.violated(what)),
        Err::<_, Error>(error) => world.violated(format!("the orders cannot be read: {error}")),
    }
}

/// Checks every order with its payments, and what was told of it.
pub(super) fn check(world: &World, books: &Books, promises: &Promises, payments: &[Payment]) {
    for order in &books.orders {
        let of_order = |payment: &&Payment| payment.description == order.description;
        let payments: Vec<&Payment> = payments.iter().filter(of_order).collect();
        ended(world, order, promises);
        for payment in &payments {
            if let Some(other) = payment.beside.filter(|_| !world.shop.hides_payments()) {
                world.violated(format!(
                    "{}: {} was made while {other} was alive or paid",
                    order.description, payment.id
                ));
            }
            counted(world, books, order, payment);
            given_back(world, books, order, payment);
        }
        let is_charged = |id| {
            let mut charged = payments.iter().filter(|payment| payment.was_charged);
            charged.any(|payment| payment.id == id)
        };
        let overpayments = payments.iter().map(|payment| payment.id);
        let facts = OrderFacts {
            name: &order.description,
            status: &order.status,
            paid_by: order.paid_by,
            overpayments: overpayments
                .filter(|id| books.overpayments.contains_key(id))
                .collect(),
        };
        let events = books.events.get(&order.id);
        order_events::check(world, &facts, events.map_or(&[], Vec::as_slice));
        if (order.status == "paid") != order.paid_by.is_some_and(is_charged) {
            world.violated(format!(
                "{} is {}, by {:?}",
                order.description, order.status, order.paid_by
            ));
        }
    }
}

/// Its time is over, and what was told for good is so.
fn ended(world: &World, order: &Order, promises: &Promises) {
    if order.status == "open" {
        world.violated(format!("{} is still open", order.description));
    }
    for (id, reported) in &promises.ends {
        if *id == order.id && *reported != order.status {
            world.violated(format!(
                "{} was reported as {reported}, and is {}",
                order.description, order.status
            ));
        }
    }
}

/// What was charged has paid the order, or is told to have paid for nothing: never both, and never
/// neither.
fn counted(world: &World, books: &Books, order: &Order, payment: &Payment) {
    let has_paid = order.paid_by == Some(payment.id);
    let is_overpayment = books.overpayments.contains_key(&payment.id);
    // What was gone again before anybody heard of it needs no telling.
    let is_moot = payment.is_paid_all_the_same && payment.view.status != "approved";
    let needs_telling = payment.was_charged && !is_moot;
    let is_right = match (has_paid, is_overpayment) {
        (true, true) => false,
        (true, false) => true,
        // Of an order that is not paid and was not canceled, only what stands as cancelled pays for
        // nothing.
        (false, true) => {
            payment.was_charged
                && (matches!(order.status.as_str(), "paid" | "canceled")
                    || payment.is_paid_all_the_same)
        }
        (false, false) => !needs_telling,
    };
    if !is_right {
        world.violated(format!(
            "{} is {}; {} was {}: has it paid the order? {has_paid}; for nothing? {is_overpayment}",
            order.description,
            order.status,
            payment.id,
            if payment.was_charged {
                "charged"
            } else {
                "not charged"
            },
        ));
    }
}

/// A second payment is given back by itself where the shop wants that, and by the shop alone where
/// it does not.
fn given_back(world: &World, books: &Books, order: &Order, payment: &Payment) {
    let Some(is_open) = books.overpayments.get(&payment.id) else {
        return;
    };
    if *is_open {
        world.violated(format!("{} is still to be given back", payment.id));
    }
    let is_gone = matches!(payment.view.status, "refunded" | "charged_back");
    let is_due = world.shop.refunds_overpayment
        && order.status == "paid"
        && !payment.is_paid_all_the_same
        && !world.look(|provider| provider.has_refused_refund(payment.id));
    if is_due && !is_gone {
        world.violated(format!(
            "{} has paid for nothing, and was not given back",
            payment.id
        ));
    }
}

impl Books {
    /// Those of a replica that runs.
    pub(super) async fn read(world: &Arc<World>, life: Arc<Life>) -> Result<Self, Error> {
        let database = Db::simulated(Arc::clone(&world.database), Engine::Sqlite, life);
        database.read(store::books).await
    }

    /// How many refunds of a payment the service makes by itself.
    pub(super) fn own_refunds(&self, world: &World, payment: &Payment) -> usize {
        let is_overpayment = self.overpayments.contains_key(&payment.id);
        usize::from(world.shop.refunds_overpayment && is_overpayment)
    }
}
