//! The merchant's server, which cancels unpaid payments and refunds paid ones.

use std::sync::Arc;

use db::lock_mutex;
use http::Method;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::client::{self, Answer};
use crate::faults::LONG_LAG;
use crate::promises::ReportedOutcome;
use crate::settings::{API_KEY, KEY_LIFETIME};
use crate::world::World;

/// Seconds between retries.
pub(crate) const WAITS: [u64; 8] = [1, 2, 5, 30, 60, 600, 3600, 10_800];

/// May cancel a payment, or refund it in full or in part, in one request or in several concurrent
/// ones.
pub(crate) fn look_after(world: &Arc<World>, payment: &str, cents: u64) {
    let dice = &world.dice;
    let cents = i64::try_from(cents).unwrap_or(0);
    if dice.happens(200) {
        tokio::spawn(cancel(Arc::clone(world), payment.to_owned()));
    }
    let amounts: &[Option<i64>] = match dice.below(8) {
        0 => &[None],
        1 => &[Some(3000)],
        2 => &[Some(3000), Some(3000)],
        3 => &[Some(2000), None],
        4 => &[Some(cents)],
        _ => &[],
    };
    for amount in amounts {
        tokio::spawn(refund(Arc::clone(world), payment.to_owned(), *amount));
    }
}

/// Sends a request of the merchant's server.
pub(crate) async fn call(
    world: &Arc<World>,
    method: Method,
    path: &str,
    body: &Value,
    key: Option<&str>,
) -> Option<Answer> {
    let mut request = client::request(method, path, body);
    client::set(&mut request, "authorization", &format!("Bearer {API_KEY}"));
    if let Some(key) = key {
        client::set(&mut request, "idempotency-key", key);
    }
    client::send(world, request).await
}

async fn cancel(world: Arc<World>, payment: String) {
    sleep(world.dice.seconds(1, 900)).await;
    for wait in WAITS {
        let path = format!("/payments/{payment}");
        let body = json!({ "status": "cancelled" });
        let answer = call(&world, Method::PUT, &path, &body, None).await;
        let status = answer.map_or(503, |answer| answer.status);
        match status {
            // Cancelled, or too late to cancel, or refused by the provider.
            200 | 400 | 502 => return,
            503 => sleep(world.dice.seconds(wait, wait * 2)).await,
            _ => return world.violated(format!("PUT {path} was answered {status}")),
        }
    }
}

async fn refund(world: Arc<World>, payment: String, cents: Option<i64>) {
    sleep(world.dice.seconds(1, 900)).await;
    let place = lock_mutex(&world.promises).begin_refund(payment.clone(), cents);
    for round in 0..2 {
        let has_key = world.dice.happens(750);
        let key = has_key.then(|| format!("estorno-{place}-{round}"));
        lock_mutex(&world.promises).repeat_refund(place, key.clone().map(|key| (key, world.now())));
        let outcome = refund_until_answered(&world, place, &payment, cents, key.as_deref()).await;
        if let Some(before) = lock_mutex(&world.promises).record_refund(place, outcome.clone()) {
            world.violated(format!(
                "refund {place} of {payment}: told {before:?}, and then {outcome:?}"
            ));
        }
        if outcome != ReportedOutcome::NotMade || !world.dice.happens(700) {
            return;
        }
        world.note(|| {
            format!("the merchant believes that refund {place} of {payment} was not made")
        });
        sleep(world.dice.seconds(1, 300)).await;
    }
}

/// Sends a refund request until its outcome is known.
async fn refund_until_answered(
    world: &Arc<World>,
    place: usize,
    payment: &str,
    cents: Option<i64>,
    key: Option<&str>,
) -> ReportedOutcome {
    let mut is_unanswered = false;
    for wait in WAITS {
        let answer = request_refund(world, payment, cents, key).await;
        is_unanswered |= answer.as_ref().is_none_or(|answer| answer.is_late);
        // A payment that cannot be refunded now may become refundable when an earlier request
        // arrives.
        let is_for_now = answer.as_ref().is_some_and(|answer| answer.status == 400);
        let outcome = read_answer(world, place, answer.as_ref());
        let is_open = outcome == ReportedOutcome::Unknown || (is_for_now && is_unanswered);
        if !is_open {
            return outcome;
        }
        if key.is_none() {
            return ReportedOutcome::Unknown;
        }
        sleep(world.dice.seconds(wait, wait * 2)).await;
    }
    ReportedOutcome::Unknown
}

/// Sends a refund request once.
async fn request_refund(
    world: &Arc<World>,
    payment: &str,
    cents: Option<i64>,
    key: Option<&str>,
) -> Option<Answer> {
    let path = format!("/payments/{payment}/refunds");
    let body = match cents {
        Some(cents) => json!({ "amount": cents / 100 }),
        None => json!({}),
    };
    call(world, Method::POST, &path, &body, key).await
}

/// After a day without faults, a retry of a refund of unknown outcome must return the outcome.
pub(crate) async fn retry_unknown_refunds(world: &Arc<World>) {
    // Without heartbeats nobody notices that a replica has died, and its leases stay.
    if world.faults.replicas > 1 && !world.faults.has_heartbeats {
        return;
    }
    // A refund whose response was lost is found in the payment's list of refunds, once that list
    // shows it.
    if world.faults.list_lag == LONG_LAG {
        return;
    }
    let requests = lock_mutex(&world.promises).refunds.clone();
    for (place, request) in requests.iter().enumerate() {
        let Some((key, begun)) = &request.repeats else {
            continue;
        };
        // With several refunds of one amount, nobody can tell which belongs to which request.
        let is_alone = requests
            .iter()
            .filter(|other| other.payment == request.payment)
            .count()
            == 1;
        let is_open =
            request.reported == ReportedOutcome::Unknown && world.now() < *begun + KEY_LIFETIME;
        if !is_open || !is_alone {
            continue;
        }
        let answer = request_refund(world, &request.payment, request.cents, Some(key)).await;
        let outcome = read_answer(world, place, answer.as_ref());
        if outcome == ReportedOutcome::Unknown {
            world.violated(format!(
                "refund {place} of {}: still unknown after a day",
                request.payment
            ));
        }
        lock_mutex(&world.promises).record_refund(place, outcome);
    }
}

fn read_answer(world: &World, place: usize, answer: Option<&Answer>) -> ReportedOutcome {
    let Some(answer) = answer else {
        return ReportedOutcome::Unknown;
    };
    if answer.is_late && answer.status == 503 && answer.text("outcome") != "unknown" {
        world.violated(format!(
            "refund {place} may still be made, and was answered {}",
            answer.body
        ));
    }
    match (answer.status, answer.text("outcome"), answer.text("detail")) {
        (200, ..) => ReportedOutcome::Made(answer.text("id").to_owned()),
        (_, "unknown", _) => ReportedOutcome::Unknown,
        (400, ..) | (502, _, "Erro PROVIDER 400") => ReportedOutcome::NotMade,
        (502 | 503 | 408 | 409, ..) => ReportedOutcome::Unknown,
        (status, ..) => {
            world.violated(format!(
                "refund {place} was answered {status} {}",
                answer.body
            ));
            ReportedOutcome::Unknown
        }
    }
}
