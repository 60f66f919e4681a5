//! Sales while another process holds a row lock, like a replica that stalls between a statement and
//! its commit.

use std::time::Duration;

use db::{Address, Db, Options, Tx};
use tokio::sync::oneshot;

use super::super::load::{self, LoadError, RunStatistics};
use super::super::shop::Shop;
use super::store;

/// Sells all products but the last. The last one is locked, while two more connections try to sell
/// it.
///
/// # Errors
///
/// When the row cannot be locked, or connections break.
pub(super) async fn sell(
    shop: &Shop,
    address: &str,
    products: u64,
    connections: u32,
    length: Duration,
) -> Result<RunStatistics, LoadError> {
    let options = Options {
        idle_timeout: length * 2 + Duration::from_secs(10),
        ..Options::default()
    };
    let db = Db::open(&address.parse::<Address>()?, &options).await?;
    let (locked, is_locked) = oneshot::channel();
    let (over, is_over) = oneshot::channel::<()>();
    let last = i64::try_from(products)?;
    let ends = std::sync::Mutex::new(Some((locked, is_over)));
    let lock = db.write(async move |tx: &mut Tx| {
        store::lock(tx, last).await?;
        let ends = ends.lock().ok().and_then(|mut ends| ends.take());
        if let Some((locked, is_over)) = ends {
            let _nobody_waits = locked.send(());
            let _ended = is_over.await;
        }
        Ok::<_, db::Error>(())
    });
    let (others, stuck) = (shop.sales(products - 1), shop.sales_of(products..=products));
    let sales = async {
        is_locked.await?;
        let selling = async {
            let measured = load::run(&others, connections, length).await;
            drop(over);
            measured
        };
        // Some of these requests are refused after a timeout.
        let wanting = load::run(&stuck, 2, length);
        let (measured, _) = tokio::try_join!(selling, wanting)?;
        Ok::<_, LoadError>(measured)
    };
    let (lock, measured) = tokio::join!(lock, sales);
    db.close().await;
    lock?;
    measured
}
