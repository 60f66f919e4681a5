//! The whole flow over real sockets: the buyer pays, the provider notifies, the worker reads the
//! payment back, the page gets the event.

use std::time::Duration;

use checkout::{App, Parts};
use db::{Address, Db};
use reqwest::Client;
use test_kit::on_both_engines;
use web::rate::Windows;
use web::server::{self, Listener, Shutdown};
use web::{Clock, Random};

use super::app::{config, patient};
use super::requests::{card, pix};
use super::sandbox::Sandbox;

on_both_engines!(
    a_pix_that_is_paid_turns_the_page_to_paid_by_itself,
    async |address| {
        // This test uses the real clock: the worker reads the payment again soon if the creation is
        // not finished.
        let clock = Clock::system();
        let sandbox = Sandbox::start(clock.clone()).await;
        let listener = Listener::bind("127.0.0.1:0".parse().unwrap())
            .await
            .unwrap();
        let url = format!("http://{}", listener.address());
        let mut config = config(&sandbox.url());
        config.public_url = Some(url.parse().unwrap());
        let address: Address = address.parse().unwrap();
        let db = Db::open(&address, &patient()).await.unwrap();
        db.migrate(&checkout::MIGRATIONS).await.unwrap();
        let shutdown = Shutdown::new();
        let parts = Parts {
            db,
            windows: Windows::memory(clock.clone()),
            clock,
            random: Random::seeded(1),
            metrics: web::metrics::Metrics::new(),
            shutdown: shutdown.clone(),
        };
        let App {
            router, workers, ..
        } = checkout::app(config, parts).await.unwrap();
        let workers = tokio::spawn(workers.run());
        let server = tokio::spawn(server::serve(
            listener,
            router,
            server::Options::default(),
            shutdown.clone(),
        ));

        let http = Client::builder().no_proxy().build().unwrap();
        let pay = http
            .post(format!("{url}/create_payment"))
            .header("content-type", "application/json");
        let created = pay.body(pix().to_string()).send().await.unwrap();
        let token = created.headers()["x-payment-status-token"]
            .to_str()
            .unwrap()
            .to_owned();
        let created: serde_json::Value =
            serde_json::from_str(&created.text().await.unwrap()).unwrap();
        let id = created["id"].as_str().unwrap();
        let events = format!("{url}/payments/{id}/events?token={token}");
        let mut events = http.get(events).send().await.unwrap();
        let mut heard = String::new();
        let mut is_paid = false;
        while !heard.contains("\"status\":\"approved\"") {
            let chunk = tokio::time::timeout(Duration::from_secs(300), events.chunk()).await;
            let chunk = chunk.expect("an event in time").unwrap();
            heard.push_str(std::str::from_utf8(&chunk.expect("the stream goes on")).unwrap());
            if heard.contains("\"status\":\"pending\"") && !is_paid {
                sandbox.act(id, "pay").await;
                is_paid = true;
            }
        }
        let card_paid = http
            .post(format!("{url}/create_payment"))
            .header("content-type", "application/json");
        assert_eq!(
            card_paid
                .body(card("APRO").to_string())
                .send()
                .await
                .unwrap()
                .status(),
            200
        );

        shutdown.begin();
        workers.await.unwrap();
        server.await.unwrap();
    }
);
