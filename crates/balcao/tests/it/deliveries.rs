//! `kill -9` in the middle of a thousand deliveries: every event arrives, each product's in order, and what arrives twice has the same id.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use serde_json::{Value, json};
use test_kit::process::Start;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::inventory::{Caller, inventory};

const PRODUCTS: usize = 40;
const ALL: usize = 1000;
const KILLS: usize = 3;

/// What arrived: `webhook-id`, product, outflow.
type Arrived = Arc<Mutex<Vec<(String, i64, i64)>>>;

struct Receiver {
    address: SocketAddr,
    arrived: Arrived,
    count: watch::Receiver<usize>,
}

impl Receiver {
    async fn start() -> Self {
        let arrived = Arrived::default();
        let (counting, count) = watch::channel(0);
        let keep = Arc::clone(&arrived);
        let handler = async move |headers: HeaderMap, body: Bytes| {
            let event: Value = serde_json::from_slice(&body).unwrap();
            let data = &event["data"];
            let (product, outflow) = (&data["product"]["id"], &data["id"]);
            let id = headers["webhook-id"].to_str().unwrap().to_owned();
            let mut arrived = keep.lock().unwrap();
            arrived.push((id, product.as_i64().unwrap(), outflow.as_i64().unwrap()));
            counting.send_replace(arrived.len());
            StatusCode::NO_CONTENT
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().route("/hooks", post(handler));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self {
            address,
            arrived,
            count,
        }
    }

    async fn has(&self, count: usize) {
        let mut counted = self.count.clone();
        counted.wait_for(|arrived| *arrived >= count).await.unwrap();
    }
}

fn settings(receiver: &Receiver) -> Start {
    inventory()
        .env(
            "BALCAO_INVENTORY_WEBHOOK_URL",
            format!("http://{}/hooks", receiver.address),
        )
        .env(
            "BALCAO_INVENTORY_WEBHOOK_SECRET",
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        )
        .env("BALCAO_INVENTORY_WEBHOOK_ALLOW_PRIVATE", "true")
}

/// Ships out of all products at once until the process dies; the outflows that were acknowledged.
fn ship(ana: &Caller, products: &[i64]) -> JoinSet<Vec<i64>> {
    let mut work = JoinSet::new();
    for product in products {
        let (ana, outflow) = (ana.clone(), json!({"product": product, "quantity": 1}));
        work.spawn(async move {
            let mut acknowledged = Vec::new();
            while let Ok(answer) = ana.post("/api/v1/outflows/", &outflow).await {
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

#[tokio::test(flavor = "multi_thread")]
async fn killed_in_the_middle_of_a_thousand_deliveries_nothing_is_lost_or_out_of_order() {
    let receiver = Receiver::start().await;
    let data = tempfile::tempdir().unwrap();
    let mut products: Vec<i64> = Vec::new();
    let mut acknowledged: BTreeSet<i64> = BTreeSet::new();
    for kill in 1..=KILLS {
        let mut service = settings(&receiver).data(data.path()).ready().await;
        let ana = Caller::ana(&service).await;
        while products.len() < PRODUCTS {
            products.push(ana.a_product(1_000_000).await);
        }
        let shipping = ship(&ana, &products);
        receiver.has(ALL * kill / KILLS).await;
        service.kill();
        acknowledged.extend(shipping.join_all().await.into_iter().flatten());
    }
    let _service = settings(&receiver).data(data.path()).ready().await;
    let missing = || {
        let arrived = receiver.arrived.lock().unwrap();
        let arrived: BTreeSet<i64> = arrived.iter().map(|(_, _, outflow)| *outflow).collect();
        acknowledged.difference(&arrived).count()
    };
    let mut count = receiver.count.clone();
    while missing() > 0 {
        count.changed().await.unwrap();
    }
    let arrived = receiver.arrived.lock().unwrap();
    let mut newest: BTreeMap<i64, i64> = BTreeMap::new();
    let mut ids: BTreeMap<i64, &str> = BTreeMap::new();
    for (id, product, outflow) in arrived.iter() {
        let is_new = !ids.contains_key(outflow);
        assert_eq!(
            ids.entry(*outflow).or_insert(id),
            id,
            "a repetition has the same id"
        );
        if is_new {
            let before = newest.insert(*product, *outflow);
            assert!(
                before.is_none_or(|before| before < *outflow),
                "product {product}"
            );
        }
    }
    assert!(ids.len() >= ALL && acknowledged.len() >= ALL / 2);
}
