//! Invariants of orders. Ends, payments and overpayments of orders are read from the service's
//! tables.

use std::sync::Arc;
use std::time::Duration;

use db::{Conn, Db, Engine, Error};

use super::order_events::{self, OrderFacts};
use super::store::{self, Books, Order};
use crate::promises::Promises;
use crate::provider::Payment;
use crate::world::{Life, World};

/// How soon after its expiry an order must have ended, and its payments must be cancelled at the
/// provider.
pub(crate) const SOON: Duration = Duration::from_secs(180);

/// Checks, in the time without faults, that orders end in time and that no known payment of them is
/// still pending. The exception is the boleto of an expired order, which may have been paid
/// already.
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

/// Checks every order with its payments and with what callers were told about it.
pub(super) fn check(world: &World, books: &Books, promises: &Promises, payments: &[Payment]) {
    for order in &books.orders {
        let of_order = |payment: &&Payment| payment.description == order.description;
        let payments: Vec<&Payment> = payments.iter().filter(of_order).collect();
        check_end(world, order, promises);
        for payment in &payments {
            if let Some(other) = payment.beside.filter(|_| !world.shop.hides_payments()) {
                world.violated(format!(
                    "{}: {} was made while {other} was alive or paid",
                    order.description, payment.id
                ));
            }
            check_charge(world, books, order, payment);
            check_overpayment_refund(world, books, order, payment);
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

/// The order has ended, in the state that callers were told was final.
fn check_end(world: &World, order: &Order, promises: &Promises) {
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

/// Every charge has either paid the order or is an overpayment, never both and never neither.
fn check_charge(world: &World, books: &Books, order: &Order, payment: &Payment) {
    let has_paid = order.paid_by == Some(payment.id);
    let is_overpayment = books.overpayments.contains_key(&payment.id);
    // A charge that was undone before anybody learned of it needs no event.
    let is_moot = payment.is_paid_all_the_same && payment.view.status != "approved";
    let needs_telling = payment.was_charged && !is_moot;
    let is_right = match (has_paid, is_overpayment) {
        (true, true) => false,
        (true, false) => true,
        // For an order that is neither paid nor canceled, an overpayment must be a payment that
        // stays cancelled here.
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

/// An overpayment is refunded automatically if the shop wants that, and otherwise only by the shop.
fn check_overpayment_refund(world: &World, books: &Books, order: &Order, payment: &Payment) {
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
    /// The records of a running replica.
    pub(super) async fn read(world: &Arc<World>, life: Arc<Life>) -> Result<Self, Error> {
        let database = Db::simulated(Arc::clone(&world.database), Engine::Sqlite, life);
        database.read(store::books).await
    }

    /// How many refunds of a payment the service makes on its own.
    pub(super) fn own_refunds(&self, world: &World, payment: &Payment) -> usize {
        let is_overpayment = self.overpayments.contains_key(&payment.id);
        usize::from(world.shop.refunds_overpayment && is_overpayment)
    }
}
