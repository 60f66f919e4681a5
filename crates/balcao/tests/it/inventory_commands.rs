//! `balcao inventory endpoint|events|analyses|report` on the command line, with and without a
//! running service: output and exit status.

use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};
use test_kit::process::{Start, printed};
use test_kit::receiver::{ReceivedRequest, Receiver};

use crate::inventory::{Caller, inventory, run_with, with_endpoint};

/// Runs `balcao inventory …`; fails unless it has this exit status and prints these words.
#[track_caller]
fn says(data: &Path, words: &[&str], status: i32, expected: &[&str]) -> Output {
    let whole: Vec<&str> = ["inventory"].iter().chain(words).copied().collect();
    let start = Start::new(whole).data(data);
    let output = run_with(start.env("BALCAO_INVENTORY_WEBHOOK_ALLOW_PRIVATE", "true"));
    let printed = printed(&output);
    assert_eq!(output.status.code(), Some(status), "{words:?}: {printed}");
    for words in expected {
        assert!(printed.contains(words), "{words}: {printed}");
    }
    output
}

fn output(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn endpoints_are_added_changed_tried_out_and_removed_by_command() {
    let receiver = Receiver::start().await;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let endpoint = |words: &[&str], status, expected: &[&str]| {
        let whole: Vec<&str> = ["endpoint"].iter().chain(words).copied().collect();
        says(data, &whole, status, expected)
    };
    let migrated = tokio::task::block_in_place(|| Start::new(["migrate"]).data(data).output());
    assert!(migrated.status.success());
    endpoint(&["list"], 0, &["no endpoints"]);
    endpoint(&["add", "nowhere"], 2, &["'<URL>'", "https://"]);
    let url = receiver.url();
    let unknown = ["add", &url, "--types", "order.created"];
    endpoint(&unknown, 2, &["'--types <TYPES>'", "product.low_stock"]);
    let long = "x".repeat(201);
    let wordy = ["add", &url, "--description", &long];
    endpoint(
        &wordy,
        2,
        &["'--description <DESCRIPTION>'", "200 characters"],
    );
    // Only the secret goes to standard output, for use in a pipe.
    let types = ["add", &url, "--types", "product.low_stock"];
    let secret = output(&endpoint(&types, 0, &["endpoint 1", "not shown again"]));
    assert!(secret.starts_with("whsec_") && secret.lines().count() == 1);
    endpoint(&["list"], 0, &[&url, "enabled", "product.low_stock"]);
    endpoint(&["test", "1"], 0, &["delivered 204"]);
    assert_eq!(
        receiver.has_read(1).await[0].json()["type"],
        "endpoint.test"
    );
    endpoint(&["change", "1"], 2, &["--url", "--types", "--description"]);
    let moved = format!("http://127.0.0.1:1/hooks?of={}", receiver.address.port());
    let change = ["change", "1", "--url", &moved, "--description", "Caixa"];
    endpoint(&change, 0, &["endpoint 1 is changed"]);
    endpoint(&["list"], 0, &[&moved, "product.low_stock", "Caixa"]);
    endpoint(&["test", "1"], 1, &["not_connected"]);
    let rotated = output(&endpoint(&["rotate", "1"], 0, &["stays valid until"]));
    assert_ne!(rotated, secret);
    endpoint(&["disable", "1"], 0, &["receives no more events"]);
    endpoint(&["list"], 0, &["disabled by hand"]);
    let redeliver = ["events", "redeliver", "--failed", "--endpoint", "1"];
    says(data, &redeliver, 1, &["--endpoint", "endpoint enable 1"]);
    endpoint(&["enable", "1"], 0, &["receives events"]);
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/", silent.local_addr().unwrap());
    endpoint(&["change", "1", "--url", &address], 0, &["is changed"]);
    let mut test = Start::new(["inventory", "endpoint", "test", "1"])
        .data(data)
        .env("BALCAO_INVENTORY_WEBHOOK_ALLOW_PRIVATE", "true")
        .spawn();
    let _connection = silent.accept().await.unwrap();
    let ended = test.stop().await;
    assert_eq!(ended.code(), None, "a signal ends a command at once");
    endpoint(&["remove", "1"], 0, &["endpoint 1 is deleted"]);
    for action in ["delete", "rotate", "enable", "disable", "test"] {
        endpoint(&[action, "1"], 1, &["there is no endpoint 1"]);
    }
    let gone = ["change", "1", "--types", ""];
    endpoint(&gone, 1, &["there is no endpoint 1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn events_are_listed_shown_and_redelivered_beside_a_running_service() {
    let receiver = Receiver::start().await;
    let service = with_endpoint(inventory(), &receiver).ready().await;
    let data = service.data();
    says(data, &["events", "list"], 0, &["no deliveries"]);
    says(data, &["events", "list", "--all"], 0, &["no events"]);
    let ana = Caller::ana(&service).await;
    let outflow = json!({"product": ana.a_product(12).await, "quantity": 5});
    let title = json!({"title": "Arroz\u{9b}2J"});
    assert_eq!(ana.patch("/api/v1/products/1/", &title).await, 200);
    ana.make("/api/v1/outflows/", &outflow).await;
    let arrived = receiver.has_read(3).await;
    let events = arrived.iter().map(ReceivedRequest::json);
    let types: Vec<Value> = events.map(|mut event| event["type"].take()).collect();
    assert_eq!(
        types,
        ["outflow.created", "product.low_stock", "analysis.created"]
    );
    let listed = ["event 1  outflow.created  product 1", "endpoint 1"];
    says(data, &["events", "list", "--product", "1"], 0, &listed);
    says(
        data,
        &["events", "list", "--state", "failed"],
        0,
        &["no deliveries"],
    );
    says(
        data,
        &["events", "list", "--state", "lost"],
        2,
        &["waiting, delivered, failed"],
    );
    let all = ["events", "list", "--all", "--limit", "2"];
    assert_eq!(output(&says(data, &all, 0, &[])).lines().count(), 2);
    // A title does not steer the terminal.
    let shown = [
        "evt_1_",
        "\"product_quantity\":7",
        "Arroz\\u{9b}2J",
        "delivered 204",
    ];
    says(data, &["events", "show", "1"], 0, &shown);
    says(
        data,
        &["events", "show", "99"],
        1,
        &["there is no event 99"],
    );
    says(data, &["events", "redeliver"], 2, &["<ID|--failed>"]);
    says(
        data,
        &["events", "redeliver", "99"],
        1,
        &["there is no event 99"],
    );
    says(
        data,
        &["events", "redeliver", "--failed"],
        0,
        &["0 to deliver again"],
    );
    says(
        data,
        &["events", "redeliver", "1"],
        0,
        &["1 to deliver again"],
    );
    // The service sends the same event with the same id within seconds.
    assert_eq!(receiver.has_read(4).await[3].id(), arrived[0].id());
    // The endpoint of the configuration is changed in the configuration.
    let moved = ["endpoint", "change", "1", "--url", "https://a.example/"];
    says(data, &moved, 1, &["BALCAO_INVENTORY_WEBHOOK_URL"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn analyses_and_the_report_are_made_and_shown_by_command() {
    let service = inventory().ready().await;
    let ana = Caller::ana(&service).await;
    let product = ana.a_product(40).await;
    let data = service.data();
    says(data, &["analyses", "list"], 0, &["no analyses"]);
    says(
        data,
        &["analyses", "show", "7"],
        1,
        &["there is no analysis 7"],
    );
    says(
        data,
        &["analyses", "run", "7"],
        1,
        &["there is no product 7"],
    );
    says(data, &["analyses", "list", "--limit", "0"], 2, &["--limit"]);
    let made = ["analyses", "run", &product.to_string()];
    says(
        data,
        &made,
        0,
        &["Arroz", "text by: formula", "requested by: command line"],
    );
    says(data, &["analyses", "list"], 0, &["formula", "Arroz"]);
    says(data, &["analyses", "show", "1"], 0, &["figures: {"]);
    says(
        data,
        &["report"],
        0,
        &["Relatório da loja de", "1 produto, R$"],
    );
    let json = output(&says(data, &["report", "--format", "json"], 0, &[]));
    let report: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(report["products"][0]["title"], "Arroz");
    assert_eq!(report["summary"]["stock_value"], "320.00");
    let file = data.join("report.csv");
    let written = ["report", "--format", "csv", file.to_str().unwrap()];
    assert_eq!(output(&says(data, &written, 0, &[])), "");
    let table = std::fs::read_to_string(&file).unwrap();
    assert!(table.starts_with("product,title,") && table.lines().count() == 2);
    says(
        data,
        &["report", "--format", "xml"],
        2,
        &["text, csv, json"],
    );
    let nowhere = ["report", "--format", "csv", "/nowhere/report.csv"];
    says(data, &nowhere, 1, &["/nowhere/report.csv", "No such file"]);
}
