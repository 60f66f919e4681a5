//! Clients of other people: generated clients of our API documents work with the running services,
//! the provider's own clients with the sandbox, and the libraries of Standard Webhooks with our
//! events. A real server of language models accepts our requests, and linters find no error in the
//! documents. The programs are in `tests/clients`. The examples for shops, in `examples/`, run here
//! too, since their languages are installed here.

mod examples;
mod language_model;

use std::path::Path;

use serde_json::{Value, json};
use test_kit::clients::Clients;
use test_kit::process::Start;
use test_kit::receiver::Receiver;
use tokio::task::block_in_place;

use crate::payment_news::{SECRET, telling};
use crate::support::{CARD, Provider, card, pay};

fn clients() -> Clients {
    Clients::new(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients"))
}

/// The services, and the file of each one's document beside the programs.
fn documents(clients: &Clients) -> [(&'static str, String); 2] {
    ["checkout", "inventory"].map(|service| {
        let printed = Start::new(["openapi", service]).output();
        let file = format!("{service}.json");
        clients.add(&file, &printed.stdout);
        (service, file)
    })
}

/// Starts a demo, and runs a program with the addresses of its services and a card.
async fn beside_a_demo(run: impl FnOnce([String; 3])) {
    let demo = Start::new(["demo"]).ready().await;
    let (checkout, inventory) = (demo.url("checkout").await, demo.url("inventory").await);
    block_in_place(|| run([checkout, inventory, CARD.to_owned()]));
}

#[test]
fn linters_find_no_error_in_the_documents() {
    let clients = clients();
    let files = documents(&clients).map(|(_, file)| file);
    clients.node([&["lint.js".to_owned()][..], &files].concat());
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_generated_for_python_keep_stock_and_take_payments() {
    let clients = clients();
    for (service, file) in documents(&clients) {
        let folder = format!("{service}_client");
        clients.python([
            "-m",
            "openapi_python_client",
            "generate",
            "--path",
            &file,
            "--meta",
            "none",
            "--output-path",
            &folder,
            "--config",
            "generator.yaml",
            "--fail-on-warning",
        ]);
    }
    beside_a_demo(|of_demo| clients.python([&["generated.py".to_owned()][..], &of_demo].concat()))
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_generated_for_typescript_keep_stock_and_take_payments() {
    let clients = clients();
    for (service, file) in documents(&clients) {
        let types = format!("{service}.d.ts");
        let generator = "node_modules/openapi-typescript/bin/cli.js";
        clients.node([generator, &file, "--output", &types]);
    }
    clients.node(["node_modules/typescript/bin/tsc"]);
    beside_a_demo(|of_demo| clients.node([&["generated.js".to_owned()][..], &of_demo].concat()))
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_public_libraries_of_standard_webhooks_take_the_events_of_payments() {
    let (clients, provider) = (clients(), Provider::start().await);
    let receiver = Receiver::start().await;
    let checkout = telling(provider.checkout(), &receiver).ready().await;
    let url = checkout.url("checkout").await;
    for (key, holder) in [("order-1", "APRO"), ("order-2", "OTHE")] {
        pay(&url, key, &card(holder)).await.unwrap();
    }
    receiver.has_read(2).await;
    let posts = receiver.received().into_iter();
    let posts = posts.map(|post| json!({"headers": post.headers, "body": post.body}));
    let posts: Vec<Value> = posts.collect();
    clients.add("posts.json", &serde_json::to_vec(&posts).unwrap());
    block_in_place(|| {
        clients.python(["webhook.py", SECRET, "posts.json"]);
        clients.node(["webhook.js", SECRET, "posts.json"]);
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn the_providers_own_client_for_python_works_with_the_sandbox() {
    let (clients, provider) = (clients(), Provider::start().await);
    let arguments = ["provider.py", &provider.url(), "TEST-token", CARD];
    block_in_place(|| clients.python(arguments));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_providers_own_client_for_javascript_finds_every_member_that_it_knows_in_the_sandbox() {
    let (clients, provider) = (clients(), Provider::start().await);
    let arguments = ["provider.js", &provider.url(), "TEST-token", CARD];
    block_in_place(|| clients.node(arguments));
}
