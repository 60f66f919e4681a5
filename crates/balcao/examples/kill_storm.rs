//! Kills a shop under load again and again (`kill -9`), with a provider that loses answers, and
//! counts what was lost or doubled. On SQLite one process is killed and started again; on
//! PostgreSQL there are two, killed in turns, while the other one goes on.
//!
//! ```sh
//! cargo build --release && cargo run --release -p balcao --example kill_storm -- --kills 120
//! BALCAO_TEST_POSTGRES_URL=postgres://… cargo run --release -p balcao --example kill_storm -- --kills 60 --postgres
//! ```

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "an example that tests: it ends at what it did not expect, and prints what it found"
)]

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, TcpListener};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use clap::Parser;
use reqwest::{Client, Method, RequestBuilder};
use sandbox::ListeningSandbox;
use serde_json::{Value, json};
use tempfile::TempDir;
use test_kit::database::{Database, Engine};
use test_kit::process::{Balcao, Start};
use tokio::task::{JoinSet, yield_now};
use web::{Clock, Random};

const PASSWORD: &str = "a counter of oak";
const API_KEY: &str = "key-of-the-kill-storm";
const SECRET: &str = "the same secret on every replica, of 32 bytes or more";
const STOCK: i64 = 10_000_000;
/// Clients that pay, and as many that sell.
const CLIENTS: usize = 4;
/// The provider loses the answer to one payment in so many.
const LOST: usize = 7;
/// Payments and sales that are acknowledged between two kills.
const BETWEEN: usize = 40;

#[derive(Parser)]
struct Arguments {
    /// How often a process is killed
    #[arg(long, default_value_t = 120)]
    kills: usize,
    /// Two processes over databases on the server of `BALCAO_TEST_POSTGRES_URL`, in place of one
    /// over SQLite
    #[arg(long)]
    postgres: bool,
}

/// The services' addresses stay the same, whichever process is behind them.
struct Replica {
    ports: [u16; 2],
    data: TempDir,
    process: Option<Balcao>,
}

/// What the clients were told is done, and whether they are to stop.
#[derive(Default)]
struct Acknowledged {
    payments: Mutex<BTreeSet<String>>,
    sales: Mutex<BTreeSet<i64>>,
    count: AtomicUsize,
    is_enough: AtomicBool,
}

#[derive(Clone)]
struct Customer {
    client: Client,
    provider: String,
    /// Of checkout and of the inventory, for each replica.
    urls: Vec<[String; 2]>,
    token: String,
    product: i64,
    acknowledged: Arc<Acknowledged>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let _first = rustls::crypto::ring::default_provider().install_default();
    let provider = sandbox::start(
        sandbox::Config::default(),
        Clock::system(),
        Random::system(),
    )
    .expect("a provider");
    let provider = provider.listen("127.0.0.1:0").await.expect("a provider");
    let databases = arguments
        .postgres
        .then(|| [Engine::Postgres; 2].map(Database::new));
    let mut replicas = Vec::new();
    for _ in 0..=usize::from(arguments.postgres) {
        let mut replica = Replica {
            ports: [free_port(), free_port()],
            data: TempDir::with_prefix("balcao-kill-storm-").expect("a folder"),
            process: None,
        };
        replica.start(&provider, databases.as_ref()).await;
        replicas.push(replica);
    }
    let customer = Customer::new(&provider, &replicas).await;
    let mut clients = JoinSet::new();
    for number in 0..CLIENTS {
        clients.spawn(customer.clone().pays(number));
        clients.spawn(customer.clone().sells(number));
    }
    for kill in 1..=arguments.kills {
        let enough = customer.acknowledged.count.load(Ordering::Relaxed) + BETWEEN;
        while customer.acknowledged.count.load(Ordering::Relaxed) < enough {
            yield_now().await;
        }
        let place = kill % replicas.len();
        replicas[place].process = None;
        replicas[place].start(&provider, databases.as_ref()).await;
    }
    customer
        .acknowledged
        .is_enough
        .store(true, Ordering::Relaxed);
    clients.join_all().await;
    customer.report(arguments.kills).await
}

fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    listener.local_addr().expect("an address").port()
}

impl Replica {
    async fn start(&mut self, provider: &ListeningSandbox, databases: Option<&[Database; 2]>) {
        let mut start = Start::new(["serve"])
            .data(self.data.path())
            .env(
                "BALCAO_CHECKOUT_LISTEN",
                format!("127.0.0.1:{}", self.ports[0]),
            )
            .env(
                "BALCAO_INVENTORY_LISTEN",
                format!("127.0.0.1:{}", self.ports[1]),
            )
            .env("BALCAO_CHECKOUT_PROVIDER_URL", provider.url())
            .env("BALCAO_CHECKOUT_PROVIDER_ACCESS_TOKEN", "TEST-kill-storm")
            .env("BALCAO_CHECKOUT_PROVIDER_QUOTA", "off")
            .env("BALCAO_CHECKOUT_API_KEYS", API_KEY)
            .env("BALCAO_CHECKOUT_SECRET", SECRET)
            .env("BALCAO_INVENTORY_TOKEN_SECRET", SECRET)
            .env("BALCAO_ADMIN_USERNAME", "ana")
            .env("BALCAO_ADMIN_PASSWORD", PASSWORD);
        for limit in [
            "BALCAO_CHECKOUT_RATE_LIMIT",
            "BALCAO_INVENTORY_RATE_LIMIT_AUTH",
            "BALCAO_INVENTORY_RATE_LIMIT_READ",
            "BALCAO_INVENTORY_RATE_LIMIT_WRITE",
        ] {
            start = start.env(limit, "off");
        }
        if let Some([checkout, inventory]) = databases {
            start = start
                .env("BALCAO_CHECKOUT_DATABASE_URL", checkout.address())
                .env("BALCAO_INVENTORY_DATABASE_URL", inventory.address());
        }
        self.process = Some(start.ready().await);
    }
}

impl Customer {
    async fn new(provider: &ListeningSandbox, replicas: &[Replica]) -> Self {
        let url = |port: u16| format!("http://127.0.0.1:{port}");
        let mut customer = Self {
            client: Client::builder()
                .pool_max_idle_per_host(0)
                .build()
                .expect("a client"),
            provider: provider.url(),
            urls: replicas
                .iter()
                .map(|replica| replica.ports.map(url))
                .collect(),
            token: String::new(),
            product: 0,
            acknowledged: Arc::default(),
        };
        let account = json!({"username": "ana", "password": PASSWORD});
        let pair = customer.make("authentication/token", &account).await;
        pair["access"]
            .as_str()
            .expect("a token")
            .clone_into(&mut customer.token);
        let name = json!({"name": "Storm"});
        let (brand, category) = (
            customer.make("brands", &name).await,
            customer.make("categories", &name).await,
        );
        let product = json!({
            "title": "Storm lantern", "brand": brand["id"], "category": category["id"],
            "cost_price": "8.00", "selling_price": "12.50", "quantity": STOCK,
        });
        let product = customer.make("products", &product).await;
        customer.product = product["id"].as_i64().expect("an id");
        customer
    }

    async fn make(&self, resource: &str, body: &Value) -> Value {
        let path = format!("/api/v1/{resource}/");
        let request = self.inventory(Method::POST, 0, &path).json(body);
        let answer = request.send().await.expect("an answer");
        answer.json().await.expect("a record")
    }

    fn inventory(&self, method: Method, turn: usize, path: &str) -> RequestBuilder {
        let [_, url] = &self.urls[turn % self.urls.len()];
        let request = self.client.request(method, format!("{url}{path}"));
        request.bearer_auth(&self.token)
    }

    /// One order after the other, each repeated with its key until it is answered for good.
    async fn pays(self, client: usize) {
        let mut number = 0_usize;
        while !self.acknowledged.is_enough.load(Ordering::Relaxed) {
            number += 1;
            if number.is_multiple_of(LOST) {
                let fault = json!({
                    "match": {"method": "POST", "path": "/v1/payments"}, "fault": "drop after", "times": 1,
                });
                let url = format!("{}/sandbox/faults", self.provider);
                let ordered = self.client.post(url).json(&fault).send().await;
                ordered.expect("the provider answers");
            }
            let (key, order) = (format!("order-{client}-{number}"), order(number));
            for turn in client.. {
                let [url, _] = &self.urls[turn % self.urls.len()];
                let request = self.client.post(format!("{url}/create_payment"));
                let request = request.header("Idempotency-Key", &key).json(&order);
                if let Some(payment) = answered(request, 200).await {
                    let id = payment["id"].to_string();
                    assert!(
                        add(&self.acknowledged.payments, id),
                        "{key} has another's payment"
                    );
                    break;
                }
            }
            self.acknowledged.count.fetch_add(1, Ordering::Relaxed);
        }
    }

    async fn sells(self, client: usize) {
        let sale = json!({"product": self.product, "quantity": 1});
        let mut number = 0;
        while !self.acknowledged.is_enough.load(Ordering::Relaxed) {
            number += 1;
            for turn in client.. {
                let request = self
                    .inventory(Method::POST, turn, "/api/v1/outflows/")
                    .header("Idempotency-Key", format!("sale-{client}-{number}"));
                if let Some(sold) = answered(request.json(&sale), 201).await {
                    let id = sold["id"].as_i64().expect("an id");
                    assert!(
                        add(&self.acknowledged.sales, id),
                        "sale {id} was acknowledged twice"
                    );
                    break;
                }
            }
            self.acknowledged.count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Compares what was acknowledged with what the provider and the services have.
    async fn report(&self, kills: usize) -> ExitCode {
        let charges = self
            .client
            .get(format!("{}/sandbox/charges", self.provider));
        let charges = answered(charges, 200).await.expect("the provider answers");
        let charges = charges.as_array().expect("a list");
        let doubled = charges.iter().filter(|row| row["payments"] != 1).count();
        let (mut kept, mut page) = (0, 0);
        while page == 0 || kept == page * 100 {
            page += 1;
            let url = format!("{}/payments/?page={page}&page_size=100", self.urls[0][0]);
            let list = answered(self.client.get(url).bearer_auth(API_KEY), 200).await;
            let Some(list) = list else { break };
            kept += list["results"].as_array().map_or(0, Vec::len);
        }
        let path = format!("/api/v1/products/{}/", self.product);
        let product = answered(self.inventory(Method::GET, 0, &path), 200).await;
        let left = product.and_then(|product| product["quantity"].as_i64());
        let agree = |acknowledged: usize, what: &str, found: usize| {
            println!("{what}: {acknowledged} acknowledged, {found} on record");
            acknowledged == found
        };
        let payments = self
            .acknowledged
            .payments
            .lock()
            .expect("the payments")
            .len();
        let sales = self.acknowledged.sales.lock().expect("the sales").len();
        let sold = left.and_then(|left| usize::try_from(STOCK - left).ok());
        println!("{kills} kills; {doubled} orders with another number of charges than one");
        let is_whole = [
            agree(payments, "charges at the provider", charges.len()),
            agree(payments, "payments", kept),
            agree(sales, "sales", sold.unwrap_or(0)),
            doubled == 0,
        ];
        if is_whole.iter().all(|agrees| *agrees) {
            println!("nothing acknowledged was lost, and nothing was doubled");
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }
}

/// Whether it was not there before.
fn add<T: Ord>(ids: &Mutex<BTreeSet<T>>, id: T) -> bool {
    ids.lock().expect("the ids").insert(id)
}

/// The body of an answer with this status; none when it has another one, or when the process went
/// away.
async fn answered(request: RequestBuilder, status: u16) -> Option<Value> {
    let answer = request.send().await.ok()?;
    let is_wanted = answer.status() == status;
    let body = answer.json().await.ok()?;
    is_wanted.then_some(body)
}

/// Cards and pix in turns.
fn order(number: usize) -> Value {
    let mut order = json!({
        "payment_method": "pix", "transaction_amount": 19.99, "description": "Two coffees", "email": "ana@example.com",
        "identification_number": "12345678909",
    });
    if number.is_multiple_of(2) {
        let card = json!({
            "payment_method": "card", "card_number": "4235647728025682", "expiration_month": "11", "expiration_year": "2039",
            "security_code": "123", "cardholder_name": "APRO", "installments": 1,
        });
        for (name, value) in card.as_object().into_iter().flatten() {
            order[name] = value.clone();
        }
    }
    order
}
