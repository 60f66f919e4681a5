//! `kill -9` in the middle of a thousand deliveries: every event arrives, each product's in order,
//! and what arrives twice has the same id. On both engines: on PostgreSQL another process goes on
//! once it sees that the one that delivers is dead.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use tempfile::TempDir;
use test_kit::database::{Database, Engine};
use test_kit::process::Balcao;
use tokio::task::JoinSet;

use crate::inventory::Caller;
use crate::receiver::{Arrived, Receiver};

const PRODUCTS: usize = 40;
const ALL: usize = 1000;
const KILLS: usize = 3;
/// Of each product between two kills. However slow the deliveries are, they come to an end.
const MOST_SALES: usize = 2 * ALL / PRODUCTS;

/// Ships out of all products at once, so often or until the process dies; the outflows that were
/// acknowledged.
fn ship(ana: &Caller, products: &[i64], times: usize) -> JoinSet<Vec<i64>> {
    let mut work = JoinSet::new();
    for product in products {
        let (ana, outflow) = (ana.clone(), json!({"product": product, "quantity": 1}));
        work.spawn(async move {
            let mut acknowledged = Vec::new();
            while acknowledged.len() < times
                && let Ok(answer) = ana.post("/api/v1/outflows/", &outflow).await
            {
                // What is too much at once for a busy machine is asked for again.
                if answer.status() == 503 {
                    continue;
                }
                let Ok(outflow) = answer.json::<Value>().await else {
                    break;
                };
                acknowledged.push(outflow["id"].as_i64().unwrap());
            }
            acknowledged
        });
    }
    work
}

/// The outflow that an event is about.
fn outflow((_, event): &Arrived) -> i64 {
    event["data"]["id"].as_i64().unwrap()
}

/// Waits until so many outflows have arrived, however often each.
async fn has_outflows(receiver: &Receiver, count: usize) {
    let is_enough = |arrived: &Vec<Arrived>| {
        arrived.len() >= count
            && arrived.iter().map(outflow).collect::<BTreeSet<_>>().len() >= count
    };
    receiver.until(is_enough).await;
}

/// Waits until all of these outflows have arrived, and looks at the order and the ids of everything
/// that did; how many outflows.
async fn all_arrived_in_order(receiver: &Receiver, acknowledged: &BTreeSet<i64>) -> usize {
    // The receiver answers nothing while it is looked through: not before it may have all.
    let has_all = |arrived: &Vec<Arrived>| {
        arrived.len() >= acknowledged.len()
            && acknowledged.is_subset(&arrived.iter().map(outflow).collect())
    };
    let arrived = receiver.until(has_all).await;
    let mut newest: BTreeMap<i64, i64> = BTreeMap::new();
    let mut ids: BTreeMap<i64, &str> = BTreeMap::new();
    for one in &arrived {
        let (id, outflow) = (one.0.as_str(), outflow(one));
        let product = one.1["data"]["product"]["id"].as_i64().unwrap();
        let is_new = !ids.contains_key(&outflow);
        let known = ids.entry(outflow).or_insert(id);
        assert_eq!(*known, id, "a repetition has the same id");
        if is_new {
            let before = newest.insert(product, outflow);
            assert!(
                before.is_none_or(|before| before < outflow),
                "product {product}"
            );
        }
    }
    ids.len()
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_in_the_middle_of_a_thousand_deliveries_nothing_is_lost_or_out_of_order() {
    let receiver = Receiver::start().await;
    let data = tempfile::tempdir().unwrap();
    let mut products: Vec<i64> = Vec::new();
    let mut acknowledged: BTreeSet<i64> = BTreeSet::new();
    for kill in 1..=KILLS {
        let mut service = receiver.service().data(data.path()).ready().await;
        let ana = Caller::ana(&service).await;
        while products.len() < PRODUCTS {
            products.push(ana.a_product(1_000_000).await);
        }
        let shipping = ship(&ana, &products, MOST_SALES);
        has_outflows(&receiver, ALL * kill / KILLS).await;
        service.kill();
        acknowledged.extend(shipping.join_all().await.into_iter().flatten());
    }
    let _service = receiver.service().data(data.path()).ready().await;
    let arrived = all_arrived_in_order(&receiver, &acknowledged).await;
    assert!(arrived >= ALL && acknowledged.len() >= ALL / 2);
}

/// Two processes over one database, of which the first delivers, in the middle of a thousand
/// deliveries.
struct Delivering {
    receiver: Receiver,
    first: Balcao,
    second: Balcao,
    shipping: JoinSet<Vec<i64>>,
    _kept: (TempDir, Database),
}

impl Delivering {
    async fn start() -> Self {
        let receiver = Receiver::start().await;
        let (data, database) = (
            tempfile::tempdir().unwrap(),
            Database::new(Engine::Postgres),
        );
        let service = || {
            let start = receiver.service().data(data.path());
            start.env("BALCAO_INVENTORY_DATABASE_URL", database.address())
        };
        let first = service().ready().await;
        let ana = Caller::ana(&first).await;
        let mut products: Vec<i64> = Vec::new();
        while products.len() < PRODUCTS {
            products.push(ana.a_product(1_000_000).await);
        }
        let second = service().ready().await;
        receiver.takes(ALL / 4);
        let shipping = ship(&Caller::ana(&second).await, &products, ALL / PRODUCTS);
        receiver.has(ALL / 4).await;
        Self {
            receiver,
            first,
            second,
            shipping,
            _kept: (data, database),
        }
    }

    /// The first one does nothing any more: the second delivers everything.
    async fn second_takes_over(&mut self) {
        assert!(self.receiver.arrived().len() < ALL);
        self.receiver.takes(usize::MAX);
        let acknowledged = std::mem::take(&mut self.shipping).join_all().await;
        let acknowledged: BTreeSet<i64> = acknowledged.into_iter().flatten().collect();
        assert_eq!(acknowledged.len(), ALL);
        assert_eq!(
            all_arrived_in_order(&self.receiver, &acknowledged).await,
            ALL
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn on_postgres_the_other_process_goes_on_when_the_one_that_delivers_is_killed() {
    let mut delivering = Delivering::start().await;
    delivering.first.kill();
    delivering.second_takes_over().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn on_postgres_a_process_that_was_frozen_while_it_delivered_has_lost_that_and_goes_on_otherwise()
 {
    let mut delivering = Delivering::start().await;
    delivering.first.freeze();
    delivering.second_takes_over().await;
    delivering.first.thaw();
    let has_noticed = |line: &str| line.contains("others have taken over its leases");
    delivering
        .first
        .line(has_noticed, "that it lost its leases")
        .await;
    // It serves as before, and it delivers when the other one is gone.
    let ana = Caller::ana(&delivering.first).await;
    delivering.second.kill();
    let product = ana.a_product(1).await;
    let outflow = json!({"product": product, "quantity": 1});
    let outflow = ana.make("/api/v1/outflows/", &outflow).await;
    let arrives = delivering
        .receiver
        .until(|arrived| arrived.iter().any(|one| self::outflow(one) == outflow));
    arrives.await;
}
