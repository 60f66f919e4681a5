//! SQLite's files: on a disk that is full, and deleted under a running service.

use std::fs;
use std::process::Command;

use serde_json::json;
use test_kit::database::{Database, Engine};
use test_kit::process::Balcao;

use crate::inventory::{Caller, inventory};
use crate::support::client;

/// The statuses of the readiness check, a read and a sale.
async fn statuses(service: &Balcao, ana: &Caller, product: i64) -> (u16, u16, u16) {
    let url = service.url("inventory").await;
    let ready = client().get(format!("{url}/ready")).send().await.unwrap();
    let read = ana.status("/api/v1/products/").await;
    let sale = json!({"product": product, "quantity": 1});
    let sold = ana.post("/api/v1/outflows/", &sale).await.unwrap();
    (ready.status().as_u16(), read, sold.status().as_u16())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_is_503_and_not_ready_until_there_is_space() {
    let service = inventory().outlives_file_size().ready().await;
    let ana = Caller::ana(&service).await;
    let product = ana.a_product(50).await;
    service.limit_files(Some(1));
    let sale = json!({"product": product, "quantity": 1});
    let sold = ana.post("/api/v1/outflows/", &sale).await.unwrap();
    assert_eq!(sold.status(), 503);
    for _ in 0..2 {
        assert_eq!(statuses(&service, &ana, product).await, (503, 200, 503));
    }
    service.limit_files(None);
    assert_eq!(statuses(&service, &ana, product).await, (200, 200, 201));
    let left = ana.get(&format!("/api/v1/products/{product}/")).await;
    assert_eq!(left["quantity"], 49);
}

#[test]
fn a_full_disk_leaves_no_half_made_secret() {
    let (data, database) = (
        tempfile::tempdir().unwrap(),
        Database::new(Engine::Postgres),
    );
    // No file may grow, as on a full disk. The database is elsewhere.
    let script =
        "trap '' XFSZ; ulimit -f 0; exec \"$0\" checkout endpoint add https://shop.example/";
    let output = Command::new("/bin/sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_balcao")])
        .env("BALCAO_DATA_DIR", data.path())
        .env("BALCAO_CHECKOUT_DATABASE_URL", database.address())
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("checkout.key cannot be used"), "{said}");
    assert_eq!(fs::read_dir(data.path()).unwrap().count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_database_is_503_and_not_ready() {
    let service = inventory().ready().await;
    let ana = Caller::ana(&service).await;
    let product = ana.a_product(50).await;
    assert_eq!(statuses(&service, &ana, product).await, (200, 200, 201));
    let file = service.data().join("inventory.sqlite");
    let away = service.data().join("away.sqlite");
    fs::rename(&file, &away).unwrap();
    assert_eq!(statuses(&service, &ana, product).await, (503, 503, 503));
    assert!(!file.exists(), "a new one was made");
    fs::rename(&away, &file).unwrap();
    assert_eq!(statuses(&service, &ana, product).await, (200, 200, 201));
}
