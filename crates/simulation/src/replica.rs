//! Processes of the service: started, stopped at their seams, killed, started again.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use checkout::provider::{self, AccessToken};
use checkout::{App, Config, Parts, Secret, State};
use db::{Engine, Interference, JobKind, KeepAlive};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, sleep_until};
use web::rate::Windows;
use web::server::Shutdown;
use web::{Clock, Random};

use crate::network::Wire;
use crate::world::{World, lock};

/// The key of the merchant.
pub(crate) const API_KEY: &str = "balcao_merchant_of_the_simulation";
/// Signs the provider's notifications.
pub(crate) const WEBHOOK_SECRET: &str = "a secret of the simulation";
/// The time that a call to the provider may take.
pub(crate) const CALL_TIMEOUT: Duration = Duration::from_secs(15);

/// The processes that run now.
#[derive(Default)]
pub(crate) struct Replicas(Mutex<Running>);

#[derive(Default)]
struct Running {
    replicas: Vec<Arc<Replica>>,
    /// Nobody starts any.
    is_absent: bool,
    /// So many were ended by a fault.
    crashes: usize,
}

/// One running process.
pub(crate) struct Replica {
    pub(crate) router: Router,
    pub(crate) state: State,
    pub(crate) life: Arc<Life>,
    _heartbeats: Option<KeepAlive>,
}

/// The most crashes of a run: they cost time, and more of them find no more.
const CRASHES_MAX: usize = 8;

/// Whether a process lives, and when it goes on if it does not.
pub(crate) struct Life {
    pub(crate) number: usize,
    world: Arc<World>,
    is_dead: AtomicBool,
    /// Wakes who waits for the death, in the order they came: a `watch` wakes them in an order of chance.
    death: Notify,
    frozen_until: Mutex<Instant>,
}

impl Life {
    fn new(number: usize, world: &Arc<World>) -> Arc<Self> {
        Arc::new(Self {
            number,
            world: Arc::clone(world),
            is_dead: AtomicBool::new(false),
            death: Notify::new(),
            frozen_until: Mutex::new(Instant::now()),
        })
    }

    fn kill(&self) {
        self.is_dead.store(true, Ordering::Relaxed);
        self.death.notify_waiters();
    }

    fn is_dead(&self) -> bool {
        self.is_dead.load(Ordering::Relaxed)
    }

    /// Waits for the death of the process.
    pub(crate) async fn died(&self) {
        // Made before the question, so that no death falls between them.
        let death = self.death.notified();
        if !self.is_dead() {
            death.await;
        }
    }

    /// A place where the process leaves its own code: here it may die or stand still. A dead one never goes on, so all that it would
    /// have done never happens.
    pub(crate) async fn seam(&self, place: &str) {
        self.wait().await;
        if self.world.happens(|faults| faults.crashes) && self.world.replicas.may_crash() {
            self.world
                .note(|| format!("replica {} dies {place}", self.number));
            end(&self.world, self.number);
        } else if self.world.happens(|faults| faults.freezes) {
            let time = self.world.dice.seconds(1, 180);
            let is_whole = self.world.dice.happens(500);
            self.world.note(|| {
                let who = if is_whole {
                    "replica"
                } else {
                    "a task of replica"
                };
                format!(
                    "{who} {} stands still for {} s {place}",
                    self.number,
                    time.as_secs()
                )
            });
            if is_whole {
                *lock(&self.frozen_until) = Instant::now() + time;
            } else {
                sleep(time).await;
            }
        }
        self.wait().await;
    }

    /// Returns while the process lives and is not frozen.
    async fn wait(&self) {
        loop {
            if self.is_dead() {
                std::future::pending::<()>().await;
            }
            let until = *lock(&self.frozen_until);
            if until <= Instant::now() {
                return;
            }
            sleep_until(until).await;
        }
    }
}

impl Interference for Life {
    fn before(&self, kind: JobKind) -> db::Moment<'_> {
        Box::pin(async move {
            match kind {
                JobKind::Work => self.seam("before a job of the database").await,
                // They are most of the jobs: nearly every crash would fall on one.
                JobKind::Heartbeat => self.wait().await,
            }
            if self.world.dice.happens(150) {
                sleep(self.world.dice.millis(1, 20)).await;
            }
            !self.world.happens(|faults| faults.lost_jobs)
        })
    }

    fn after(&self, kind: JobKind) -> db::Moment<'_> {
        Box::pin(async move {
            match kind {
                JobKind::Work => self.seam("after a job of the database").await,
                JobKind::Heartbeat => self.wait().await,
            }
            !self.world.happens(|faults| faults.lost_commits)
        })
    }
}

impl Replicas {
    /// Those that run.
    pub(crate) fn running(&self) -> Vec<Arc<Replica>> {
        lock(&self.0).replicas.clone()
    }

    fn may_crash(&self) -> bool {
        let mut running = lock(&self.0);
        running.crashes += 1;
        running.crashes <= CRASHES_MAX
    }

    /// Does nobody run the service?
    pub(crate) fn is_absent(&self) -> bool {
        lock(&self.0).is_absent
    }

    fn take(&self, number: usize) -> Option<Arc<Replica>> {
        let mut running = lock(&self.0);
        let place = running
            .replicas
            .iter()
            .position(|replica| replica.life.number == number)?;
        Some(running.replicas.remove(place))
    }
}

/// Starts every replica that does not run; in the calm one is enough.
pub(crate) async fn start_all(world: &Arc<World>) {
    lock(&world.replicas.0).is_absent = false;
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

/// Ends every replica, and lets none start again before [`start_all`].
pub(crate) fn end_all(world: &Arc<World>) {
    lock(&world.replicas.0).is_absent = true;
    for number in 0..world.faults.replicas {
        end(world, number);
    }
}

/// Ends one; its supervisor starts it again after some seconds, unless there is nobody to.
fn end(world: &Arc<World>, number: usize) {
    let Some(replica) = world.replicas.take(number) else {
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

/// Starts one, again and again until it is up. Boxed, because a replica that dies is started again by this.
fn start(world: &Arc<World>, number: usize) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
    Box::pin(async move {
        for _ in 0..20 {
            let life = Life::new(number, world);
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
                    let replica = Arc::new(Replica {
                        router,
                        life,
                        _heartbeats: has_heartbeats.then(|| checkout::keep_alive(&state)),
                        state,
                    });
                    lock(&world.replicas.0).replicas.push(replica);
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
    // A process that is alone behaves as on SQLite, where it takes over at once what an earlier one left.
    let engine = if world.faults.replicas == 1 {
        Engine::Sqlite
    } else {
        Engine::Postgres
    };
    Parts {
        db: world.database.handle(engine, Arc::<Life>::clone(life)),
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
        provider: provider::Config {
            base_url: PROVIDER.clone(),
            access_token: TOKEN.clone(),
            timeout: CALL_TIMEOUT,
            quota: quota.parse().unwrap_or_else(|_| web::rate::Rates::off()),
        },
        max_amounts: checkout::request::MaxAmounts::default(),
        boleto_method: "bolbradesco".to_owned(),
        webhook_secrets: vec![Secret::new(WEBHOOK_SECRET)],
        rate_limit: web::rate::Rates::off(),
        rate_limit_payments: web::rate::Rates::off(),
        open_payments: true,
        refund_overpayment: world.shop.refunds_overpayment,
        receipts: None,
        api_keys: vec![Secret::new(API_KEY)],
        webhooks: checkout::webhooks::Webhooks::default(),
        shop: checkout::page::Shop::default(),
        secret: Secret::new([7; 32]),
    }
}

/// Where nothing is ever sent.
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
