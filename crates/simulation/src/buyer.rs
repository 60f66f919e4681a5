//! Buyers. They retry an unanswered request with the same key. They pay again only when the service
//! said that nothing was charged. The buyer of an order may do anything, since the shop accepts
//! only one payment of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use db::{Timestamp, lock_mutex};
use http::Method;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::bank;
use crate::client::{self, Answer};
use crate::dice::Dice;
use crate::merchant;
use crate::promises::ReportedOutcome;
use crate::provider::Payment;
use crate::settings::{ALREADY_PAID, KEY_LIFETIME};
use crate::shop::OrderLink;
use crate::world::World;

/// Seconds between retries.
const WAITS: [u64; 9] = [1, 2, 5, 20, 40, 120, 600, 3600, 18_000];

/// A purchase and its buyer's behaviour.
struct Purchase {
    number: usize,
    bill: Bill,
    has_keys: bool,
    cents: u64,
}

/// What is paid.
enum Bill {
    /// An amount that the buyer's client names.
    OpenForm { method: &'static str },
    /// An order of the shop, paid in one of several tabs.
    Order { link: OrderLink, tab: usize },
}

/// One attempt: a request that is retried unchanged.
struct Attempt {
    place: usize,
    path: String,
    /// The name of the order, if an order is paid.
    order: Option<String>,
    /// The payer's e-mail address, which identifies the attempt's payments at the provider.
    payer: String,
    body: Value,
    key: Option<String>,
    begun: Timestamp,
    /// Whether one of its requests was never answered. That request may still arrive, and then it
    /// continues the attempt.
    is_unanswered: AtomicBool,
}

/// What a response means for the buyer.
enum PaymentAnswer {
    Made {
        id: String,
        status: String,
    },
    /// Nothing was charged, either for good or only so far. In the second case a request that is
    /// still on its way may change it.
    NotCharged {
        is_final: bool,
    },
    /// The order can no longer be paid.
    Over,
    Unknown,
}

/// Pays an amount at the open form, after up to `within` seconds.
pub(crate) async fn pay(world: Arc<World>, number: usize, within: u64) {
    let dice = &world.dice;
    let method = dice.one_of(&["card", "card", "card", "pix", "boleto"]);
    let purchase = Purchase {
        number,
        bill: Bill::OpenForm { method },
        has_keys: dice.happens(750),
        cents: cents(number),
    };
    sleep(dice.seconds(0, within)).await;
    purchase.pay(&world).await;
}

/// Pays an order in one of the tabs with its page.
pub(crate) async fn pay_order(world: Arc<World>, number: usize, link: OrderLink, tab: usize) {
    let purchase = Purchase {
        number,
        bill: Bill::Order { link, tab },
        has_keys: world.dice.happens(850),
        cents: cents(number),
    };
    sleep(world.dice.seconds(0, 20)).await;
    purchase.pay(&world).await;
}

/// The amount of a purchase, in cents.
pub(crate) fn cents(number: usize) -> u64 {
    10_000 + number as u64 * 100
}

impl Purchase {
    async fn pay(&self, world: &Arc<World>) {
        for round in 1..=4 {
            let attempt = self.attempt(world, round);
            let payer = attempt.payer.clone();
            match self.send_until_answered(world, &attempt).await {
                PaymentAnswer::Made { id, status } => {
                    world.note(|| format!("{payer} has paid: {id} {status}"));
                    tokio::spawn(repeat_later(Arc::clone(world), attempt, id.clone()));
                    if status == "rejected" && world.dice.happens(700) {
                        continue;
                    }
                    tokio::spawn(use_code(Arc::clone(world), id.clone(), status.clone()));
                    merchant::look_after(world, &id, self.cents);
                    if !self.starts_anew(world).await {
                        return;
                    }
                }
                PaymentAnswer::NotCharged { .. } => sleep(world.dice.seconds(1, 90)).await,
                PaymentAnswer::Over => return,
                PaymentAnswer::Unknown => {
                    world.note(|| format!("{payer} does not know, and gives up"));
                    tokio::spawn(return_days_later(Arc::clone(world), attempt));
                    if !self.starts_anew(world).await {
                        return;
                    }
                }
            }
        }
    }

    /// Whether the buyer starts another attempt. The buyer of an order may do so once more, with
    /// any method and whatever the last outcome: the shop accepts one payment. At the open form it
    /// would be another purchase.
    async fn starts_anew(&self, world: &Arc<World>) -> bool {
        let Bill::Order { link, .. } = &self.bill else {
            return false;
        };
        if !world.dice.happens(600) {
            return false;
        }
        sleep(world.dice.seconds(1, 120)).await;
        load(world, link).await;
        true
    }

    fn attempt(&self, world: &World, round: usize) -> Attempt {
        let (name, path, order) = match &self.bill {
            Bill::OpenForm { .. } => (
                format!("{}-{round}", self.number),
                "/create_payment".to_owned(),
                None,
            ),
            Bill::Order { link, tab } => (
                format!("{}-{tab}-{round}", self.number),
                link.path.clone(),
                Some(link.id.clone()),
            ),
        };
        let payer = format!("pedido-{name}@example.com");
        let has_order = order.is_some();
        let place =
            lock_mutex(&world.promises).begin_attempt(self.number, has_order, payer.clone());
        Attempt {
            place,
            path,
            order,
            body: self.body(world, &name, &payer),
            key: self.has_keys.then(|| format!("pedido-{name}")),
            payer,
            begun: world.now(),
            is_unanswered: AtomicBool::new(false),
        }
    }

    fn body(&self, world: &World, name: &str, payer: &str) -> Value {
        let mut body = json!({ "email": payer, "identification_number": "12345678909" });
        let method = match &self.bill {
            Bill::OpenForm { method } => {
                let named = json!({
                    "transaction_amount": self.cents / 100,
                    "description": format!("Pedido {name}"),
                });
                extend(&mut body, named);
                *method
            }
            Bill::Order { .. } => world.dice.one_of(&["card", "card", "pix", "boleto"]),
        };
        extend(&mut body, json!({ "payment_method": method }));
        extend(&mut body, members_of(method));
        body
    }

    /// Sends an attempt until its outcome is known, or until a retry makes no sense.
    async fn send_until_answered(&self, world: &Arc<World>, attempt: &Attempt) -> PaymentAnswer {
        for wait in WAITS {
            let is_doubled = attempt.key.is_some() && world.happens(|_| 150);
            let heard = if is_doubled {
                let (first, second) = tokio::join!(attempt.send(world), attempt.send(world));
                match (first, second) {
                    (made @ PaymentAnswer::Made { .. }, _)
                    | (_, made @ PaymentAnswer::Made { .. }) => made,
                    (no @ PaymentAnswer::NotCharged { .. }, PaymentAnswer::NotCharged { .. }) => no,
                    (PaymentAnswer::Over, _) | (_, PaymentAnswer::Over) => PaymentAnswer::Over,
                    _ => PaymentAnswer::Unknown,
                }
            } else {
                attempt.send(world).await
            };
            match heard {
                PaymentAnswer::Made { .. } | PaymentAnswer::Over => return heard,
                PaymentAnswer::NotCharged { is_final }
                    if attempt.is_over(is_final, &world.dice) =>
                {
                    world.note(|| format!("{} believes that nothing was charged", attempt.payer));
                    lock_mutex(&world.promises)
                        .record_attempt(attempt.place, ReportedOutcome::NotMade);
                    return heard;
                }
                _ if attempt.key.is_none() => return PaymentAnswer::Unknown,
                // The buyer reloads the page and loses the key.
                _ if attempt.order.is_some() && world.dice.happens(250) => {
                    return PaymentAnswer::Unknown;
                }
                _ => {}
            }
            let spread = world.dice.seconds(wait, wait * 2);
            let patience = attempt.begun + patience(world);
            if world.now() + spread > patience {
                return PaymentAnswer::Unknown;
            }
            sleep(spread).await;
            if world.now() > patience {
                return PaymentAnswer::Unknown;
            }
        }
        PaymentAnswer::Unknown
    }
}

/// How long a buyer retries with a key. Where payments are hidden for longer than the service
/// waits, a later retry would charge again.
fn patience(world: &World) -> Duration {
    if world.shop.hides_payments() {
        Duration::from_secs(50 * 60)
    } else {
        KEY_LIFETIME
    }
}

/// The members of a request that its method requires.
fn members_of(method: &str) -> Value {
    match method {
        "card" => json!({
            "card_number": "4235647728025682",
            "expiration_month": "11",
            "expiration_year": "2039",
            "security_code": "123",
            "cardholder_name": "APRO",
            "installments": 1,
        }),
        "boleto" => json!({
            "first_name": "Ana",
            "last_name": "Souza",
            "zip_code": "01310-100",
            "street_name": "Avenida Paulista",
            "street_number": "1578",
            "neighborhood": "Bela Vista",
            "city": "São Paulo",
            "federal_unit": "SP",
        }),
        _ => json!({}),
    }
}

fn extend(body: &mut Value, more: Value) {
    if let (Some(body), Value::Object(more)) = (body.as_object_mut(), more) {
        body.extend(more);
    }
}

impl Attempt {
    /// Whether a buyer starts a new attempt after "not charged". Not while a request of theirs may
    /// still arrive. If the answer is not final, they may also retry with the same key.
    fn is_over(&self, is_final: bool, dice: &Dice) -> bool {
        let is_certain = is_final || !self.is_unanswered.load(Ordering::Relaxed);
        is_certain && (self.key.is_none() || dice.happens(700))
    }

    async fn send(&self, world: &Arc<World>) -> PaymentAnswer {
        let mut request = client::request(Method::POST, &self.path, &self.body);
        if let Some(key) = &self.key {
            client::set(&mut request, "idempotency-key", key);
        }
        if let Some(answer) = client::send(world, request).await {
            self.is_unanswered
                .fetch_or(answer.is_late, Ordering::Relaxed);
            return self.read_answer(world, &answer);
        }
        self.is_unanswered.store(true, Ordering::Relaxed);
        PaymentAnswer::Unknown
    }

    fn read_answer(&self, world: &World, answer: &Answer) -> PaymentAnswer {
        match (answer.status, answer.text("outcome")) {
            (200, _) => {
                let id = answer.text("id").to_owned();
                let outcome = ReportedOutcome::Made(id.clone());
                if let Some(before) =
                    lock_mutex(&world.promises).record_attempt(self.place, outcome)
                {
                    world.violated(format!("{self}: told {before:?}, and then {id}"));
                }
                PaymentAnswer::Made {
                    id,
                    status: answer.text("status").to_owned(),
                }
            }
            (502 | 503, "not_charged") => PaymentAnswer::NotCharged {
                is_final: answer.text("detail") == "Erro PROVIDER 400",
            },
            (409 | 410, _) if self.order.is_some() => self.read_order_answer(world, answer),
            (500 | 502 | 503, "unknown") | (409, _) => PaymentAnswer::Unknown,
            (status, _) => {
                world.violated(format!("{self} was answered {status} {}", answer.body));
                PaymentAnswer::Unknown
            }
        }
    }

    /// Interprets a response about an order.
    fn read_order_answer(&self, world: &World, answer: &Answer) -> PaymentAnswer {
        let order = self.order.as_deref().unwrap_or_default();
        match (answer.status, answer.text("detail")) {
            (409, ALREADY_PAID) => {
                lock_mutex(&world.promises).record_order_end(order, "paid");
                PaymentAnswer::Over
            }
            (410, detail) => {
                if detail == "Order canceled" {
                    lock_mutex(&world.promises).record_order_end(order, "canceled");
                }
                // This response reads like "not charged", so a buyer whose earlier request was not
                // answered believes that.
                let outcome = ReportedOutcome::NotMade;
                if let Some(before) =
                    lock_mutex(&world.promises).record_attempt(self.place, outcome)
                {
                    world.violated(format!("{self}: told {before:?}, and then {detail}"));
                }
                PaymentAnswer::Over
            }
            _ => PaymentAnswer::Unknown,
        }
    }
}

impl std::fmt::Display for Attempt {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.payer)
    }
}

/// Loads the page of an order.
async fn load(world: &Arc<World>, link: &OrderLink) {
    let page = client::request(Method::GET, &link.path, &Value::Null);
    if let Some(answer) = client::send(world, page).await
        && !matches!(answer.status, 200 | 503)
    {
        world.violated(format!("GET {} was answered {}", link.path, answer.status));
    }
}

/// While a key is valid, a retry returns the payment that was made.
async fn repeat_later(world: Arc<World>, attempt: Attempt, id: String) {
    if attempt.key.is_none() || !world.dice.happens(500) {
        return;
    }
    sleep(world.dice.seconds(1, 71 * 3600)).await;
    if world.now() > attempt.begun + KEY_LIFETIME {
        return;
    }
    if let PaymentAnswer::NotCharged { .. } | PaymentAnswer::Over = attempt.send(&world).await {
        world.violated(format!("{attempt} was paid by {id}, and is told not to be"));
    }
}

/// A buyer who never learned the outcome, because the service went down, retries once the service
/// is back. The key is valid until somebody was told the outcome.
async fn return_days_later(world: Arc<World>, attempt: Attempt) {
    let is_untold = world.look(|provider| {
        let mut payments = provider.payments().iter();
        payments.any(|payment| payment.payer == attempt.payer && !payment.is_told)
    });
    let is_hopeless = attempt.key.is_none() || world.shop.hides_payments();
    if is_hopeless || !is_untold || !world.replicas.is_absent() {
        return;
    }
    while world.replicas.is_absent() {
        sleep(Duration::from_secs(1200)).await;
    }
    world.note(|| format!("the buyer of {attempt} comes back"));
    for wait in WAITS {
        match attempt.send(&world).await {
            PaymentAnswer::Made { .. } | PaymentAnswer::Over => return,
            PaymentAnswer::NotCharged { .. } => {
                lock_mutex(&world.promises).record_attempt(attempt.place, ReportedOutcome::NotMade);
            }
            PaymentAnswer::Unknown => {}
        }
        sleep(Duration::from_secs(wait)).await;
    }
}

/// Pays the pix or the boleto, or forgets it.
async fn use_code(world: Arc<World>, id: String, status: String) {
    if status != "pending" || !world.dice.happens(700) {
        return;
    }
    sleep(world.dice.seconds(2, 900)).await;
    let number = id.parse().unwrap_or(0);
    if is_late(&world, number) {
        world.note(|| format!("the buyer pays {id} at a bank"));
        return bank::notify_late(&world, number).await;
    }
    let is_paid = |world: &Arc<World>| {
        world.at_provider(|provider, at| provider.decide(number, "approved", "accredited", at))
    };
    if is_paid(&world) {
        world.note(|| format!("the buyer pays {id}"));
    }
}

/// Whether a bank accepts the money for a boleto and reports it later. Only in shops with orders,
/// where this may cause an overpayment.
fn is_late(world: &World, id: u64) -> bool {
    let is_waiting =
        |payment: &Payment| payment.method == "bolbradesco" && payment.view.status == "pending";
    world.shop.has_orders
        && world.look(|provider| provider.find(id).is_some_and(is_waiting))
        && world.dice.happens(600)
}
