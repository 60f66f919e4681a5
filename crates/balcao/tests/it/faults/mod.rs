//! `kill -9` under a load of movements, again and again: acknowledged movements are stored, and
//! none is stored by half. The same holds when the database's server dies, freezes, or has no
//! space.

mod disk;
mod failover;
mod oldest;
mod proxies;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tempfile::TempDir;
use test_kit::database::{Database, Engine};
use test_kit::process::{Balcao, Start};
use test_kit::until;
use tokio::task::{JoinSet, block_in_place};

use crate::inventory::{Caller, inventory, succeeds};

const ROUNDS: usize = 5;
const WORKERS: usize = 8;
/// The number of movements that are acknowledged before the process is killed.
const ENOUGH: usize = 150;

/// A shop whose process is killed often.
struct Shop {
    data: TempDir,
    database: Option<Database>,
    /// Resource and id of every movement that was answered with 201.
    acknowledged: Arc<Mutex<BTreeSet<(&'static str, i64)>>>,
}

impl Shop {
    fn new(database: Option<Database>) -> Self {
        Self {
            data: tempfile::tempdir().unwrap(),
            database,
            acknowledged: Arc::default(),
        }
    }

    fn settings(&self, start: Start) -> Start {
        let start = start.data(self.data.path());
        match &self.database {
            Some(database) => start.env("BALCAO_INVENTORY_DATABASE_URL", database.address()),
            None => start,
        }
    }

    async fn start(&self) -> Balcao {
        self.settings(inventory()).ready().await
    }

    fn run(&self, words: &[&str]) -> String {
        let start = self.settings(Start::new(words.iter().copied()));
        succeeds(&block_in_place(|| start.output()))
    }

    /// All workers receive and sell until the process is killed.
    async fn storm(&self, products: &[i64], supplier: i64) {
        let mut service = self.start().await;
        let ana = Caller::ana(&service).await;
        let (done, mut workers) = (Arc::new(AtomicUsize::new(0)), JoinSet::new());
        for worker in 0..WORKERS {
            let (ana, products, done) = (ana.clone(), products.to_vec(), Arc::clone(&done));
            let acknowledged = Arc::clone(&self.acknowledged);
            workers.spawn(async move {
                for number in worker.. {
                    let product = products[number % products.len()];
                    let (resource, body) = if number % 3 == 0 {
                        (
                            "inflows",
                            json!({"supplier": supplier, "product": product, "quantity": 2}),
                        )
                    } else {
                        ("outflows", json!({"product": product, "quantity": 1}))
                    };
                    let path = format!("/api/v1/{resource}/");
                    // The load ends with the process.
                    let Ok(answer) = ana.post(&path, &body).await else {
                        return;
                    };
                    let status = answer.status().as_u16();
                    let Ok(record) = answer.json::<Value>().await else {
                        return;
                    };
                    if status == 201 {
                        let id = record["id"].as_i64().unwrap();
                        assert!(
                            acknowledged.lock().unwrap().insert((resource, id)),
                            "{id} twice"
                        );
                        done.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
        until(async || done.load(Ordering::Relaxed) >= ENOUGH).await;
        service.kill();
        workers.join_all().await;
    }

    /// The ids in the database.
    fn stored(&self, resource: &'static str) -> BTreeSet<(&'static str, i64)> {
        let file = self.data.path().join("export.csv");
        self.run(&["inventory", "export", resource, file.to_str().unwrap()]);
        ids(resource, &file)
    }

    fn assert_whole(&self) {
        assert!(
            self.run(&["inventory", "verify"])
                .contains("every quantity agrees")
        );
        let mut stored = self.stored("inflows");
        stored.extend(self.stored("outflows"));
        let acknowledged = self.acknowledged.lock().unwrap();
        let lost: Vec<_> = acknowledged.difference(&stored).collect();
        assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
        // A movement may be committed although its answer was lost: at most one for each worker and
        // round.
        let unheard = stored.difference(&acknowledged).count();
        assert!(unheard <= WORKERS * ROUNDS, "{unheard}");
    }
}

fn ids(resource: &'static str, file: &Path) -> BTreeSet<(&'static str, i64)> {
    let text = fs::read_to_string(file).unwrap();
    let rows = text.lines().skip(1);
    rows.map(|row| (resource, row.split(',').next().unwrap().parse().unwrap()))
        .collect()
}

async fn survives(database: Option<Database>) {
    let shop = Shop::new(database);
    let service = shop.start().await;
    let ana = Caller::ana(&service).await;
    let supplier = ana
        .make("/api/v1/suppliers/", &json!({"name": "Atacado"}))
        .await;
    let mut products = Vec::new();
    for quantity in [40, 3, 0, 500] {
        products.push(ana.a_product(quantity).await);
    }
    drop(service);
    for _ in 0..ROUNDS {
        shop.storm(&products, supplier).await;
        shop.assert_whole();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_acknowledged_movement_survives_kills_in_a_storm_on_sqlite() {
    survives(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_acknowledged_movement_survives_kills_in_a_storm_on_postgresql() {
    survives(Some(Database::new(Engine::Postgres))).await;
}
