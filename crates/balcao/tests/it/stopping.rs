//! The process and its environment: how long it takes to stop, what it logs about it, its workers
//! and its limits.

use std::os::unix::net::UnixDatagram;

use reqwest::Method;
use serde_json::json;
use test_kit::database::{Database, Engine};
use test_kit::process::{Balcao, Start};
use test_kit::until;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::inventory::with_superuser;
use crate::support::{Provider, card, client, pay, pay_until_final, pix};

async fn ready(service: &Balcao, name: &str) -> (u16, String) {
    let url = format!("{}/ready", service.url(name).await);
    let answer = client().get(url).send().await.unwrap();
    (answer.status().as_u16(), answer.text().await.unwrap())
}

async fn stops(service: &Balcao) {
    service.ask_to_stop();
    let is_stopping = |line: &str| line.contains("a second signal ends at once");
    service.line(is_stopping, "that it stops").await;
}

#[tokio::test]
async fn every_worker_of_both_services_is_watched() {
    let provider = Provider::start().await;
    let service = with_superuser(provider.settings(Start::new(["serve"])))
        .env("BALCAO_SMTP_URL", "smtp://127.0.0.1:9")
        .env("BALCAO_MAIL_FROM", "shop@example.com")
        .env("BALCAO_INVENTORY_ALERT_MAIL_TO", "ana@example.com")
        .env("BALCAO_INVENTORY_REPORT", "weekly")
        .ready()
        .await;
    let figures = format!("{}/metrics", service.url("metrics").await);
    for (service, worker) in [
        ("checkout", "notifications"),
        ("checkout", "reconciler"),
        ("checkout", "open_pages"),
        ("inventory", "aggregates"),
        ("inventory", "deliveries"),
        ("inventory", "expiry"),
        ("inventory", "mails"),
        ("inventory", "analyses"),
        ("inventory", "weekly_reports"),
        ("inventory", "imports"),
        ("inventory", "open_dashboards"),
    ] {
        let labels = format!("{{service=\"{service}\",worker=\"{worker}\"}}");
        let runs = format!("balcao_worker_up{labels} 1\n");
        // The line `ready` does not wait for them.
        until(async || text(&figures).await.contains(&runs)).await;
        let restarts = format!("balcao_worker_restarts_total{labels} 0\n");
        assert!(text(&figures).await.contains(&restarts), "{restarts}");
    }
    assert_eq!(ready(&service, "checkout").await.0, 200);
    assert_eq!(ready(&service, "inventory").await.0, 200);
}

async fn text(url: &str) -> String {
    let answer = client().get(url).send().await.unwrap();
    answer.text().await.unwrap()
}

#[tokio::test]
async fn a_stop_does_not_wait_for_a_provider_that_answers_nothing() {
    let provider = Provider::start().await;
    let stall = json!({"match": {"path": "/v1/*"}, "fault": "stall 60m", "times": 1000});
    provider
        .call(Method::POST, "/sandbox/faults", Some(stall))
        .await;
    let mut checkout = provider
        .checkout()
        .env("BALCAO_CHECKOUT_PROVIDER_TIMEOUT", "60m")
        .env("BALCAO_STOP_TIMEOUT", "3s")
        .ready()
        .await;
    let url = checkout.url("checkout").await;
    for payment in 1..=40 {
        let hint = format!("{url}/notifications?type=payment&data.id={payment}");
        let answer = client().post(hint).send().await.unwrap();
        assert_eq!(answer.status(), 200);
    }
    let paying = tokio::spawn(async move { pay(&url, "order-1", &pix()).await.is_ok() });
    provider.called("/v1/payments").await;
    assert!(checkout.stop().await.success(), "{}", checkout.logs());
    let _cut_off = paying.await.unwrap();
}

#[tokio::test]
async fn a_stop_does_not_wait_for_a_database_that_answers_nothing() {
    let database = Database::new(Engine::Postgres);
    let provider = Provider::start().await;
    let relay = Relay::start(database.address()).await;
    let mut checkout = provider
        .checkout()
        .env("BALCAO_CHECKOUT_DATABASE_URL", &relay.address)
        .env("BALCAO_STOP_TIMEOUT", "3s")
        .ready()
        .await;
    let url = checkout.url("checkout").await;
    pay_until_final(&url, "order-1", &card("APRO")).await;
    relay.freeze();
    let paying = tokio::spawn(async move { pay(&url, "order-2", &card("APRO")).await.is_ok() });
    assert!(checkout.stop().await.success(), "{}", checkout.logs());
    let _cut_off = paying.await.unwrap();
    let said = checkout.logs();
    assert!(
        said.contains("stopped before the databases were closed"),
        "{said}"
    );
}

#[tokio::test]
async fn while_it_drains_balancers_are_sent_away_and_requests_are_served() {
    let provider = Provider::start().await;
    let mut checkout = provider.checkout().env("BALCAO_DRAIN", "60m").ready().await;
    assert_eq!(ready(&checkout, "checkout").await.0, 200);
    stops(&checkout).await;
    let (status, body) = ready(&checkout, "checkout").await;
    assert_eq!(status, 503);
    assert!(body.contains("the service is stopping"), "{body}");
    let url = checkout.url("checkout").await;
    let paid = pay(&url, "order-1", &card("APRO")).await.unwrap();
    assert_eq!(paid.status(), 200);
    checkout.ask_to_stop();
    assert_eq!(checkout.ended().await.code(), Some(130));
}

#[tokio::test]
async fn after_the_drain_it_stops_by_itself() {
    let provider = Provider::start().await;
    let mut checkout = provider.checkout().env("BALCAO_DRAIN", "1ms").ready().await;
    assert!(checkout.stop().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_service_manager_is_told_of_the_start_and_of_the_stop() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("notify");
    let manager = UnixDatagram::bind(&socket).unwrap();
    manager
        .set_read_timeout(Some(std::time::Duration::from_secs(300)))
        .unwrap();
    let provider = Provider::start().await;
    let mut checkout = provider
        .checkout()
        .env("NOTIFY_SOCKET", &socket)
        .ready()
        .await;
    assert_eq!(heard(&manager), "READY=1");
    assert!(checkout.stop().await.success());
    assert_eq!(heard(&manager), "STOPPING=1");
}

#[test]
fn systemd_understands_the_whole_unit() {
    let unit = include_str!("../../../../deploy/balcao.service");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("balcao.service");
    // The program is not installed on this machine.
    let unit = unit.replace("/usr/local/bin/balcao", env!("CARGO_BIN_EXE_balcao"));
    std::fs::write(&file, unit).unwrap();
    let mut verify = std::process::Command::new("systemd-analyze");
    let verified = verify.args(["verify", "--man=no"]).arg(&file).output();
    let verified = verified.expect("systemd-analyze, of the package systemd");
    // An unknown value is a warning.
    let said = String::from_utf8(verified.stderr).unwrap();
    assert!(verified.status.success() && said.is_empty(), "{said}");
}

fn heard(manager: &UnixDatagram) -> String {
    let mut buffer = [0; 64];
    let length = tokio::task::block_in_place(|| manager.recv(&mut buffer)).unwrap();
    String::from_utf8(buffer[..length].to_vec()).unwrap()
}

#[tokio::test]
async fn a_low_limit_of_open_files_is_raised_as_far_as_it_goes() {
    let provider = Provider::start().await;
    let checkout = provider.checkout().open_files(256, 1024).ready().await;
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", checkout.id())).unwrap();
    let files = limits
        .lines()
        .find(|line| line.starts_with("Max open files"));
    let words: Vec<&str> = files.unwrap().split_whitespace().collect();
    assert_eq!(words[3..5], ["1024", "1024"], "{words:?}");
}

#[tokio::test]
async fn more_connections_than_files_leave_room_for_the_work_and_the_log_short() {
    let provider = Provider::start().await;
    let checkout = provider.checkout().open_files(128, 128).ready().await;
    let url = checkout.url("checkout").await;
    let address = url.strip_prefix("http://").unwrap();
    // One client keeps its connection, and two hundred others connect after it.
    client();
    let patient = reqwest::Client::new();
    let warm = patient.get(format!("{url}/health")).send().await.unwrap();
    assert!(warm.text().await.unwrap().contains("healthy"));
    let mut others = Vec::new();
    for _ in 0..200 {
        others.push(TcpStream::connect(address).await.unwrap());
    }
    for number in 0..20 {
        let order = patient
            .post(format!("{url}/create_payment"))
            .header("Idempotency-Key", format!("order-{number}"))
            .json(&card("APRO"));
        let paid = order.send().await.unwrap();
        let status = paid.status();
        assert_eq!(
            status,
            200,
            "{} {}",
            paid.text().await.unwrap(),
            checkout.logs()
        );
    }
    drop(others);
    let said = checkout.logs();
    assert_eq!(
        said.matches("cannot accept connections").count(),
        0,
        "{said}"
    );
    assert!(said.contains("the limit of open files is low"), "{said}");
}

/// A relay between a service and PostgreSQL that can stop forwarding.
struct Relay {
    address: String,
    frozen: watch::Sender<bool>,
}

impl Relay {
    async fn start(database: &str) -> Self {
        let (before, name) = database.rsplit_once('/').unwrap();
        let (user, server) = before.rsplit_once('@').unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let frozen = watch::Sender::new(false);
        let relay = Self {
            address: format!("{user}@127.0.0.1:{port}/{name}"),
            frozen: frozen.clone(),
        };
        let server = server.to_owned();
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let (server, frozen) = (server.clone(), frozen.clone());
                tokio::spawn(async move {
                    let mut server = TcpStream::connect(server).await.unwrap();
                    let mut frost = frozen.subscribe();
                    let is_frozen = tokio::select! {
                        _ended = copy_bidirectional(&mut client, &mut server) => false,
                        _frozen = frost.wait_for(|is_frozen| *is_frozen) => true,
                    };
                    if is_frozen {
                        // Both connections stay open.
                        std::future::pending::<()>().await;
                    }
                });
            }
        });
        relay
    }

    fn freeze(&self) {
        self.frozen.send_replace(true);
    }
}
