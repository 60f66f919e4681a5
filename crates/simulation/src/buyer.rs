//! Buyers: they repeat with the same key what was not answered, and pay again only what they were told was not charged.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use db::Timestamp;
use http::Method;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::client::{self, Answer};
use crate::dice::Dice;
use crate::merchant;
use crate::promises::Told;
use crate::provider::member;
use crate::world::{World, lock};

/// Under a key an answer is kept for 72 hours; clocks differ by minutes.
pub(crate) const KEY_IS_GOOD_FOR: Duration = Duration::from_secs(71 * 3600);
/// Seconds between repetitions.
const WAITS: [u64; 9] = [1, 2, 5, 20, 40, 120, 600, 3600, 18_000];

/// An order, and how its buyer pays.
struct Order {
    number: usize,
    method: &'static str,
    has_keys: bool,
    cents: u64,
}

/// One attempt: a request that is repeated as it is.
struct Attempt {
    place: usize,
    body: Value,
    key: Option<String>,
    begun: Timestamp,
    /// Was a request of it never answered? It may still arrive, and then it goes on with the attempt.
    is_unanswered: AtomicBool,
}

/// What an answer means for the buyer.
enum Heard {
    Made {
        id: String,
        status: String,
    },
    /// For good, or up to now: then a request that is still on its way may change it.
    NotCharged {
        is_final: bool,
    },
    Unknown,
}

/// Pays for one order, after up to so many seconds.
pub(crate) async fn pay(world: Arc<World>, number: usize, within: u64) {
    let dice = &world.dice;
    let order = Order {
        number,
        method: dice.one_of(&["card", "card", "card", "pix", "boleto"]),
        has_keys: dice.happens(750),
        cents: 10_000 + number as u64 * 100,
    };
    sleep(dice.seconds(0, within)).await;
    for round in 1..=4 {
        let attempt = order.attempt(&world, round);
        match order.insist(&world, &attempt).await {
            Heard::Made { id, status } => {
                world.note(|| format!("buyer {number} has paid: {id} {status}"));
                tokio::spawn(repeat_later(Arc::clone(&world), attempt, id.clone()));
                if status == "rejected" && world.dice.happens(700) {
                    continue;
                }
                tokio::spawn(use_code(Arc::clone(&world), id.clone(), status.clone()));
                merchant::look_after(&world, &id, order.cents);
                return;
            }
            Heard::NotCharged { .. } => sleep(world.dice.seconds(1, 90)).await,
            Heard::Unknown => {
                world.note(|| format!("buyer {number} does not know, and gives up"));
                tokio::spawn(come_back(world, attempt));
                return;
            }
        }
    }
}

impl Order {
    fn attempt(&self, world: &World, round: usize) -> Attempt {
        let name = format!("Pedido {}-{round}", self.number);
        let place = lock(&world.promises).begin_attempt(self.number, name.clone());
        Attempt {
            place,
            body: self.body(&name),
            key: self
                .has_keys
                .then(|| format!("pedido-{}-{round}", self.number)),
            begun: world.now(),
            is_unanswered: AtomicBool::new(false),
        }
    }

    fn body(&self, description: &str) -> Value {
        let mut body = json!({
            "payment_method": self.method,
            "transaction_amount": self.cents / 100,
            "description": description,
            "email": "ana@example.com",
            "identification_number": "12345678909",
        });
        let more = match self.method {
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
        };
        if let (Some(body), Value::Object(more)) = (body.as_object_mut(), more) {
            body.extend(more);
        }
        body
    }

    /// Sends an attempt until its outcome is known, or there is no sense in sending it again.
    async fn insist(&self, world: &Arc<World>, attempt: &Attempt) -> Heard {
        for wait in WAITS {
            let is_doubled = attempt.key.is_some() && world.happens(|_| 150);
            let heard = if is_doubled {
                let (first, second) = tokio::join!(attempt.send(world), attempt.send(world));
                match (first, second) {
                    (made @ Heard::Made { .. }, _) | (_, made @ Heard::Made { .. }) => made,
                    (no @ Heard::NotCharged { .. }, Heard::NotCharged { .. }) => no,
                    _ => Heard::Unknown,
                }
            } else {
                attempt.send(world).await
            };
            match heard {
                Heard::Made { .. } => return heard,
                Heard::NotCharged { is_final } if attempt.is_over(is_final, &world.dice) => {
                    world.note(|| {
                        format!("buyer {} believes that nothing was charged", self.number)
                    });
                    lock(&world.promises).told_attempt(attempt.place, Told::NotMade);
                    return heard;
                }
                _ if attempt.key.is_none() => return Heard::Unknown,
                _ => {}
            }
            let spread = world.dice.seconds(wait, wait * 2);
            if world.now() + spread > attempt.begun + KEY_IS_GOOD_FOR {
                return Heard::Unknown;
            }
            sleep(spread).await;
            if world.now() > attempt.begun + KEY_IS_GOOD_FOR {
                return Heard::Unknown;
            }
        }
        Heard::Unknown
    }
}

impl Attempt {
    /// Does a buyer who hears "not charged" begin anew? Not while a request of his may still arrive; and if this was not for good, he may
    /// as well go on with the key.
    fn is_over(&self, is_final: bool, dice: &Dice) -> bool {
        let is_certain = is_final || !self.is_unanswered.load(Ordering::Relaxed);
        is_certain && (self.key.is_none() || dice.happens(700))
    }

    async fn send(&self, world: &Arc<World>) -> Heard {
        let mut request = client::request(Method::POST, "/create_payment", &self.body);
        if let Some(key) = &self.key {
            client::set(&mut request, "idempotency-key", key);
        }
        if let Some(answer) = client::send(world, request).await {
            self.is_unanswered
                .fetch_or(answer.is_late, Ordering::Relaxed);
            return self.hear(world, &answer);
        }
        self.is_unanswered.store(true, Ordering::Relaxed);
        Heard::Unknown
    }

    fn hear(&self, world: &World, answer: &Answer) -> Heard {
        match (answer.status, answer.text("outcome")) {
            (200, _) => {
                let id = answer.text("id").to_owned();
                let told = Told::Made(id.clone());
                if let Some(before) = lock(&world.promises).told_attempt(self.place, told) {
                    world.violated(format!("{self}: told {before:?}, and then {id}"));
                }
                Heard::Made {
                    id,
                    status: answer.text("status").to_owned(),
                }
            }
            (502 | 503, "not_charged") => Heard::NotCharged {
                is_final: answer.text("detail") == "Erro PROVIDER 400",
            },
            (500 | 502 | 503, "unknown") | (409, _) => Heard::Unknown,
            (status, _) => {
                world.violated(format!("{self} was answered {status} {}", answer.body));
                Heard::Unknown
            }
        }
    }
}

impl std::fmt::Display for Attempt {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let description = member(&self.body, "description");
        formatter.write_str(description.as_str().unwrap_or_default())
    }
}

/// As long as a key is good, it stands for the payment that was made.
async fn repeat_later(world: Arc<World>, attempt: Attempt, id: String) {
    if attempt.key.is_none() || !world.dice.happens(500) {
        return;
    }
    sleep(world.dice.seconds(1, 71 * 3600)).await;
    if world.now() > attempt.begun + KEY_IS_GOOD_FOR {
        return;
    }
    if let Heard::NotCharged { .. } = attempt.send(&world).await {
        world.violated(format!(
            "{attempt} was paid by {id}, and is told not to be charged"
        ));
    }
}

/// A buyer who was never told what came of an attempt, because the service went off, repeats it once somebody runs the service again. As
/// long as nobody was told, its key is good.
async fn come_back(world: Arc<World>, attempt: Attempt) {
    let is_untold = world.look(|provider| {
        let mut payments = provider.payments().iter();
        payments.any(|payment| payment.description == attempt.to_string() && !payment.is_told)
    });
    if attempt.key.is_none() || !is_untold || !world.replicas.is_absent() {
        return;
    }
    while world.replicas.is_absent() {
        sleep(Duration::from_secs(1200)).await;
    }
    world.note(|| format!("the buyer of {attempt} comes back"));
    for wait in WAITS {
        match attempt.send(&world).await {
            Heard::Made { .. } => return,
            Heard::NotCharged { .. } => {
                lock(&world.promises).told_attempt(attempt.place, Told::NotMade);
            }
            Heard::Unknown => {}
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
    let is_paid = |world: &Arc<World>| {
        world.at_provider(|provider, at| provider.decide(number, "approved", "accredited", at))
    };
    if is_paid(&world) {
        world.note(|| format!("the buyer pays {id}"));
    }
}
