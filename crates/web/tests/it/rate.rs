//! Exact sliding windows, and the middleware that refuses requests.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use db::Timestamp;
use http_body_util::BodyExt;
use proptest::prelude::*;
use tower::ServiceExt;
use web::Clock;
use web::client::ClientAddress;
use web::rate::{Bounds, Key, Limiter, Period, Rate, Rates, Reserve, Windows};

use crate::support::{clock, in_stack};

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

/// The rule in its simplest form, over a list of all calls: never more than N in any stretch of the
/// named length.
#[derive(Default)]
struct Naive(Vec<(i64, u32)>);

impl Naive {
    fn take(&mut self, now: i64, rates: &[Rate], cost: u32, reserve: Reserve) -> bool {
        let is_allowed = |rate: &Rate| {
            let since = now - i64::from(rate.per().seconds()) * 1_000_000;
            let used: u32 = self
                .0
                .iter()
                .filter(|(at, _)| *at > since)
                .map(|(_, cost)| cost)
                .sum();
            used + cost <= reserve.limit(*rate)
        };
        let allowed = rates.iter().all(is_allowed);
        if allowed {
            self.0.push((now, cost));
        }
        allowed
    }
}

proptest! {
    #[test]
    fn the_windows_decide_as_the_rule_says(
        limits in (1u32..8, 1u32..15, 1u32..25),
        calls in proptest::collection::vec((0u64..4_000_000_000, 0u32..4, any::<bool>(), 0usize..2), 1..200),
    ) {
        let rates = [Rate::new(limits.0, Period::Second), Rate::new(limits.1, Period::Minute), Rate::new(limits.2, Period::Hour)];
        let clock = clock();
        let windows = Windows::memory(clock.clone());
        let mut naive: HashMap<usize, Naive> = HashMap::new();
        for (step, cost, is_background, key) in calls {
            // Small and large steps, and none.
            clock.advance(Duration::from_micros(step % [1, 1_500_000, 90_000_000, 4_000_000_000][(step % 4) as usize]));
            let reserve = if is_background { Reserve::Fifth } else { Reserve::Nothing };
            let now = clock.now().micros();
            let expected = naive.entry(key).or_default().take(now, &rates, cost, reserve);
            let taken = run(windows.take(&Key::new("kind", key.to_string()), &rates, cost, reserve));
            prop_assert_eq!(taken.is_ok(), expected);
        }
    }

    #[test]
    fn whoever_waits_as_told_is_allowed_and_not_a_microsecond_earlier(
        limit in 1u32..6,
        steps in proptest::collection::vec(0u64..20_000_000, 1..60),
    ) {
        let rates = [Rate::new(limit, Period::Minute)];
        let clock = clock();
        let windows = Windows::memory(clock.clone());
        for step in steps {
            clock.advance(Duration::from_micros(step));
            if let Err(refusal) = run(windows.take(&Key::new("kind", "key"), &rates, 1, Reserve::Nothing)) {
                let before = clock.now();
                clock.advance(refusal.retry_after.saturating_sub(Duration::from_micros(1)));
                prop_assert!(run(windows.take(&Key::new("kind", "key"), &rates, 1, Reserve::Nothing)).is_err());
                clock.set(before + refusal.retry_after);
                prop_assert!(run(windows.take(&Key::new("kind", "key"), &rates, 1, Reserve::Nothing)).is_ok());
            }
        }
    }
}

#[tokio::test]
async fn two_calls_at_once_fit_whole_or_not_at_all() {
    let windows = Windows::memory(clock());
    let rates: Rates = "3/minute".parse().unwrap();
    let key = Key::new("kind", "quota");
    let take = async |calls, reserve| windows.take(&key, &rates, calls, reserve).await;
    assert!(take(2, Reserve::Nothing).await.is_ok());
    let refusal = take(2, Reserve::Nothing).await.unwrap_err();
    assert_eq!(
        (refusal.retry_after, refusal.levels[0].remaining),
        (Duration::from_secs(60), 1)
    );
    assert!(take(1, Reserve::Nothing).await.is_ok());
}

#[tokio::test]
async fn the_last_fifth_is_left_to_those_who_wait_for_an_answer() {
    let windows = Windows::memory(clock());
    let rates: Rates = "10/minute".parse().unwrap();
    let key = Key::new("kind", "quota");
    let take = async |calls, reserve| windows.take(&key, &rates, calls, reserve).await;
    for _ in 0..8 {
        assert!(take(1, Reserve::Fifth).await.is_ok());
    }
    assert!(take(1, Reserve::Fifth).await.is_err());
    assert!(take(2, Reserve::Nothing).await.is_ok());
    assert!(take(1, Reserve::Nothing).await.is_err());
}

#[tokio::test]
async fn a_clock_set_back_forgives_nothing_and_blocks_nobody_for_long() {
    let clock = clock();
    let windows = Windows::memory(clock.clone());
    let rates: Rates = "1/minute".parse().unwrap();
    let key = Key::new("kind", "key");
    let take = async |calls, reserve| windows.take(&key, &rates, calls, reserve).await;
    assert!(take(1, Reserve::Nothing).await.is_ok());
    clock.set(Timestamp::parse("2026-11-20T11:00:00Z").unwrap());
    assert!(take(1, Reserve::Nothing).await.is_err());
    clock.advance(Duration::from_secs(60));
    assert!(take(1, Reserve::Nothing).await.is_ok());
}

const SMALL: Bounds = Bounds {
    keys: 100,
    entries: 1000,
};

#[tokio::test]
async fn memory_stays_within_its_bounds_and_idle_keys_go() {
    let clock = clock();
    let windows = Windows::bounded(clock.clone(), SMALL);
    let rates: Rates = "5/minute".parse().unwrap();
    for client in 0..10_000 {
        let key = Key::new("kind", client.to_string());
        let _ = windows.take(&key, &rates, 1, Reserve::Nothing).await;
        clock.advance(Duration::from_micros(1));
        // Keys beyond the bound share 1,024 counts.
        assert!(windows.keys() <= 100 + 1024, "{}", windows.keys());
    }
    clock.advance(Duration::from_secs(61));
    let one = Key::new("kind", "one");
    for _ in 0..2000 {
        let _ = windows.take(&one, &rates, 1, Reserve::Nothing).await;
    }
    assert_eq!(windows.keys(), 1);
}

#[tokio::test]
async fn no_number_of_other_keys_washes_a_live_count_away() {
    let clock = clock();
    let windows = Windows::bounded(clock.clone(), SMALL);
    let rates: Rates = "5/minute".parse().unwrap();
    let guarded = Key::new("kind", "guarded");
    for _ in 0..5 {
        let taken = windows.take(&guarded, &rates, 1, Reserve::Nothing).await;
        assert!(taken.is_ok());
    }
    for client in 0..10_000 {
        clock.advance(Duration::from_micros(1));
        let key = Key::new("kind", client.to_string());
        let _ = windows.take(&key, &rates, 1, Reserve::Nothing).await;
    }
    let refused = windows.take(&guarded, &rates, 1, Reserve::Nothing).await;
    assert!(refused.is_err(), "its five calls still count");
    let apart = Key::new("another kind", "new");
    for _ in 0..5 {
        let taken = windows.take(&apart, &rates, 1, Reserve::Nothing).await;
        assert!(taken.is_ok(), "each kind has a table of its own");
    }
}

#[tokio::test]
async fn a_flood_that_fills_the_table_slows_newcomers_of_its_own_network() {
    let windows = Windows::bounded(clock(), SMALL);
    let rates: Rates = "5/minute".parse().unwrap();
    let ask = async |address: &str| {
        let key = Key::of_client("kind", ClientAddress(address.parse().unwrap()));
        windows.take(&key, &rates, 1, Reserve::Nothing).await
    };
    for network in 0..2000 {
        let _ = ask(&format!("2001:db8:{network:x}::1")).await;
    }
    assert!(ask("2001:db8:ffff::1").await.is_err());
    assert!(ask("203.0.113.7").await.is_ok());
    assert!(ask("2a02:26f0::7").await.is_ok());
}

#[tokio::test]
async fn full_memory_counts_calls_together_and_forgives_none() {
    let clock = clock();
    let bounds = Bounds {
        keys: 100,
        entries: 3,
    };
    let windows = Windows::bounded(clock.clone(), bounds);
    let rates: Rates = "5/minute".parse().unwrap();
    let key = Key::new("kind", "busy");
    for _ in 0..5 {
        clock.advance(Duration::from_secs(1));
        let taken = windows.take(&key, &rates, 1, Reserve::Nothing).await;
        assert!(taken.is_ok());
    }
    let refused = windows.take(&key, &rates, 1, Reserve::Nothing).await;
    assert_eq!(refused.unwrap_err().retry_after, Duration::from_secs(56));
}

async fn ask(router: &Router, client: &str) -> (u16, Vec<String>, String) {
    let request = Request::get("/")
        .header("x-forwarded-for", client)
        .extension(axum::extract::ConnectInfo(peer()));
    let (parts, body) = router
        .clone()
        .oneshot(request.body(Body::empty()).unwrap())
        .await
        .unwrap()
        .into_parts();
    let header = |name| {
        parts
            .headers
            .get(name)
            .map_or("-", |value| value.to_str().unwrap())
            .to_owned()
    };
    let body = body.collect().await.unwrap().to_bytes();
    let headers = ["ratelimit-policy", "ratelimit", "retry-after"]
        .map(header)
        .to_vec();
    (
        parts.status.as_u16(),
        headers,
        String::from_utf8(body.to_vec()).unwrap(),
    )
}

fn peer() -> std::net::SocketAddr {
    "127.0.0.1:1".parse().unwrap()
}

fn limited(clock: &Clock, rates: &str) -> Router {
    let limiter = Limiter::new(
        "api",
        Windows::memory(clock.clone()),
        rates.parse().unwrap(),
    );
    in_stack(
        Router::new()
            .route("/", get(async || "ok"))
            .layer(from_fn_with_state(Arc::new(limiter), Limiter::limit)),
    )
}

#[tokio::test]
async fn each_client_is_told_what_is_left_and_refused_what_is_too_much() {
    let clock = clock();
    let router = limited(&clock, "2/minute,100/hour");
    let policy = "\"minute\";q=2;w=60, \"hour\";q=100;w=3600";
    let (status, headers, _) = ask(&router, "203.0.113.7").await;
    assert_eq!(
        (status, headers),
        (
            200,
            vec![
                policy.into(),
                "\"minute\";r=1;t=60, \"hour\";r=99;t=3600".into(),
                "-".into()
            ]
        )
    );
    clock.advance(Duration::from_millis(1500));
    assert_eq!(ask(&router, "203.0.113.7").await.0, 200);
    let (status, headers, body) = ask(&router, "203.0.113.7").await;
    assert_eq!(
        (status, headers),
        (
            429,
            vec![
                policy.into(),
                "\"minute\";r=0;t=59, \"hour\";r=98;t=3599".into(),
                "59".into()
            ]
        )
    );
    assert!(
        body.contains("\"detail\":\"Request was throttled. Expected available in 59 seconds.\""),
        "{body}"
    );
    clock.advance(Duration::from_secs(58));
    let (_, headers, body) = ask(&router, "203.0.113.7").await;
    assert_eq!(headers[2], "1");
    assert!(body.contains("Expected available in 1 second."), "{body}");
    assert_eq!(
        ask(&router, "203.0.113.8").await.0,
        200,
        "another client is not concerned"
    );
}

#[tokio::test]
async fn the_addresses_of_one_ipv6_network_count_together() {
    let router = limited(&clock(), "1/minute");
    assert_eq!(ask(&router, "2001:db8:1:2::1").await.0, 200);
    assert_eq!(ask(&router, "2001:db8:1:2:ffff::9").await.0, 429);
    assert_eq!(ask(&router, "2001:db8:1:3::1").await.0, 200);
    assert_eq!(
        ask(&router, "2001:db8:1:4::1").await.0,
        429,
        "a /56 has twice as much as one client, however many networks it is cut into"
    );
    assert_eq!(ask(&router, "2001:db8:1:100::1").await.0, 200);
    assert_eq!(ask(&router, "2001:db8:1:200::1").await.0, 200);
    assert_eq!(
        ask(&router, "2001:db8:1:300::1").await.0,
        429,
        "a /48 has four times as much"
    );
    assert_eq!(ask(&router, "2001:db8:2::1").await.0, 200);
}

#[tokio::test]
async fn off_means_no_limit_and_no_headers() {
    let router = limited(&clock(), "off");
    for _ in 0..200 {
        let (status, headers, _) = ask(&router, "203.0.113.7").await;
        assert_eq!((status, headers), (200, vec!["-".to_owned(); 3]));
    }
}
