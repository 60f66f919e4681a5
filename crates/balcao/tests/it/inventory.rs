//! The inventory as a process: the demo's shop, import and export, generated data, backups, and the
//! last units sold by two replicas.

use std::path::Path;
use std::process::Output;
use std::sync::Arc;

use reqwest::Response;
use serde_json::{Value, json};
use test_kit::database::{Database, Engine};
use test_kit::process::{Balcao, Start, printed};
use test_kit::receiver::Receiver;
use tokio::sync::Barrier;
use tokio::task::{JoinSet, block_in_place};

use crate::support::client;

const SECRET: &str = "the same secret on every replica, of 32 bytes or more";
const PASSWORD: &str = "a counter of oak";

/// An inventory with a superuser and without limits.
pub(crate) fn inventory() -> Start {
    with_superuser(Start::new(["serve", "--only", "inventory"]))
}

/// The settings of such an inventory.
pub(crate) fn with_superuser(start: Start) -> Start {
    start
        .env("BALCAO_ADMIN_USERNAME", "ana")
        .env("BALCAO_ADMIN_PASSWORD", PASSWORD)
        .env("BALCAO_INVENTORY_RATE_LIMIT_AUTH", "off")
        .env("BALCAO_INVENTORY_RATE_LIMIT_READ", "off")
        .env("BALCAO_INVENTORY_RATE_LIMIT_WRITE", "off")
}

/// A service with this receiver as the endpoint of its inventory's configuration.
pub(crate) fn with_endpoint(start: Start, receiver: &Receiver) -> Start {
    start
        .env("BALCAO_INVENTORY_WEBHOOK_URL", receiver.url())
        .env(
            "BALCAO_INVENTORY_WEBHOOK_SECRET",
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        )
        .env("BALCAO_INVENTORY_WEBHOOK_ALLOW_PRIVATE", "true")
}

/// A caller with a token.
#[derive(Clone)]
pub(crate) struct Caller {
    url: String,
    token: String,
}

impl Caller {
    pub(crate) async fn ana(service: &Balcao) -> Self {
        Self::log_in(service, "ana", PASSWORD).await
    }

    pub(crate) async fn log_in(service: &Balcao, username: &str, password: &str) -> Self {
        let url = service.url("inventory").await;
        let answer = client()
            .post(format!("{url}/api/v1/authentication/token/"))
            .json(&json!({"username": username, "password": password}))
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status(), 200, "{username}");
        let pair: Value = answer.json().await.unwrap();
        Self {
            url,
            token: pair["access"].as_str().unwrap().to_owned(),
        }
    }

    /// The token, for requests by another client.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        let answer = self.answer(path).await;
        assert_eq!(answer.status(), 200, "{path}");
        answer.json().await.unwrap()
    }

    /// The status of the answer.
    pub(crate) async fn status(&self, path: &str) -> u16 {
        self.answer(path).await.status().as_u16()
    }

    async fn answer(&self, path: &str) -> Response {
        let request = client().get(format!("{}{path}", self.url));
        request.bearer_auth(&self.token).send().await.unwrap()
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> reqwest::Result<Response> {
        let request = client().post(format!("{}{path}", self.url));
        request.bearer_auth(&self.token).json(body).send().await
    }

    /// Changes a record; returns the status of the answer.
    pub(crate) async fn patch(&self, path: &str, body: &Value) -> u16 {
        let request = client().patch(format!("{}{path}", self.url));
        let request = request.bearer_auth(&self.token).json(body);
        request.send().await.unwrap().status().as_u16()
    }

    /// Makes a record and answers its id.
    pub(crate) async fn make(&self, path: &str, body: &Value) -> i64 {
        let answer = self.post(path, body).await.unwrap();
        assert_eq!(answer.status(), 201, "{path}");
        answer.json::<Value>().await.unwrap()["id"]
            .as_i64()
            .unwrap()
    }

    /// Sells units of a product; the outflow's id.
    pub(crate) async fn sell(&self, product: i64, quantity: i64) -> i64 {
        let sale = json!({"product": product, "quantity": quantity});
        self.make("/api/v1/outflows/", &sale).await
    }

    /// Books units of a product in; the inflow's id.
    pub(crate) async fn receive(&self, supplier: i64, product: i64, quantity: i64) -> i64 {
        let delivery = json!({"supplier": supplier, "product": product, "quantity": quantity});
        self.make("/api/v1/inflows/", &delivery).await
    }

    /// Creates a product with its category and brand.
    pub(crate) async fn a_product(&self, quantity: i64) -> i64 {
        let category = self
            .make("/api/v1/categories/", &json!({"name": "Grãos"}))
            .await;
        let brand = self
            .make("/api/v1/brands/", &json!({"name": "Bom Grão"}))
            .await;
        let product = json!({
            "title": "Arroz", "category": category, "brand": brand, "cost_price": "8.00", "selling_price": "12.50",
            "quantity": quantity,
        });
        self.make("/api/v1/products/", &product).await
    }
}

/// Runs a command on the data of a service.
pub(crate) fn run(data: &Path, words: &[&str]) -> Output {
    run_with(Start::new(words.iter().copied()).data(data))
}

/// As [`run`], outside of a runtime.
fn run_alone(data: &Path, words: &[&str]) -> Output {
    Start::new(words.iter().copied()).data(data).output()
}

/// Runs a command with settings of its own.
pub(crate) fn run_with(start: Start) -> Output {
    block_in_place(|| start.output())
}

#[track_caller]
pub(crate) fn succeeds(output: &Output) -> String {
    let said = printed(output);
    assert!(output.status.success(), "{said}");
    said
}

#[tokio::test(flavor = "multi_thread")]
async fn the_demo_has_a_shop_with_a_history_and_keeps_what_is_done_to_it() {
    let demo = Start::new(["demo"]).ready().await;
    let logs = demo.logs();
    assert!(
        logs.contains(&demo.url("inventory").await) && logs.contains("demo-password"),
        "{logs}"
    );
    for name in ["admin", "manager", "viewer"] {
        Caller::log_in(&demo, name, "demo-password").await;
    }
    let manager = Caller::log_in(&demo, "manager", "demo-password").await;
    assert_eq!(manager.get("/api/v1/products/").await["count"], 300);
    let newest = manager
        .get("/api/v1/outflows/?ordering=-created_at&page_size=1")
        .await;
    assert!(newest["count"].as_i64().unwrap() > 3_000);
    let low = manager.get("/api/v1/low-stock/").await;
    assert!(low["count"].as_i64().unwrap() > 0);
    manager.receive(1, 1, 50).await;
    let kept = manager.get("/api/v1/products/1/").await;
    let url = demo.url("inventory").await;
    for path in ["/health", "/ready"] {
        let answer = client().get(format!("{url}{path}")).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
    }
    let data = demo.into_data();
    let demo = Start::new(["demo"]).data(data.path()).ready().await;
    let manager = Caller::log_in(&demo, "manager", "demo-password").await;
    assert_eq!(manager.get("/api/v1/products/1/").await, kept);
    assert_eq!(manager.get("/api/v1/products/").await["count"], 300);
    let folder = data.path().join("demo");
    drop(demo);
    assert!(succeeds(&run(&folder, &["inventory", "verify"])).contains("every quantity agrees"));
}

#[tokio::test(flavor = "multi_thread")]
async fn two_replicas_sell_the_last_units_exactly() {
    let database = Database::new(Engine::Postgres);
    let replica = || {
        inventory()
            .env("BALCAO_INVENTORY_DATABASE_URL", database.address())
            .env("BALCAO_INVENTORY_TOKEN_SECRET", SECRET)
            .ready()
    };
    let (one, other) = tokio::join!(replica(), replica());
    let callers = [Caller::ana(&one).await, Caller::ana(&other).await];
    let product = callers[0].a_product(37).await;
    let begin = Arc::new(Barrier::new(80));
    let mut sales = JoinSet::new();
    for number in 0..80 {
        let (caller, begin) = (callers[number % 2].clone(), Arc::clone(&begin));
        sales.spawn(async move {
            begin.wait().await;
            let sold = json!({"product": product, "quantity": 1});
            caller
                .post("/api/v1/outflows/", &sold)
                .await
                .unwrap()
                .status()
                .as_u16()
        });
    }
    let statuses = sales.join_all().await;
    let count = |status| statuses.iter().filter(|other| **other == status).count();
    assert_eq!((count(201), count(400)), (37, 43), "{statuses:?}");
    let left = callers[1]
        .get(&format!("/api/v1/products/{product}/"))
        .await;
    assert_eq!(left["quantity"], 0);
    assert_eq!(callers[1].get("/api/v1/outflows/").await["count"], 37);
    let verify = Start::new(["inventory", "verify"])
        .env("BALCAO_INVENTORY_DATABASE_URL", database.address());
    succeeds(&block_in_place(|| verify.output()));
}

#[tokio::test(flavor = "multi_thread")]
async fn made_up_data_go_out_as_files_and_come_in_again() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let sizes = ["--products", "50", "--movements", "900"];
    let made = run(
        one.path(),
        &[&["generate"][..], &sizes, &["--seed", "3"]].concat(),
    );
    assert!(succeeds(&made).contains("50 products and 900 movements"));
    let again = run(one.path(), &[&["generate"][..], &sizes].concat());
    assert_eq!(again.status.code(), Some(1));
    assert!(printed(&again).contains("the catalogue is not empty"));
    let file = one.path().join("shop.csv");
    let file = file.to_str().unwrap();
    succeeds(&run(other.path(), &["migrate"]));
    for resource in [
        "brands",
        "categories",
        "suppliers",
        "products",
        "inflows",
        "outflows",
    ] {
        succeeds(&run(one.path(), &["inventory", "export", resource, file]));
        let dry = run(
            other.path(),
            &["inventory", "import", resource, file, "--dry-run"],
        );
        assert!(succeeds(&dry).contains("would be added"));
        succeeds(&run(other.path(), &["inventory", "import", resource, file]));
    }
    std::fs::write(
        file,
        "title,category,brand,cost_price,selling_price,quantity\nCamomila,Ervas,Mata,1.00,2.00,3\n",
    )
    .unwrap();
    let import = ["inventory", "import", "products", file];
    let missing = run(other.path(), &import);
    assert!(printed(&missing).contains("There is no category “Ervas”."));
    let created = run(
        other.path(),
        &[import.as_slice(), &["--create-names"]].concat(),
    );
    assert!(succeeds(&created).contains("categories added: Ervas\nbrands added: Mata"));
    succeeds(&run(other.path(), &["inventory", "verify"]));
    let wrong = run(other.path(), &["inventory", "import", "brands", file]);
    assert_eq!(wrong.status.code(), Some(1));
    assert!(
        printed(&wrong).contains("Allowed columns: id, name, description"),
        "{}",
        printed(&wrong)
    );
    let usage = run(other.path(), &["inventory", "import", "things", file]);
    assert_eq!(usage.status.code(), Some(2));
}

#[test]
fn a_file_called_minus_is_standard_output_and_standard_input() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let folder = one.path();
    let file = folder.join("brands.csv");
    let text = "id,name,description,created_at,updated_at\r\n7,Bom Grão,,2026-11-20T12:00:00Z,2026-11-20T12:00:00Z\r\n";
    std::fs::write(&file, text).unwrap();
    let words = |action| ["inventory", action, "brands", "-"];
    let import = Start::new(words("import")).data(folder).input(&file);
    let imported = import.output();
    let said = succeeds(&imported);
    assert!(
        said.contains("1 row: 1 brand added, 0 there already") && said.contains("import: 100 %"),
        "{said}"
    );
    let exported = run_alone(folder, &words("export"));
    let printed = String::from_utf8_lossy(&exported.stderr);
    assert_eq!(String::from_utf8_lossy(&exported.stdout), text, "{printed}");
    assert!(printed.contains("standard output: 1 brand\n"), "{printed}");
    // No file is left behind, neither here nor in the working folder of commands.
    assert!(!std::env::temp_dir().join("-").exists());
    let left = std::fs::read_dir(folder).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert!(
        left.iter()
            .all(|name| !name.to_string_lossy().ends_with(".partial")),
        "{left:?}"
    );
    let unread = Start::new(words("export")).data(folder).unread();
    let said = String::from_utf8_lossy(&unread.stderr);
    assert!(
        unread.status.success() && !said.contains("standard output"),
        "{said}"
    );
    let missing = other.path().join("brands.csv");
    let missing = ["inventory", "import", "brands", missing.to_str().unwrap()];
    let missing = run_alone(other.path(), &missing);
    let said = String::from_utf8_lossy(&missing.stderr);
    assert!(
        said.contains("brands.csv: the file cannot be read: No such file"),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_holds_the_inventory_and_its_key() {
    let service = inventory().ready().await;
    let ana = Caller::ana(&service).await;
    let product = ana.a_product(12).await;
    let place = tempfile::tempdir().unwrap();
    let archive = place.path().join("shop.tar");
    let archive = archive.to_str().unwrap();
    succeeds(&run(service.data(), &["backup", archive]));
    let running = run(service.data(), &["restore", "--force", archive]);
    assert!(
        printed(&running).contains("a service runs on"),
        "{}",
        printed(&running)
    );
    drop(service);
    let restored = place.path().join("restored");
    succeeds(&run(&restored, &["restore", archive]));
    let service = inventory().data(&restored).ready().await;
    // A token from before the backup is still valid, since the backup has the key.
    let ana = Caller {
        url: service.url("inventory").await,
        ..ana
    };
    let kept = ana.get(&format!("/api/v1/products/{product}/")).await;
    assert_eq!(kept["quantity"], 12);
}
