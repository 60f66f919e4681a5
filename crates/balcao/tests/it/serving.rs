//! Starting and stopping the process, and its settings while it runs.

use std::net::TcpListener;

use serde_json::Value;
use test_kit::database::{Database, Engine};
use test_kit::process::Start;

use crate::inventory::{Caller, run_with, succeeds, with_superuser};
use crate::support::{API_KEY, Provider, card, client, pay, pay_until_final};

#[tokio::test]
async fn core_dumps_are_forbidden() {
    let provider = Provider::start().await;
    let checkout = provider.checkout().ready().await;
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", checkout.id())).unwrap();
    let core: Vec<&str> = limits
        .lines()
        .find(|line| line.starts_with("Max core file size"))
        .unwrap()
        .split_whitespace()
        .collect();
    assert_eq!(core[4..6], ["0", "0"], "{core:?}");
}

#[tokio::test]
async fn with_certificate_and_key_it_speaks_https_alone() {
    let provider = Provider::start().await;
    let folder = tempfile::tempdir().unwrap();
    let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (certificate, key) = (
        folder.path().join("cert.pem"),
        folder.path().join("key.pem"),
    );
    std::fs::write(&certificate, own.cert.pem()).unwrap();
    std::fs::write(&key, own.signing_key.serialize_pem()).unwrap();
    let checkout = provider
        .checkout()
        .env("BALCAO_TLS_CERT_FILE", &certificate)
        .env("BALCAO_TLS_KEY_FILE", &key)
        .ready()
        .await;
    let address = checkout
        .url("checkout")
        .await
        .replace("127.0.0.1", "localhost");
    assert!(address.starts_with("https://"), "{address}");
    client();
    let trusted = reqwest::Certificate::from_pem(own.cert.pem().as_bytes()).unwrap();
    let trusting = reqwest::Client::builder()
        .tls_certs_only([trusted])
        .build()
        .unwrap();
    let paid = trusting
        .post(format!("{address}/create_payment"))
        .json(&card("APRO"))
        .send()
        .await
        .unwrap();
    assert_eq!(paid.status(), 200);
    let in_clear = address.replace("https://", "http://");
    assert!(trusting.get(in_clear).send().await.is_err());
}

#[tokio::test]
async fn a_certificate_that_is_none_is_named() {
    let provider = Provider::start().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cert.pem");
    std::fs::write(&file, "no certificate").unwrap();
    let mut checkout = provider
        .checkout()
        .env("BALCAO_TLS_CERT_FILE", &file)
        .env("BALCAO_TLS_KEY_FILE", &file)
        .spawn();
    assert_eq!(checkout.ended().await.code(), Some(1));
    assert!(
        checkout.logs().contains("BALCAO_TLS_CERT_FILE"),
        "{}",
        checkout.logs()
    );
}

#[tokio::test]
async fn a_used_port_is_named_with_what_to_do() {
    let provider = Provider::start().await;
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let mut checkout = provider
        .checkout()
        .env("BALCAO_CHECKOUT_LISTEN", &address)
        .spawn();
    assert_eq!(checkout.ended().await.code(), Some(1));
    let said = checkout.logs();
    assert!(
        said.contains(&format!(
            "BALCAO_CHECKOUT_LISTEN: cannot listen on {address}"
        )),
        "{said}"
    );
    assert!(said.contains("something listens there already"), "{said}");
    let mut unseen = provider
        .checkout()
        .env("BALCAO_METRICS_LISTEN", &address)
        .spawn();
    assert_eq!(unseen.ended().await.code(), Some(1));
    let said = unseen.logs();
    assert!(
        said.contains("BALCAO_METRICS_LISTEN: cannot listen"),
        "{said}"
    );
    assert!(
        !said.contains("migrated") && !said.contains("listening"),
        "nobody was served and no database touched before: {said}"
    );
}

#[tokio::test]
async fn a_stop_lets_the_open_request_end() {
    let provider = Provider::start().await;
    provider.fail_payment("stall 60m").await;
    let mut checkout = provider.checkout().ready().await;
    let url = checkout.url("checkout").await;
    let paying =
        tokio::spawn(async move { pay(&url, "order-1", &card("APRO")).await.unwrap().status() });
    provider.called("/v1/payments").await;
    checkout.ask_to_stop();
    let is_stopping = |line: &str| line.contains("stopping");
    checkout.line(is_stopping, "that it stops").await;
    provider.clear_faults().await;
    assert!(checkout.ended().await.success());
    assert_eq!(paying.await.unwrap(), 200);
}

#[tokio::test]
async fn a_stopped_service_leaves_one_database_file_and_no_log() {
    let provider = Provider::start().await;
    let mut checkout = provider.checkout().ready().await;
    pay_until_final(&checkout.url("checkout").await, "order-1", &card("APRO")).await;
    checkout.stop().await;
    assert!(checkout.data().join("checkout.sqlite").exists());
    assert!(!checkout.data().join("checkout.sqlite-wal").exists());
}

#[tokio::test]
async fn a_second_service_on_the_same_file_is_refused() {
    let provider = Provider::start().await;
    let checkout = provider.checkout().ready().await;
    let mut second = provider.checkout().data(checkout.data()).spawn();
    assert_eq!(second.ended().await.code(), Some(1));
    assert!(
        second.logs().contains("another balcao serves"),
        "{}",
        second.logs()
    );
}

#[tokio::test]
async fn figures_are_served_apart_and_can_be_switched_off() {
    let provider = Provider::start().await;
    let checkout = provider.checkout().ready().await;
    pay_until_final(&checkout.url("checkout").await, "order-1", &card("APRO")).await;
    let figures = client()
        .get(format!("{}/metrics", checkout.url("metrics").await))
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    assert!(figures.contains("balcao_http_requests_total{"), "{figures}");
    assert!(
        figures.contains("balcao_database_writes_total{service=\"checkout\"}"),
        "{figures}"
    );
    let hidden = client()
        .get(format!("{}/metrics", checkout.url("checkout").await))
        .send()
        .await
        .unwrap();
    assert_eq!(hidden.status(), 404);
    let without = provider
        .checkout()
        .env("BALCAO_METRICS_LISTEN", "off")
        .ready()
        .await;
    assert!(!without.logs().contains("metrics"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_has_gone_is_not_silently_a_new_one() {
    let provider = Provider::start().await;
    let folder = tempfile::tempdir().unwrap();
    let serve = |words: &[&str]| {
        let start = provider.settings(Start::new(words.iter().copied()));
        start.data(folder.path())
    };
    let mut service = serve(&["serve"]).ready().await;
    service.stop().await;
    let key = std::fs::read(folder.path().join("inventory.key")).unwrap();
    for name in ["checkout", "inventory"] {
        let database = folder.path().join(format!("{name}.sqlite"));
        std::fs::remove_file(&database).unwrap();
        let mut refused = serve(&["serve", "--only", name]).spawn();
        assert_eq!(refused.ended().await.code(), Some(1), "{}", refused.logs());
        let said = refused.logs();
        let what = format!("{name}.sqlite is missing, but ");
        assert!(said.contains(&what), "{said}");
        assert!(said.contains("balcao serve --new-database"), "{said}");
        assert!(!database.exists());
    }
    // A command does not create one either, which the next start would use.
    let mut command = serve(&["inventory", "verify"]).spawn();
    assert_eq!(command.ended().await.code(), Some(1));
    assert!(!folder.path().join("inventory.sqlite").exists());
    let mut anew = serve(&["serve", "--new-database"]).ready().await;
    anew.stop().await;
    let new = std::fs::read(folder.path().join("inventory.key")).unwrap();
    assert_ne!(key, new, "what the old key signed would open the new shop");
    let mut again = serve(&["serve"]).ready().await;
    again.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_made_at_the_command_line_opens_the_list_until_it_is_revoked() {
    let provider = Provider::start().await;
    let checkout = provider.checkout().ready().await;
    let list = format!("{}/payments/", checkout.url("checkout").await);
    let command = |words: &[&str]| {
        let output = tokio::task::block_in_place(|| {
            Start::new(words.iter().copied())
                .data(checkout.data())
                .output()
        });
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    };
    let status = async |key: &str| {
        client()
            .get(&list)
            .bearer_auth(key)
            .send()
            .await
            .unwrap()
            .status()
    };
    let key = command(&["checkout", "key", "add", "bookshop"]);
    assert_eq!(status(key.trim()).await, 200);
    let listed = command(&["checkout", "key", "list"]);
    assert!(
        listed.contains("bookshop") && !listed.contains(key.trim()),
        "{listed}"
    );
    let prefix = listed.split('…').next().unwrap();
    command(&["checkout", "key", "revoke", prefix]);
    assert_eq!(status(key.trim()).await, 401);
    let leaked = command(&["checkout", "key", "add", "bookshop"]);
    command(&["checkout", "key", "revoke", leaked.trim()]);
    assert_eq!(status(leaked.trim()).await, 401);
    assert_eq!(status(API_KEY).await, 200);
}

#[test]
fn migrate_makes_the_tables_and_then_has_nothing_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let migrate = || {
        let output = Start::new(["migrate"]).data(folder.path()).output();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(migrate().contains("checkout: 0001_checkout"));
    assert!(migrate().lines().all(|line| line.ends_with(": up to date")));
}

#[test]
fn the_printed_api_document_is_openapi_3_1() {
    let output = Start::new(["openapi", "checkout"]).output();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    assert!(document["paths"]["/create_payment"]["post"].is_object());
}

#[tokio::test(flavor = "multi_thread")]
async fn both_services_may_keep_their_tables_in_one_postgresql_database() {
    let database = Database::new(Engine::Postgres);
    let provider = Provider::start().await;
    let shared = |words: &[&str]| {
        let start = provider.settings(Start::new(words.iter().copied()));
        start
            .env("BALCAO_CHECKOUT_DATABASE_URL", database.address())
            .env("BALCAO_INVENTORY_DATABASE_URL", database.address())
    };
    // Both migrate the empty database at once, or one after the other.
    let service = with_superuser(shared(&["serve"])).ready().await;
    let payment = pay_until_final(&service.url("checkout").await, "order-1", &card("APRO")).await;
    assert_eq!(payment["status"], "approved");
    Caller::ana(&service).await.a_product(7).await;
    let verified = succeeds(&run_with(shared(&["inventory", "verify"])));
    assert!(verified.contains("every quantity agrees"), "{verified}");
    let migrated = succeeds(&run_with(shared(&["migrate"])));
    let (checkout, inventory) = ("checkout: up to date", "inventory: up to date");
    assert!(
        migrated.contains(checkout) && migrated.contains(inventory),
        "{migrated}"
    );
}
