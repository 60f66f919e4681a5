//! The shop's orders: its server makes them, cancels some, and gives their links to buyers.

use std::sync::Arc;
use std::time::Duration;

use db::Timestamp;
use http::Method;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::buyer;
use crate::client::{self, Answer};
use crate::dice::Dice;
use crate::faults::Faults;
use crate::merchant::{self, WAITS};
use crate::provider::member;
use crate::world::{World, lock};

/// How an order that is paid is told to whoever would pay or cancel it.
pub(crate) const ALREADY_PAID: &str = "Order already paid";
/// Seconds until orders end; none: as the service does it without being asked. The shortest life is ten minutes by the clock of any replica.
const LIVES: [Option<u64>; 6] = [
    Some(780),
    Some(780),
    Some(1800),
    Some(3600),
    Some(7200),
    None,
];

/// The same where payments are hidden: longer than the service waits before it is certain.
const LONG_LIVES: [Option<u64>; 2] = [Some(7200), None];

/// Whether a shop works with orders, and how. Drawn by dice of its own: a shop without orders is the same whatever they do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shop {
    /// Are some of its purchases orders?
    pub(crate) has_orders: bool,
    /// Are second payments given back by themselves?
    pub(crate) refunds_overpayment: bool,
    /// How long nobody is told that the provider has made a payment, and its search does not show it: longer than the service waits before it is
    /// certain that there is none. Everything that such a shop sells is an order, since it may be paid twice.
    pub(crate) hides_payments_for: Duration,
}

/// An order that was made.
#[derive(Debug, Clone)]
pub(crate) struct Sale {
    number: usize,
    link: Link,
    ends: Timestamp,
}

/// An order, as its link leads to it.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    pub(crate) id: String,
    pub(crate) path: String,
}

impl Shop {
    pub(crate) fn draw(seed: u64, faults: &Faults) -> Self {
        let dice = Dice::new(!seed);
        let (has_orders, refunds_overpayment) = (dice.happens(400), dice.happens(500));
        // What was hidden is never heard of where the provider tells of nothing.
        let hides_payments = has_orders && !faults.is_silent && dice.happens(200);
        let hidden = Duration::from_secs(if hides_payments { 3 * 3600 } else { 0 });
        Self {
            has_orders,
            refunds_overpayment,
            hides_payments_for: hidden,
        }
    }

    pub(crate) fn hides_payments(&self) -> bool {
        !self.hides_payments_for.is_zero()
    }
}

/// Makes an order after up to so many seconds, and has it paid in one tab or in two at once. Perhaps the shop gives it up meanwhile.
pub(crate) async fn sell(world: Arc<World>, number: usize, within: u64) {
    sleep(world.dice.seconds(0, within)).await;
    let Some(order) = make(&world, number).await else {
        world.note(|| format!("the shop gives up making order {number}"));
        return;
    };
    let link = Link::of(&order);
    let ends = Timestamp::parse(text(&order, "expires_at")).unwrap_or(world.now());
    lock(&world.sales).push(Sale {
        number,
        link: link.clone(),
        ends,
    });
    open_tabs(&world, number, &link, 1);
    if world.dice.happens(300) {
        tokio::spawn(cancel(world, link));
    }
}

/// One tab or two at an order's page, the first of which has this number.
fn open_tabs(world: &Arc<World>, number: usize, link: &Link, first: usize) {
    for tab in first..=first + usize::from(world.dice.happens(500)) {
        let world = Arc::clone(world);
        tokio::spawn(buyer::pay_order(world, number, link.clone(), tab));
    }
}

/// Time passes until an order is about to end, and somebody comes at the last moment.
pub(crate) async fn come_late(world: &Arc<World>) {
    let sales = lock(&world.sales).clone();
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

/// Makes an order: again and again with the same key, if it has one, and always with the same reference.
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
            // Its end has come too near, unless it is made already: then its key stands for it.
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

/// The order with a reference.
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

/// Cancels an order, until it is certain that it is canceled or has ended otherwise.
async fn cancel(world: Arc<World>, link: Link) {
    sleep(world.dice.seconds(1, 300)).await;
    let path = format!("/orders/{}/cancel", link.id);
    for wait in WAITS {
        let answer = merchant::call(&world, Method::POST, &path, &Value::Null, None).await;
        if let Some(answer) = answer {
            match (answer.status, answer.text("detail")) {
                (200, _) => return lock(&world.promises).told_end(&link.id, "canceled"),
                (409, ALREADY_PAID) => return lock(&world.promises).told_end(&link.id, "paid"),
                (409, "Order expired") => return,
                // A payment is being confirmed, or the provider or the database did not answer.
                (409 | 502 | 503, _) => {}
                (status, _) => {
                    return world.violated(format!("POST {path} was answered {status}"));
                }
            }
        }
        sleep(world.dice.seconds(wait, wait * 2)).await;
    }
}

impl Link {
    /// The link of an order as the service answers it.
    fn of(order: &Value) -> Self {
        let url = text(order, "url");
        let path = url.find("/pay/").and_then(|at| url.get(at..));
        Self {
            id: text(order, "id").to_owned(),
            path: path.unwrap_or_default().to_owned(),
        }
    }

    /// A buyer loads the page.
    pub(crate) async fn load(&self, world: &Arc<World>) {
        let page = client::request(Method::GET, &self.path, &Value::Null);
        if let Some(answer) = client::send(world, page).await
            && !matches!(answer.status, 200 | 503)
        {
            world.violated(format!("GET {} was answered {}", self.path, answer.status));
        }
    }
}

fn text<'a>(order: &'a Value, name: &str) -> &'a str {
    member(order, name).as_str().unwrap_or_default()
}
