//! The lists of a year's orders, through the API.

use std::path::Path;

use axum::http::StatusCode;
use db::{Db, Options, Timestamp};

use super::super::load::{self, Call, LoadError};
use super::super::{check, milliseconds, report};
use super::{OrderShop, OrdersArguments, PAGE, store};

/// The first day of the listed year.
const FROM: Timestamp = Timestamp::from_micros(1_735_689_600_000_000);
/// Microseconds of a year.
const YEAR: i64 = 365 * 24 * 60 * 60 * 1_000_000;
/// Orders of one transaction.
const BATCH: i64 = 10_000;

pub(super) async fn measure(arguments: &OrdersArguments, folder: &Path) -> Result<(), LoadError> {
    let folder = folder.join("lists");
    std::fs::create_dir_all(folder.join("orders"))?;
    let sqlite = format!("sqlite:{}", folder.join("orders/checkout.sqlite").display());
    fill(arguments, arguments.postgres.as_deref().unwrap_or(&sqlite)).await?;
    let shop = OrderShop::open(arguments, &folder, []).await?;
    let pages = usize::try_from(arguments.listed)?.div_ceil(PAGE);
    let queries = [
        ("all", String::new()),
        ("page 1,000", "page=1000".to_owned()),
        ("the last page", format!("page_size={PAGE}&page={pages}")),
        ("paid", "status=paid".to_owned()),
        ("paid, page 1,000", "status=paid&page=1000".to_owned()),
        ("expired", "status=expired".to_owned()),
        ("canceled", "status=canceled".to_owned()),
        ("open", "status=open".to_owned()),
        ("a reference", "reference=r1000".to_owned()),
        (
            "a month",
            "created_from=2025-03-01&created_to=2025-03-31".to_owned(),
        ),
        (
            "paid in a month",
            "status=paid&created_from=2025-03-01&created_to=2025-03-31".to_owned(),
        ),
        (
            "from noon to noon",
            "created_from=2025-03-01T12:00:00Z&created_to=2025-09-01T12:00:00Z".to_owned(),
        ),
        (
            "paid from noon to noon",
            "status=paid&created_from=2025-03-01T12:00:00Z&created_to=2025-09-01T12:00:00Z"
                .to_owned(),
        ),
        ("100 to a page", format!("page_size={PAGE}")),
    ];
    for (name, query) in queries {
        let call = Call::get(format!("/orders/?{query}"));
        let target = shop.target(vec![call], StatusCode::OK)?;
        let measured = load::run_count(&target, 1, arguments.requests).await?;
        check(&measured, "checkout")?;
        let (half, most) = (measured.percentile(50), measured.percentile(99));
        report(
            &format!("{} orders: {name}", arguments.listed),
            &format!("50th {}, 99th {}", milliseconds(half), milliseconds(most)),
            "under 5 ms",
        );
    }
    shop.checkout.stop().await
}

/// Inserts a year's orders, spread evenly over its days. Of ten, seven are paid, two expired and
/// one canceled; those of the last day are open.
async fn fill(arguments: &OrdersArguments, address: &str) -> Result<(), LoadError> {
    let db = Db::open(&address.parse()?, &Options::default()).await?;
    db.migrate(&checkout::MIGRATIONS).await?;
    let pause = YEAR / arguments.listed.max(1);
    let mut first = 0;
    while first < arguments.listed {
        let end = (first + BATCH).min(arguments.listed);
        let last_day = FROM.micros() + YEAR - YEAR / 365;
        db.write(async move |tx| {
            let mut rows = store::rows();
            for number in first..end {
                let made_at = FROM.micros() + number * pause;
                let status = match number % 10 {
                    _ if made_at >= last_day => "open",
                    0..=6 => "paid",
                    7 | 8 => "expired",
                    _ => "canceled",
                };
                store::push(&mut rows, number, status, Timestamp::from_micros(made_at));
            }
            tx.insert_rows(&mut rows).await
        })
        .await?;
        checkout::lists::compact(&db).await?;
        first = end;
    }
    db.close().await;
    Ok(())
}
