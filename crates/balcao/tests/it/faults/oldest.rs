//! The oldest supported PostgreSQL, from a package registry.

use serde_json::json;
use test_kit::postgres::PostgresServer;
use test_kit::process::Start;
use tokio::task::block_in_place;

use crate::inventory::{Caller, inventory, succeeds};
use crate::support::{Provider, card, pay_until_final};

#[tokio::test(flavor = "multi_thread")]
async fn the_oldest_postgresql_that_is_promised_serves_both_services() {
    let server = block_in_place(PostgresServer::oldest);
    let on = |start: Start| {
        let start = start.env("BALCAO_INVENTORY_DATABASE_URL", server.address());
        start.env("BALCAO_CHECKOUT_DATABASE_URL", server.address())
    };
    let shop = on(inventory()).ready().await;
    let ana = Caller::ana(&shop).await;
    let product = ana.a_product(10).await;
    let sale = json!({"product": product, "quantity": 1});
    for sold in [
        ana.post("/api/v1/outflows/", &sale),
        ana.post("/api/v1/outflows/", &sale),
    ] {
        assert_eq!(sold.await.unwrap().status(), 201);
    }
    let found = ana.get("/api/v1/products/?search=arroz").await;
    assert_eq!(found["results"][0]["quantity"], 8, "{found}");
    let verify = on(Start::new(["inventory", "verify"]));
    let verified = succeeds(&block_in_place(|| verify.output()));
    assert!(verified.contains("every quantity agrees"), "{verified}");

    let provider = Provider::start().await;
    let checkout = on(provider.checkout()).ready().await;
    let url = checkout.url("checkout").await;
    let payment = pay_until_final(&url, "order-1", &card("APRO")).await;
    assert_eq!(payment["status"], "approved");
}
