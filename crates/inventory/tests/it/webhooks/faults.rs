//! Long tests of failures: nothing is lost or out of order, and only a lost answer causes a
//! duplicate.

use std::{collections::HashMap, time::Duration};

use test_kit::{closed_port::ClosedPort, database::Engine, on_both_engines};

use super::{
    config,
    receiver::{ReceivedRequest, Receiver, Reply},
    receiver_and_app,
};
use crate::app::TestApp;

/// The outflows that arrived for each product, in the order of their first acceptance.
fn accepted(received: &[ReceivedRequest]) -> HashMap<i64, Vec<i64>> {
    let mut arrived: HashMap<i64, Vec<i64>> = HashMap::new();
    for one in received.iter().filter(|one| one.accepted) {
        let outflow = one.json()["data"]["id"].as_i64().unwrap();
        let product = arrived.entry(one.product()).or_default();
        if !product.contains(&outflow) {
            product.push(outflow);
        }
    }
    arrived
}

/// Sells units of so many products in turn; returns the outflows of each.
async fn sell_in_turn(app: &TestApp, products: i64, outflows: i64) -> HashMap<i64, Vec<i64>> {
    let mut shipped: HashMap<i64, Vec<i64>> = HashMap::new();
    let mut ids = Vec::new();
    for number in 0..products {
        ids.push(
            app.admin()
                .a_product(&format!("Produto {number}"), 10_000)
                .await,
        );
    }
    for _ in 0..outflows {
        for product in &ids {
            shipped
                .entry(*product)
                .or_default()
                .push(app.sell(*product, 1).await);
        }
    }
    shipped
}

on_both_engines!(
    a_receiver_that_misbehaves_in_every_way_loses_nothing_and_sees_each_product_in_order,
    async |address| {
        let receiver = Receiver::start().await;
        // Every second post fails, each time in another way.
        receiver.behaves(|number| match number % 12 {
            1 => Reply::Status(500),
            3 => Reply::Reset,
            5 => Reply::With(429, "retry-after: 7\r\n"),
            7 => Reply::With(302, "location: /elsewhere\r\n"),
            9 => Reply::With(503, "retry-after: Fri, 20 Nov 2026 12:10:00 GMT\r\n"),
            11 => Reply::Status(404),
            _ => Reply::Status(200),
        });
        let app = TestApp::with(&address, config(Some(&receiver))).await;
        let shipped = sell_in_turn(&app, 6, 10).await;
        let mut passes = 0;
        while accepted(&receiver.received())
            .values()
            .map(Vec::len)
            .sum::<usize>()
            < 60
        {
            app.pass_after(400).await;
            passes += 1;
            assert!(passes < 500, "{:?}", accepted(&receiver.received()));
        }
        assert_eq!(accepted(&receiver.received()), shipped);
        let received = receiver.received();
        let mut accepted_ids: Vec<&str> = received
            .iter()
            .filter(|one| one.accepted)
            .map(ReceivedRequest::id)
            .collect();
        let count = accepted_ids.len();
        accepted_ids.sort_unstable();
        accepted_ids.dedup();
        assert_eq!(
            accepted_ids.len(),
            count,
            "what was accepted is not sent again"
        );
    }
);

on_both_engines!(
    a_receiver_that_was_down_for_hours_gets_everything_in_order,
    async |address| {
        let receiver = Receiver::start().await;
        let down = ClosedPort::new();
        let mut settings = config(Some(&receiver));
        let configured = settings.webhooks.configured.as_mut().unwrap();
        configured.target =
            inventory::events::Target::parse(&format!("http://{}/hooks", down.address)).unwrap();
        let app = TestApp::with(&address, settings).await;
        let shipped = sell_in_turn(&app, 3, 4).await;
        app.pass().await;
        for _ in 0..4 {
            let done = app.pass_after(3 * 60 * 60).await;
            assert_eq!((done.attempts, done.delivered), (3, 0));
        }
        assert!(receiver.received().is_empty());
        let receiver = Receiver::on(down.listen());
        assert_eq!(app.pass_after(6 * 60 * 60).await.delivered, 12);
        assert_eq!(accepted(&receiver.received()), shipped);
    }
);

on_both_engines!(
    a_process_that_stops_between_posting_and_recording_posts_again_under_the_same_id,
    async |address| {
        let receiver = Receiver::start().await;
        receiver.behaves(|_| Reply::Hang);
        let app = TestApp::with(&address, config(Some(&receiver))).await;
        let shipped = sell_in_turn(&app, 8, 3).await;
        let passing = {
            let app = app.clone();
            tokio::spawn(async move { app.pass().await })
        };
        receiver.has_read(8).await;
        // The process dies as by a crash: nothing of it was recorded.
        passing.abort();
        assert!(passing.await.unwrap_err().is_cancelled());
        receiver.behaves(|_| Reply::Status(200));
        let next = app.restarted(config(Some(&receiver))).await;
        next.sees_dead().await;
        next.pass().await;
        let received = receiver.received();
        assert_eq!(accepted(&received), shipped);
        assert_eq!(received.len(), 8 + 24);
        let repeated = |one: &&ReceivedRequest| {
            received[8..]
                .iter()
                .filter(|other| other.id() == one.id())
                .count()
        };
        assert!(received[..8].iter().all(|one| repeated(&one) == 1));
    }
);

#[test]
fn two_processes_on_postgres_deliver_each_event_once_and_in_order() {
    test_kit::database::run(Engine::Postgres, async |address| {
        let (receiver, app) = receiver_and_app(&address).await;
        app.endpoint(&receiver, "").await;
        let other = app.replica().await;
        let mut shipped: HashMap<i64, Vec<i64>> = HashMap::new();
        for _ in 0..5 {
            for (product, outflows) in sell_in_turn(&app, 4, 5).await {
                shipped.entry(product).or_default().extend(outflows);
            }
            let (one, two) = tokio::join!(app.pass(), other.pass());
            assert_eq!(one.attempts, one.delivered);
            assert_eq!(two.attempts, two.delivered);
        }
        app.pass().await;
        other.pass().await;
        let arrived = receiver.received();
        // Two endpoints, one receiver: each event arrives twice, once for each.
        assert_eq!(arrived.len(), 2 * 100);
        assert_eq!(accepted(&arrived), shipped);
    });
}

#[test]
fn the_endpoint_of_a_dead_process_is_another_ones_whatever_their_clocks_say_on_postgres() {
    test_kit::database::run(Engine::Postgres, async |address| {
        let (_receiver, app) = receiver_and_app(&address).await;
        let next = app.replica().await;
        let product = app.admin().a_product("Arroz", 40).await;
        app.sell(product, 1).await;
        assert_eq!(app.pass().await.delivered, 1);
        // The lease of a live process is respected, also by a process whose clock is a day ahead.
        app.sell(product, 1).await;
        let right = app.clock.now();
        app.clock.advance(Duration::from_secs(24 * 60 * 60));
        assert_eq!(next.pass().await.delivered, 0);
        assert_eq!(app.pass().await.delivered, 1);
        // The lease of a dead process is not, and clocks that go back change nothing.
        app.clock.set(right);
        app.sell(product, 1).await;
        assert_eq!(next.pass().await.delivered, 0);
        next.sees_dead().await;
        assert_eq!(next.pass().await.delivered, 1);
        // When it continues, it has lost the lease of the endpoint.
        app.sell(product, 1).await;
        assert_eq!(app.pass().await.delivered, 0);
        assert!(app.state.replica.heartbeat().await.unwrap().was_removed);
        assert_eq!(app.pass().await.delivered, 0);
        assert_eq!(next.pass().await.delivered, 1);
    });
}
