//! Orders whose goods are booked out by themselves, with the whole program: paid at checkout,
//! booked by inventory, connected by one setting.

use delivery::Secret;
use reqwest::Response;
use serde_json::{Value, json};
use test_kit::database::{Database, Engine};
use test_kit::process::{Balcao, Start, printed};
use test_kit::sandbox::SandboxClient;
use test_kit::until;
use web::Clock;

use crate::inventory::{Caller, run_with, with_superuser};
use crate::support::{API_KEY, Provider, card, client};

/// The secret of the events that tests send themselves.
pub(crate) const SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

/// Sends a paid order to an inventory, as checkout does.
pub(crate) async fn tell(inventory: &str, order: &Value) -> Value {
    let body = json!({"type": "order.paid", "timestamp": "2026-11-20T12:00:00Z", "data": order});
    let (body, seconds) = (body.to_string(), Clock::system().now().micros() / 1_000_000);
    let secret = Secret::parse(SECRET).unwrap();
    let answer = client()
        .post(format!("{inventory}/integrations/orders/"))
        .header("webhook-id", "evt_1_1")
        .header("webhook-timestamp", seconds)
        .header(
            "webhook-signature",
            secret.sign("evt_1_1", seconds, body.as_bytes()),
        )
        .body(body)
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 200);
    answer.json().await.unwrap()
}

/// Makes a product of this serie number with so many units; its id.
pub(crate) async fn a_product(program: &Caller, serie_number: &str, quantity: i64) -> i64 {
    let made = program.a_product(quantity).await;
    let path = format!("/api/v1/products/{made}/");
    let change = json!({"serie_number": serie_number});
    assert_eq!(program.patch(&path, &change).await, 200);
    made
}

/// Makes an order of three units with this serie number, and the buyer's page of it.
pub(crate) async fn an_order(checkout: &str, key: &str, sku: &str) -> String {
    let items = json!([{"title": "Arroz", "quantity": 3, "unit_price": 12.50, "sku": sku}]);
    let order = json!({"reference": "1042", "description": "Feira", "items": items});
    let answer = client()
        .post(format!("{checkout}/orders/"))
        .bearer_auth(key)
        .json(&order)
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 201);
    let made: Value = answer.json().await.unwrap();
    made["url"].as_str().unwrap().to_owned()
}

/// Pays an order by card, at its page.
pub(crate) async fn pay_by_card(page: &str) {
    let mut paying = card("APRO");
    for fixed in ["transaction_amount", "description"] {
        paying.as_object_mut().unwrap().remove(fixed);
    }
    let paid = client().post(page).json(&paying).send().await.unwrap();
    ok(paid).await;
}

/// Pays an order by pix, at the page and then at the provider.
async fn pay_by_pix(page: &str, provider: &SandboxClient) {
    let body = json!({"payment_method": "pix", "email": "ana@example.com", "identification_number": "12345678909"});
    let answer = client()
        .post(page)
        .header("Idempotency-Key", "order-1042")
        .json(&body)
        .send()
        .await
        .unwrap();
    let payment: Value = ok(answer).await.json().await.unwrap();
    let id = payment["id"].as_str().unwrap();
    provider.act(id, "pay").await;
}

async fn ok(answer: Response) -> Response {
    let status = answer.status();
    assert!(status.is_success(), "{}", answer.text().await.unwrap());
    answer
}

/// Waits until a product has so many units.
pub(crate) async fn until_there_are(program: &Caller, product: i64, quantity: i64) {
    let path = format!("/api/v1/products/{product}/");
    until(async || program.get(&path).await["quantity"] == quantity).await;
}

#[tokio::test]
async fn in_the_demo_the_goods_of_a_paid_order_leave_the_shelf() {
    let demo = Start::new(["demo"]).ready().await;
    let program = Caller::log_in(&demo, "admin", "demo-password").await;
    let product = a_product(&program, "arroz-1042", 5).await;
    let checkout = demo.url("checkout").await;
    let page = an_order(&checkout, "demo-key", "arroz-1042").await;
    pay_by_pix(&page, &SandboxClient::new(demo.url("sandbox").await)).await;
    until_there_are(&program, product, 2).await;
    let outflows = format!("/api/v1/outflows/?product={product}");
    let outflow = &program.get(&outflows).await["results"][0];
    assert_eq!(
        [&outflow["quantity"], &outflow["description"]],
        [&json!(3), &json!("Pedido 1042")]
    );
}

/// Both services, connected by the setting.
fn wired(provider: &Provider, start: Start) -> Start {
    with_superuser(provider.settings(start)).env("BALCAO_ORDERS_BOOK_STOCK", "true")
}

#[tokio::test(flavor = "multi_thread")]
async fn one_setting_wires_both_services_and_opens_this_machine_to_no_other_endpoint() {
    let provider = Provider::start().await;
    let services = wired(&provider, Start::new(["serve"])).ready().await;
    let inventory = services.url("inventory").await;
    let listening = inventory.trim_start_matches("http://");
    let address = format!("{inventory}/integrations/orders/");
    let says = |words: &[&str], expected: &[&str]| {
        let whole = ["checkout", "endpoint"].iter().chain(words).copied();
        let start = wired(&provider, Start::new(whole).data(services.data()));
        let printed = printed(&run_with(start.env("BALCAO_INVENTORY_LISTEN", listening)));
        for part in expected {
            assert!(printed.contains(part), "{part}: {printed}");
        }
    };
    says(&["list"], &[&address, "order.paid", "(configuration)"]);
    says(&["test", "1"], &["delivered 200"]);
    says(&["add", &address], &["endpoint 2"]);
    says(&["test", "2"], &["BALCAO_CHECKOUT_WEBHOOK_ALLOW_PRIVATE"]);
    says(&["delete", "1"], &["stands in the configuration"]);
    is_booked(&services).await;
}

/// Fails unless the goods of a paid order are booked out.
async fn is_booked(services: &Balcao) {
    let program = Caller::ana(services).await;
    let product = a_product(&program, "arroz-1042", 5).await;
    let page = an_order(&services.url("checkout").await, API_KEY, "arroz-1042").await;
    pay_by_card(&page).await;
    until_there_are(&program, product, 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn goods_leave_the_stock_after_the_replica_that_started_last_has_stopped() {
    let (database, provider) = (Database::new(Engine::Postgres), Provider::start().await);
    let shared = "the same secret on every replica, of 32 bytes or more";
    let replica = || {
        wired(&provider, Start::new(["serve"]))
            .env("BALCAO_CHECKOUT_DATABASE_URL", database.address())
            .env("BALCAO_CHECKOUT_SECRET", shared)
            .env("BALCAO_INVENTORY_DATABASE_URL", database.address())
            .env("BALCAO_INVENTORY_TOKEN_SECRET", shared)
            .ready()
    };
    let first = replica().await;
    let mut last = replica().await;
    last.stop().await;
    is_booked(&first).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_setting_neither_end_of_the_wire_exists() {
    let provider = Provider::start().await;
    let services = with_superuser(provider.settings(Start::new(["serve"])));
    let services = services.ready().await;
    let address = format!("{}/integrations/orders/", services.url("inventory").await);
    let answer = client().post(address).body("{}").send().await.unwrap();
    assert_eq!(answer.status(), 404);
    let list = provider.settings(Start::new(["checkout", "endpoint", "list"]));
    let printed = printed(&run_with(list.data(services.data())));
    assert!(printed.contains("no endpoints"), "{printed}");
}
