//! Checks the query plans of both engines: no list of the ledger scans the whole table.

use db::{Conn, Error, Timestamp};
use test_kit::on_both_engines;

use super::LedgerFilter;
use crate::{
    listing::{QueryStats, tests::plan_of},
    plans,
};

const UNTIL: i64 = 1_795_176_000_000_000;
const DAY: i64 = 86_400_000_000;

/// All combinations of filters, in both directions.
fn scopes() -> Vec<LedgerFilter> {
    let last_day = (
        Timestamp::from_micros(UNTIL - DAY),
        Timestamp::from_micros(UNTIL),
    );
    let mut scopes = Vec::new();
    for products in [None, Some(vec![7]), Some(vec![1, 2, 3])] {
        for between in [None, Some(last_day)] {
            for is_oldest_first in [false, true] {
                scopes.push(LedgerFilter {
                    products: products.clone(),
                    between,
                    is_oldest_first,
                });
            }
        }
    }
    scopes
}

/// The query plan of a page far behind the first.
async fn plan(conn: &mut Conn, scope: &LedgerFilter) -> Result<Vec<String>, Error> {
    let selection = scope.clone().selection();
    plan_of(conn, &selection, &QueryStats::UNKNOWN, (100, 900)).await
}

on_both_engines!(
    the_ledger_is_read_along_an_index_however_it_is_narrowed,
    async |address| {
        let db = plans::shop(&address, (200, 20_000), 30).await;
        plans::nothing_is_scanned(db, async |conn: &mut Conn| {
            let mut scans = Vec::new();
            for scope in scopes() {
                let steps = plan(conn, &scope).await?;
                if steps
                    .iter()
                    .any(|step| plans::is_full_scan(step, &["l"], &["ledger_entries"]))
                {
                    scans.push(format!(
                        "{:?} {:?}: {steps:#?}",
                        scope.products, scope.between
                    ));
                }
            }
            Ok(scans)
        })
        .await;
    }
);
