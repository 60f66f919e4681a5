//! `kill -9` during a thousand deliveries: every event arrives, each product's in order, and
//! duplicates have the same id. On both engines. On PostgreSQL another process continues once it
//! sees that the first is dead.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use tempfile::TempDir;
use test_kit::database::{Database, Engine};
use test_kit::process::Balcao;
use test_kit::receiver::{ReceivedRequest, Receiver};
use tokio::task::JoinSet;

use crate::inventory::{Caller, inventory, with_endpoint};

const PRODUCTS: usize = 40;
const ALL: usize = 1000;
const KILLS: usize = 3;
/// Sales of each product between two kills: few enough that slow deliveries end.
const MOST_SALES: usize = 2 * ALL / PRODUCTS;

/// Sells all products at the same time, so often or until the process dies; returns the
/// acknowledged outflows.
fn ship(ana: &Caller, products: &[i64], times: usize) -> JoinSet<Vec<i64>> {
    let mut work = JoinSet::new();
    for product in products {
        let (ana, outflow) = (ana.clone(), json!({"product": product, "quantity": 1}));
        work.spawn(async move {
            let mut acknowledged = Vec::new();
            while acknowledged.len() < times
                && let Ok(answer) = ana.post("/api/v1/outflows/", &outflow).await
            {
                // A request that a busy machine refuses is sent again.
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
fn outflow(request: &ReceivedRequest) -> i64 {
    request.json()["data"]["id"].as_i64().unwrap()
}

/// Waits until so many different outflows have arrived.
async fn has_outflows(receiver: &Receiver, count: usize) {
    let is_enough = |arrived: &Vec<ReceivedRequest>| {
        arrived.len() >= count
            && arrived.iter().map(outflow).collect::<BTreeSet<_>>().len() >= count
    };
    receiver.until(is_enough).await;
}

/// Waits until all of these outflows have arrived, and checks the order and the ids of all events;
/// returns the number of outflows.
async fn all_arrived_in_order(receiver: &Receiver, acknowledged: &BTreeSet<i64>) -> usize {
    // Reading its events blocks the receiver, so it is read only once all may be there.
    let has_all = |arrived: &Vec<ReceivedRequest>| {
        arrived.len() >= acknowledged.len()
            && acknowledged.is_subset(&arrived.iter().map(outflow).collect())
    };
    let arrived = receiver.until(has_all).await;
    let mut newest: BTreeMap<i64, i64> = BTreeMap::new();
    let mut ids: BTreeMap<i64, &str> = BTreeMap::new();
    for one in &arrived {
        let (id, outflow, product) = (one.id(), outflow(one), one.product());
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
        let service = with_endpoint(inventory(), &receiver).data(data.path());
        let mut service = service.ready().await;
        let ana = Caller::ana(&service).await;
        while products.len() < PRODUCTS {
            products.push(ana.a_product(1_000_000).await);
        }
        let shipping = ship(&ana, &products, MOST_SALES);
        has_outflows(&receiver, ALL * kill / KILLS).await;
        service.kill();
        acknowledged.extend(shipping.join_all().await.into_iter().flatten());
    }
    let service = with_endpoint(inventory(), &receiver).data(data.path());
    let _service = service.ready().await;
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
            let start = with_endpoint(inventory(), &receiver).data(data.path());
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
        receiver.has_read(ALL / 4).await;
        Self {
            receiver,
            first,
            second,
            shipping,
            _kept: (data, database),
        }
    }

    /// The first process is stopped: the second delivers everything.
    async fn second_takes_over(&mut self) {
        assert!(self.receiver.received().len() < ALL);
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
    // It still serves, and it delivers when the other process is gone.
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
