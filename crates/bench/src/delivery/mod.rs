//! Webhooks: deliveries per second to a receiver that responds at once, and in `interference` the cost
//! of a receiver or a language model that never responds.

mod interference;
mod stand_in;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use ::inventory::accounts::TokenKey;
use ::inventory::events::{
    self, EndpointSettings, EventType, Secret, Target as Receiver, Webhooks,
};
use ::inventory::{Config, MIGRATIONS, Parts};
use axum::Router;
use axum::http::StatusCode;
use axum::routing::post;
use clap::{Args, ValueEnum};
use db::{Db, Options, Timestamp};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::watch;
use web::rate::Windows;
use web::server::Shutdown;
use web::{Clock, Random};

use super::load::LoadError;
use super::report;

#[derive(Debug, Clone, Args)]
pub(super) struct DeliveryArguments {
    /// Only these parts, separated by commas; all of them by default
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<DeliveryPart>,
    /// Events to be delivered
    #[arg(long, default_value_t = 20_000)]
    events: i64,
    /// Products of these events
    #[arg(long, default_value_t = 1000)]
    products: i64,
    /// Milliseconds of each of the runs of outflows
    #[arg(long, default_value_t = 700)]
    milliseconds: u64,
    /// Pairs of runs of outflows, with and without a dead receiver, and as many with and without a
    /// model that hangs
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..))]
    pairs: u32,
    /// An empty PostgreSQL database, besides SQLite
    #[arg(long)]
    postgres: Option<String>,
    /// Folder for the databases, on the disk to be measured; removed afterwards
    #[arg(long, default_value = "./balcao-bench")]
    pub(super) folder: PathBuf,
}

/// What can be measured by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DeliveryPart {
    /// Deliveries a second
    Deliveries,
    /// Outflows with a receiver that accepts connections and never answers
    Receiver,
    /// Outflows with a language model that hangs
    Model,
}

impl DeliveryArguments {
    fn wants(&self, part: DeliveryPart) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }
}

/// Measures the wanted parts; their databases are in this folder.
///
/// # Errors
///
/// When a process does not start or requests fail.
pub(super) async fn measure(arguments: &DeliveryArguments, folder: &Path) -> Result<(), LoadError> {
    on(arguments, "SQLite", &folder.join("sqlite"), None).await?;
    if let Some(postgres) = &arguments.postgres {
        on(
            arguments,
            "PostgreSQL",
            &folder.join("postgres"),
            Some(postgres),
        )
        .await?;
    }
    Ok(())
}

async fn on(
    arguments: &DeliveryArguments,
    engine: &str,
    data: &Path,
    postgres: Option<&str>,
) -> Result<(), LoadError> {
    std::fs::create_dir_all(data)?;
    if arguments.wants(DeliveryPart::Deliveries) {
        let sqlite = format!("sqlite:{}", data.join("delivery.sqlite").display());
        deliveries(arguments, engine, &postgres.unwrap_or(&sqlite).parse()?).await?;
    }
    if arguments.wants(DeliveryPart::Receiver) || arguments.wants(DeliveryPart::Model) {
        interference::outflows(arguments, engine, data, postgres).await?;
    }
    Ok(())
}

async fn deliveries(
    arguments: &DeliveryArguments,
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
    let configured = EndpointSettings {
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

/// Publishes events like those of outflows, for each product in turn.
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

fn whole(number: i64) -> f64 {
    f64::from(i32::try_from(number).unwrap_or(i32::MAX))
}
