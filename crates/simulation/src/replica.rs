//! Processes of the service: started, killed, restarted.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use checkout::provider::{self, AccessToken};
use checkout::{App, Config, Parts, Secret};
use db::{Db, Engine};
use tokio::time::sleep;
use web::rate::Windows;
use web::server::Shutdown;
use web::{Clock, Random};

use crate::network::Wire;
use crate::settings::{API_KEY, CALL_TIMEOUT, WEBHOOK_SECRET};
use crate::world::{Life, Replica, World};

/// Starts every replica that is not running. In the calm phase one is enough.
pub(crate) async fn start_all(world: &Arc<World>) {
    world.replicas.set_absent(false);
    let count = if world.is_calm() {
        1
    } else {
        world.faults.replicas
    };
    for number in 0..count {
        let runs = world.replicas.running();
        if runs.iter().all(|replica| replica.life.number != number) {
            start(world, number).await;
        }
    }
}

/// Kills every replica. None starts again before [`start_all`].
pub(crate) fn end_all(world: &Arc<World>) {
    world.replicas.set_absent(true);
    for number in 0..world.faults.replicas {
        end(world, number);
    }
}

/// Kills a replica. Its supervisor restarts it after some seconds, unless the service is down.
fn end(world: &Arc<World>, number: usize) {
    let Some(replica) = world.replicas.remove(number) else {
        return;
    };
    replica.life.kill();
    let world = Arc::clone(world);
    tokio::spawn(async move {
        sleep(world.dice.seconds(1, 60)).await;
        let runs = world.replicas.running();
        let is_back = runs.iter().any(|replica| replica.life.number == number);
        if !world.replicas.is_absent() && !is_back {
            start(&world, number).await;
        }
    });
}

/// Starts a replica, with retries until it is up. Boxed, because a dying replica calls it
/// recursively.
fn start(world: &Arc<World>, number: usize) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
    Box::pin(async move {
        for _ in 0..20 {
            let life = Life::new(number, world, end);
            let wire = Arc::new(Wire::new(world, &life));
            let app = checkout::app_over(wire, config(world), parts(world, &life)).await;
            match app {
                Ok(App {
                    router,
                    workers,
                    state,
                }) => {
                    if world.replicas.is_absent() {
                        return life.kill();
                    }
                    world.note(|| format!("replica {number} is up"));
                    let has_heartbeats = world.faults.has_heartbeats;
                    let heartbeats = has_heartbeats.then(|| checkout::keep_alive(&state));
                    let replica = Arc::new(Replica {
                        router,
                        state,
                        life,
                        _heartbeats: heartbeats,
                    });
                    world.replicas.add(replica);
                    tokio::spawn(workers.run());
                    return;
                }
                Err(error) => {
                    world.note(|| format!("replica {number} cannot start: {error}"));
                    sleep(Duration::from_secs(2)).await;
                }
            }
        }
    })
}

fn parts(world: &Arc<World>, life: &Arc<Life>) -> Parts {
    let skew = world.faults.skew.get(life.number).copied().unwrap_or(0);
    let clock = Clock::of_runtime(world.now() + Duration::from_secs(skew));
    // A single process behaves as on SQLite, where it takes over the leases of an earlier process
    // at once.
    let engine = if world.faults.replicas == 1 {
        Engine::Sqlite
    } else {
        Engine::Postgres
    };
    Parts {
        db: Db::simulated(
            Arc::clone(&world.database),
            engine,
            Arc::<Life>::clone(life),
        ),
        windows: Windows::memory(clock.clone()),
        clock,
        random: Random::seeded(world.dice.seed()),
        metrics: web::metrics::Metrics::new(),
        shutdown: Shutdown::new(),
    }
}

fn config(world: &World) -> Config {
    let quota = if world.is_calm() {
        "off"
    } else {
        world.faults.quota
    };
    Config {
        public_url: None,
        trusted_proxies: web::client::Proxies::default(),
        hsts_subdomains: false,
        allow_http: false,
        provider: provider::ProviderConfig {
            base_url: PROVIDER.clone(),
            access_token: TOKEN.clone(),
            timeout: CALL_TIMEOUT,
            quota: quota.parse().unwrap_or_else(|_| web::rate::Rates::off()),
        },
        max_amounts: checkout::request::MaxAmounts::default(),
        boleto_method: "bolbradesco".to_owned(),
        webhook_secrets: vec![Secret::new(WEBHOOK_SECRET)],
        rate_limit: web::rate::Rates::off(),
        attempt_limit: web::rate::Rates::off(),
        decline_limit: web::rate::Rates::off(),
        open_payments: true,
        refund_overpayment: world.shop.refunds_overpayment,
        receipts: None,
        api_keys: vec![Secret::new(API_KEY)],
        webhooks: checkout::webhooks::Webhooks::default(),
        shop: checkout::page::Shop::default(),
        secret: Secret::new([7; 32]),
    }
}

/// An address to which nothing is ever sent.
#[expect(
    clippy::expect_used,
    reason = "a constant that a test would show to be wrong"
)]
static PROVIDER: std::sync::LazyLock<provider::BaseUrl> =
    std::sync::LazyLock::new(|| "http://127.0.0.1:9".parse().expect("an address"));
#[expect(
    clippy::expect_used,
    reason = "a constant that a test would show to be wrong"
)]
static TOKEN: std::sync::LazyLock<AccessToken> =
    std::sync::LazyLock::new(|| AccessToken::parse("TEST-token").expect("a token"));
