//! Rate limits that several replicas share through Redis, and outages of its server.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use test_kit::logs::Logs;
use test_kit::until;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use web::rate::{Key, Rates, Reserve, Windows};
use web::{Clock, Random};

use crate::support::{LONG, clock};

/// A proxy in front of the server that can be closed and opened.
struct Proxy {
    address: SocketAddr,
    open: Arc<watch::Sender<bool>>,
}

impl Proxy {
    async fn to(server: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let proxy = Self {
            address: listener.local_addr().unwrap(),
            open: Arc::new(watch::Sender::new(true)),
        };
        let open = Arc::clone(&proxy.open);
        tokio::spawn(async move {
            loop {
                let (mut client, _) = listener.accept().await.unwrap();
                let (server, mut open) = (server.clone(), open.subscribe());
                tokio::spawn(async move {
                    let pass = async {
                        let mut server = TcpStream::connect(server).await.unwrap();
                        let _ = copy_bidirectional(&mut client, &mut server).await;
                    };
                    tokio::select! {
                        () = pass => {}
                        _ = open.wait_for(|open| !open) => {}
                    }
                });
            }
        });
        proxy
    }

    fn url(&self) -> String {
        format!("redis://{}/", self.address)
    }
}

/// Host and port of the server for tests.
fn server() -> String {
    let url = test_kit::redis_url();
    let rest = url.split("://").nth(1).unwrap();
    rest.split('/').next().unwrap().to_owned()
}

/// A prefix that no other test and no other run uses.
fn prefix() -> String {
    format!("test-{}", Random::system().uuid())
}

/// Windows with a long timeout, which a busy machine does not exceed. After a timeout the process
/// would count alone.
fn windows(url: &str, prefix: &str, clock: &Clock) -> Windows {
    Windows::redis_within(LONG, url, prefix, clock.clone(), Random::system()).unwrap()
}

async fn take(windows: &Windows, rates: &Rates) -> bool {
    windows
        .take(&Key::new("kind", "key"), rates, 1, Reserve::Nothing)
        .await
        .is_ok()
}

#[tokio::test]
async fn two_replicas_share_their_windows() {
    let (prefix, clock) = (prefix(), clock());
    let replicas = [
        windows(&test_kit::redis_url(), &prefix, &clock),
        windows(&test_kit::redis_url(), &prefix, &clock),
    ];
    let rates: Rates = "10/hour,1000/day".parse().unwrap();
    let mut allowed = 0;
    for call in 0..40 {
        allowed += usize::from(take(&replicas[call % 2], &rates).await);
    }
    assert_eq!(allowed, 10);
    let refusal = replicas[0]
        .take(&Key::new("kind", "key"), &rates, 1, Reserve::Nothing)
        .await
        .unwrap_err();
    assert!(
        (3000..=3600).contains(&refusal.retry_after_seconds()),
        "{refusal:?}"
    );
    assert_eq!(
        (refusal.levels[0].remaining, refusal.levels[1].remaining),
        (0, 990)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_at_the_same_moment_never_pass_the_limit() {
    let (prefix, clock) = (prefix(), clock());
    let rates: Rates = "25/day".parse().unwrap();
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let windows = windows(&test_kit::redis_url(), &prefix, &clock);
        for _ in 0..25 {
            let (windows, rates) = (windows.clone(), rates.clone());
            calls.spawn(async move { take(&windows, &rates).await });
        }
    }
    let allowed = calls
        .join_all()
        .await
        .into_iter()
        .filter(|allowed| *allowed)
        .count();
    assert_eq!(allowed, 25);
}

#[tokio::test]
async fn a_call_that_is_given_back_makes_room_in_every_replica() {
    let (prefix, clock) = (prefix(), clock());
    let one = windows(&test_kit::redis_url(), &prefix, &clock);
    let other = windows(&test_kit::redis_url(), &prefix, &clock);
    let rates: Rates = "2/hour".parse().unwrap();
    let held = one.hold(&Key::new("kind", "key"), &rates, 2).await;
    assert!(!take(&other, &rates).await);
    one.release(held.unwrap()).await;
    assert!(take(&other, &rates).await && take(&one, &rates).await);
    assert!(!take(&other, &rates).await && !take(&one, &rates).await);
}

#[tokio::test]
async fn cost_and_reserve_hold_in_shared_windows_too() {
    let windows = windows(&test_kit::redis_url(), &prefix(), &clock());
    let rates: Rates = "10/hour".parse().unwrap();
    let key = Key::new("kind", "key");
    let take = async |calls, reserve| windows.take(&key, &rates, calls, reserve).await;
    for _ in 0..4 {
        assert!(take(2, Reserve::Fifth).await.is_ok());
    }
    assert!(take(1, Reserve::Fifth).await.is_err());
    assert!(take(3, Reserve::Nothing).await.is_err());
    let quota = take(2, Reserve::Nothing).await.unwrap();
    assert_eq!(quota.levels[0].remaining, 0);
}

#[tokio::test]
async fn calls_leave_a_shared_window_when_their_time_is_over() {
    let (prefix, clock) = (prefix(), clock());
    let windows = windows(&test_kit::redis_url(), &prefix, &clock);
    let rates: Rates = "2/second".parse().unwrap();
    assert!(
        take(&windows, &rates).await
            && take(&windows, &rates).await
            && !take(&windows, &rates).await
    );
    // Redis counts by its own clock, so this process' clock is advanced with it.
    until(async || {
        clock.advance(Duration::from_millis(100));
        take(&windows, &rates).await
    })
    .await;
}

#[tokio::test]
async fn without_the_server_each_process_counts_alone_and_comes_back_when_it_returns() {
    let (logs, _guard) = Logs::of_this_thread();
    let (prefix, clock) = (prefix(), clock());
    let proxy = Proxy::to(server()).await;
    let windows = windows(&proxy.url(), &prefix, &clock);
    let rates: Rates = "6/hour".parse().unwrap();
    assert!(take(&windows, &rates).await && take(&windows, &rates).await);
    proxy.open.send_replace(false);
    // Calls before the outage count during it.
    for expected in [true, true, true, true, false, false] {
        assert_eq!(take(&windows, &rates).await, expected);
    }
    assert_eq!(
        logs.text().matches("rate limits cannot be shared").count(),
        1,
        "{}",
        logs.text()
    );
    proxy.open.send_replace(true);
    clock.advance(Duration::from_secs(3601));
    assert!(take(&windows, &rates).await);
    assert_eq!(
        logs.text().matches("rate limits are shared again").count(),
        1,
        "{}",
        logs.text()
    );
}

#[tokio::test]
async fn a_server_that_never_was_there_does_not_stop_anybody() {
    let windows = windows("redis://127.0.0.1:1/", "test", &clock());
    let rates: Rates = "1/minute".parse().unwrap();
    assert!(take(&windows, &rates).await);
    assert!(!take(&windows, &rates).await);
}

#[test]
fn an_address_of_something_else_is_refused_without_repeating_it() {
    let error = Windows::redis(
        "http://user:secret@host/",
        "test",
        clock(),
        Random::system(),
    )
    .unwrap_err();
    assert!(
        error.to_string().starts_with("not an address of Redis"),
        "{error}"
    );
}
