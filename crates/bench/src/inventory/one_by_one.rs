//! The baseline of sales on SQLite: a loop that writes the same rows and commits each sale.

use std::path::Path;
use std::time::{Duration, Instant};

use db::{Address, Db, Options};

use super::super::load::LoadError;
use super::store::{book, stock_up};

/// The sales per second of one writer that commits each sale before it begins the next, with the
/// same rows and tables of the same kind, on the file system of `folder`.
///
/// # Errors
///
/// When the file cannot be written.
pub(super) async fn one_by_one(
    folder: &Path,
    products: u64,
    length: Duration,
) -> Result<f64, LoadError> {
    let file = folder.join("one-by-one.sqlite");
    let db = Db::open(&Address::Sqlite(file.clone()), &Options::default()).await?;
    db.migrate(&inventory::MIGRATIONS).await?;
    let most = i64::try_from(products)?;
    db.write(async move |tx| stock_up(tx, most).await).await?;
    let (begin, mut booked) = (Instant::now(), 0_u32);
    while begin.elapsed() < length {
        booked += 1;
        let product = i64::from(booked) * 7919 % most + 1;
        db.write(async move |tx| book(tx, product).await).await?;
    }
    let elapsed = begin.elapsed();
    db.close().await;
    std::fs::remove_file(file)?;
    Ok(f64::from(booked) / elapsed.as_secs_f64())
}
