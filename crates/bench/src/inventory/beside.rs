//! Compares the service with a baseline in alternating runs, so that noise affects both. On SQLite
//! the baseline is a constant handler and a loop of commits, on PostgreSQL it is `pgbench`. Reads
//! run as in a shop: rate limits on, another address each time, and concurrent sales.

use std::path::Path;
use std::time::Duration;

use axum::http::StatusCode;

use super::super::child::Child;
use super::super::load::{self, Call, LoadError, RunStatistics, Target};
use super::super::shop::{PLENTY, Shop, Size};
use super::super::{check, mebibytes, report};
use super::one_by_one::one_by_one;
use super::{InventoryArguments, locked, pgbench, store};

/// The sales per second of a busy shop.
const SALES_BESIDE: u32 = 50;

/// SQLite: reads against a bare handler, and durable sales against sequential commits.
///
/// # Errors
///
/// When a process does not start or requests fail.
pub(super) async fn sqlite(
    arguments: &InventoryArguments,
    folder: &Path,
    size: Size,
) -> Result<(), LoadError> {
    let shop = Shop::open(&folder.join("data"), None, size, arguments.log()).await?;
    let at_rest = shop.memory_at_rest().await?;
    shop.stock_up(size.products, PLENTY).await?;
    let sizes = [
        shop.read("/api/v1/products/?page_size=10").await?.len(),
        shop.read("/api/v1/products/1/").await?.len(),
    ];
    let bare = bare(sizes, &folder.join("bare")).await?;
    let constant = |path: &str| -> Result<Target, LoadError> {
        Ok(Target {
            address: bare.address("bare")?,
            headers: Vec::new(),
            ..shop.target([Call::get(path)], StatusCode::OK)
        })
    };
    let sales = shop.sales(size.products);
    for (what, reads, bare, goal) in [
        (
            "list of 10",
            shop.lists(size.products),
            "/list",
            "at least 20 %",
        ),
        (
            "one product",
            shop.reads(size.products),
            "/one",
            "at least 35 %",
        ),
    ] {
        let (ours, without) = in_turns(arguments, &reads, &sales, &constant(bare)?).await?;
        let what = format!("SQLite: {what} beside a bare handler");
        ratio(&what, &ours, without.per_second(), goal);
    }
    let (mut ours, mut alone) = (RunStatistics::default(), 0.0);
    for _ in 0..arguments.rounds {
        ours.join(load::run(&sales, arguments.connections, length(arguments)).await?);
        alone += one_by_one(folder, size.products, length(arguments)).await?;
    }
    check(&ours, "inventory")?;
    let alone = alone / f64::from(arguments.rounds.max(1));
    ratio(
        "SQLite: durable sales beside one commit after the other",
        &ours,
        alone,
        "10,000 a second or 300 %",
    );
    memory(&shop, at_rest, "SQLite")
}

/// PostgreSQL: reads and sales against `pgbench` with the same statements.
///
/// # Errors
///
/// When a process does not start, or requests or scripts fail.
pub(super) async fn postgres(
    arguments: &InventoryArguments,
    folder: &Path,
    address: &str,
    size: Size,
) -> Result<(), LoadError> {
    let shop = Shop::open(folder, Some(address), size, arguments.log()).await?;
    let at_rest = shop.memory_at_rest().await?;
    shop.stock_up(size.products, PLENTY).await?;
    let products = size.products;
    let cases = [
        (
            "one product",
            shop.reads(products),
            store::read_one(products),
            "at least 60 %",
        ),
        (
            "sales",
            shop.sales(products),
            store::outflow(products),
            "at least 80 %",
        ),
        (
            "sales of one product",
            shop.sales(1),
            store::outflow(1),
            "at least 500 %",
        ),
    ];
    let sales = shop.sales(products);
    for (what, target, script, goal) in cases {
        let (mut ours, mut theirs) = (RunStatistics::default(), 0.0);
        for _ in 0..arguments.rounds {
            ours.join(if target.expected == StatusCode::OK {
                while_others_sell(arguments, &target, &sales).await?
            } else {
                load::run(&target, arguments.connections, length(arguments)).await?
            });
            theirs +=
                pgbench::run(arguments, folder, address, &script, &store::variables()).await?;
        }
        check(&ours, "inventory")?;
        let theirs = theirs / f64::from(arguments.rounds.max(1));
        ratio(
            &format!("PostgreSQL: {what} beside pgbench"),
            &ours,
            theirs,
            goal,
        );
    }
    beside_a_lock(arguments, &shop, address, products).await?;
    memory(&shop, at_rest, "PostgreSQL")
}

/// Compares sales while a row is locked with the same sales while none is.
async fn beside_a_lock(
    arguments: &InventoryArguments,
    shop: &Shop,
    address: &str,
    products: u64,
) -> Result<(), LoadError> {
    let (connections, length) = (arguments.connections, length(arguments));
    let (mut locked, mut free) = (RunStatistics::default(), RunStatistics::default());
    for _ in 0..arguments.rounds {
        locked.join(locked::sell(shop, address, products, connections, length).await?);
        free.join(load::run(&shop.sales(products - 1), connections, length).await?);
    }
    check(&locked, "inventory")?;
    check(&free, "inventory")?;
    ratio(
        "PostgreSQL: sales while a product is locked, beside the same without",
        &locked,
        free.per_second(),
        "at least 80 %",
    );
    Ok(())
}

/// Measures reads during sales at the rate of a busy shop.
async fn while_others_sell(
    arguments: &InventoryArguments,
    reads: &Target,
    sales: &Target,
) -> Result<RunStatistics, LoadError> {
    let reading = load::run(reads, arguments.connections, length(arguments));
    let selling = load::run_paced(sales, 1, length(arguments), SALES_BESIDE);
    let (reads, sales) = tokio::try_join!(reading, selling)?;
    check(&sales, "inventory")?;
    Ok(reads)
}

async fn bare([list, one]: [usize; 2], data: &Path) -> Result<Child, LoadError> {
    let (list, one) = (list.to_string(), one.to_string());
    Child::start(
        &["bench", "bare", "--list", &list, "--one", &one],
        &[],
        data,
    )
    .await
}

/// Measures reads during sales, and the bare handler, in alternating rounds. A first short round
/// warms up.
async fn in_turns(
    arguments: &InventoryArguments,
    reads: &Target,
    sales: &Target,
    bare: &Target,
) -> Result<(RunStatistics, RunStatistics), LoadError> {
    let warm = Duration::from_millis(300);
    load::run(reads, arguments.connections, warm).await?;
    load::run(bare, arguments.connections, warm).await?;
    let (mut first, mut second) = (RunStatistics::default(), RunStatistics::default());
    for _ in 0..arguments.rounds {
        first.join(while_others_sell(arguments, reads, sales).await?);
        second.join(load::run(bare, arguments.connections, length(arguments)).await?);
    }
    check(&first, "inventory")?;
    check(&second, "the bare handler")?;
    Ok((first, second))
}

fn length(arguments: &InventoryArguments) -> Duration {
    Duration::from_secs(arguments.seconds)
}

fn ratio(what: &str, ours: &RunStatistics, without: f64, goal: &str) {
    let (rate, percent) = (
        ours.per_second(),
        ours.per_second() * 100.0 / without.max(f64::MIN_POSITIVE),
    );
    let half = super::super::milliseconds(ours.percentile(50));
    let most = super::super::milliseconds(ours.percentile(99));
    let text =
        format!("{rate:.0} a second of {without:.0}: {percent:.0} % (50th {half}, 99th {most})");
    report(what, &text, goal);
}

fn memory(shop: &Shop, at_rest: u64, engine: &str) -> Result<(), LoadError> {
    let (_, most) = shop.child.memory()?;
    let text = format!(
        "{:.1} MiB at rest, {:.1} MiB under load",
        mebibytes(at_rest),
        mebibytes(most)
    );
    report(
        &format!("{engine}: memory"),
        &text,
        "under 60 MiB, under 200 MiB",
    );
    Ok(())
}
