//! Invariants at the end of every run, checked at the provider and through the service's public
//! API.

mod order_events;
pub(crate) mod orders;
mod store;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use checkout::reconcile::{self, Scope};
use db::lock_mutex;
use http::Method;
use serde_json::Value;

use crate::merchant;
use crate::promises::{AttemptRecord, Promises, RefundRequest, ReportedOutcome};
use crate::provider::Payment;
use crate::world::{Replica, World};
use store::Books;

/// Checks all invariants. Those that do not hold are recorded as violations.
pub(crate) async fn all(world: &Arc<World>) {
    let payments = world.look(|provider| provider.payments().to_vec());
    let promises = std::mem::take(&mut *lock_mutex(&world.promises));
    charges(world, &promises, &payments);
    let running = world.replicas.running();
    let Some(replica) = running.first() else {
        return world.violated("no replica runs".to_owned());
    };
    match Books::read(world, Arc::clone(&replica.life)).await {
        Ok(books) => {
            orders::check(world, &books, &promises, &payments);
            refunds(world, &books, &promises, &payments);
            books
                .miscounted
                .into_iter()
                .for_each(|what| world.violated(what));
        }
        Err(error) => world.violated(format!("the orders cannot be read: {error}")),
    }
    for payment in &payments {
        is_known(world, payment).await;
    }
    nothing_is_open(world, replica).await;
}

/// At most one charge for a purchase without an order, at most one payment for an attempt, and none
/// where the service said that there is none.
fn charges(world: &World, promises: &Promises, payments: &[Payment]) {
    let mut by_purchase: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
    for attempt in &promises.attempts {
        let made = payments_of(attempt, payments);
        if made.len() > 1 {
            let ids: Vec<u64> = made.iter().map(|payment| payment.id).collect();
            world.violated(format!(
                "{}: {} payments: {ids:?}",
                attempt.payer,
                ids.len()
            ));
        }
        for payment in made.iter().filter(|payment| payment.was_charged) {
            if !attempt.has_order {
                let charges = by_purchase.entry(attempt.purchase).or_default();
                charges.push(payment.id);
            }
            if attempt.reported == ReportedOutcome::NotMade && !world.shop.hides_payments() {
                world.violated(format!(
                    "{}: told not to be charged, and {} is",
                    attempt.payer, payment.id
                ));
            }
        }
        if let ReportedOutcome::Made(id) = &attempt.reported
            && made.iter().all(|payment| payment.id.to_string() != *id)
        {
            world.violated(format!(
                "{}: told {id}, which is no payment of it",
                attempt.payer
            ));
        }
    }
    for (purchase, ids) in by_purchase {
        if ids.len() > 1 {
            let charges = ids.len();
            world.violated(format!("purchase {purchase}: {charges} charges: {ids:?}"));
        }
    }
}

fn payments_of<'a>(attempt: &AttemptRecord, payments: &'a [Payment]) -> Vec<&'a Payment> {
    let is_its = |payment: &&Payment| payment.payer == attempt.payer;
    payments.iter().filter(is_its).collect()
}

/// At most one refund for each request of the merchant, and none that the service said was not
/// made. An overpayment may have one more, made by the service itself. A request for the remaining
/// amount may refund any amount, also one that another request names.
fn refunds(world: &World, books: &Books, promises: &Promises, payments: &[Payment]) {
    for payment in payments {
        let requests: Vec<&RefundRequest> = promises
            .refunds
            .iter()
            .filter(|request| request.payment == payment.id.to_string())
            .collect();
        let open = |cents: Option<i64>| {
            let of_amount = requests.iter().filter(|request| request.cents == cents);
            of_amount
                .filter(|request| request.reported != ReportedOutcome::NotMade)
                .count()
        };
        let mut of_any_amount = books.own_refunds(world, payment) + open(None);
        let mut made: BTreeMap<i64, usize> = BTreeMap::new();
        for refund in payment.view.refunds.iter().filter(|refund| refund.is_ours) {
            *made.entry(refund.cents).or_default() += 1;
        }
        for (cents, count) in made {
            let named = open(Some(cents));
            match of_any_amount.checked_sub(count.saturating_sub(named)) {
                Some(left) => of_any_amount = left,
                None => world.violated(format!(
                    "{}: {count} refunds of {cents} cents, and {named} requests that may have been granted",
                    payment.id
                )),
            }
        }
        reported_refunds(world, payment, &requests);
    }
}

/// Every reported refund exists at the provider, and no two requests report the same one.
fn reported_refunds(world: &World, payment: &Payment, requests: &[&RefundRequest]) {
    let mut seen = BTreeSet::new();
    for request in requests {
        let ReportedOutcome::Made(id) = &request.reported else {
            continue;
        };
        let exists = payment
            .view
            .refunds
            .iter()
            .any(|refund| refund.id.to_string() == *id);
        if !exists || !seen.insert(id) {
            world.violated(format!(
                "{}: told refund {id}, which is no refund or another request's",
                payment.id
            ));
        }
    }
}

/// The service need not know of changes newer than this: its search for changes covers only those
/// that are more than an hour old.
const NOTIFICATION_TIME: Duration = Duration::from_secs(2 * 3600);

/// The service knows each of its payments, in the provider's state.
async fn is_known(world: &Arc<World>, payment: &Payment) {
    let path = format!("/payments/{}", payment.id);
    let Some(answer) = merchant::call(world, Method::GET, &path, &Value::Null, None).await else {
        return world.violated(format!("{path} was not answered"));
    };
    let expected = (payment.view.status, payment.view.detail);
    let stored = (answer.text("status"), answer.text("status_detail"));
    // No transition leads out of "cancelled" here. The approval is reported as an overpayment
    // instead.
    let stays_cancelled = payment.is_paid_all_the_same && stored.0 == "cancelled";
    if answer.status == 404 {
        world.violated(format!(
            "{} is {} at the provider, and unknown",
            payment.id, expected.0
        ));
    } else if stored != expected
        && !stays_cancelled
        && payment.view.updated + NOTIFICATION_TIME <= world.now()
    {
        world.violated(format!(
            "{} is {expected:?} at the provider, and {stored:?} here",
            payment.id
        ));
    }
}

/// After enough checks at the provider, no outcome is unknown.
async fn nothing_is_open(world: &World, replica: &Replica) {
    match reconcile::run_once(&replica.state, Scope::All).await {
        Ok(report) if report.unknown == 0 => {}
        Ok(report) => world.violated(format!("{} outcomes are still unknown", report.unknown)),
        Err(error) => world.violated(format!("reconciling failed: {error}")),
    }
}
