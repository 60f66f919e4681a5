//! Changes at the provider that the service does not cause: banks decide, people refund manually,
//! notifications are sent.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use hmac::{Hmac, KeyInit, Mac};
use http::{Method, Request};
use sha2::Sha256;
use tokio::time::sleep;

use crate::client;
use crate::provider::{Change, Payment};
use crate::settings::WEBHOOK_SECRET;
use crate::world::World;

/// The waits before each retry of a notification, in minutes.
const NOTIFICATION_WAITS: [u64; 8] = [15, 30, 360, 2880, 5760, 5760, 5760, 5760];
const HOUR: u64 = 3600;

/// Starts the consequences of a change at the provider.
pub(crate) fn follow(world: &Arc<World>, change: Change) {
    if !world.faults.is_silent {
        tokio::spawn(notify(Arc::clone(world), change));
    }
    if !world.faults.is_silent && world.happens(|faults| faults.doubled_notifications) {
        tokio::spawn(notify(Arc::clone(world), change));
    }
    tokio::spawn(follow_on(Arc::clone(world), change));
}

/// Continues the life of a payment after a change.
async fn follow_on(world: Arc<World>, change: Change) {
    let id = change.payment;
    let seen = world.look(|provider| {
        let payment = provider.find(id)?;
        Some((payment.view.status, payment.lapses))
    });
    let Some((status, lapses)) = seen else { return };
    let dice = &world.dice;
    match status {
        "in_process" if change.is_new => {
            sleep(dice.seconds(5, 1800)).await;
            let (status, detail) = dice.one_of(&[
                ("approved", "accredited"),
                ("approved", "accredited"),
                ("rejected", "cc_rejected_high_risk"),
                ("cancelled", "by_admin"),
            ]);
            world.at_provider(|provider, at| provider.decide(id, status, detail, at));
        }
        "pending" if change.is_new => {
            let a_day = Duration::from_secs(24 * HOUR);
            sleep(lapses.map_or(a_day, |end| end.since(world.now()))).await;
            world.at_provider(|provider, at| provider.decide(id, "cancelled", "expired", at));
        }
        "approved" => {
            if dice.happens(120) {
                sleep(soon_or_later(&world)).await;
                charge_back(&world, id);
            } else if dice.happens(60) {
                sleep(soon_or_later(&world)).await;
                let cents = dice.happens(500).then_some(77);
                if world.at_provider(|provider, at| provider.give_back_by_hand(id, cents, at)) {
                    world.note(|| format!("somebody gives money of {id} back at the provider"));
                }
            }
            // Whatever else fails, a refund is decided eventually.
            sleep(dice.seconds(5, 3600)).await;
            let is_made = dice.happens(600);
            world.at_provider(|provider, at| provider.end_refunds(id, is_made, at));
        }
        _ => {}
    }
}

/// Banks charge back some of the approved payments.
pub(crate) fn charge_back_some(world: &Arc<World>) {
    let is_approved = |payment: &&Payment| payment.view.status == "approved";
    let approved: Vec<u64> = world.look(|provider| {
        let approved = provider.payments().iter().filter(is_approved);
        approved.map(|payment| payment.id).collect()
    });
    for id in approved {
        if world.dice.happens(300) {
            charge_back(world, id);
        }
    }
}

fn charge_back(world: &Arc<World>, id: u64) {
    if world.at_provider(|provider, at| provider.charge_back(id, at)) {
        world.note(|| format!("the buyer's bank charges {id} back"));
    }
}

/// A bank has received the money for a boleto, and reports it, perhaps much later.
pub(crate) async fn notify_late(world: &Arc<World>, id: u64) {
    sleep(soon_or_later(world)).await;
    if world.at_provider(|provider, at| provider.credit(id, at)) {
        world.note(|| format!("a bank tells that {id} was paid"));
    }
}

fn soon_or_later(world: &World) -> Duration {
    if world.dice.happens(500) {
        world.dice.seconds(5, 600)
    } else {
        world.dice.seconds(600, 72 * HOUR)
    }
}

/// Notifies the shop of a change until it acknowledges.
async fn notify(world: Arc<World>, change: Change) {
    let hidden = world.shop.hides_payments_for;
    let created =
        world.look(|provider| provider.find(change.payment).map(|payment| payment.created));
    if let (true, Some(created)) = (world.shop.hides_payments(), created) {
        sleep((created + hidden).since(world.now())).await;
    }
    let is_late = world.happens(|faults| faults.late_notifications);
    sleep(
        world
            .dice
            .millis(500, if is_late { 300_000 } else { 5_000 }),
    )
    .await;
    for minutes in NOTIFICATION_WAITS {
        let answer = client::send(&world, notification(&world, change)).await;
        if answer.is_some_and(|answer| (200..300).contains(&answer.status)) {
            return;
        }
        sleep(Duration::from_secs(minutes * 60)).await;
    }
}

fn notification(world: &World, change: Change) -> Request<Body> {
    let (id, request) = (change.payment, world.dice.seed());
    let millis = world.now().micros() / 1000;
    let signature = sign(&format!("id:{id};request-id:{request};ts:{millis};"));
    let mut message = Request::new(Body::from("{}"));
    *message.method_mut() = Method::POST;
    *message.uri_mut() = client::address(&format!("/notifications?data.id={id}&type=payment"));
    client::set(&mut message, "content-type", "application/json");
    client::set(&mut message, "x-request-id", &request.to_string());
    let signature = format!("ts={millis},v1={signature}");
    client::set(&mut message, "x-signature", &signature);
    message
}

fn sign(manifest: &str) -> String {
    let mut hex = String::with_capacity(64);
    if let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(WEBHOOK_SECRET.as_bytes()) {
        mac.update(manifest.as_bytes());
        for byte in mac.finalize().into_bytes() {
            // Writing into a String cannot fail.
            let _ = write!(hex, "{byte:02x}");
        }
    }
    hex
}
