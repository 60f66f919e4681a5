//! Rate limits per minute for users, addresses, usernames and pages, and their headers.

use std::{sync::Arc, time::Duration};

use http::Method;
use inventory::Config;
use serde_json::json;
use test_kit::{
    database::{Database, Engine},
    on_both_engines,
};
use tokio::task::JoinSet;

use crate::{
    app::{Answer, TestApp},
    visitor::{PASSWORD, Visitor},
};

const OBTAIN: &str = "/api/v1/authentication/token/";

async fn app(database: &Database) -> TestApp {
    TestApp::with(database.address(), Config::default()).await
}

#[track_caller]
fn is_throttled(answer: &Answer, seconds: u64) {
    let unit = if seconds == 1 { "second" } else { "seconds" };
    let detail = format!("Request was throttled. Expected available in {seconds} {unit}.");
    answer.is(429, &json!({"detail": detail}));
    assert_eq!(answer.header("retry-after"), seconds.to_string());
    assert!(answer.header("ratelimit").contains("r=0"), "{answer:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_site_cannot_use_up_the_tries_of_its_visitors() {
    let database = Database::new(Engine::Sqlite);
    let app = app(&database).await;
    let visitor = app.visitor();
    let picture = [("sec-fetch-site", "cross-site")];
    let form = [
        ("origin", "https://evil.example"),
        ("content-type", "text/plain"),
    ];
    for _ in 0..10 {
        for (path, refused) in [(OBTAIN, 415), ("/token/refresh/", 403)] {
            for (method, headers, status) in [
                (Method::GET, &picture[..], 405),
                (Method::POST, &form, refused),
                (Method::OPTIONS, &form, 200),
            ] {
                let answer = visitor.send(method.clone(), path, "{}", headers).await;
                assert_eq!(answer.status, status, "{method} {path}");
            }
        }
    }
    let credentials = json!({"username": "admin", "password": PASSWORD}).to_string();
    // Programs that send an origin, such as apps, are no sites.
    let app = [("origin", "capacitor://localhost")];
    let obtained = visitor.json(Method::POST, OBTAIN, &credentials, &app).await;
    assert_eq!(obtained.status, 200, "{}", obtained.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_reads_a_hundred_times_and_writes_fifty_times_a_minute() {
    let database = Database::new(Engine::Sqlite);
    let app = app(&database).await;
    let (manager, viewer) = (app.manager(), app.viewer());
    let first = manager.get("/api/v1/brands/").await;
    assert_eq!(first.header("ratelimit-policy"), "\"minute\";q=100;w=60");
    assert_eq!(first.header("ratelimit"), "\"minute\";r=99;t=60");
    for _ in 1..100 {
        assert_eq!(manager.get("/api/v1/brands/99/").await.status, 404);
    }
    app.clock.advance(Duration::from_millis(500));
    is_throttled(&manager.get("/api/v1/brands/").await, 60);
    for left in (0..50).rev() {
        let refused = manager.post("/api/v1/brands/", json!({})).await;
        assert_eq!(refused.status, 400, "writes are counted apart");
        assert!(
            refused.header("ratelimit").contains(&format!("r={left};")),
            "{refused:?}"
        );
    }
    is_throttled(&manager.post("/api/v1/brands/", json!({})).await, 60);
    assert_eq!(
        viewer.get("/api/v1/brands/").await.status,
        200,
        "another user has another count"
    );
    let forbidden = manager.delete("/api/v1/brands/99/").await;
    assert_eq!(forbidden.status, 403, "permission comes before the limit");
    app.clock.advance(Duration::from_millis(58_500));
    is_throttled(&manager.get("/api/v1/brands/").await, 1);
    app.clock.advance(Duration::from_secs(1));
    assert_eq!(manager.get("/api/v1/brands/").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn obtaining_renewing_checking_and_logging_in_share_ten_a_minute() {
    let database = Database::new(Engine::Sqlite);
    let app = app(&database).await;
    let program = app.visitor();
    let paths = [
        OBTAIN,
        "/api/v1/authentication/token/refresh/",
        "/api/v1/authentication/token/verify/",
        "/login/",
        "/token/refresh/",
    ];
    let from = |address: &'static str| [("x-forwarded-for", address)];
    for (count, path) in paths.iter().cycle().take(10).enumerate() {
        let answer = program
            .json(Method::POST, path, "{}", &from("203.0.113.7"))
            .await;
        assert_eq!(answer.status, 400, "{path}: {answer:?}");
        assert!(
            answer
                .header("ratelimit")
                .starts_with(&format!("\"minute\";r={};", 9 - count)),
            "{path}: {answer:?}"
        );
    }
    for path in paths {
        is_throttled(
            &program
                .json(Method::POST, path, "{}", &from("203.0.113.7"))
                .await,
            60,
        );
        let elsewhere = program
            .json(Method::POST, path, "{}", &from("203.0.113.8"))
            .await;
        assert_eq!(elsewhere.status, 400);
    }
    let page = program
        .send(Method::GET, "/login/", "", &from("203.0.113.7"))
        .await;
    assert_eq!(page.status, 200, "the form itself is a page");
    let body = format!(
        "csrfmiddlewaretoken={}&username=a&password=b",
        program.cookie("csrftoken").unwrap()
    );
    let headers = [
        ("content-type", "application/x-www-form-urlencoded"),
        ("x-forwarded-for", "203.0.113.7"),
    ];
    let refused = program.send(Method::POST, "/login/", &body, &headers).await;
    assert_eq!((refused.status, refused.header("retry-after")), (429, "60"));
    test_kit::html::check(&refused.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_name_is_not_guessed_at_from_many_addresses() {
    let database = Database::new(Engine::Sqlite);
    let app = app(&database).await;
    let program = app.visitor();
    let guess = async |number: u32, username: &str, password: &str| {
        let address = format!("198.51.100.{number}");
        let body = json!({"username": username, "password": password}).to_string();
        program
            .json(
                Method::POST,
                OBTAIN,
                &body,
                &[("x-forwarded-for", &address)],
            )
            .await
    };
    for number in 0..20 {
        assert_eq!(guess(number, "admin", "wrong").await.status, 401);
    }
    is_throttled(&guess(21, "admin", PASSWORD).await, 60);
    assert_eq!(
        guess(22, "viewer", "wrong").await.status,
        401,
        "other names are not slowed"
    );
    app.clock.advance(Duration::from_secs(60));
    assert_eq!(guess(23, "admin", PASSWORD).await.status, 200);
}

/// A login attempt from an address that nobody has logged in from.
async fn guess(app: &TestApp, address: &str, username: &str, password: &str) -> Answer {
    let body = json!({"username": username, "password": password}).to_string();
    let headers = [("x-forwarded-for", address)];
    app.visitor()
        .json(Method::POST, OBTAIN, &body, &headers)
        .await
}

async fn guess_too_often(app: &TestApp, username: &str) {
    for number in 0..20 {
        let address = format!("198.51.100.{number}");
        let answer = guess(app, &address, username, "wrong").await;
        assert_eq!(answer.status, 401);
    }
    let refused = guess(app, "198.51.100.20", username, "wrong").await;
    is_throttled(&refused, 60);
}

on_both_engines!(
    failed_attempts_outlive_a_restart_and_count_on_every_replica,
    async |address| {
        let app = TestApp::with(&address, Config::default()).await;
        guess_too_often(&app, "admin").await;
        guess_too_often(&app, "nobody has this name").await;
        let restarted = app.restarted(Config::default()).await;
        for name in ["admin", "nobody has this name"] {
            let answer = guess(&restarted, "198.51.100.21", name, PASSWORD).await;
            is_throttled(&answer, 60);
        }
        app.clock.advance(Duration::from_secs(60));
        let answer = guess(&restarted, "198.51.100.21", "admin", PASSWORD).await;
        assert_eq!(answer.status, 200);
    }
);

on_both_engines!(attempts_at_the_same_moment_all_count, async |address| {
    let app = Arc::new(TestApp::with(&address, Config::default()).await);
    let mut storm = JoinSet::new();
    for number in 0..30 {
        let app = Arc::clone(&app);
        storm.spawn(async move {
            let address = format!("198.51.100.{number}");
            guess(&app, &address, "admin", "wrong").await.status
        });
    }
    let answers = storm.join_all().await;
    let refused = answers.iter().filter(|status| **status == 429);
    assert_eq!(refused.count(), 10);
});

#[tokio::test(flavor = "multi_thread")]
async fn a_right_password_is_no_failed_attempt() {
    let database = Database::new(Engine::Sqlite);
    let app = app(&database).await;
    for number in 0..25 {
        let address = format!("198.51.100.{number}");
        let answer = guess(&app, &address, "admin", PASSWORD).await;
        assert_eq!(answer.status, 200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_elses_guesses_lock_a_person_out() {
    let database = Database::new(Engine::Sqlite);
    let app = app(&database).await;
    let browser = app.logged_in("admin").await;
    let known = app.visitor();
    let log_in = async |visitor: &Visitor<'_>, address: &str, password: &str| {
        visitor
            .json(
                Method::POST,
                "/login/",
                &json!({"username": "admin", "password": password}).to_string(),
                &[("x-forwarded-for", address)],
            )
            .await
    };
    let stranger = "203.0.113.9";
    let at_home = "203.0.113.77";
    assert_eq!(log_in(&known, at_home, PASSWORD).await.status, 200);
    guess_too_often(&app, "admin").await;
    is_throttled(&log_in(&app.visitor(), stranger, PASSWORD).await, 60);
    browser.forget("sessionid");
    let elsewhere = log_in(&browser, stranger, PASSWORD).await;
    assert_eq!(elsewhere.status, 200, "the browser is known: {elsewhere:?}");
    let at_home = log_in(&app.visitor(), at_home, PASSWORD).await;
    assert_eq!(at_home.status, 200, "the address is known: {at_home:?}");
    let forged = app.visitor();
    forged.set_cookie("known_browser", "forged");
    let refused = log_in(&forged, "203.0.113.10", PASSWORD).await;
    assert_eq!(refused.status, 429, "a forged cookie is none");
    let theirs = app.logged_in("viewer").await;
    theirs.forget("sessionid");
    let refused = log_in(&theirs, "203.0.113.11", PASSWORD).await;
    assert_eq!(refused.status, 429, "somebody else's browser is a stranger");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_known_browser_is_limited_too() {
    let database = Database::new(Engine::Sqlite);
    let app = app(&database).await;
    let browser = app.logged_in("admin").await;
    browser.forget("sessionid");
    let wrong = json!({"username": "admin", "password": "wrong"}).to_string();
    for number in 0..20 {
        let address = format!("198.51.100.{number}");
        let headers = [("x-forwarded-for", address.as_str())];
        let answer = browser
            .json(Method::POST, "/login/", &wrong, &headers)
            .await;
        assert_eq!(answer.status, 401, "{answer:?}");
    }
    let headers = [("x-forwarded-for", "198.51.100.20")];
    let answer = browser
        .json(Method::POST, "/login/", &wrong, &headers)
        .await;
    is_throttled(&answer, 60);
}

#[tokio::test(flavor = "multi_thread")]
async fn names_that_nobody_has_leave_a_bounded_number_of_rows_which_are_cleaned() {
    let database = Database::new(Engine::Sqlite);
    let app = app(&database).await;
    for number in 0..5 {
        let address = format!("198.51.100.{number}");
        guess(&app, &address, &format!("nobody {number}"), "wrong").await;
    }
    let subjects = async || {
        let read = async |conn: &mut db::Conn| {
            conn.all("SELECT subject FROM login_attempts", &[], |row| {
                row.get::<String>(0)
            })
            .await
        };
        app.state.db.read(read).await.unwrap()
    };
    for subject in subjects().await {
        let number = subject.strip_prefix("password nobody ").unwrap();
        assert!(number.parse::<u32>().unwrap() < 16_384);
    }
    app.clock.advance(Duration::from_secs(24 * 60 * 60));
    inventory::purge_expired(&app.state).await.unwrap();
    assert_eq!(subjects().await, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_limited_generously_and_probes_never() {
    let database = Database::new(Engine::Sqlite);
    let app = app(&database).await;
    let visitor = app.logged_in("viewer").await;
    for _ in 0..600 {
        assert_eq!(visitor.get("/").await.status, 200);
    }
    let refused = visitor.get("/").await;
    assert_eq!((refused.status, refused.header("retry-after")), (429, "60"));
    test_kit::html::check(&refused.text);
    assert_eq!(visitor.get("/health").await.status, 200);
    assert_eq!(
        visitor.get("/api/v1/brands/").await.status,
        200,
        "calls of the API have counts of their own"
    );
    assert_eq!(
        app.visitor().get("/login/").await.status,
        200,
        "and so has another reader"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn one_user_has_one_limit_of_pages_and_exports_however_many_sessions() {
    let database = Database::new(Engine::Sqlite);
    let app = app(&database).await;
    let (first, second) = (app.logged_in("viewer").await, app.visitor());
    second.get("/login/").await;
    let fields = [("username", "viewer"), ("password", PASSWORD)];
    assert_eq!(second.submit("/login/", &fields).await.status, 302);
    for count in 0..20 {
        let session = if count % 2 == 0 { &first } else { &second };
        let file = session.get("/products/export/").await;
        assert_eq!(file.status, 200);
    }
    for session in [&first, &second] {
        let refused = session.get("/products/export/").await;
        assert_eq!((refused.status, refused.header("retry-after")), (429, "60"));
    }
    let another = app.logged_in("manager").await;
    assert_eq!(another.get("/products/export/").await.status, 200);
    for count in 22..600 {
        let session = if count % 2 == 0 { &first } else { &second };
        assert_eq!(session.get("/").await.status, 200);
    }
    for session in [&first, &second] {
        assert_eq!(session.get("/").await.status, 429);
    }
}
