//! Orders: how many are created per second, the cost of paying one compared with a plain payment,
//! how soon the shop is notified of a payment, and the lists of a year.

mod lists;
mod news;
mod store;

use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{Method, StatusCode, header};
use clap::{Args, ValueEnum};
use serde_json::Value;

use super::child::Child;
use super::load::{self, Call, LoadError, RunStatistics, Target};
use super::{SERVE, check, checkout_settings, payment_target, report};

#[derive(Debug, Clone, Args)]
pub(super) struct OrdersArguments {
    /// Only these parts, separated by commas; all of them by default
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<OrdersPart>,
    /// Connections at full load
    #[arg(long, default_value_t = 64)]
    connections: u32,
    /// Seconds of the run that makes orders
    #[arg(long, default_value_t = 4)]
    seconds: u64,
    /// Orders that are paid in each of the runs that are compared with plain payments
    #[arg(long, default_value_t = 10_000)]
    paid: usize,
    /// Such pairs of runs
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pairs: u32,
    /// Orders of whose payment the shop is told
    #[arg(long, default_value_t = 1000)]
    told: usize,
    /// So many of them a second
    #[arg(long, default_value_t = 50)]
    rate: u32,
    /// Orders of the year whose lists are read
    #[arg(long, default_value_t = 3_600_000)]
    listed: i64,
    /// How often each list is read
    #[arg(long, default_value_t = 50)]
    requests: usize,
    /// An empty PostgreSQL database, instead of SQLite
    #[arg(long)]
    postgres: Option<String>,
    /// Which log lines the service writes, to a file
    #[arg(long, default_value = "info")]
    log: String,
    /// Folder for the databases, on the disk to be measured; removed afterwards
    #[arg(long, default_value = "./balcao-bench")]
    pub(super) folder: PathBuf,
}

/// What can be measured by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OrdersPart {
    /// Orders made a second, and paying them
    Payments,
    /// From the provider's notification to the shop's server
    News,
    /// Every list, of a year's orders
    Lists,
}

/// The merchant's API key.
const KEY: &str = "balcao_merchant_of_the_benchmark";
/// The largest number of orders on a page.
const PAGE: usize = 100;

/// Measures the wanted parts; their databases are in this folder.
///
/// # Errors
///
/// When a process does not start or requests fail.
pub(super) async fn measure(arguments: &OrdersArguments, folder: &Path) -> Result<(), LoadError> {
    let wants = |part| arguments.only.is_empty() || arguments.only.contains(&part);
    if wants(OrdersPart::Payments) {
        payments(arguments, folder).await?;
    }
    if wants(OrdersPart::News) {
        news::measure(arguments, folder).await?;
    }
    if wants(OrdersPart::Lists) {
        lists::measure(arguments, folder).await?;
    }
    Ok(())
}

/// A checkout before a provider that responds at once.
struct OrderShop {
    checkout: Child,
    provider: Child,
}

impl OrderShop {
    async fn open(
        arguments: &OrdersArguments,
        folder: &Path,
        further: impl IntoIterator<Item = (&'static str, String)>,
    ) -> Result<Self, LoadError> {
        let provider = Child::start(&["bench", "provider"], &[], &folder.join("provider")).await?;
        let mut settings = checkout_settings(&arguments.log, &provider)?;
        settings.push(("BALCAO_CHECKOUT_API_KEYS", KEY.to_owned()));
        let database = arguments.postgres.clone();
        settings.extend(database.map(|address| ("BALCAO_CHECKOUT_DATABASE_URL", address)));
        settings.extend(further);
        let checkout = Child::start(SERVE, &settings, &folder.join("orders")).await?;
        Ok(Self { checkout, provider })
    }

    fn target(&self, calls: Vec<Call>, expected: StatusCode) -> Result<Target, LoadError> {
        Ok(Target {
            address: self.checkout.address("checkout")?,
            calls: calls.into(),
            headers: vec![(header::AUTHORIZATION, format!("Bearer {KEY}"))],
            fresh_key: None,
            expected,
        })
    }

    fn making(&self) -> Result<Target, LoadError> {
        let order = Bytes::from_static(
            br#"{"amount":19.99,"description":"Bench","items":[{"title":"Bench","quantity":1,"unit_price":19.99,"sku":"7891000100103"}]}"#,
        );
        self.target(
            vec![Call::send(Method::POST, "/orders/", order)],
            StatusCode::CREATED,
        )
    }

    /// The newest `count` orders.
    async fn newest(&self, count: usize) -> Result<Vec<Value>, LoadError> {
        let mut orders = Vec::new();
        for page in 1..=count.div_ceil(PAGE) {
            let path = format!("/orders/?page_size={PAGE}&page={page}");
            let target = self.target(vec![Call::get(path)], StatusCode::OK)?;
            let mut answer: Value = serde_json::from_slice(&load::fetch(&target).await?)?;
            let results = answer.get_mut("results").and_then(Value::as_array_mut);
            orders.append(results.ok_or("no orders")?);
        }
        orders.truncate(count);
        Ok(orders)
    }

    /// Creates `count` orders. The target has one payment request for each.
    async fn make(&self, connections: u32, count: usize) -> Result<Target, LoadError> {
        let made = load::run_count(&self.making()?, connections, count).await?;
        check(&made, "checkout")?;
        let pix = Bytes::from_static(
            br#"{"payment_method":"pix","email":"buyer@example.com","identification_number":"12345678909"}"#,
        );
        let mut calls = Vec::with_capacity(count);
        for order in self.newest(count).await? {
            let url = order.get("url").and_then(Value::as_str);
            let page = url.and_then(|url| url.find("/pay/").and_then(|at| url.get(at..)));
            let page = page.ok_or("an order without its page")?;
            calls.push(Call::send(Method::POST, page, pix.clone()));
        }
        let mut target = self.target(calls, StatusCode::OK)?;
        target.headers.clear();
        Ok(target)
    }
}

async fn payments(arguments: &OrdersArguments, folder: &Path) -> Result<(), LoadError> {
    let (connections, length) = (
        arguments.connections,
        Duration::from_secs(arguments.seconds),
    );
    let shop = OrderShop::open(arguments, folder, []).await?;
    let making = shop.making()?;
    load::run(&making, connections, Duration::from_secs(1)).await?;
    let made = load::run(&making, connections, length).await?;
    check(&made, "checkout")?;
    report(
        &format!("orders made a second, {connections} connections"),
        &format!("{:.0}", made.per_second()),
        "at least 5000",
    );
    let mut plain_and_paid = [RunStatistics::default(), RunStatistics::default()];
    for pair in 0..=arguments.pairs {
        let paying = shop.make(connections, arguments.paid).await?;
        let targets = [payment_target(&shop.checkout)?, paying];
        for (target, measured) in targets.iter().zip(&mut plain_and_paid) {
            let one = load::run_count(target, connections, arguments.paid).await?;
            // The first pair only warms up.
            if pair > 0 {
                measured.join(one);
            }
        }
    }
    let [plain, paid] = &plain_and_paid;
    check(plain, "checkout")?;
    check(paid, "checkout")?;
    let ratio = 100.0 * paid.per_second() / plain.per_second();
    report(
        "payments of orders a second, beside plain payments in turns",
        &format!(
            "{ratio:.0} % ({:.0} beside {:.0})",
            paid.per_second(),
            plain.per_second()
        ),
        "at least 85 %",
    );
    drop(shop.provider);
    shop.checkout.stop().await
}
