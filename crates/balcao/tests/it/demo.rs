//! The demo: start it, pay, see the payment approved, start it again.

use std::io::ErrorKind;
use std::net::TcpListener;

use serde_json::{Value, json};
use test_kit::process::{Balcao, Start, printed};
use test_kit::receiver::Receiver;
use test_kit::sandbox::SandboxClient;

use crate::inventory::{Caller, with_endpoint};
use crate::support::{card, client, pay_until_final, pix};

async fn list(demo: &Balcao) -> Vec<Value> {
    let url = format!("{}/payments/", demo.url("checkout").await);
    let answer = client()
        .get(url)
        .bearer_auth("demo-key")
        .send()
        .await
        .unwrap();
    answer.json::<Value>().await.unwrap()["results"]
        .as_array()
        .unwrap()
        .clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_demo_takes_payments_and_keeps_them_over_a_restart_and_from_a_second_one() {
    let demo = Start::new(["demo"]).ready().await;
    let url = demo.url("checkout").await;
    let page = client().get(&url).send().await.unwrap();
    assert_eq!(page.status(), 200);
    let paid = pay_until_final(&url, "order-1", &card("APRO")).await;
    assert_eq!(paid["status"], "approved");
    let data = demo.into_data();
    let demo = Start::new(["demo"]).data(data.path()).ready().await;
    let inside = data.path().join("demo");
    for (words, folder, refusal) in [
        (
            ["demo", "--fresh"].as_slice(),
            data.path(),
            "another demo runs in",
        ),
        (
            &["sandbox"],
            &inside,
            "another sandbox keeps its payments in",
        ),
    ] {
        let second = Start::new(words.iter().copied()).data(folder);
        let second = tokio::task::block_in_place(|| second.output());
        let said = printed(&second);
        assert_eq!(second.status.code(), Some(1), "{said}");
        assert!(said.contains(refusal), "{said}");
    }
    assert_eq!(list(&demo).await, [paid]);
    drop(demo);
    let fresh = Start::new(["demo", "--fresh"])
        .data(data.path())
        .ready()
        .await;
    assert_eq!(list(&fresh).await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_pix_paid_at_the_sandbox_turns_approved_in_the_shop() {
    let demo = Start::new(["demo"]).ready().await;
    let (checkout, sandbox) = (demo.url("checkout").await, demo.url("sandbox").await);
    let payment = pay_until_final(&checkout, "order-1", &pix()).await;
    assert_eq!(payment["status"], "pending");
    let id = payment["id"].as_str().unwrap();
    SandboxClient::new(sandbox).act(id, "pay").await;
    // The notification is on its way; the state changes once the payment was read back.
    while list(&demo).await[0]["status"] != "approved" {}
    assert!(list(&demo).await[0]["date_approved"].is_string());
}

#[tokio::test]
async fn the_demo_talks_to_nobody_that_the_environment_names() {
    let receiver = Receiver::start().await;
    let others = TcpListener::bind("127.0.0.1:0").unwrap();
    others.set_nonblocking(true).unwrap();
    let address = others.local_addr().unwrap();
    let mut demo = with_endpoint(Start::new(["demo"]), &receiver)
        .env("BALCAO_SMTP_URL", format!("smtp://{address}"))
        .env("BALCAO_MAIL_FROM", "shop@example.com")
        .env("BALCAO_INVENTORY_ALERT_MAIL_TO", "ana@example.com")
        .env("BALCAO_INVENTORY_REPORT", "weekly")
        .env("BALCAO_LLM_BASE_URL", format!("http://{address}/v1"))
        .env("BALCAO_LLM_MODEL", "model")
        .ready()
        .await;
    let ana = Caller::log_in(&demo, "admin", "demo-password").await;
    let supplier = ana
        .make("/api/v1/suppliers/", &json!({"name": "Atacado"}))
        .await;
    let product = ana.a_product(7).await;
    ana.receive(supplier, product, 2).await;
    ana.sell(product, 3).await;
    assert!(demo.stop().await.success());
    let said = demo.logs();
    let ignored = "a demo talks to nobody: BALCAO_INVENTORY_ALERT_MAIL_TO, BALCAO_INVENTORY_REPORT";
    assert!(said.contains(ignored), "{said}");
    assert!(receiver.received().is_empty());
    assert_eq!(
        others.accept().err().map(|error| error.kind()),
        Some(ErrorKind::WouldBlock)
    );
}

#[tokio::test]
async fn the_demo_says_where_things_are_and_what_to_try() {
    let demo = Start::new(["demo"]).ready().await;
    let said = demo.logs();
    for part in [
        demo.url("checkout").await,
        demo.url("sandbox").await,
        "4235 6477 2802 5682".to_owned(),
        "curl ".to_owned(),
    ] {
        assert!(said.contains(&part), "{part} is missing in:\n{said}");
    }
}

#[test]
fn the_demo_listens_on_this_machine_only() {
    let output = Start::new(["demo"])
        .env("BALCAO_CHECKOUT_LISTEN", "0.0.0.0:0")
        .output();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("BALCAO_CHECKOUT_LISTEN: found 0.0.0.0:0; allowed in a demo: loopback"),
        "{said}"
    );
}
