//! `balcao bench`: measures the figures in `docs/performance.md` with this program on this machine.
//!
//! Every service runs in a separate process, as in production. `load` sends the requests, `child`
//! runs the processes, `provider` is a provider that costs next to nothing, `shop` is an inventory
//! with generated data. The measurements of checkout are in this file, those of the inventory in
//! `inventory`, of its webhooks in `delivery`, of orders in `orders`. `instructions` measures the
//! cost of one request to either service.

mod child;
mod delivery;
mod instructions;
mod inventory;
mod load;
mod orders;
mod provider;
mod shop;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderName, Method, StatusCode};
use clap::{Args, Subcommand};
use tokio::net::TcpListener;

use child::Child;
pub use load::LoadError;
use load::{Call, RunStatistics, Target};
use shop::UNREACHED;

/// Measure this machine
#[derive(Debug, Args)]
pub struct BenchArguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Measure checkout: added latency, payments a second, memory, start-up time, size of the
    /// program
    Checkout(Checkout),
    /// Measure orders: made a second, paid beside plain payments, the news of it, and the lists of
    /// a year
    CheckoutOrders(orders::OrdersArguments),
    /// Measure the inventory: reads and sales compared with what the machine can do, and every list
    /// at full size
    Inventory(inventory::InventoryArguments),
    /// Measure webhook deliveries a second, and what a dead receiver or a hanging model costs sales
    InventoryDelivery(delivery::DeliveryArguments),
    /// Count the instructions of one request: a product, a list, a sale, a payment
    Instructions(instructions::InstructionsArguments),
    /// A provider that answers at once, for `bench checkout`
    #[command(hide = true)]
    Provider,
    /// A handler that answers constants, for `bench inventory`
    #[command(hide = true)]
    Bare(inventory::Bare),
}

#[derive(Debug, Clone, Args)]
struct Checkout {
    /// Connections of the latency run
    #[arg(long, default_value_t = 16)]
    connections: u32,
    /// Payments a second of the latency run that leaves the machine time, all connections together
    #[arg(long, default_value_t = 400)]
    rate: u32,
    /// Connections of the run at full load
    #[arg(long, default_value_t = 64)]
    load_connections: u32,
    /// Seconds of each of the five pairs of latency runs, and of the run at full load
    #[arg(long, default_value_t = 4)]
    seconds: u64,
    /// Which log lines the service writes, to a file
    #[arg(long, default_value = "info")]
    log: String,
    /// Folder for the databases, on the disk to be measured; removed afterwards
    #[arg(long, default_value = "./balcao-bench")]
    folder: PathBuf,
}

/// The number of pairs of runs, of the sandbox alone and of the service before it.
const PAIRS: u32 = 5;
/// The measured command.
const SERVE: &[&str] = &["serve", "--only", "checkout"];
/// The number of measured starts.
const STARTS: usize = 5;

/// Runs the command.
///
/// # Errors
///
/// When a process does not start or requests fail.
pub async fn run(arguments: BenchArguments) -> Result<(), LoadError> {
    match arguments.what {
        What::Provider => serve("sandbox", provider::routes()).await,
        What::Bare(sizes) => serve("bare", inventory::bare(sizes)).await,
        What::Checkout(of) => {
            in_a_folder(&of.folder, false, async |folder| measure(&of, folder).await).await
        }
        What::CheckoutOrders(of) => {
            let measure = async |folder: &Path| orders::measure(&of, folder).await;
            in_a_folder(&of.folder, false, measure).await
        }
        What::Inventory(of) => {
            let measure = async |folder: &Path| inventory::measure(&of, folder).await;
            in_a_folder(&of.folder, of.keep, measure).await
        }
        What::InventoryDelivery(of) => {
            let measure = async |folder: &Path| delivery::measure(&of, folder).await;
            in_a_folder(&of.folder, false, measure).await
        }
        What::Instructions(of) => {
            let measure = async |folder: &Path| instructions::measure(&of, folder).await;
            in_a_folder(&of.folder, of.keep, measure).await
        }
    }
}

/// Serves a baseline until the process is killed.
async fn serve(name: &'static str, router: Router) -> Result<(), LoadError> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tracing::info!(service = name, %address, "listening");
    say("ready");
    Ok(axum::serve(listener, router).await?)
}

/// Measures in a folder that is created first, and removed afterwards unless it `is_kept`.
async fn in_a_folder(
    folder: &Path,
    is_kept: bool,
    measure: impl AsyncFnOnce(&Path) -> Result<(), LoadError>,
) -> Result<(), LoadError> {
    std::fs::create_dir_all(folder)?;
    let folder = folder.canonicalize()?;
    let measured = measure(&folder).await;
    if !is_kept {
        // A folder that cannot be removed stays visible and can be removed by hand.
        let _ = std::fs::remove_dir_all(&folder);
    }
    measured
}

async fn measure(arguments: &Checkout, folder: &Path) -> Result<(), LoadError> {
    let size = std::fs::metadata(std::env::current_exe()?)?.len();
    report(
        "program file",
        &format!("{:.1} MiB", mebibytes(size / 1024)),
        "under 40 MiB",
    );
    latency(arguments, folder).await?;
    full_load(arguments, folder).await
}

/// The latency that the service adds to the sandbox. Both are measured in turn in one run, so that
/// noise affects both.
async fn latency(arguments: &Checkout, folder: &Path) -> Result<(), LoadError> {
    let log = ("BALCAO_LOG", "warn,balcao=info".to_owned());
    let sandbox = Child::start(
        &["sandbox"],
        &[("BALCAO_SANDBOX_LISTEN", any_port()), log],
        &folder.join("sandbox"),
    )
    .await?;
    let checkout = started(arguments, &sandbox, &folder.join("latency")).await?;
    let targets = [direct_target(&sandbox)?, payment_target(&checkout)?];
    let [alone, before] = in_turns(arguments, &targets).await?;
    for (percent, goal) in [(50, "added: under 1 ms"), (99, "added: under 5 ms")] {
        let (without, with) = (alone.percentile(percent), before.percentile(percent));
        let added = milliseconds(with.saturating_sub(without));
        let text = format!(
            "{} (sandbox alone {}, added {added})",
            milliseconds(with),
            milliseconds(without)
        );
        let (rate, connections) = (arguments.rate, arguments.connections);
        let figure = format!(
            "pix payment, {rate} a second, {connections} connections, {percent}th percentile"
        );
        report(&figure, &text, goal);
    }
    Ok(())
}

/// Runs the sandbox alone and the service before it in turn, at a fixed rate.
async fn in_turns(
    arguments: &Checkout,
    targets: &[Target; 2],
) -> Result<[RunStatistics; 2], LoadError> {
    let mut measured = [RunStatistics::default(), RunStatistics::default()];
    for pair in 0..=PAIRS {
        let length = Duration::from_secs(if pair == 0 { 1 } else { arguments.seconds });
        for (target, measured) in targets.iter().zip(&mut measured) {
            let (connections, rate) = (arguments.connections, arguments.rate);
            let one = load::run_paced(target, connections, length, rate).await?;
            // The first pair only warms up.
            if pair > 0 {
                measured.join(one);
            }
        }
    }
    let [alone, before] = &measured;
    check(alone, "the sandbox")?;
    check(before, "checkout")?;
    Ok(measured)
}

/// A checkout before `sandbox`. Reports its start times and its memory at rest.
async fn started(arguments: &Checkout, sandbox: &Child, data: &Path) -> Result<Child, LoadError> {
    let settings = checkout_settings(&arguments.log, sandbox)?;
    let start = || Child::start(SERVE, &settings, data);
    // The first start creates the database and does not count.
    start().await?.stop().await?;
    let mut checkout = start().await?;
    let mut starts = vec![checkout.started_in];
    while starts.len() < STARTS {
        // The next process can open the database once this one has ended.
        checkout.stop().await?;
        checkout = start().await?;
        starts.push(checkout.started_in);
    }
    starts.sort_unstable();
    let median = starts.get(starts.len() / 2).copied().unwrap_or_default();
    report(
        "start to ready, existing database",
        &milliseconds(median),
        "under 200 ms",
    );
    let (at_rest, _) = checkout.memory()?;
    report(
        "memory at rest",
        &format!("{:.1} MiB", mebibytes(at_rest)),
        "under 40 MiB",
    );
    Ok(checkout)
}

/// The throughput of the service with a provider that costs nothing.
async fn full_load(arguments: &Checkout, folder: &Path) -> Result<(), LoadError> {
    let provider = Child::start(&["bench", "provider"], &[], &folder.join("provider")).await?;
    let settings = checkout_settings(&arguments.log, &provider)?;
    let checkout = Child::start(SERVE, &settings, &folder.join("load")).await?;
    let (target, connections) = (payment_target(&checkout)?, arguments.load_connections);
    load::run(&target, connections, Duration::from_secs(1)).await?;
    let measured = load::run(&target, connections, Duration::from_secs(arguments.seconds)).await?;
    check(&measured, "checkout")?;
    let (half, most) = (
        milliseconds(measured.percentile(50)),
        milliseconds(measured.percentile(99)),
    );
    let text = format!("{:.0} (50th {half}, 99th {most})", measured.per_second());
    report(
        &format!("payments a second, {connections} connections, instant provider"),
        &text,
        "at least 5000",
    );
    let (_, most) = checkout.memory()?;
    report(
        "memory at full load",
        &format!("{:.1} MiB", mebibytes(most)),
        "under 120 MiB",
    );
    Ok(())
}

fn checkout_settings(
    log: &str,
    provider: &Child,
) -> Result<Vec<(&'static str, String)>, LoadError> {
    Ok(vec![
        ("BALCAO_CHECKOUT_LISTEN", any_port()),
        (
            "BALCAO_CHECKOUT_PROVIDER_URL",
            format!("http://{}", provider.address("sandbox")?),
        ),
        (
            "BALCAO_CHECKOUT_PROVIDER_ACCESS_TOKEN",
            "TEST-bench".to_owned(),
        ),
        ("BALCAO_CHECKOUT_PROVIDER_QUOTA", UNREACHED.to_owned()),
        ("BALCAO_CHECKOUT_RATE_LIMIT", UNREACHED.to_owned()),
        ("BALCAO_LOG", log.to_owned()),
    ])
}

fn payment_target(checkout: &Child) -> Result<Target, LoadError> {
    Ok(Target {
        address: checkout.address("checkout")?,
        calls: [Call::send(Method::POST, "/create_payment", Bytes::from_static(br#"{"payment_method":"pix","transaction_amount":19.99,"description":"Bench","email":"buyer@example.com","identification_number":"12345678909"}"#))].into(),
        headers: Vec::new(),
        fresh_key: None,
        expected: StatusCode::OK,
    })
}

fn direct_target(sandbox: &Child) -> Result<Target, LoadError> {
    Ok(Target {
        address: sandbox.address("sandbox")?,
        calls: [Call::send(Method::POST, "/v1/payments", Bytes::from_static(br#"{"payment_method_id":"pix","transaction_amount":19.99,"description":"Bench","external_reference":"bench","payer":{"email":"buyer@example.com","identification":{"type":"CPF","number":"12345678909"}}}"#))].into(),
        headers: vec![(axum::http::header::AUTHORIZATION, "Bearer TEST-bench".to_owned())],
        fresh_key: Some(HeaderName::from_static("x-idempotency-key")),
        expected: StatusCode::CREATED,
    })
}

fn check(measured: &RunStatistics, who: &str) -> Result<(), LoadError> {
    if measured.failed > 0 {
        Err(format!(
            "{} answers of {who} were not the expected ones",
            measured.failed
        )
        .into())
    } else {
        Ok(())
    }
}

fn any_port() -> String {
    "127.0.0.1:0".to_owned()
}

fn report(figure: &str, value: &str, goal: &str) {
    let goal = if goal.is_empty() {
        String::new()
    } else {
        format!("   [{goal}]")
    };
    say(&format!("{figure}: {value}{goal}"));
}

fn say(line: &str) {
    // A closed pipe means that nobody reads the rest.
    let _ = writeln!(std::io::stdout(), "{line}");
}

fn milliseconds(duration: Duration) -> String {
    format!("{:.2} ms", duration.as_secs_f64() * 1000.0)
}

fn mebibytes(kibibytes: u64) -> f64 {
    f64::from(u32::try_from(kibibytes).unwrap_or(u32::MAX)) / 1024.0
}
