//! Generated sequences of all changes of stock, compared with a small model: after every step
//! quantities, balances, low-stock states and refusals agree. At the end the ledger is verified.

use std::{collections::BTreeMap, time::Duration};

use inventory::aggregates;
use proptest::{
    prelude::*,
    strategy::ValueTree as _,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use serde_json::json;
use test_kit::on_both_engines;

use crate::app::TestApp;

const PRODUCTS: usize = 3;
const THRESHOLD: i64 = 10;

#[derive(Debug, Clone)]
enum Step {
    Inflow {
        product: usize,
        quantity: i64,
    },
    Outflow {
        product: usize,
        quantity: i64,
    },
    /// The same outflow under the same key as before.
    Repeat,
    DeleteInflow {
        nth: usize,
    },
    DeleteOutflow {
        nth: usize,
    },
    Adjust {
        product: usize,
        quantity: i64,
    },
    Edit {
        product: usize,
        cents: i64,
        category: usize,
    },
    /// Sets a threshold of the product, or goes back to the shop's.
    Threshold {
        product: usize,
        threshold: Option<i64>,
    },
    /// A worker compacts the deltas.
    Fold,
    Wait,
}

fn step() -> impl Strategy<Value = Step> {
    let product = 0..PRODUCTS;
    prop_oneof![
        3 => (product.clone(), 1..20_i64).prop_map(|(product, quantity)| Step::Inflow { product, quantity }),
        5 => (product.clone(), 1..20_i64).prop_map(|(product, quantity)| Step::Outflow { product, quantity }),
        1 => Just(Step::Repeat),
        2 => (0..50_usize).prop_map(|nth| Step::DeleteInflow { nth }),
        2 => (0..50_usize).prop_map(|nth| Step::DeleteOutflow { nth }),
        1 => (product, 0..30_i64).prop_map(|(product, quantity)| Step::Adjust { product, quantity }),
        1 => (0..PRODUCTS, 0..100_000_i64, 0..PRODUCTS).prop_map(|(product, cents, category)| Step::Edit { product, cents, category }),
        1 => (0..PRODUCTS, proptest::option::of(0..25_i64)).prop_map(|(product, threshold)| Step::Threshold { product, threshold }),
        1 => Just(Step::Fold),
        1 => Just(Step::Wait),
    ]
}

/// The expected state of the shop.
#[derive(Default)]
struct Model {
    quantities: [i64; PRODUCTS],
    thresholds: [Option<i64>; PRODUCTS],
    inflows: BTreeMap<i64, (usize, i64)>,
    outflows: BTreeMap<i64, (usize, i64)>,
    entries: [u64; PRODUCTS],
}

struct Shop {
    app: TestApp,
    products: Vec<i64>,
    supplier: i64,
    model: Model,
    last: Option<(String, String)>,
    keys: u32,
}

impl Shop {
    async fn open(address: &str) -> Self {
        let app = TestApp::new(address).await;
        let mut products = Vec::new();
        for title in ["A", "B", "C"] {
            products.push(app.admin().a_product(title, 0).await);
        }
        let supplier = app.admin().a_supplier("S").await;
        let model = Model {
            entries: [1; PRODUCTS],
            ..Model::default()
        };
        Self {
            app,
            products,
            supplier,
            model,
            last: None,
            keys: 0,
        }
    }

    async fn take(&mut self, step: &Step) {
        match *step {
            Step::Inflow { product, quantity } => self.inflow(product, quantity).await,
            Step::Outflow { product, quantity } => self.outflow(product, quantity).await,
            Step::Repeat => self.repeat().await,
            Step::DeleteInflow { nth } => self.delete_inflow(nth).await,
            Step::DeleteOutflow { nth } => self.delete_outflow(nth).await,
            Step::Adjust { product, quantity } => self.adjust(product, quantity).await,
            Step::Edit {
                product,
                cents,
                category,
            } => self.edit(product, cents, category).await,
            Step::Threshold { product, threshold } => {
                let admin = self.app.admin();
                admin.set_threshold(self.products[product], threshold).await;
                self.model.thresholds[product] = threshold;
            }
            Step::Fold => {
                aggregates::compact_batch(&self.app.state.db).await.unwrap();
            }
            Step::Wait => self.app.clock.advance(Duration::from_secs(40_000)),
        }
        self.agrees().await;
    }

    async fn inflow(&mut self, product: usize, quantity: i64) {
        let id = self
            .app
            .receive(self.supplier, self.products[product], quantity)
            .await;
        self.model.inflows.insert(id, (product, quantity));
        self.model.change(product, quantity);
    }

    async fn outflow(&mut self, product: usize, quantity: i64) {
        self.keys += 1;
        let body = json!({"product": self.products[product], "quantity": quantity}).to_string();
        let key = format!("key-{}", self.keys);
        let answer = self.book(&body, &key).await;
        if self.model.quantities[product] < quantity {
            let available = self.model.quantities[product];
            answer.is(
                400,
                &json!({"quantity": [format!("Insufficient stock: {available} available.")]}),
            );
        } else {
            self.model.outflows.insert(answer.id(), (product, quantity));
            self.model.change(product, -quantity);
            self.last = Some((body, key));
        }
    }

    async fn repeat(&mut self) {
        if let Some((body, key)) = self.last.clone() {
            let answer = self.book(&body, &key).await;
            assert_eq!(
                (
                    answer.status,
                    answer.headers.contains_key("idempotent-replayed")
                ),
                (201, true)
            );
        }
    }

    async fn book(&self, body: &str, key: &str) -> crate::app::Answer {
        self.app
            .manager()
            .send_with(
                http::Method::POST,
                "/api/v1/outflows/",
                Some(body.to_owned()),
                &[("Idempotency-Key", key)],
            )
            .await
    }

    async fn delete_inflow(&mut self, nth: usize) {
        let Some((&id, &(product, quantity))) = self.model.inflows.iter().nth(nth) else {
            return;
        };
        let status = self
            .app
            .admin()
            .delete(&format!("/api/v1/inflows/{id}/"))
            .await
            .status;
        if self.model.quantities[product] < quantity {
            assert_eq!(status, 409);
        } else {
            assert_eq!(status, 204);
            self.model.inflows.remove(&id);
            self.model.change(product, -quantity);
        }
    }

    async fn delete_outflow(&mut self, nth: usize) {
        let Some((&id, &(product, quantity))) = self.model.outflows.iter().nth(nth) else {
            return;
        };
        self.app
            .admin()
            .delete(&format!("/api/v1/outflows/{id}/"))
            .await
            .has_status(204);
        self.model.outflows.remove(&id);
        self.model.change(product, quantity);
    }

    async fn adjust(&mut self, product: usize, quantity: i64) {
        let path = format!("/api/v1/products/{}/", self.products[product]);
        self.app
            .manager()
            .patch(&path, json!({"quantity": quantity}))
            .await
            .has_status(200);
        let change = quantity - self.model.quantities[product];
        if change != 0 {
            self.model.change(product, change);
        }
    }

    async fn edit(&self, product: usize, cents: i64, category: usize) {
        let price = format!("{}.{:02}", cents / 100, cents % 100);
        let body = json!({"selling_price": price, "cost_price": "0.07", "category": category + 1});
        self.app.change_product(self.products[product], body).await;
    }

    async fn agrees(&self) {
        assert_eq!(aggregates::verify(&self.app.state.db).await.unwrap(), []);
        let viewer = self.app.viewer();
        let mut low = 0;
        for (product, &id) in self.products.iter().enumerate() {
            let expected = self.model.quantities[product];
            assert_eq!(viewer.quantity_of(id).await, expected);
            let ledger = viewer
                .get(&format!("/api/v1/products/{id}/ledger/"))
                .await
                .json();
            assert_eq!(
                (
                    ledger["count"].as_u64(),
                    ledger["results"][0]["balance_after"].as_i64()
                ),
                (Some(self.model.entries[product]), Some(expected))
            );
            low += u64::from(expected < self.model.thresholds[product].unwrap_or(THRESHOLD));
        }
        assert_eq!(
            viewer.get("/api/v1/low-stock/").await.json()["count"].as_u64(),
            Some(low)
        );
        assert_eq!(
            viewer.get("/api/v1/inflows/").await.json()["count"],
            self.model.inflows.len()
        );
        assert_eq!(
            viewer.get("/api/v1/outflows/").await.json()["count"],
            self.model.outflows.len()
        );
    }
}

impl Model {
    fn change(&mut self, product: usize, change: i64) {
        self.quantities[product] += change;
        self.entries[product] += 1;
    }
}

on_both_engines!(
    whatever_happens_to_stock_agrees_with_a_simple_model,
    async |address| {
        let mut runner = TestRunner::new_with_rng(
            Config::default(),
            TestRng::deterministic_rng(RngAlgorithm::ChaCha),
        );
        let steps = proptest::collection::vec(step(), 60..61)
            .new_tree(&mut runner)
            .unwrap()
            .current();
        let mut shop = Shop::open(&address).await;
        for step in &steps {
            shop.take(step).await;
        }
        assert_eq!(
            inventory::stock::verify(&shop.app.state.db).await.unwrap(),
            []
        );
    }
);
