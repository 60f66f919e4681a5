//! Checks before every address: HTTPS, rate limits, sizes, unknown addresses. And the answers to
//! bad bodies.

use std::future::{Future as _, poll_fn};
use std::net::SocketAddr;
use std::pin::pin;
use std::task::Poll;

use axum::body::Body;
use axum::extract::ConnectInfo;
use http::Request;
use serde_json::json;
use test_kit::on_both_engines;

use super::app::{API_KEY, Shop, creation};
use super::requests::{boleto, card, pix, with};
use crate::payments::app::shop_on_both_engines;

fn from(
    peer: [u8; 4],
    mut request: Request<Body>,
    headers: &[(&'static str, &str)],
) -> Request<Body> {
    request
        .extensions_mut()
        .insert(ConnectInfo(SocketAddr::from((peer, 1))));
    for (name, value) in headers {
        request.headers_mut().insert(*name, value.parse().unwrap());
    }
    request
}

shop_on_both_engines!(
    a_request_must_come_over_https_before_anything_else_is_looked_at,
    async |shop| {
        let required = (400, "HTTPS required".to_owned());
        let broken = || {
            Request::post("/create_payment")
                .body(Body::from("not JSON"))
                .unwrap()
        };
        assert_eq!(
            shop.send(from([10, 0, 0, 9], broken(), &[])).await.error(),
            required
        );
        let proxied = [
            ("x-forwarded-proto", "http"),
            ("x-forwarded-for", "10.0.0.9"),
        ];
        assert_eq!(
            shop.send(from([127, 0, 0, 1], broken(), &proxied))
                .await
                .error(),
            required
        );
        let list = || Request::get("/payments/").body(Body::empty()).unwrap();
        assert_eq!(
            shop.send(from([10, 0, 0, 9], list(), &[])).await.error(),
            required
        );
        let secure = [
            ("x-forwarded-proto", "https"),
            ("x-forwarded-for", "10.0.0.9"),
        ];
        shop.send(from([127, 0, 0, 1], creation(&pix(), None), &secure))
            .await
            .has_status(200);
        // Headers of a client that is no trusted proxy are ignored.
        assert_eq!(
            shop.send(from([10, 0, 0, 9], creation(&pix(), None), &secure))
                .await
                .error(),
            required
        );
    }
);

shop_on_both_engines!(
    a_proxy_that_does_not_say_how_a_request_came_is_told_the_setting,
    async |shop| {
        let headers = [("host", "shop.example")];
        let local = [127, 0, 0, 1];
        let refused = shop
            .send(from(local, creation(&pix(), None), &headers))
            .await;
        refused.is_error(400, "HTTPS required");
        let hint = refused.json()["hint"].clone();
        for name in ["X-Forwarded-Proto", "BALCAO_CHECKOUT_ALLOW_HTTP=true"] {
            assert!(hint.as_str().unwrap().contains(name), "{hint}");
        }
        for host in ["localhost:8000", "127.0.0.1:8000"] {
            let direct = from(local, creation(&pix(), None), &[("host", host)]);
            assert_eq!(shop.send(direct).await.status, 200, "{host}");
        }
    }
);

on_both_engines!(the_https_check_can_be_lifted, async |address| {
    let shop = Shop::open_with(&address, |config| config.allow_http = true).await;
    shop.send(from([10, 0, 0, 9], creation(&pix(), None), &[]))
        .await
        .has_status(200);
});

on_both_engines!(
    a_client_may_make_a_hundred_requests_a_minute,
    async |address| {
        let shop = Shop::open_with(&address, |config| {
            config.rate_limit = "100/minute".parse().unwrap();
        })
        .await;
        let ask = |last: u8| {
            from(
                [127, 0, 0, 1],
                Request::get("/payments/1/status")
                    .body(Body::empty())
                    .unwrap(),
                &[
                    ("x-forwarded-proto", "https"),
                    (
                        "x-forwarded-for",
                        if last == 1 { "10.0.0.1" } else { "10.0.0.2" },
                    ),
                ],
            )
        };
        for _ in 0..100 {
            assert_eq!(shop.send(ask(1)).await.status, 401);
        }
        let refused = shop.send(ask(1)).await;
        assert_eq!(
            refused.error(),
            (
                429,
                "Request was throttled. Expected available in 60 seconds.".to_owned()
            )
        );
        assert_eq!(refused.header("retry-after"), Some("60"));
        assert_eq!(
            refused.header("ratelimit-policy"),
            Some("\"minute\";q=100;w=60")
        );
        assert_eq!(
            shop.send(ask(2)).await.status,
            401,
            "another client has its own hundred"
        );
        for path in ["/health", "/ready", "/"] {
            let request = from(
                [127, 0, 0, 1],
                Request::get(path).body(Body::empty()).unwrap(),
                &[
                    ("x-forwarded-for", "10.0.0.1"),
                    ("x-forwarded-proto", "https"),
                ],
            );
            assert_eq!(
                shop.send(request).await.status,
                200,
                "{path} is not limited with the API"
            );
        }
        shop.clock.advance(std::time::Duration::from_secs(60));
        assert_eq!(shop.send(ask(1)).await.status, 401);
    }
);

/// Lists payments with this key, as a client behind a proxy; returns the status.
async fn ask_as(shop: &Shop, key: Option<&str>) -> u16 {
    let request = Request::get("/payments/").body(Body::empty()).unwrap();
    let headers = [
        ("x-forwarded-proto", "https"),
        ("x-forwarded-for", "10.0.0.1"),
    ];
    let mut request = from([127, 0, 0, 1], request, &headers);
    if let Some(key) = key {
        let value = format!("Bearer {key}").parse().unwrap();
        request.headers_mut().insert("authorization", value);
    }
    shop.send(request).await.status
}

on_both_engines!(
    a_client_with_many_wrong_keys_is_refused_without_a_look_at_the_database,
    async |address| {
        let shop = Shop::open_with(&address, |config| {
            config.rate_limit = "2/minute".parse().unwrap();
        })
        .await;
        let random = web::Random::system();
        let stored = checkout::keys::add(&shop.db, &shop.clock, &random, "x");
        let stored = stored.await.unwrap().key;
        assert_eq!(ask_as(&shop, Some(&stored)).await, 200);
        for status in [401, 401] {
            assert_eq!(ask_as(&shop, Some("guessed")).await, status);
        }
        let before = shop.db.statistics().statements;
        for key in ["guessed", "another", &stored] {
            assert_eq!(ask_as(&shop, Some(key)).await, 429, "{key}");
        }
        assert_eq!(shop.db.statistics().statements, before);
        assert_eq!(ask_as(&shop, Some(API_KEY)).await, 200);
        shop.clock.advance(std::time::Duration::from_secs(60));
        assert_eq!(ask_as(&shop, Some(&stored)).await, 200);
    }
);

on_both_engines!(
    wrong_keys_at_the_closed_form_count_with_those_of_the_api,
    async |address| {
        let shop = Shop::open_with(&address, |config| {
            config.rate_limit = "2/minute".parse().unwrap();
            config.open_payments = false;
        })
        .await;
        let open = async |key: &str| {
            let form = Request::get("/").header("accept", "text/html");
            let form = form.header("authorization", format!("Bearer {key}"));
            let form = form.body(Body::empty()).unwrap();
            let headers = [
                ("x-forwarded-proto", "https"),
                ("x-forwarded-for", "10.0.0.1"),
            ];
            let form = from([127, 0, 0, 1], form, &headers);
            shop.send(form).await.status
        };
        assert_eq!(open("guessed").await, 401);
        assert_eq!(ask_as(&shop, Some("guessed")).await, 401);
        assert_eq!(open("guessed").await, 429);
        assert_eq!(open(API_KEY).await, 200);
    }
);

on_both_engines!(
    clients_with_a_valid_key_that_hang_up_are_not_taken_for_guessers,
    async |address| {
        let shop = Shop::open_with(&address, |config| {
            config.rate_limit = "2/minute".parse().unwrap();
        })
        .await;
        let random = web::Random::system();
        let stored = async || {
            let key = checkout::keys::add(&shop.db, &shop.clock, &random, "x").await;
            key.unwrap().key
        };
        let (impatient, other) = (stored().await, stored().await);
        for _ in 0..20 {
            let mut asking = pin!(ask_as(&shop, Some(&impatient)));
            // Mostly the database has not answered yet.
            poll_fn(|context| Poll::Ready(asking.as_mut().poll(context).is_ready())).await;
        }
        assert_eq!(ask_as(&shop, Some(&other)).await, 200);
    }
);

on_both_engines!(
    a_merchants_requests_count_by_its_key_and_not_with_those_of_others_at_its_address,
    async |address| {
        let shop = Shop::open_with(&address, |config| {
            config.rate_limit = "2/minute".parse().unwrap();
        })
        .await;
        let ask = async |key: Option<&str>| ask_as(&shop, key).await;
        for (key, status) in [(None, 401), (Some("guessed"), 401), (None, 429)] {
            assert_eq!(ask(key).await, status, "{key:?}");
        }
        for status in [200, 200, 429] {
            assert_eq!(ask(Some(API_KEY)).await, status);
        }
        let random = web::Random::system();
        let key = checkout::keys::add(&shop.db, &shop.clock, &random, "x");
        assert_eq!(ask(Some(&key.await.unwrap().key)).await, 200);
    }
);

shop_on_both_engines!(health_has_the_shape_of_the_specification, async |shop| {
    let health = shop.get("/health").await;
    assert_eq!(
        (health.status, health.json()),
        (
            200,
            json!({"status": "healthy", "service": "checkout", "version": "1.0.0"})
        )
    );
    assert_eq!(shop.get("/ready").await.status, 200);
});

shop_on_both_engines!(the_page_is_html_whatever_accept_says, async |shop| {
    for accept in ["text/html", "application/json", "*/*", ""] {
        let request = Request::get("/")
            .header("accept", accept)
            .body(Body::empty())
            .unwrap();
        let page = shop.send(request).await;
        assert_eq!(
            (page.status, page.header("content-type")),
            (200, Some("text/html; charset=utf-8")),
            "{accept}"
        );
    }
});

shop_on_both_engines!(
    unknown_addresses_and_wrong_methods_answer_in_json,
    async |shop| {
        shop.get("/nothing").await.is_error(404, "Not Found");
        let wrong = shop.get("/create_payment").await;
        assert_eq!((wrong.status, wrong.header("allow")), (405, Some("POST")));
        assert_eq!(wrong.json()["status_code"], 405);
    }
);

shop_on_both_engines!(no_body_is_a_fault_and_none_is_echoed, async |shop| {
    let values = [
        json!(null),
        json!(true),
        json!(7),
        json!(1e300),
        json!(""),
        json!("wertlos-4711"),
        json!([1]),
        json!({"a": 1}),
        json!("\u{0}"),
    ];
    for request in [card("APRO"), pix(), boleto()] {
        for member in request.as_object().unwrap().keys() {
            for value in &values {
                let answer = shop
                    .pay(&with(request.clone(), member, value.clone()))
                    .await;
                assert!(
                    [200, 400, 422].contains(&answer.status),
                    "{member} {value}: {}",
                    answer.text
                );
                if answer.status != 200 {
                    assert!(answer.json()["detail"].is_string());
                    assert!(!answer.text.contains("wertlos"), "{}", answer.text);
                }
            }
        }
    }
});

shop_on_both_engines!(
    a_database_that_was_used_with_another_secret_is_refused,
    async |shop| {
        let mut config = super::app::config(&shop.sandbox.url());
        config.secret = checkout::Secret::new([8; 32]);
        let parts = checkout::Parts {
            db: shop.db.clone(),
            windows: web::rate::Windows::memory(shop.clock.clone()),
            clock: shop.clock.clone(),
            random: web::Random::seeded(3),
            metrics: web::metrics::Metrics::new(),
            shutdown: web::server::Shutdown::new(),
        };
        assert!(matches!(
            checkout::app(config, parts).await,
            Err(checkout::StartError::Secret)
        ));
    }
);
