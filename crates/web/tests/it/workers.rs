//! Background workers: they are restarted, named while they are down, and aborted when they do not
//! stop with the service.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use test_kit::logs::Logs;
use test_kit::until;
use tokio::sync::Notify;
use web::errors::TimestampedErrors;
use web::metrics::Metrics;
use web::server::Shutdown;
use web::{Supervisor, health};

use crate::support::{LONG, Running, clock, in_stack, stack};

fn supervisor(metrics: &Metrics) -> (Supervisor, Shutdown) {
    let shutdown = Shutdown::new();
    (Supervisor::new("shop", metrics, shutdown.clone()), shutdown)
}

fn figure(metrics: &Metrics, name: &str) -> String {
    let labels = format!("balcao_{name}{{service=\"shop\",worker=\"mails\"}} ");
    let text = metrics.encode().unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(&labels));
    line.unwrap_or_else(|| panic!("{labels} is missing in:\n{text}"))
        .to_owned()
}

async fn ready(server: &Running) -> (u16, String) {
    let response = crate::support::get(server.url("/ready")).await.unwrap();
    (response.status().as_u16(), response.text().await.unwrap())
}

#[tokio::test]
async fn a_worker_that_panics_is_started_again_and_counted() {
    let metrics = Metrics::new();
    let (workers, shutdown) = supervisor(&metrics);
    let workers = workers.first_wait(Duration::from_millis(1));
    let (starts, works) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
    let work = {
        let (shutdown, works) = (shutdown.clone(), Arc::clone(&works));
        move || {
            let (shutdown, works) = (shutdown.clone(), Arc::clone(&works));
            let times = starts.fetch_add(1, Ordering::SeqCst);
            async move {
                assert!(times > 1, "a fault of the worker");
                works.notify_one();
                shutdown.begun().await;
            }
        }
    };
    let kept = tokio::spawn({
        let workers = workers.clone();
        async move { workers.keep("mails", work).await }
    });
    works.notified().await;
    assert_eq!(figure(&metrics, "worker_restarts_total"), "2");
    assert_eq!(figure(&metrics, "worker_up"), "1");
    assert!(workers.missing().is_empty());
    shutdown.begin();
    kept.await.unwrap();
}

#[tokio::test]
async fn readiness_names_a_worker_that_ended_until_it_runs_again() {
    let metrics = Metrics::new();
    let (workers, _shutdown) = supervisor(&metrics);
    let workers = workers.first_wait(LONG);
    let probes = health::routes("shop", "1.0.0", workers.clone(), async || Ok(()));
    let server = Running::start(in_stack(probes)).await;
    assert_eq!(ready(&server).await.0, 200);
    tokio::spawn({
        let workers = workers.clone();
        async move { workers.keep("mails", async || ()).await }
    });
    until(async || !workers.missing().is_empty()).await;
    let (status, body) = ready(&server).await;
    assert_eq!(status, 503);
    assert!(body.contains("the worker mails is down"), "{body}");
    assert_eq!(figure(&metrics, "worker_up"), "0");
    assert_eq!(figure(&metrics, "worker_restarts_total"), "0");
}

#[tokio::test]
async fn a_worker_whose_work_may_end_is_started_again_after_a_panic_alone() {
    let metrics = Metrics::new();
    let (workers, _shutdown) = supervisor(&metrics);
    let workers = workers.first_wait(Duration::from_millis(1));
    let starts = AtomicUsize::new(0);
    let work = || {
        let is_first = starts.fetch_add(1, Ordering::SeqCst) == 0;
        async move { assert!(!is_first, "a fault of the worker") }
    };
    workers.keep_to_its_end("mails", work).await;
    assert_eq!(starts.load(Ordering::SeqCst), 2);
    assert_eq!(figure(&metrics, "worker_restarts_total"), "1");
    assert_eq!(figure(&metrics, "worker_up"), "1");
}

#[tokio::test]
async fn of_several_workers_of_a_name_one_that_is_down_is_enough_to_be_missed() {
    let metrics = Metrics::new();
    let (workers, _shutdown) = supervisor(&metrics);
    let workers = workers.first_wait(LONG);
    let keep = |work: fn() -> std::future::Ready<()>| {
        let workers = workers.clone();
        tokio::spawn(async move { workers.keep("mails", work).await })
    };
    let (one, other) = (keep(|| std::future::ready(())), keep(|| panic!("a fault")));
    until(async || !workers.missing().is_empty()).await;
    one.abort();
    drop(one.await);
    other.abort();
    drop(other.await);
    assert!(workers.missing().is_empty());
    assert_eq!(figure(&metrics, "worker_up"), "1");
}

#[tokio::test]
async fn probes_of_a_service_that_is_not_ready_are_told_once_and_are_no_faults() {
    let (logs, _guard) = Logs::of_this_thread();
    let (workers, _) = supervisor(&Metrics::new());
    let is_up = Arc::new(AtomicBool::new(true));
    let check = {
        let is_up = Arc::clone(&is_up);
        move || {
            let is_up = is_up.load(Ordering::SeqCst);
            async move { is_up.then_some(()).ok_or_else(|| "the disk is full".into()) }
        }
    };
    let probes = health::routes("shop", "1.0.0", workers, check);
    let stack = stack();
    let metrics = stack.metrics.clone();
    let server = Running::start(stack.around(probes, TimestampedErrors::new(clock()))).await;
    for (up, status) in [(false, 503), (true, 200)] {
        is_up.store(up, Ordering::SeqCst);
        for _ in 0..3 {
            assert_eq!(ready(&server).await.0, status);
        }
    }
    server.shutdown.announce();
    for _ in 0..3 {
        assert_eq!(ready(&server).await.0, 503);
    }
    let text = logs.text();
    let told: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("ready "))
        .collect();
    let told = |level: &str| told.iter().filter(|line| line.contains(level)).count();
    assert_eq!((told(" WARN "), told(" INFO ")), (2, 1), "{text}");
    assert!(!text.contains(" ERROR "), "{text}");
    let faults = metrics.encode().unwrap();
    assert!(faults.contains("balcao_http_faults_total 0"), "{faults}");
}

#[tokio::test]
async fn a_worker_that_does_not_stop_with_the_service_is_cut_off() {
    struct Guard(Arc<AtomicBool>);
    impl Drop for Guard {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    let (workers, shutdown) = supervisor(&Metrics::new());
    let is_over = Arc::new(AtomicBool::new(false));
    let stuck = || {
        let guard = Guard(Arc::clone(&is_over));
        async move {
            let _guard = guard;
            std::future::pending::<()>().await;
        }
    };
    shutdown.announce();
    let workers = workers.grace(Duration::ZERO);
    let kept = workers.keep("mails", stuck);
    let stop = async {
        tokio::task::yield_now().await;
        shutdown.begin();
    };
    tokio::join!(kept, stop);
    until(async || is_over.load(Ordering::SeqCst)).await;
}

#[tokio::test]
async fn an_announced_shutdown_is_told_to_balancers_and_serves_everybody_else() {
    let (workers, _) = supervisor(&Metrics::new());
    let probes = health::routes("shop", "1.0.0", workers, async || Ok(()));
    let routes = Router::new()
        .route("/", get(async || "hello"))
        .merge(probes);
    let server = Running::start(in_stack(routes)).await;
    assert_eq!(ready(&server).await.0, 200);
    server.shutdown.announce();
    let (status, body) = ready(&server).await;
    assert_eq!(status, 503);
    assert!(body.contains("the service is stopping"), "{body}");
    for path in ["/", "/health"] {
        let response = crate::support::get(server.url(path)).await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
    }
}
