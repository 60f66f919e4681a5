//! `TestApp`: the whole application on one database, with a fixed clock and clients by role.

use std::{sync::Arc, time::Duration};

use axum::{Router, body::Body, response::Response};
use db::{Db, Timestamp};
use generator::{Plan, generate};
use http::{HeaderMap, Method, Request, header};
use inventory::{
    App, Config, MIGRATIONS, Parts, State,
    accounts::{Claims, TokenKey, TokenType},
    events::Secret as EventSecret,
};
use serde_json::{Value, json};
use tower::ServiceExt as _;
use web::{
    Clock, Random,
    metrics::Metrics,
    rate::{Rates, Windows},
    server::Shutdown,
};

use crate::{openapi::assert_described, visitor::PASSWORD_HASH};

/// The time at which every test begins.
pub(crate) const NOW: &str = "2026-11-20T12:00:00Z";

/// The secret that signs the events of paid orders.
pub(crate) const ORDERS_SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

/// The secret that signs the tokens of tests.
pub(crate) const SECRET: &[u8] = b"a secret of thirty-two characters";

/// As [`test_kit::on_both_engines!`]: the body gets the application on the fresh database.
macro_rules! app_on_both_engines {
    ($name:ident, $body:expr $(,)?) => {
        test_kit::on_both_engines!($name, async |address| {
            test_kit::database::call_with($crate::app::TestApp::new, $body, address).await;
        });
    };
}

pub(crate) use app_on_both_engines;

/// The application under test.
#[derive(Clone)]
pub(crate) struct TestApp {
    pub(crate) state: State,
    pub(crate) clock: Clock,
    pub(crate) metrics: Metrics,
    address: String,
    router: Router,
}

/// An answer with its whole body.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

/// Somebody who calls the API.
pub(crate) struct Client<'app> {
    app: &'app TestApp,
    token: Option<String>,
}

/// The default options of a database with long timeouts, since a busy machine may be slow.
fn patient() -> db::Options {
    db::Options {
        wait: Duration::from_secs(600),
        statement_timeout: Duration::from_secs(600),
        long_lock_timeout: Duration::from_secs(600),
        idle_timeout: Duration::from_secs(600),
        ..db::Options::default()
    }
}

/// Settings without rate limits.
pub(crate) fn unlimited() -> Config {
    Config {
        rate_limit_auth: Rates::off(),
        rate_limit_read: Rates::off(),
        rate_limit_write: Rates::off(),
        ..Config::default()
    }
}

impl TestApp {
    /// The application on an empty database, rate limits off.
    pub(crate) async fn new(address: &str) -> Self {
        let config = Config {
            orders_secrets: vec![EventSecret::parse(ORDERS_SECRET).unwrap()],
            ..unlimited()
        };
        Self::with(address, config).await
    }

    /// The application on an empty database, with these settings.
    pub(crate) async fn with(address: &str, config: Config) -> Self {
        let db = open(address).await;
        db.migrate(&MIGRATIONS).await.unwrap();
        db.write(async |tx| add_users(tx).await).await.unwrap();
        let clock = Clock::fixed(Timestamp::parse(NOW).unwrap());
        Self::over(address, db, config, clock, 7).await
    }

    /// Another process on the same database, under the same clock.
    pub(crate) async fn replica(&self) -> Self {
        let (db, config) = (open(&self.address).await, self.state.config.clone());
        Self::over(&self.address, db, config, self.clock.clone(), 8).await
    }

    /// The process started again on the same database, with these settings, under the same clock.
    pub(crate) async fn restarted(&self, config: Config) -> Self {
        let db = open(&self.address).await;
        Self::over(&self.address, db, config, self.clock.clone(), 9).await
    }

    /// Sends heartbeats until processes that send none are seen as dead.
    pub(crate) async fn sees_dead(&self) {
        for _ in 0..4 {
            self.state.replica.heartbeat().await.unwrap();
        }
    }

    /// As [`Self::restarted`], with its workers, which have not begun.
    pub(crate) async fn process(&self, config: Config, seed: u64) -> App {
        let db = open(&self.address).await;
        process(db, config, self.clock.clone(), Metrics::default(), seed).await
    }

    async fn over(address: &str, db: Db, config: Config, clock: Clock, seed: u64) -> Self {
        let metrics = Metrics::default();
        let App { router, state, .. } =
            process(db, config, clock.clone(), metrics.clone(), seed).await;
        Self {
            state,
            clock,
            metrics,
            address: address.to_owned(),
            router,
        }
    }

    /// Generates a shop with so many products and movements over the last days.
    pub(crate) async fn make_up(&self, products: u64, movements: u64, seed: u64, days: u32) {
        let plan = Plan {
            products,
            movements,
            seed,
            days,
            until: self.clock.now(),
        };
        generate(&self.state.db, plan, Arc::new(|_| ()))
            .await
            .unwrap();
    }

    pub(crate) fn admin(&self) -> Client<'_> {
        self.user(1)
    }

    pub(crate) fn manager(&self) -> Client<'_> {
        self.user(2)
    }

    pub(crate) fn viewer(&self) -> Client<'_> {
        self.user(3)
    }

    /// A manager sells units of a product; the outflow's id.
    pub(crate) async fn sell(&self, product: i64, quantity: i64) -> i64 {
        self.manager().sell(product, quantity).await
    }

    /// A manager books units of a product in; the inflow's id.
    pub(crate) async fn receive(&self, supplier: i64, product: i64, quantity: i64) -> i64 {
        self.manager().receive(supplier, product, quantity).await
    }

    /// How many units there are of the products 1 to `N`.
    pub(crate) async fn stock<const N: usize>(&self) -> [i64; N] {
        let viewer = self.viewer();
        let mut quantities = [0; N];
        for (product, quantity) in (1..).zip(&mut quantities) {
            *quantity = viewer.quantity_of(product).await;
        }
        quantities
    }

    /// The low-stock threshold of a product's own; null without one.
    pub(crate) async fn threshold_of(&self, product: i64) -> Value {
        let path = format!("/api/v1/products/{product}/threshold/");
        self.viewer().get(&path).await.json()["threshold"].clone()
    }

    /// A manager changes fields of a product.
    pub(crate) async fn change_product(&self, product: i64, change: Value) {
        self.manager().change_product(product, change).await;
    }

    /// A manager gives a product a low-stock threshold of its own, or takes it away.
    pub(crate) async fn set_threshold(&self, product: i64, threshold: impl Into<Option<i64>>) {
        self.manager().set_threshold(product, threshold).await;
    }

    pub(crate) fn anonymous(&self) -> Client<'_> {
        Client {
            app: self,
            token: None,
        }
    }

    /// Every row of the outbox, oldest first.
    pub(crate) async fn events(&self) -> Vec<Value> {
        let read = async |conn: &mut db::Conn| {
            conn.all("SELECT payload FROM events ORDER BY id", &[], |row| {
                row.get::<String>(0)
            })
            .await
        };
        let payloads: Vec<String> = self.state.db.read(read).await.unwrap();
        payloads
            .iter()
            .map(|payload| serde_json::from_str(payload).unwrap())
            .collect()
    }

    fn user(&self, id: i64) -> Client<'_> {
        let now = self.clock.now().micros() / 1_000_000;
        let claims = Claims {
            token_type: TokenType::Access,
            exp: now + 86_400,
            iat: now,
            nbf: None,
            jti: format!("{id:032}"),
            user_id: Some(id.to_string()),
        };
        Client {
            app: self,
            token: Some(self.state.token_key.sign(&claims)),
        }
    }

    /// How many records a list of the API has.
    pub(crate) async fn count(&self, list: &str) -> i64 {
        let list = self.admin().get(&format!("/api/v1/{list}/")).await;
        list.json()["count"].as_i64().unwrap()
    }

    /// The number that a query of the database gives.
    pub(crate) async fn number(&self, sql: &'static str) -> i64 {
        let read = async move |conn: &mut db::Conn| conn.one(sql, &[], |row| row.get(0)).await;
        self.state.db.read::<_, db::Error, _>(read).await.unwrap()
    }

    /// Runs a statement on the database, without the service.
    pub(crate) async fn execute(&self, sql: &'static str) {
        let write = async move |tx: &mut db::Tx| tx.execute(sql, &[]).await;
        self.state.db.write::<_, db::Error, _>(write).await.unwrap();
    }

    /// Sends a request; the answer's body is not read yet.
    pub(crate) async fn open(&self, request: Request<Body>) -> Response {
        self.router.clone().oneshot(request).await.unwrap()
    }

    /// Sends a request. The API's document must describe the answer.
    pub(crate) async fn call(&self, request: Request<Body>) -> Answer {
        let (method, uri) = (request.method().clone(), request.uri().to_string());
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap();
        let status = parts.status.as_u16();
        assert_described(&method, &uri, status, &parts.headers, &bytes);
        Answer {
            status,
            headers: parts.headers,
            text: String::from_utf8(bytes.to_vec()).unwrap(),
        }
    }
}

pub(crate) async fn open(address: &str) -> Db {
    let address = address.parse().unwrap();
    Db::open(&address, &patient()).await.unwrap()
}

/// The application over a database that has its tables.
async fn process(db: Db, config: Config, clock: Clock, metrics: Metrics, seed: u64) -> App {
    let parts = Parts {
        db,
        windows: Windows::memory(clock.clone()),
        clock,
        random: Random::seeded(seed),
        metrics,
        shutdown: Shutdown::new(),
        token_key: TokenKey::new(SECRET),
        first_user: None,
    };
    inventory::app(config, parts).await.unwrap()
}

/// Users 1 (Admin), 2 (Managers) and 3 (no group), who log in with [`PASSWORD`](crate::visitor::PASSWORD).
async fn add_users(tx: &mut db::Tx) -> Result<(), db::Error> {
    let now = Timestamp::parse(NOW).unwrap();
    for (name, group) in [
        ("admin", Some("Admin")),
        ("manager", Some("Managers")),
        ("viewer", None),
    ] {
        let id: i64 = tx
            .one(
                "INSERT INTO users (username, username_folded, email, email_folded, first_name, first_name_folded, last_name, last_name_folded,
                                    password_hash, active, staff, superuser, created_at, updated_at)
                 VALUES ($1, $1, '', '', '', '', '', '', $2, $3, $4, $4, $5, $5) RETURNING id",
                &[&name, &PASSWORD_HASH, &true, &false, &now],
                |row| row.get(0),
            )
            .await?;
        if let Some(group) = group {
            tx.execute("INSERT INTO user_groups (user_id, group_id) SELECT $1, id FROM groups WHERE name = $2", &[&id, &group]).await?;
        }
    }
    Ok(())
}

impl Client<'_> {
    /// Its `Authorization` header.
    pub(crate) fn authorization(&self) -> String {
        format!("Bearer {}", self.token.as_deref().unwrap_or_default())
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, None).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        self.send(Method::POST, path, Some(body)).await
    }

    pub(crate) async fn put(&self, path: &str, body: Value) -> Answer {
        self.send(Method::PUT, path, Some(body)).await
    }

    pub(crate) async fn patch(&self, path: &str, body: Value) -> Answer {
        self.send(Method::PATCH, path, Some(body)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.send(Method::DELETE, path, None).await
    }

    pub(crate) async fn send(&self, method: Method, path: &str, body: Option<Value>) -> Answer {
        self.send_with(method, path, body.map(|body| body.to_string()), &[])
            .await
    }

    pub(crate) async fn send_with(
        &self,
        method: Method,
        path: &str,
        body: Option<String>,
        headers: &[(&str, &str)],
    ) -> Answer {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, "shop.example");
        if let Some(token) = &self.token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        if body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.app
            .call(
                request
                    .body(body.map_or_else(Body::empty, Body::from))
                    .unwrap(),
            )
            .await
    }

    /// Creates a brand, and answers its id.
    pub(crate) async fn a_brand(&self, name: &str) -> i64 {
        self.a_name("brands", name).await
    }

    /// Creates a category, and answers its id.
    pub(crate) async fn a_category(&self, name: &str) -> i64 {
        self.a_name("categories", name).await
    }

    /// Creates a supplier, and answers its id.
    pub(crate) async fn a_supplier(&self, name: &str) -> i64 {
        self.a_name("suppliers", name).await
    }

    async fn a_name(&self, kind: &str, name: &str) -> i64 {
        let body = json!({"name": name});
        self.post(&format!("/api/v1/{kind}/"), body).await.id()
    }

    /// Books units of a product in, and answers the inflow's id.
    pub(crate) async fn receive(&self, supplier: i64, product: i64, quantity: i64) -> i64 {
        let body = json!({"supplier": supplier, "product": product, "quantity": quantity});
        self.post("/api/v1/inflows/", body).await.id()
    }

    /// Sells units of a product, and answers the outflow's id.
    pub(crate) async fn sell(&self, product: i64, quantity: i64) -> i64 {
        self.try_to_sell(product, quantity).await.id()
    }

    /// Asks for a sale, which may be refused.
    pub(crate) async fn try_to_sell(&self, product: i64, quantity: i64) -> Answer {
        let body = json!({"product": product, "quantity": quantity});
        self.post("/api/v1/outflows/", body).await
    }

    /// Creates a product with its category and brand, and answers its id.
    pub(crate) async fn a_product(&self, title: &str, quantity: i64) -> i64 {
        let category = self.a_category("Grãos").await;
        let brand = self.a_brand("Tio João").await;
        let product = json!({
            "title": title, "category": category, "brand": brand, "cost_price": "8.00", "selling_price": "12.50", "quantity": quantity,
        });
        self.post("/api/v1/products/", product).await.id()
    }

    /// Creates a product of ten units that a scanner finds, of the brand 1, and answers its id.
    pub(crate) async fn a_product_with_code(
        &self,
        title: &str,
        serie_number: &str,
        category: i64,
    ) -> i64 {
        let product = json!({
            "title": title, "serie_number": serie_number, "category": category, "brand": 1, "cost_price": "2.50",
            "selling_price": "4.00", "quantity": 10,
        });
        self.post("/api/v1/products/", product).await.id()
    }

    /// Changes fields of a product.
    pub(crate) async fn change_product(&self, product: i64, change: Value) {
        let path = format!("/api/v1/products/{product}/");
        let changed = self.patch(&path, change).await;
        assert_eq!(changed.status, 200, "{changed:?}");
    }

    /// Gives a product a low-stock threshold of its own, or takes it away.
    pub(crate) async fn set_threshold(&self, product: i64, threshold: impl Into<Option<i64>>) {
        let path = format!("/api/v1/products/{product}/threshold/");
        let body = json!({"threshold": threshold.into()});
        let set = self.put(&path, body).await;
        assert_eq!(set.status, 200, "{set:?}");
    }

    /// How many units of a product there are.
    pub(crate) async fn quantity_of(&self, product: i64) -> i64 {
        self.get(&format!("/api/v1/products/{product}/"))
            .await
            .json()["quantity"]
            .as_i64()
            .unwrap()
    }
}

impl Answer {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    #[track_caller]
    pub(crate) fn id(&self) -> i64 {
        assert_eq!(self.status, 201, "{self:?}");
        self.json()["id"].as_i64().unwrap()
    }

    /// Fails unless the status is this one.
    #[track_caller]
    pub(crate) fn has_status(&self, status: u16) {
        assert_eq!(self.status, status, "{self:?}");
    }

    /// Fails unless status and body are these.
    #[track_caller]
    pub(crate) fn is(&self, status: u16, body: &Value) {
        assert_eq!((self.status, &self.json()), (status, body), "{self:?}");
    }
}
