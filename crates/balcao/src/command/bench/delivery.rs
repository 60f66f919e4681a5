//! Events: how many deliveries a second reach a receiver that answers at once, and what a receiver or a language model that never
//! answers costs those who book outflows.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ::inventory::accounts::TokenKey;
use ::inventory::events::{self, Configured, EventType, Secret, Target as Receiver, Webhooks};
use ::inventory::{Config, MIGRATIONS, Parts};
use axum::Router;
use axum::body::Bytes;
use axum::http::{Request, StatusCode, header};
use axum::routing::post;
use clap::Args;
use db::{Db, Options, Timestamp};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use web::rate::Windows;
use web::server::Shutdown;
use web::{Clock, Random};

use super::child::Child;
use super::load::LoadError;
use super::{any_port, report};
use crate::command::Failure;
use crate::data_folder;

#[derive(Debug, Clone, Args)]
pub(super) struct Arguments {
    /// Events to be delivered
    #[arg(long, default_value_t = 20_000)]
    events: i64,
    /// Products that they are about
    #[arg(long, default_value_t = 1000)]
    products: i64,
    /// Seconds of each of the runs of outflows
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// Runs of outflows without company, with a dead receiver and with a model that hangs, in turns
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// An empty PostgreSQL database for the deliveries, besides SQLite
    #[arg(long)]
    postgres: Option<db::Address>,
    /// Folder for the databases, on the disk to be measured; removed afterwards
    #[arg(long, default_value = "./balcao-bench")]
    folder: PathBuf,
}

/// Tills that book outflows at once, each of a product of its own.
const TILLS: usize = 32;
const PASSWORD: &str = "a bench made of oak";
/// What each of their products has, and what they sell until it is low and its analysis is asked for.
const STOCK: i64 = 1_000_000_000;
const UNTIL_LOW: i64 = 5;

/// Measures all of it in a folder that is removed afterwards.
///
/// # Errors
///
/// When a process does not start or requests fail.
pub(super) async fn run(arguments: Arguments) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::of("the folder cannot be made", &error);
    data_folder::create(&arguments.folder).map_err(failed)?;
    let folder = arguments.folder.canonicalize().map_err(failed)?;
    let measured = measure(&arguments, &folder).await;
    // A folder that stays is seen and can be removed by hand.
    let _ = std::fs::remove_dir_all(&folder);
    measured.map_err(|error| Failure::of("the measurement failed", error.as_ref()))
}

async fn measure(arguments: &Arguments, folder: &Path) -> Result<(), LoadError> {
    let sqlite = format!("sqlite:{}", folder.join("delivery.sqlite").display()).parse()?;
    deliveries(arguments, "SQLite", &sqlite).await?;
    if let Some(postgres) = &arguments.postgres {
        deliveries(arguments, "PostgreSQL", postgres).await?;
    }
    outflows(arguments, folder).await
}

async fn deliveries(
    arguments: &Arguments,
    engine: &str,
    address: &db::Address,
) -> Result<(), LoadError> {
    let (counting, mut count) = watch::channel(0_i64);
    let counting = Arc::new(counting);
    let accept = async move || {
        counting.send_modify(|count| *count += 1);
        StatusCode::NO_CONTENT
    };
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/", listener.local_addr()?);
    let router = Router::new().route("/", post(accept));
    let receiver = tokio::spawn(async move { axum::serve(listener, router).await });
    let db = Db::open(address, &Options::default()).await?;
    db.migrate(&MIGRATIONS).await?;
    let shutdown = Shutdown::new();
    let app = inventory::app(config(&url)?, parts(&db, &shutdown)).await?;
    let (events, products) = (arguments.events, arguments.products.max(1));
    db.write(async move |tx| publish(tx, events, products).await)
        .await?;
    let begin = Instant::now();
    let workers = tokio::spawn(app.workers.run());
    count.wait_for(|count| *count >= events).await?;
    let elapsed = begin.elapsed();
    shutdown.begin();
    workers.await?;
    receiver.abort();
    db.close().await;
    let rate = whole(events) / elapsed.as_secs_f64();
    report(
        &format!("deliveries a second from {engine}, instant receiver, {products} products"),
        &format!("{rate:.0}"),
        "at least 1000",
    );
    Ok(())
}

fn config(url: &str) -> Result<Config, LoadError> {
    let configured = Configured {
        target: Receiver::parse(url)?,
        secrets: vec![Secret::generate(&Random::system())],
    };
    Ok(Config {
        webhooks: Webhooks {
            configured: Some(configured),
            allow_private: true,
            ..Webhooks::default()
        },
        ..Config::default()
    })
}

fn parts(db: &Db, shutdown: &Shutdown) -> Parts {
    let (clock, random) = (Clock::system(), Random::system());
    Parts {
        db: db.clone(),
        windows: Windows::memory(clock.clone()),
        clock,
        token_key: TokenKey::new(random.token().as_bytes()),
        random,
        metrics: web::metrics::Metrics::default(),
        shutdown: shutdown.clone(),
        first_user: None,
    }
}

/// Events like those of outflows, the products in turns.
async fn publish(tx: &mut db::Tx, events: i64, products: i64) -> Result<(), db::Error> {
    let now = Timestamp::from_micros(1_795_000_000_000_000);
    for number in 0..events {
        let product = number % products + 1;
        let data = json!({
            "id": number, "product": {"id": product, "title": "Arroz branco tipo 1, pacote de 5 kg"}, "quantity": 1, "description": null,
            "created_at": "2026-11-18T17:46:40Z", "updated_at": "2026-11-18T17:46:40Z", "product_quantity": 1000,
        });
        events::publish(tx, EventType::OutflowCreated, product, data, now).await?;
    }
    Ok(())
}

/// Outflows a second of a shop alone, of one with a dead receiver and of one with a model that hangs, in turns.
async fn outflows(arguments: &Arguments, folder: &Path) -> Result<(), LoadError> {
    let (receiver, model) = (Silent::open().await?, Silent::open().await?);
    let shops = [
        Shop::open(&folder.join("alone"), Vec::new()).await?,
        Shop::open(&folder.join("receiver"), told(receiver.address)).await?,
        Shop::open(&folder.join("model"), worded(model.address)).await?,
    ];
    let mut sold = [0.0; 3];
    for round in 0..=arguments.rounds {
        let length = Duration::from_secs(if round == 0 { 1 } else { arguments.seconds });
        for (shop, sold) in shops.iter().zip(&mut sold) {
            let now = shop.sell(length).await?;
            // The first round only warms up.
            if round > 0 {
                *sold += now;
            }
        }
    }
    receiver.check("receiver")?;
    model.check("model")?;
    let seconds =
        whole(i64::from(arguments.rounds)) * Duration::from_secs(arguments.seconds).as_secs_f64();
    let [alone, receiver, model] = sold;
    for (company, sold) in [("a dead receiver", receiver), ("a model that hangs", model)] {
        let slower = (1.0 - sold / alone) * 100.0;
        report(
            &format!("outflows a second with {company}"),
            &format!(
                "{:.0} (without it {:.0}, {slower:.1} % slower)",
                sold / seconds,
                alone / seconds
            ),
            "at most 5 % slower",
        );
    }
    Ok(())
}

/// What takes connections and never answers.
struct Silent {
    address: SocketAddr,
    taken: Arc<AtomicUsize>,
    _accepting: JoinSet<()>,
}

impl Silent {
    async fn open() -> Result<Self, LoadError> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let taken = Arc::new(AtomicUsize::new(0));
        let (counted, mut accepting) = (Arc::clone(&taken), JoinSet::new());
        accepting.spawn(async move {
            let mut held = Vec::new();
            while let Ok((stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::Relaxed);
                held.push(stream);
            }
        });
        Ok(Self {
            address,
            taken,
            _accepting: accepting,
        })
    }

    /// What nobody called cost nothing: such a run says nothing.
    fn check(&self, what: &str) -> Result<(), LoadError> {
        match self.taken.load(Ordering::Relaxed) {
            0 => Err(format!("the {what} was never called").into()),
            _ => Ok(()),
        }
    }
}

/// The settings of a shop that tells a receiver.
fn told(receiver: SocketAddr) -> Vec<(&'static str, String)> {
    let secret = Secret::generate(&Random::system()).reveal();
    vec![
        (
            "BALCAO_INVENTORY_WEBHOOK_URL",
            format!("http://{receiver}/"),
        ),
        ("BALCAO_INVENTORY_WEBHOOK_SECRET", secret),
        ("BALCAO_INVENTORY_WEBHOOK_ALLOW_PRIVATE", "true".to_owned()),
    ]
}

/// The settings of a shop whose analyses a model words.
fn worded(model: SocketAddr) -> Vec<(&'static str, String)> {
    vec![
        ("BALCAO_LLM_BASE_URL", format!("http://{model}/v1")),
        ("BALCAO_LLM_MODEL", "silent".to_owned()),
    ]
}

/// A served inventory with a product for each till.
struct Shop {
    _child: Child,
    tills: Vec<Till>,
}

/// Where one product is sold, over one connection.
#[derive(Clone)]
struct Till {
    address: SocketAddr,
    token: String,
    outflow: Value,
}

impl Shop {
    async fn open(data: &Path, company: Vec<(&'static str, String)>) -> Result<Self, LoadError> {
        let mut settings = vec![
            ("BALCAO_INVENTORY_LISTEN", any_port()),
            ("BALCAO_INVENTORY_RATE_LIMIT_AUTH", "off".to_owned()),
            ("BALCAO_INVENTORY_RATE_LIMIT_READ", "off".to_owned()),
            ("BALCAO_INVENTORY_RATE_LIMIT_WRITE", "off".to_owned()),
            ("BALCAO_ADMIN_USERNAME", "bench".to_owned()),
            ("BALCAO_ADMIN_PASSWORD", PASSWORD.to_owned()),
            (
                "BALCAO_INVENTORY_LOW_STOCK_THRESHOLD",
                (STOCK - UNTIL_LOW).to_string(),
            ),
        ];
        settings.extend(company);
        let child = Child::start(&["serve", "--only", "inventory"], &settings, data).await?;
        let address = child.address("inventory")?;
        let mut line = Line::open(address).await?;
        let login = json!({"username": "bench", "password": PASSWORD});
        let pair = line
            .post("/api/v1/authentication/token/", None, &login)
            .await?;
        let token = pair.get("access").and_then(Value::as_str);
        let token = token.ok_or("no token")?.to_owned();
        let named = json!({"name": "Bench"});
        let made = line.post("/api/v1/categories/", Some(&token), &named);
        let category = id_of(&made.await?);
        let made = line.post("/api/v1/brands/", Some(&token), &named);
        let brand = id_of(&made.await?);
        let mut tills = Vec::new();
        for number in 0..TILLS {
            let product = json!({"title": format!("Product {number}"), "category": category, "brand": brand,
                                 "cost_price": "1.00", "selling_price": "2.00", "quantity": STOCK});
            let made = line.post("/api/v1/products/", Some(&token), &product);
            let product = id_of(&made.await?);
            tills.push(Till {
                address,
                token: token.clone(),
                outflow: json!({"product": product, "quantity": 1}),
            });
        }
        Ok(Self {
            _child: child,
            tills,
        })
    }

    /// Books outflows at every till for so long; how many.
    async fn sell(&self, length: Duration) -> Result<f64, LoadError> {
        let mut work = JoinSet::new();
        for till in self.tills.clone() {
            work.spawn(async move { till.sell(Instant::now() + length).await });
        }
        let mut sold = 0;
        while let Some(done) = work.join_next().await {
            sold += done??;
        }
        Ok(whole(sold))
    }
}

impl Till {
    async fn sell(self, end: Instant) -> Result<i64, LoadError> {
        let mut line = Line::open(self.address).await?;
        let mut sold = 0;
        while Instant::now() < end {
            line.post("/api/v1/outflows/", Some(&self.token), &self.outflow)
                .await?;
            sold += 1;
        }
        Ok(sold)
    }
}

/// A connection that is used again and again.
struct Line {
    address: SocketAddr,
    sender: SendRequest<Full<Bytes>>,
}

impl Line {
    async fn open(address: SocketAddr) -> Result<Self, LoadError> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(Self { address, sender })
    }

    /// Posts JSON and reads the JSON that comes back.
    async fn post(
        &mut self,
        path: &str,
        token: Option<&str>,
        body: &Value,
    ) -> Result<Value, LoadError> {
        let mut request = Request::post(path)
            .header(header::HOST, self.address.to_string())
            .header(header::CONTENT_TYPE, "application/json");
        if let Some(token) = token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        let request = request.body(Full::new(Bytes::from(body.to_string())))?;
        self.sender.ready().await?;
        let answer = self.sender.send_request(request).await?;
        let status = answer.status();
        let text = answer.into_body().collect().await?.to_bytes();
        if status.is_success() {
            Ok(serde_json::from_slice(&text)?)
        } else {
            Err(format!(
                "{path} answered {status}: {}",
                String::from_utf8_lossy(&text)
            )
            .into())
        }
    }
}

fn whole(number: i64) -> f64 {
    f64::from(i32::try_from(number).unwrap_or(i32::MAX))
}

/// The id of a record that was just made; null when there is none, which the next request is then refused for.
fn id_of(record: &Value) -> Value {
    record.get("id").cloned().unwrap_or_default()
}
