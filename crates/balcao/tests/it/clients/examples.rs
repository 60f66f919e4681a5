//! The programs in `examples/`, run beside a demo as a shop runs them: an order, its event, a
//! refund.

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output};

use delivery::Secret;
use serde_json::Value;
use tempfile::NamedTempFile;
use test_kit::process::{Balcao, Start};
use test_kit::receiver::{ReceivedRequest, Receiver};
use test_kit::sandbox::SandboxClient;
use tokio::task::block_in_place;
use web::Clock;

use crate::orders::pay_by_card;
use crate::payment_news::SECRET;
use crate::support::client;

const KEY: &str = "demo-key";
const ANOTHER_SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

/// A shop whose programs are in one language, and its checkout.
struct Shop {
    program: PathBuf,
    demo: Balcao,
    checkout: String,
    receiver: Receiver,
}

impl Shop {
    async fn open(example: &str) -> Self {
        let receiver = Receiver::start().await;
        let secret = file(SECRET.as_bytes());
        let settings = [
            format!("BALCAO_CHECKOUT_WEBHOOK_URL={}", receiver.url()),
            format!(
                "BALCAO_CHECKOUT_WEBHOOK_SECRET_FILE={}",
                secret.path().display()
            ),
            "BALCAO_CHECKOUT_WEBHOOK_ALLOW_PRIVATE=true".to_owned(),
        ];
        let settings = settings
            .into_iter()
            .flat_map(|setting| ["--set".to_owned(), setting]);
        let demo = Start::new(std::iter::once("demo".to_owned()).chain(settings));
        let demo = demo.ready().await;
        let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples"));
        Self {
            program: root.join(example),
            checkout: demo.url("checkout").await,
            demo,
            receiver,
        }
    }

    fn run(&self, arguments: &[&str], input: &[u8], secret: &str) -> Output {
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .env("CHECKOUT_URL", &self.checkout)
            .env("CHECKOUT_KEY", KEY)
            .env("CHECKOUT_WEBHOOK_SECRET", secret)
            .stdin(File::open(file(input).path()).unwrap());
        block_in_place(|| command.output())
            .unwrap_or_else(|error| panic!("{command:?} does not start: {error}"))
    }

    /// What the program prints when it succeeds.
    fn says(&self, arguments: &[&str]) -> Value {
        answer(&self.run(arguments, b"", SECRET))
    }

    /// Fails unless the program refuses for this reason.
    fn fails(&self, arguments: &[&str], reason: &str) {
        refused(&self.run(arguments, b"", SECRET), reason);
    }

    async fn get(&self, path: &str) -> Value {
        let url = format!("{}{path}", self.checkout);
        let answer = client().get(url).bearer_auth(KEY).send().await.unwrap();
        answer.json().await.unwrap()
    }

    /// The provider processes the next call of this path, and its answer is lost.
    async fn loses_an_answer(&self, path: &str) {
        let sandbox = SandboxClient::new(self.demo.url("sandbox").await);
        sandbox.fail("POST", path, "drop after", 1).await;
    }
}

fn file(content: &[u8]) -> NamedTempFile {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(content).unwrap();
    file
}

fn answer(output: &Output) -> Value {
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn refused(output: &Output, reason: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(said.contains(reason), "{reason}: {output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
}

/// Follows the steps of `examples/README.md`.
async fn a_shop_in(example: &str) {
    let shop = Shop::open(example).await;
    let page = an_order_is_made_once(&shop).await;
    pay_by_card(&page).await;
    shop.receiver.has_read(2).await;
    let [_, paid] = &shop.receiver.received()[..] else {
        panic!("a payment and its order are told");
    };
    only_the_checkouts_event_is_taken(&shop, paid);
    let payment = &paid.json()["data"]["payments"][0]["id"];
    money_is_given_back_once(&shop, payment.as_str().unwrap()).await;
}

async fn an_order_is_made_once(shop: &Shop) -> String {
    let create = ["create", "1042", "149.90", "Café em grãos"];
    let made = shop.says(&create);
    assert_eq!(shop.says(&create)["id"], made["id"]);
    shop.fails(&["create", "1042", "14.99", "Café"], "Idempotency-Key");
    let orders = shop.get("/orders/").await;
    assert_eq!(orders["count"], 1);
    let order = &orders["results"][0];
    assert_eq!(order["id"], made["id"]);
    assert_eq!(order["reference"], "1042");
    assert_eq!(order["amount"].as_f64(), Some(149.90));
    assert_eq!(order["description"], "Café em grãos");
    made["url"].as_str().unwrap().to_owned()
}

fn only_the_checkouts_event_is_taken(shop: &Shop, event: &ReceivedRequest) {
    let (id, time) = (event.id(), &event.headers["webhook-timestamp"]);
    let signature = &event.headers["webhook-signature"];
    let body = event.body.as_bytes();
    let verify = |time: &str, signatures: &str, body: &[u8], secret: &str| {
        shop.run(&["verify", id, time, signatures], body, secret)
    };
    let two = format!("v1,bm90IHRoaXMgb25l {signature}");
    for signatures in [signature, &two] {
        let taken = answer(&verify(time, signatures, body, SECRET));
        assert_eq!(taken["type"], "order.paid");
        assert_eq!(taken["data"]["reference"], "1042");
    }
    let dearer = event.body.replace("149.9", "949.9");
    let longer = format!("{} ", event.body);
    for changed in [&dearer, &longer] {
        assert_ne!(changed, &event.body);
        let changed = changed.as_bytes();
        refused(&verify(time, &two, changed, SECRET), "signature");
    }
    refused(&verify(time, signature, body, ANOTHER_SECRET), "signature");
    refused(&verify(time, signature, body, ""), "WEBHOOK_SECRET");
    refused(&verify("soon", signature, body, SECRET), "timestamp");
    let (now, secret) = (Clock::system().now().micros() / 1_000_000, SECRET);
    for seconds in [now - 400, now + 400] {
        let signed = Secret::parse(secret).unwrap().sign(id, seconds, body);
        let output = verify(&seconds.to_string(), &signed, body, secret);
        refused(&output, "timestamp");
    }
}

async fn money_is_given_back_once(shop: &Shop, payment: &str) {
    shop.loses_an_answer(&format!("/v1/payments/{payment}/refunds"))
        .await;
    let part = ["refund", "77", payment, "20.50"];
    let made = shop.says(&part);
    assert_eq!(shop.says(&part)["id"], made["id"]);
    let orders = shop.get("/orders/").await;
    assert_eq!(
        orders["results"][0]["refunded_amount"].as_f64(),
        Some(20.50)
    );
    let rest = shop.says(&["refund", "78", payment]);
    assert_eq!(rest["amount"].as_f64(), Some(129.40));
    shop.fails(&["refund", "79", payment], "Invalid payment status");
    let stored = shop.get(&format!("/payments/{payment}")).await;
    assert_eq!(stored["status"], "refunded");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shop_with_curl_orders_hears_of_it_and_gives_money_back() {
    a_shop_in("orders.sh").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shop_in_python_orders_hears_of_it_and_gives_money_back() {
    a_shop_in("orders.py").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shop_in_javascript_orders_hears_of_it_and_gives_money_back() {
    a_shop_in("orders.mjs").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shop_in_php_orders_hears_of_it_and_gives_money_back() {
    a_shop_in("orders.php").await;
}
