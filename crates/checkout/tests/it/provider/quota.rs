//! The provider's limits: 100 calls a minute, 1000 an hour, 10000 a day.

use checkout::provider::Purpose;

use super::*;

/// A client with the specified quota, and the clock of its windows.
fn limited() -> (Client, Clock) {
    let clock = Clock::fixed(now());
    let quota = "100/minute,1000/hour,10000/day".parse().unwrap();
    let config = ProviderConfig {
        quota,
        ..config("http://127.0.0.1:1", Duration::from_secs(1))
    };
    (
        Client::new(config, Windows::memory(clock.clone()), Random::seeded(1)).unwrap(),
        clock,
    )
}

async fn waits(client: &Client, calls: u32, purpose: Purpose) -> Duration {
    let failure = client.reserve(calls, purpose).await.unwrap_err();
    assert!(matches!(failure, Failure::Quota { .. }), "{failure:?}");
    assert_eq!(response_to(&failure), (503, "Service unavailable".into()));
    assert!(!failure.is_unknown() && !failure.is_final());
    failure.retry_after().unwrap()
}

#[tokio::test]
async fn a_hundred_calls_fit_into_a_minute() {
    let (client, clock) = limited();
    for _ in 0..100 {
        client.reserve(1, Purpose::Buyer).await.unwrap();
    }
    assert_eq!(
        waits(&client, 1, Purpose::Buyer).await,
        Duration::from_secs(60)
    );
    clock.advance(Duration::from_secs(60));
    client.reserve(1, Purpose::Buyer).await.unwrap();
}

#[tokio::test]
async fn a_card_reserves_both_its_calls_or_none() {
    let (client, _clock) = limited();
    client.reserve(99, Purpose::Buyer).await.unwrap();
    waits(&client, 2, Purpose::Buyer).await;
    client.reserve(1, Purpose::Buyer).await.unwrap();
}

#[tokio::test]
async fn a_thousand_calls_fit_into_an_hour_and_ten_thousand_into_a_day() {
    let (client, clock) = limited();
    for hour in 0..10_u64 {
        for _ in 0..10 {
            client.reserve(100, Purpose::Buyer).await.unwrap();
            clock.advance(Duration::from_secs(60));
        }
        // Ten minutes of the hour are over; in the tenth hour the day's calls are used up too.
        let expected = match hour {
            9 => Duration::from_secs(86_400 - 9 * 3600 - 600),
            _ => Duration::from_secs(3600 - 600),
        };
        assert_eq!(waits(&client, 1, Purpose::Buyer).await, expected);
        clock.advance(Duration::from_secs(3000));
    }
}

#[tokio::test]
async fn work_in_the_background_leaves_the_last_fifth_to_buyers() {
    let (client, _clock) = limited();
    client.reserve(80, Purpose::Background).await.unwrap();
    waits(&client, 1, Purpose::Background).await;
    client.reserve(20, Purpose::Buyer).await.unwrap();
    waits(&client, 1, Purpose::Buyer).await;
}

fn anonymous(address: &str) -> Purpose {
    Purpose::Anonymous(web::client::ClientAddress(address.parse().unwrap()))
}

/// How many calls fit, one after the other.
async fn fits(client: &Client, purpose: Purpose) -> u32 {
    let mut calls = 0;
    while client.reserve(1, purpose).await.is_ok() {
        calls += 1;
    }
    calls
}

#[tokio::test]
async fn one_anonymous_client_leaves_half_of_each_window_to_others() {
    let (client, clock) = limited();
    let greedy = anonymous("203.0.113.7");
    assert_eq!(fits(&client, greedy).await, 50);
    assert_eq!(waits(&client, 1, greedy).await, Duration::from_secs(60));
    assert_eq!(fits(&client, anonymous("203.0.113.8")).await, 10);
    assert_eq!(fits(&client, Purpose::Buyer).await, 40);
    clock.advance(Duration::from_secs(60));
    assert_eq!(fits(&client, greedy).await, 50);
    for _ in 0..8 {
        clock.advance(Duration::from_secs(60));
        fits(&client, greedy).await;
    }
    clock.advance(Duration::from_secs(60));
    assert_eq!(
        fits(&client, anonymous("203.0.113.9")).await,
        50,
        "half of the hour is left, and of the minute"
    );
}

#[tokio::test]
async fn the_networks_of_one_anonymous_client_share_what_it_may_take() {
    let (client, _clock) = limited();
    client.reserve(50, Purpose::Buyer).await.unwrap();
    let mut calls = 0;
    for network in 0..100 {
        let address = format!("2001:db8:0:{:x}::1", network * 256);
        calls += fits(&client, anonymous(&address)).await;
    }
    assert_eq!(calls, 40, "a /48 has four tenths");
    assert_eq!(fits(&client, anonymous("2001:db8:1::1")).await, 10);
}
