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
use axum::http::StatusCode;
use axum::routing::post;
use clap::Args;
use db::{Db, Options, Timestamp};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use web::rate::Windows;
use web::server::Shutdown;
use web::{Clock, Random};

use super::load::{self, LoadError, Measured};
use super::shop::{PLENTY, Shop, Size, TILLS};
use super::{check, report};
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

/// Products that are sold, each with days of sales before, so that an analysis has something to say.
const SIZE: Size = Size {
    products: 32,
    movements: 10_000,
};
/// What each of them sells until it is low and its analysis is asked for.
const UNTIL_LOW: u64 = 5;

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
        open(&folder.join("alone"), Vec::new()).await?,
        open(&folder.join("receiver"), told(receiver.address)).await?,
        open(&folder.join("model"), worded(model.address)).await?,
    ];
    let mut sold = [(); 3].map(|()| Measured::default());
    for round in 0..=arguments.rounds {
        let length = Duration::from_secs(if round == 0 { 1 } else { arguments.seconds });
        for (shop, sold) in shops.iter().zip(&mut sold) {
            let now = load::run(&shop.sales(SIZE.products), TILLS, length).await?;
            // The first round only warms up.
            if round > 0 {
                sold.join(now);
            }
        }
    }
    receiver.check("receiver")?;
    model.check("model")?;
    for sold in &sold {
        check(sold, "inventory")?;
    }
    let [alone, receiver, model] = sold.map(|sold| sold.per_second());
    for (company, sold) in [("a dead receiver", receiver), ("a model that hangs", model)] {
        let slower = (1.0 - sold / alone) * 100.0;
        report(
            &format!("outflows a second with {company}"),
            &format!("{sold:.0} (without it {alone:.0}, {slower:.1} % slower)"),
            "at most 5 % slower",
        );
    }
    Ok(())
}

/// A shop where every product is about to run low.
async fn open(data: &Path, company: Vec<(&'static str, String)>) -> Result<Shop, LoadError> {
    let threshold = (PLENTY - UNTIL_LOW).to_string();
    let settings = [("BALCAO_INVENTORY_LOW_STOCK_THRESHOLD", threshold)];
    let shop = Shop::open(data, None, SIZE, settings.into_iter().chain(company)).await?;
    shop.stock_up(SIZE.products, PLENTY).await?;
    Ok(shop)
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

fn whole(number: i64) -> f64 {
    f64::from(i32::try_from(number).unwrap_or(i32::MAX))
}
