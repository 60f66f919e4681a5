//! A PostgreSQL server that dies or freezes under load, and a standby that replaces it.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tempfile::TempDir;
use test_kit::postgres::PostgresServer;
use test_kit::process::{Balcao, Start};
use test_kit::until;
use tokio::task::{JoinSet, block_in_place};

use super::ids;
use crate::inventory::{Caller, inventory, succeeds};
use crate::support::client;

const WORKERS: usize = 8;
/// Sales that are acknowledged before the server dies, and after another has taken its place.
const ENOUGH: usize = 100;

fn on(address: &str, start: Start) -> Start {
    start.env("BALCAO_INVENTORY_DATABASE_URL", address)
}

/// Sells without a pause, and records the acknowledged sales.
#[derive(Clone, Default)]
struct Sellers {
    acknowledged: Arc<Mutex<BTreeSet<(&'static str, i64)>>>,
    count: Arc<AtomicUsize>,
    is_over: Arc<AtomicBool>,
}

impl Sellers {
    fn start(&self, ana: &Caller, products: &[i64]) -> JoinSet<()> {
        let mut workers = JoinSet::new();
        for worker in 0..WORKERS {
            let (sellers, ana) = (self.clone(), ana.clone());
            let body = json!({"product": products[worker % products.len()], "quantity": 1});
            workers.spawn(async move {
                while !sellers.is_over.load(Ordering::SeqCst) {
                    let answer = ana.post("/api/v1/outflows/", &body).await.unwrap();
                    match answer.status().as_u16() {
                        201 => {
                            let record: Value = answer.json().await.unwrap();
                            let id = record["id"].as_i64().unwrap();
                            sellers
                                .acknowledged
                                .lock()
                                .unwrap()
                                .insert(("outflows", id));
                            sellers.count.fetch_add(1, Ordering::SeqCst);
                        }
                        503 => {}
                        other => panic!("{other}"),
                    }
                }
            });
        }
        workers
    }

    /// Waits until so many sales more were acknowledged.
    async fn sell(&self, more: usize) {
        let enough = self.count.load(Ordering::SeqCst) + more;
        until(async || self.count.load(Ordering::SeqCst) >= enough).await;
    }

    /// Everything that was acknowledged is in the database, and every quantity agrees with its
    /// ledger.
    fn assert_stored(&self, address: &str) {
        let folder = TempDir::new().unwrap();
        let run = |words: &[&str]| {
            let start = on(address, Start::new(words.iter().copied()));
            succeeds(&block_in_place(|| start.output()))
        };
        assert!(run(&["inventory", "verify"]).contains("every quantity agrees"));
        let file = folder.path().join("export.csv");
        run(&["inventory", "export", "outflows", file.to_str().unwrap()]);
        let acknowledged = self.acknowledged.lock().unwrap();
        let stored = ids("outflows", &file);
        let lost: Vec<_> = acknowledged.difference(&stored).collect();
        assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
    }
}

async fn readiness(service: &Balcao) -> u16 {
    let url = service.url("inventory").await;
    let ready = client().get(format!("{url}/ready")).send().await.unwrap();
    ready.status().as_u16()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_standby_that_is_promoted_under_load_has_every_acknowledged_sale() {
    let mut primary = block_in_place(PostgresServer::with_standby);
    let standby = block_in_place(|| primary.standby());
    let address = format!(
        "postgres://postgres@{},{}/postgres?target_session_attrs=read-write",
        primary.host(),
        standby.host()
    );
    let service = on(&address, inventory()).ready().await;
    let ana = Caller::ana(&service).await;
    let products = [
        ana.a_product(1_000_000).await,
        ana.a_product(1_000_000).await,
    ];
    let sellers = Sellers::default();
    let workers = sellers.start(&ana, &products);
    sellers.sell(ENOUGH).await;
    block_in_place(|| primary.kill());
    block_in_place(|| standby.promote());
    sellers.sell(ENOUGH).await;
    sellers.is_over.store(true, Ordering::SeqCst);
    workers.join_all().await;
    until(async || readiness(&service).await == 200).await;
    sellers.assert_stored(&address);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sale_that_no_standby_has_is_not_acknowledged() {
    let primary = block_in_place(PostgresServer::with_standby);
    let standby = block_in_place(|| primary.standby());
    let service = on(&primary.address(), inventory()).ready().await;
    let ana = Caller::ana(&service).await;
    let product = ana.a_product(1_000_000).await;
    standby.freeze();
    let sale = json!({"product": product, "quantity": 1});
    let sold = ana.post("/api/v1/outflows/", &sale).await.unwrap();
    assert_eq!(sold.status(), 503);
    standby.thaw();
    let sellers = Sellers::default();
    let workers = sellers.start(&ana, &[product]);
    sellers.sell(1).await;
    sellers.is_over.store(true, Ordering::SeqCst);
    workers.join_all().await;
    sellers.assert_stored(&primary.address());
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_server_stands_still_a_sale_is_503() {
    let server = block_in_place(PostgresServer::alone);
    let service = on(&server.address(), inventory()).ready().await;
    let ana = Caller::ana(&service).await;
    let product = ana.a_product(1_000_000).await;
    let sale = json!({"product": product, "quantity": 1});
    server.freeze();
    for _ in 0..2 {
        let sold = ana.post("/api/v1/outflows/", &sale).await.unwrap();
        assert_eq!(sold.status(), 503);
    }
    assert_eq!(readiness(&service).await, 503);
    server.thaw();
    until(async || readiness(&service).await == 200).await;
    let sold = ana.post("/api/v1/outflows/", &sale).await.unwrap();
    assert_eq!(sold.status(), 201);
}
