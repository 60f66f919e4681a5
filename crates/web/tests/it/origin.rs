//! The client, its scheme and the request's id, with forged headers too.

use axum::Router;
use axum::middleware::from_fn;
use axum::routing::get;
use test_kit::html::has;
use test_kit::logs::Logs;
use web::client::{Origin, Proxies, PublicUrl};
use web::errors::TimestampedErrors;
use web::request_id::RequestId;

use crate::support::{Running, clock, in_stack, stack};

async fn whoami(origin: Origin, url: PublicUrl) -> String {
    let (address, is_secure) = (origin.address, origin.is_secure());
    format!("{address} {is_secure} {}", url.join("/x"))
}

fn routes() -> Router {
    Router::new()
        .route("/", get(whoami))
        .route("/id", get(async |id: RequestId| id.as_str().to_owned()))
}

async fn ask(server: &Running, headers: &str) -> String {
    ask_host(server, "shop.example", headers).await
}

async fn ask_host(server: &Running, host: &str, headers: &str) -> String {
    let request = format!("GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n");
    let answer = server.say(request.as_bytes()).await;
    answer.rsplit("\r\n").next().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn a_trusted_proxy_is_believed_and_loopback_alone_is_secure() {
    let server = Running::start(in_stack(routes())).await;
    let cases = [
        ("", "127.0.0.1 false http://shop.example/x"),
        (
            "X-Forwarded-For: 203.0.113.7\r\n",
            "203.0.113.7 false http://shop.example/x",
        ),
        (
            "X-Forwarded-For: 203.0.113.7\r\nX-Forwarded-Proto: https\r\n",
            "203.0.113.7 true https://shop.example/x",
        ),
        (
            "Forwarded: for=203.0.113.7;proto=https\r\n",
            "203.0.113.7 true https://shop.example/x",
        ),
        (
            "X-Forwarded-For: 6.6.6.6, 203.0.113.7\r\n",
            "203.0.113.7 false http://shop.example/x",
        ),
        (
            "X-Forwarded-Host: evil.example\r\n",
            "127.0.0.1 false http://shop.example/x",
        ),
        ("X-Forwarded-For: \u{fffd}\u{1}\r\n", ""),
        (
            "X-Forwarded-For: \u{fffd}\r\nX-Forwarded-Proto: https\r\n",
            "127.0.0.1 true https://shop.example/x",
        ),
    ];
    for (headers, expected) in cases {
        assert_eq!(ask(&server, headers).await, expected, "{headers:?}");
    }
}

#[tokio::test]
async fn a_proxy_that_says_nothing_is_known_by_the_host_that_it_passes_on() {
    let server = Running::start(in_stack(routes())).await;
    let is_secure = async |host: &str| {
        let answer = ask_host(&server, host, "").await;
        answer.contains(" true ")
    };
    for host in [
        "localhost:8000",
        "pay.localhost",
        "127.0.0.1:8000",
        "127.1.2.3",
        "0.0.0.0:8000",
        "[::1]:8000",
        "[::ffff:127.0.0.1]",
        "till",
    ] {
        assert!(is_secure(host).await, "{host}");
    }
    for host in [
        "shop.example",
        "shop.example:8000",
        "localhost.evil.example",
        "203.0.113.7",
        "[2001:db8::1]:8000",
    ] {
        assert!(!is_secure(host).await, "{host}");
    }
}

#[tokio::test]
async fn nobody_else_is_believed() {
    let mut stack = stack();
    stack.proxies = Proxies::none();
    stack.public_url = Some("https://pay.example.com/".parse().unwrap());
    let server = Running::start(stack.around(routes(), TimestampedErrors::new(clock()))).await;
    let forged = "X-Forwarded-For: 203.0.113.7\r\nX-Forwarded-Proto: https\r\nForwarded: for=203.0.113.7;proto=https\r\n";
    assert_eq!(
        ask(&server, forged).await,
        "127.0.0.1 false https://pay.example.com/x"
    );
}

#[tokio::test]
async fn readers_over_plain_http_are_sent_to_the_configured_https_address() {
    let mut stack = stack();
    stack.public_url = Some("https://pay.example.com".parse().unwrap());
    let routes = Router::new().route("/", get(async || "page").post(async || "sent"));
    let routes = routes.layer(from_fn(web::client::to_https));
    let server = Running::start(stack.around(routes, TimestampedErrors::new(clock()))).await;
    let ask = async |method: &str, headers: &str| {
        let head = format!(
            "{method} /?a=b HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n{headers}\r\n"
        );
        server.say(head.as_bytes()).await
    };
    let redirected = ask("GET", "X-Forwarded-For: 203.0.113.7\r\n").await;
    assert!(redirected.starts_with("HTTP/1.1 308 "), "{redirected}");
    has(&redirected, &["location: https://pay.example.com/?a=b\r\n"]);
    let https = "X-Forwarded-For: 203.0.113.7\r\nX-Forwarded-Proto: https\r\n";
    assert!(ask("GET", https).await.ends_with("page"));
    assert!(ask("GET", "").await.ends_with("page"), "from this machine");
    let silent = "GET / HTTP/1.1\r\nHost: pay.example.com\r\nConnection: close\r\n\r\n";
    assert!(
        server.say(silent.as_bytes()).await.ends_with("page"),
        "no loop"
    );
    assert!(
        ask("POST", "X-Forwarded-For: 203.0.113.7\r\n")
            .await
            .ends_with("sent")
    );
}

#[tokio::test]
async fn every_answer_carries_an_id_and_only_harmless_ones_of_the_caller() {
    let server = Running::start(in_stack(routes())).await;
    test_kit::tls::provide_cryptography();
    let client = reqwest::Client::new();
    let ask = async |path: &str, id: &'static [u8]| {
        let id = reqwest::header::HeaderValue::from_bytes(id).unwrap();
        let response = client
            .get(server.url(path))
            .header("x-request-id", id)
            .send()
            .await
            .unwrap();
        let id = response.headers()["x-request-id"]
            .to_str()
            .unwrap()
            .to_owned();
        (id, response.text().await.unwrap())
    };
    assert_eq!(
        ask("/id", b"order-42.a_B").await,
        ("order-42.a_B".to_owned(), "order-42.a_B".to_owned())
    );
    let hostile: [&[u8]; 4] = [b"a b", b"\xff", b"<script>", b""];
    for id in hostile {
        let (made, shown) = ask("/id", id).await;
        assert_eq!((made.len(), &made), (32, &shown));
    }
    assert_eq!(ask("/missing", b"lost").await.0, "lost");
}

#[tokio::test]
async fn the_access_log_has_one_line_without_query_and_every_line_has_the_id() {
    use tower::ServiceExt;
    let (logs, guard) = Logs::of_this_thread();
    let router =
        in_stack(Router::new().route("/payments/{id}", get(async || tracing::info!("inside"))));
    let request = http::Request::get("/payments/7?token=topsecret")
        .header("x-request-id", "abc.1")
        .body(axum::body::Body::empty());
    router.oneshot(request.unwrap()).await.unwrap();
    drop(guard);
    let text = logs.text();
    let line = text
        .lines()
        .find(|line| line.contains("access:"))
        .unwrap_or_else(|| panic!("{text}"));
    for part in [
        "method=GET",
        "route=\"/payments/{id}\"",
        "status=200",
        "duration_ms=",
        "client=0.0.0.0",
        "id=\"abc.1\"",
    ] {
        assert!(line.contains(part), "{part}: {line}");
    }
    assert!(text.lines().all(|line| line.contains("abc.1")), "{text}");
    assert!(!text.contains("topsecret"), "{text}");
}
