//! The shop's orders: its server creates them, cancels some, and gives their links to buyers.

use std::sync::Arc;
use std::time::Duration;

use db::{Timestamp, lock_mutex};
use http::Method;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::buyer;
use crate::client::Answer;
use crate::merchant::{self, WAITS};
use crate::provider::member;
use crate::settings::ALREADY_PAID;
use crate::shop::{OrderLink, Sale, text};
use crate::world::World;

/// The lifetimes of orders in seconds. `None` uses the service's default. The shortest must be ten
/// minutes by the clock of any replica.
const LIVES: [Option<u64>; 6] = [
    Some(780),
    Some(780),
    Some(1800),
    Some(3600),
    Some(7200),
    None,
];

/// The lifetimes where payments are hidden. They are longer than the service waits before it counts
/// an attempt as failed.
const LONG_LIVES: [Option<u64>; 2] = [Some(7200), None];

/// Creates an order after up to `within` seconds, and has it paid in one tab or in two at once. The
/// shop may cancel it meanwhile.
pub(crate) async fn sell(world: Arc<World>, number: usize, within: u64) {
    sleep(world.dice.seconds(0, within)).await;
    let Some(order) = make(&world, number).await else {
        world.note(|| format!("the shop gives up making order {number}"));
        return;
    };
    let link = OrderLink::of(&order);
    let ends = Timestamp::parse(text(&order, "expires_at")).unwrap_or(world.now());
    lock_mutex(&world.sales).push(Sale {
        number,
        link: link.clone(),
        ends,
    });
    open_tabs(&world, number, &link, 1);
    if world.dice.happens(300) {
        tokio::spawn(cancel(world, link));
    }
}

/// Opens one or two tabs with an order's page. The first has the number `first`.
fn open_tabs(world: &Arc<World>, number: usize, link: &OrderLink, first: usize) {
    for tab in first..=first + usize::from(world.dice.happens(500)) {
        let world = Arc::clone(world);
        tokio::spawn(buyer::pay_order(world, number, link.clone(), tab));
    }
}

/// Lets time pass until an order is about to expire, and has it paid at the last moment.
pub(crate) async fn come_late(world: &Arc<World>) {
    let sales = lock_mutex(&world.sales).clone();
    let place = usize::try_from(world.dice.below(sales.len() as u64)).unwrap_or(0);
    let Some(Sale { number, link, ends }) = sales.get(place).cloned() else {
        return;
    };
    let left = ends.since(world.now());
    world
        .leap(left.saturating_sub(world.dice.seconds(5, 90)))
        .await;
    open_tabs(world, number, &link, 3);
    sleep(world.dice.seconds(30, 120)).await;
}

/// Creates an order. Retries with the same key, if there is one, and always with the same
/// reference.
async fn make(world: &Arc<World>, number: usize) -> Option<Value> {
    let reference = format!("pedido-{number}");
    let mut body = json!({
        "reference": reference,
        "amount": buyer::cents(number) / 100,
        "description": format!("Pedido {number}"),
    });
    let lives = if world.shop.hides_payments() {
        &LONG_LIVES[..]
    } else {
        &LIVES
    };
    let life = world.dice.one_of(lives).map(Duration::from_secs);
    if let (Some(body), Some(life)) = (body.as_object_mut(), life) {
        body.insert(
            "expires_at".to_owned(),
            json!((world.now() + life).to_string()),
        );
    }
    let key = world.dice.happens(750).then_some(reference.as_str());
    let mut is_made = false;
    for wait in WAITS {
        let answer = merchant::call(world, Method::POST, "/orders/", &body, key).await;
        match answer.as_ref().map(|answer| answer.status) {
            None | Some(503) => {}
            Some(201) => return answer.map(|answer| answer.body),
            Some(409) if key.is_none() => return find(world, &reference).await,
            // The expiry is too close now, unless the order exists already; then its key returns
            // it.
            Some(422) => {
                let order = find(world, &reference).await?;
                if key.is_none() {
                    return Some(order);
                }
                if is_made {
                    world.violated(format!(
                        "{reference} was made, and a repetition of its key is 422"
                    ));
                    return Some(order);
                }
                is_made = true;
                continue;
            }
            Some(status) => {
                world.violated(format!("POST /orders/ was answered {status}"));
                return None;
            }
        }
        sleep(world.dice.seconds(wait, wait * 2)).await;
    }
    None
}

/// Finds an order by its reference.
async fn find(world: &Arc<World>, reference: &str) -> Option<Value> {
    let path = format!("/orders/?reference={reference}");
    for wait in WAITS {
        let answer = merchant::call(world, Method::GET, &path, &Value::Null, None).await;
        if let Some(Answer {
            status: 200, body, ..
        }) = answer
        {
            return member(&body, "results").get(0).cloned();
        }
        sleep(world.dice.seconds(wait, wait * 2)).await;
    }
    None
}

/// Cancels an order, until it is certain that it is canceled or has ended in another way.
async fn cancel(world: Arc<World>, link: OrderLink) {
    sleep(world.dice.seconds(1, 300)).await;
    let path = format!("/orders/{}/cancel", link.id);
    for wait in WAITS {
        let answer = merchant::call(&world, Method::POST, &path, &Value::Null, None).await;
        if let Some(answer) = answer {
            match (answer.status, answer.text("detail")) {
                (200, _) => {
                    return lock_mutex(&world.promises).record_order_end(&link.id, "canceled");
                }
                (409, ALREADY_PAID) => {
                    return lock_mutex(&world.promises).record_order_end(&link.id, "paid");
                }
                (409, "Order expired") => return,
                // A payment is being confirmed, or the provider or the database did not respond.
                (409 | 502 | 503, _) => {}
                (status, _) => {
                    return world.violated(format!("POST {path} was answered {status}"));
                }
            }
        }
        sleep(world.dice.seconds(wait, wait * 2)).await;
    }
}
