//! The service compared, in alternating runs, with what the same machine does without it, so that noise hits both: on SQLite a handler that
//! answers constants and a loop of commits, on PostgreSQL `pgbench`.

use std::path::Path;
use std::time::Duration;

use axum::http::StatusCode;

use super::super::child::Child;
use super::super::load::{self, Call, LoadError, Measured, Target};
use super::super::shop::{PLENTY, Shop, Size};
use super::super::{check, mebibytes, report};
use super::one_by_one::one_by_one;
use super::{Arguments, pgbench, store};

/// Sales a second of a busy shop. Each ends all answers that are kept in memory.
const SALES_BESIDE: u32 = 50;
const LIST: &str = "/api/v1/products/?page_size=10";

/// SQLite: reads beside a bare handler, durable sales beside one commit after the other.
///
/// # Errors
///
/// When a process does not start or requests fail.
pub(super) async fn sqlite(
    arguments: &Arguments,
    folder: &Path,
    size: Size,
) -> Result<(), LoadError> {
    let shop = Shop::open(&folder.join("data"), None, size, arguments.log()).await?;
    let at_rest = shop.memory_at_rest().await?;
    shop.stock_up(size.products, PLENTY).await?;
    let sizes = [
        shop.read(LIST).await?.len(),
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
    let list = shop.target([Call::get(LIST)], StatusCode::OK);
    let (ours, without) = in_turns(arguments, &list, &constant("/list")?).await?;
    ratio(
        "SQLite: list of 10 beside a bare handler",
        &ours,
        without.per_second(),
        "at least 20 %",
    );
    let one = shop.reads(size.products);
    let (ours, without) = in_turns(arguments, &one, &constant("/one")?).await?;
    ratio(
        "SQLite: one product beside a bare handler",
        &ours,
        without.per_second(),
        "at least 45 %",
    );
    let sales = shop.sales(size.products);
    for (what, reads) in [("list of 10", &list), ("one product", &one)] {
        while_others_sell(arguments, &format!("SQLite: {what}"), reads, &sales).await?;
    }
    let (mut ours, mut alone) = (Measured::default(), 0.0);
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

/// PostgreSQL: reads and sales beside `pgbench` with the same statements.
///
/// # Errors
///
/// When a process does not start, requests or scripts fail.
pub(super) async fn postgres(
    arguments: &Arguments,
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
            "at least 80 %",
        ),
        (
            "sales",
            shop.sales(products),
            store::outflow_at_once(products),
            "at least 80 %",
        ),
        (
            "sales by steps",
            shop.sales(products),
            store::outflow_by_steps(products),
            "at least 80 %",
        ),
        (
            "sales of one product",
            shop.sales(1),
            store::outflow_at_once(1),
            "at least 500 %",
        ),
        (
            "sales of one product by steps",
            shop.sales(1),
            store::outflow_by_steps(1),
            "at least 500 %",
        ),
    ];
    for (what, target, script, goal) in cases {
        let (mut ours, mut theirs) = (Measured::default(), 0.0);
        for _ in 0..arguments.rounds {
            ours.join(load::run(&target, arguments.connections, length(arguments)).await?);
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
    let (reads, sales) = (shop.reads(products), shop.sales(products));
    while_others_sell(arguments, "PostgreSQL: one product", &reads, &sales).await?;
    memory(&shop, at_rest, "PostgreSQL")
}

/// Reads beside sales at the pace of a busy shop.
async fn while_others_sell(
    arguments: &Arguments,
    what: &str,
    reads: &Target,
    sales: &Target,
) -> Result<(), LoadError> {
    let reading = load::run(reads, arguments.connections, length(arguments));
    let selling = load::run_paced(sales, 1, length(arguments), SALES_BESIDE);
    let (reads, sales) = tokio::try_join!(reading, selling)?;
    check(&reads, "inventory")?;
    check(&sales, "inventory")?;
    let text = format!(
        "{:.0} a second beside {:.0} sales a second",
        reads.per_second(),
        sales.per_second()
    );
    report(&format!("{what} while others sell"), &text, "none");
    Ok(())
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

/// Both, one after the other, as often as is asked for. A first short turn warms up.
async fn in_turns(
    arguments: &Arguments,
    one: &Target,
    other: &Target,
) -> Result<(Measured, Measured), LoadError> {
    let warm = Duration::from_millis(300);
    load::run(one, arguments.connections, warm).await?;
    load::run(other, arguments.connections, warm).await?;
    let (mut first, mut second) = (Measured::default(), Measured::default());
    for _ in 0..arguments.rounds {
        first.join(load::run(one, arguments.connections, length(arguments)).await?);
        second.join(load::run(other, arguments.connections, length(arguments)).await?);
    }
    check(&first, "inventory")?;
    check(&second, "the bare handler")?;
    Ok((first, second))
}

fn length(arguments: &Arguments) -> Duration {
    Duration::from_secs(arguments.seconds)
}

fn ratio(what: &str, ours: &Measured, without: f64, goal: &str) {
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
