//! The real application over a fresh database and the real sandbox, with a fixed clock.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::ConnectInfo;
use checkout::provider::Transport;
use checkout::request::MaxAmounts;
use checkout::{App, Config, MIGRATIONS, Parts, Secret, State, Workers};
use db::{Address, Db, Options, Timestamp};
use http::{HeaderMap, Request};
use serde_json::Value;
use test_kit::tls::provide_cryptography;
use tower::ServiceExt;
use web::rate::{Rates, Windows};
use web::server::Shutdown;
use web::{Clock, Random};

use super::sandbox::Sandbox;
use crate::openapi::assert_described;
use crate::provider;

/// The key of the merchant in every test.
pub(crate) const API_KEY: &str = "balcao_merchant_of_the_tests";
/// The secret that signs the sandbox's notifications.
pub(crate) const WEBHOOK_SECRET: &str = "a secret of the tests";

/// As [`test_kit::on_both_engines!`]: the body gets a shop on the fresh database.
macro_rules! shop_on_both_engines {
    ($name:ident, $body:expr $(,)?) => {
        test_kit::on_both_engines!($name, async |address| {
            test_kit::database::call_with($crate::payments::app::Shop::open, $body, address).await;
        });
    };
}

pub(crate) use shop_on_both_engines;

/// The application, and a client of it.
pub(crate) struct TestApp {
    pub(crate) router: axum::Router,
    pub(crate) state: State,
    pub(crate) workers: Workers,
    pub(crate) clock: Clock,
    pub(crate) db: Db,
    pub(crate) shutdown: Shutdown,
    pub(crate) figures: web::metrics::Metrics,
}

/// An application and its sandbox.
pub(crate) struct Shop {
    pub(crate) app: TestApp,
    pub(crate) sandbox: Sandbox,
    address: String,
}

/// An answer with its whole body.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {}", self.text))
    }

    /// Fails unless the status is this one.
    #[track_caller]
    pub(crate) fn has_status(&self, status: u16) {
        assert_eq!(self.status, status, "{}", self.text);
    }

    pub(crate) fn detail(&self) -> String {
        self.json()["detail"]
            .as_str()
            .expect("a detail that is a string")
            .to_owned()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// The id of a payment that was made.
    pub(crate) fn id(&self) -> String {
        assert_eq!(self.status, 200, "{}", self.text);
        self.json()["id"]
            .as_str()
            .expect("an id that is a string")
            .to_owned()
    }

    pub(crate) fn token(&self) -> String {
        self.header("x-payment-status-token")
            .expect("a status token")
            .to_owned()
    }

    /// Fails unless these are its status and detail.
    #[track_caller]
    pub(crate) fn is_error(&self, status: u16, detail: &str) {
        assert_eq!(self.error(), (status, detail.to_owned()));
    }

    /// Fails unless the outcome is unknown.
    #[track_caller]
    pub(crate) fn is_unknown(&self) {
        self.is_error(503, "Service unavailable");
        assert_eq!(self.json()["outcome"], "unknown");
    }

    /// Status and detail, to compare at once.
    pub(crate) fn error(&self) -> (u16, String) {
        (self.status, self.detail())
    }
}

/// 2026-11-20, noon in UTC.
pub(crate) fn now() -> Timestamp {
    Timestamp::parse("2026-11-20T12:00:00Z").unwrap()
}

/// The default options of a database with long timeouts, since a busy machine may be slow.
pub(crate) fn patient() -> Options {
    Options {
        wait: Duration::from_secs(600),
        statement_timeout: Duration::from_secs(600),
        long_lock_timeout: Duration::from_secs(600),
        idle_timeout: Duration::from_secs(600),
        ..Options::default()
    }
}

pub(crate) fn config(provider_url: &str) -> Config {
    Config {
        public_url: None,
        trusted_proxies: web::client::Proxies::default(),
        hsts_subdomains: false,
        allow_http: false,
        provider: provider::config(provider_url, Duration::from_secs(20)),
        boleto_method: "bolbradesco".to_owned(),
        webhook_secrets: vec![Secret::new(WEBHOOK_SECRET)],
        max_amounts: MaxAmounts::default(),
        rate_limit: Rates::off(),
        attempt_limit: Rates::off(),
        decline_limit: "5/hour".parse().unwrap(),
        api_keys: vec![Secret::new(API_KEY)],
        open_payments: true,
        refund_overpayment: false,
        receipts: None,
        webhooks: checkout::webhooks::Webhooks::default(),
        shop: checkout::page::Shop::default(),
        secret: Secret::new([7; 32]),
    }
}

impl Shop {
    /// A shop on a fresh database with a fresh sandbox.
    pub(crate) async fn open(address: &str) -> Self {
        Self::open_with(address, |_| {}).await
    }

    /// As [`Shop::open`], with another configuration.
    pub(crate) async fn open_with(address: &str, change: impl FnOnce(&mut Config)) -> Self {
        let clock = Clock::fixed(now());
        let sandbox = Sandbox::start(clock.clone()).await;
        let mut config = config(&sandbox.url());
        change(&mut config);
        let app = TestApp::start(address, config, clock, 1).await;
        Self {
            app,
            sandbox,
            address: address.to_owned(),
        }
    }

    /// Another process over the same database and sandbox, on the same clock.
    pub(crate) async fn replica(&self, change: impl FnOnce(&mut Config)) -> TestApp {
        let mut config = config(&self.sandbox.url());
        change(&mut config);
        TestApp::start(&self.address, config, self.app.clock.clone(), 2).await
    }

    /// Another process, whose calls to the provider go over this transport.
    pub(crate) async fn over(&self, transport: Arc<dyn Transport>) -> TestApp {
        let (config, clock) = (config(&self.sandbox.url()), self.app.clock.clone());
        TestApp::open(&self.address, config, clock, 2, async |config, parts| {
            checkout::app_over(transport, config, parts).await.unwrap()
        })
        .await
    }
}

impl std::ops::Deref for Shop {
    type Target = TestApp;

    fn deref(&self) -> &TestApp {
        &self.app
    }
}

impl TestApp {
    pub(crate) async fn start(address: &str, config: Config, clock: Clock, seed: u64) -> Self {
        Self::open(address, config, clock, seed, async |config, parts| {
            checkout::app(config, parts).await.unwrap()
        })
        .await
    }

    async fn open(
        address: &str,
        config: Config,
        clock: Clock,
        seed: u64,
        make: impl AsyncFnOnce(Config, Parts) -> App,
    ) -> Self {
        provide_cryptography();
        let address: Address = address.parse().unwrap();
        let db = Db::open(&address, &patient()).await.unwrap();
        db.migrate(&MIGRATIONS).await.unwrap();
        let (shutdown, figures) = (Shutdown::new(), web::metrics::Metrics::new());
        let parts = Parts {
            db: db.clone(),
            windows: Windows::memory(clock.clone()),
            clock: clock.clone(),
            random: Random::seeded(seed),
            metrics: figures.clone(),
            shutdown: shutdown.clone(),
        };
        let App {
            router,
            state,
            workers,
        } = make(config, parts).await;
        Self {
            router,
            state,
            workers,
            clock,
            db,
            shutdown,
            figures,
        }
    }

    /// Sends a request as if from this machine, and checks its answer against the API's document.
    pub(crate) async fn send(&self, mut request: Request<Body>) -> Answer {
        let (method, path) = (request.method().to_string(), request.uri().to_string());
        let peer = SocketAddr::from(([127, 0, 0, 1], 40_000));
        if request
            .extensions()
            .get::<ConnectInfo<SocketAddr>>()
            .is_none()
        {
            request.extensions_mut().insert(ConnectInfo(peer));
        }
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = to_bytes(body, usize::MAX).await.unwrap();
        let status = parts.status.as_u16();
        assert_described(&method, &path, status, &parts.headers, &body);
        let text = String::from_utf8_lossy(&body).into_owned();
        Answer {
            status,
            headers: parts.headers,
            text,
        }
    }

    /// `POST /create_payment`
    pub(crate) async fn pay(&self, body: &Value) -> Answer {
        self.send(creation(body, None)).await
    }

    /// `POST /create_payment` with an idempotency key.
    pub(crate) async fn pay_with_key(&self, body: &Value, key: &str) -> Answer {
        self.send(creation(body, Some(key))).await
    }

    /// As a merchant with a key.
    pub(crate) async fn merchant(&self, method: &str, path: &str, body: Option<&Value>) -> Answer {
        self.send(merchants(method, path, body, None)).await
    }

    /// As a merchant, with an idempotency key.
    pub(crate) async fn merchant_with_key(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        key: &str,
    ) -> Answer {
        self.send(merchants(method, path, body, Some(key))).await
    }

    /// As anybody.
    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(Request::get(path).body(Body::empty()).unwrap())
            .await
    }

    /// The payment's state, as a merchant reads it.
    pub(crate) async fn status(&self, id: &str) -> String {
        let answer = self.merchant("GET", &format!("/payments/{id}"), None).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.json()["status"].as_str().unwrap().to_owned()
    }

    /// Asks the provider about everything that is due.
    pub(crate) async fn reconcile(&self) -> Vec<String> {
        let report = checkout::reconcile::run_once(&self.state, checkout::reconcile::Scope::Due)
            .await
            .unwrap();
        report
            .lines
            .iter()
            .map(|line| line.finding.as_str().to_owned())
            .collect()
    }

    /// Moves the clock past the time of a call and its lease, so that an abandoned attempt may be
    /// taken over.
    pub(crate) fn let_leases_end(&self) {
        self.clock.advance(Duration::from_secs(60));
    }

    /// The value of one figure.
    pub(crate) fn figure(&self, name: &str) -> u64 {
        value_of(name, &self.figures.encode().unwrap())
    }

    /// The value of one figure as it is served.
    pub(crate) async fn served_figure(&self, name: &str) -> u64 {
        let asked = Request::get("/metrics").body(Body::empty()).unwrap();
        let answer = self.figures.routes().oneshot(asked).await.unwrap();
        let bytes = to_bytes(answer.into_body(), usize::MAX).await.unwrap();
        value_of(name, std::str::from_utf8(&bytes).unwrap())
    }

    /// The history of the payment, oldest first: kind, state, source.
    pub(crate) async fn history(&self, id: &str) -> Vec<String> {
        let id = id.to_owned();
        let entries = async move |conn: &mut db::Conn| {
            conn.all(
                "SELECT h.kind, coalesce(h.to_state, h.provider_status), h.source FROM state_history h
                 JOIN payments p ON p.id = h.payment_id WHERE p.provider_id = $1 ORDER BY h.id",
                &[&id],
                |row| Ok(format!("{} {} by {}", row.get::<String>(0)?, row.get::<String>(1)?, row.get::<String>(2)?)),
            )
            .await
        };
        self.db.read::<_, db::Error, _>(entries).await.unwrap()
    }

    /// The step of every attempt, oldest first.
    pub(crate) async fn steps(&self) -> Vec<String> {
        let steps = async |conn: &mut db::Conn| {
            conn.all("SELECT step FROM attempts ORDER BY id", &[], |row| {
                row.get::<String>(0)
            })
            .await
        };
        self.db.read::<_, db::Error, _>(steps).await.unwrap()
    }
}

/// A creation as a client sends it.
pub(crate) fn creation(body: &Value, key: Option<&str>) -> Request<Body> {
    let mut request = Request::post("/create_payment").header("content-type", "application/json");
    if let Some(key) = key {
        request = request.header("idempotency-key", key);
    }
    request.body(Body::from(body.to_string())).unwrap()
}

fn merchants(method: &str, path: &str, body: Option<&Value>, key: Option<&str>) -> Request<Body> {
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header("authorization", format!("Bearer {API_KEY}"));
    if let Some(key) = key {
        request = request.header("idempotency-key", key);
    }
    match body {
        Some(body) => request
            .header("content-type", "application/json")
            .body(Body::from(body.to_string())),
        None => request.body(Body::empty()),
    }
    .unwrap()
}

fn value_of(name: &str, figures: &str) -> u64 {
    let lines = figures.lines();
    let values = lines.filter_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
    values.sum()
}
