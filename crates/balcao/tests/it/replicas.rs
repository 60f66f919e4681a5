//! Two processes with one PostgreSQL and the rate-limit windows in one Redis behave like one
//! process.

use std::time::Duration;

use reqwest::StatusCode;
use serde_json::Value;
use test_kit::database::{Database, Engine};
use test_kit::process::{Balcao, Start};
use tokio::task::JoinSet;

use crate::support::{Provider, card, client, pay, pay_until_final};

/// Much longer than a replica needs to see that another is dead, and shorter than the 20 minutes of
/// a lease here.
const SOON: Duration = Duration::from_secs(5 * 60);

const SECRET: &str = "the same secret on every replica, of 32 bytes or more";

async fn two(replica: impl Fn() -> Start) -> (Balcao, Balcao) {
    // Both migrate the empty database at once.
    tokio::join!(replica().ready(), replica().ready())
}

fn replica(provider: &Provider, database: &Database) -> Start {
    provider
        .checkout()
        .env("BALCAO_CHECKOUT_DATABASE_URL", database.address())
        .env("BALCAO_CHECKOUT_SECRET", SECRET)
        .env("BALCAO_REDIS_URL", test_kit::redis_url())
}

#[tokio::test(flavor = "multi_thread")]
async fn one_key_sent_to_both_at_once_is_charged_once() {
    let database = Database::new(Engine::Postgres);
    let provider = Provider::start().await;
    let (one, other) = two(|| replica(&provider, &database)).await;
    let urls = [one.url("checkout").await, other.url("checkout").await];
    let mut paying = JoinSet::new();
    for number in 0..50 {
        let url = urls[number % 2].clone();
        paying.spawn(async move { pay(&url, "order-1", &card("APRO")).await.unwrap().status() });
    }
    let statuses = paying.join_all().await;
    assert!(
        statuses
            .iter()
            .all(|status| [StatusCode::OK, StatusCode::CONFLICT].contains(status)),
        "{statuses:?}"
    );
    let first = pay_until_final(&urls[0], "order-1", &card("APRO")).await;
    let second = pay_until_final(&urls[1], "order-1", &card("APRO")).await;
    assert_eq!(first, second);
    let charges = provider.references().await;
    assert_eq!(
        (charges.len(), &charges[0]["charges"]),
        (1, &Value::from(1)),
        "{charges:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_whose_replica_died_is_completed_by_the_other() {
    let database = Database::new(Engine::Postgres);
    let provider = Provider::start().await;
    let patient = || replica(&provider, &database).env("BALCAO_CHECKOUT_PROVIDER_TIMEOUT", "10m");
    let (mut one, other) = two(patient).await;
    provider.fail_payment("delay 60m").await;
    let url = one.url("checkout").await;
    let paying = tokio::spawn(async move { pay(&url, "order-1", &card("APRO")).await.is_err() });
    provider.called("/v1/payments").await;
    one.kill();
    assert!(paying.await.unwrap());
    // Repeated until the other process sees that this one is dead, which is before the lease ends.
    let url = other.url("checkout").await;
    let payment = tokio::time::timeout(SOON, pay_until_final(&url, "order-1", &card("APRO")))
        .await
        .unwrap();
    assert_eq!(payment["status"], "approved");
    let charges = provider.references().await;
    assert_eq!(
        (charges.len(), &charges[0]["payments"]),
        (1, &Value::from(1)),
        "{charges:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn both_count_one_rate_limit() {
    let database = Database::new(Engine::Postgres);
    let provider = Provider::start().await;
    // All tests share the windows in Redis. A period that only this test uses gives it windows of
    // its own.
    let limited = || replica(&provider, &database).env("BALCAO_CHECKOUT_RATE_LIMIT", "7/hour");
    let (mut one, mut other) = two(limited).await;
    for time in 0..20 {
        let allowed = allowed_of_twenty([&one, &other], &unique_address(time)).await;
        // If a busy Redis does not answer in time, each process counts alone and logs so.
        let is_shared = |replica: &Balcao| !replica.logs().contains("rate limits cannot be shared");
        if is_shared(&one) && is_shared(&other) {
            assert_eq!(allowed, 7);
            return;
        }
        assert!((7..=14).contains(&allowed), "{allowed}");
        (one, other) = two(limited).await;
    }
    panic!("Redis never answers in time");
}

/// How many of twenty calls of one client are allowed, made to the two in turns.
async fn allowed_of_twenty(replicas: [&Balcao; 2], client_address: &str) -> usize {
    let mut allowed = 0;
    for number in 0..20 {
        let url = replicas[number % 2].url("checkout").await;
        let answer = client()
            .get(format!("{url}/payments/"))
            .header("X-Forwarded-For", client_address)
            .header("X-Forwarded-Proto", "https")
            .send()
            .await
            .unwrap();
        if answer.status() == StatusCode::TOO_MANY_REQUESTS {
            assert!(answer.headers().contains_key("Retry-After"));
        } else {
            allowed += 1;
        }
    }
    allowed
}

/// A client address of this run alone, since Redis remembers those of earlier runs.
fn unique_address(time: usize) -> String {
    let process = std::process::id();
    format!(
        "fd00:{:x}:{:x}:{time:x}::1",
        process >> 16,
        process & 0xffff
    )
}
