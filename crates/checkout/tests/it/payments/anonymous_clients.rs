//! Clients without an API key: shares of the provider's quota, pauses after declines, and what they
//! learn about a decline.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use checkout::Config;
use http::header::AUTHORIZATION;
use http::{HeaderValue, Request};
use serde_json::{Value, json};
use test_kit::on_both_engines;
use tokio::task::JoinSet;
use web::rate::Rates;

use super::app::{API_KEY, Answer, Shop, creation};
use super::requests::{card, pix, with};
use crate::payments::app::shop_on_both_engines;

const DECLINED: &str = "SECU";
/// The beginning of a UUID. Keys that are UUIDs belong to anyone who has them.
const UNGUESSABLE: &str = "5f0c8c1e-7a31-4f6b-9d53-2f1c6a7b8e";

/// A request to pay from this address.
async fn pay_from(shop: &Shop, address: &str, body: &Value) -> Answer {
    shop.send(from(address, creation(body, None))).await
}

/// The request, as it comes from this address.
pub(crate) fn from(address: &str, mut request: Request<Body>) -> Request<Body> {
    let headers = request.headers_mut();
    headers.insert("x-forwarded-for", address.parse().unwrap());
    headers.insert("x-forwarded-proto", HeaderValue::from_static("https"));
    request
}

/// Requests to pay at the same moment.
async fn pay_at_once(shop: &Arc<Shop>, bodies: Vec<Value>) -> Vec<Answer> {
    let mut tries = JoinSet::new();
    for body in bodies {
        let shop = Arc::clone(shop);
        tries.spawn(async move { pay_from(&shop, "203.0.113.7", &body).await });
    }
    tries.join_all().await
}

/// A request to read from another address.
async fn get_from(shop: &Shop, path: &str, key: &str) -> Answer {
    let request = Request::get(path)
        .header("x-forwarded-for", "203.0.113.7")
        .header("x-forwarded-proto", "https")
        .header("idempotency-key", key);
    shop.send(request.body(Body::empty()).unwrap()).await
}

/// A request to pay of a merchant's server at another address.
async fn pay_as_merchant(shop: &Shop, body: &Value) -> Answer {
    let mut request = creation(body, None);
    let headers = request.headers_mut();
    headers.insert("x-forwarded-for", HeaderValue::from_static("203.0.113.7"));
    headers.insert("x-forwarded-proto", HeaderValue::from_static("https"));
    let key = format!("Bearer {API_KEY}");
    headers.insert(AUTHORIZATION, key.parse().unwrap());
    shop.send(request).await
}

/// The digit that makes a sum of weighted digits right, for tax ids.
fn check_digit(digits: &[u32], from: u32) -> u32 {
    let weights = (2..=from).rev();
    let sum: u32 = digits
        .iter()
        .zip(weights)
        .map(|(digit, weight)| digit * weight)
        .sum();
    (sum * 10 % 11) % 10
}

fn tax_id(number: u32) -> String {
    let mut digits: Vec<u32> = format!("{:09}", 123_000_000 + number)
        .bytes()
        .map(|digit| u32::from(digit - b'0'))
        .collect();
    digits.push(check_digit(&digits, 10));
    digits.push(check_digit(&digits, 11));
    digits.iter().map(u32::to_string).collect()
}

fn card_number(number: u32) -> String {
    let digits = format!("4235647728{number:05}");
    let sum: u32 = digits
        .bytes()
        .rev()
        .enumerate()
        .map(|(place, digit)| match u32::from(digit - b'0') {
            digit if place % 2 == 1 => digit,
            digit if digit > 4 => 2 * digit - 9,
            digit => 2 * digit,
        })
        .sum();
    format!("{digits}{}", (10 - sum % 10) % 10)
}

/// Another person's card, e-mail address and tax id.
fn of_another(number: u32, holder: &str) -> Value {
    let body = with(card(holder), "card_number", json!(card_number(number)));
    let body = with(body, "email", json!(format!("buyer{number}@example.com")));
    with(body, "identification_number", json!(tax_id(number)))
}

pub(crate) fn paused(seconds: u32) -> (u16, String) {
    let detail = format!("Request was throttled. Expected available in {seconds} seconds.");
    (429, detail)
}

on_both_engines!(
    one_anonymous_client_does_not_close_the_shop,
    async |address| {
        let shop = Shop::open_with(&address, |config| {
            config.provider.quota = "100/minute,1000/hour,10000/day".parse().unwrap();
        })
        .await;
        for _ in 0..50 {
            assert_eq!(pay_from(&shop, "203.0.113.7", &pix()).await.status, 200);
        }
        let refused = pay_from(&shop, "203.0.113.7", &pix()).await;
        refused.is_error(503, "Service unavailable");
        assert_eq!(refused.header("retry-after"), Some("60"));
        assert_eq!(pay_from(&shop, "203.0.113.8", &pix()).await.status, 200);
        for _ in 0..20 {
            assert_eq!(pay_as_merchant(&shop, &pix()).await.status, 200);
            assert_eq!(shop.pay(&pix()).await.status, 200, "from this machine");
        }
    }
);

shop_on_both_engines!(
    five_declines_of_a_card_an_email_or_a_tax_id_are_a_pause,
    async |shop| {
        let declined = card(DECLINED);
        for number in 0..5 {
            let address = format!("203.0.113.{number}");
            assert_eq!(pay_from(&shop, &address, &declined).await.status, 200);
            shop.clock.advance(Duration::from_secs(60));
        }
        let approved = of_another(1, "APRO");
        for member in ["card_number", "email", "identification_number"] {
            let body = with(approved.clone(), member, declined[member].clone());
            let refused = pay_from(&shop, "203.0.113.99", &body).await;
            assert_eq!(refused.error(), paused(3300), "{member}");
            assert_eq!(refused.header("retry-after"), Some("3300"));
        }
        let mine = with(card("APRO"), "email", json!("ANA@example.com"));
        assert_eq!(pay_from(&shop, "203.0.113.99", &mine).await.status, 429);
        assert_eq!(pay_from(&shop, "203.0.113.99", &pix()).await.status, 200);
        assert_eq!(pay_from(&shop, "203.0.113.99", &approved).await.status, 200);
        assert_eq!(pay_as_merchant(&shop, &card("APRO")).await.status, 200);
        assert_eq!(shop.pay(&card("APRO")).await.status, 200);
        shop.clock.advance(Duration::from_secs(3300));
        let again = pay_from(&shop, "203.0.113.99", &card("APRO")).await;
        assert_eq!(again.status, 200, "{}", again.text);
    }
);

on_both_engines!(
    tries_at_the_same_moment_do_not_pass_the_limit_of_declines_together,
    async |address| {
        let shop = Arc::new(Shop::open(&address).await);
        let tried = async |bodies| {
            let answers = pay_at_once(&shop, bodies).await;
            answers.iter().filter(|answer| answer.status == 200).count()
        };
        let card = |number| {
            with(
                of_another(number, DECLINED),
                "email",
                json!("ana@example.com"),
            )
        };
        assert_eq!(tried((0..12).map(card).collect()).await, 5);
        let others = (12..40).map(|number| of_another(number, DECLINED));
        assert_eq!(tried(others.collect()).await, 15);
        assert_eq!(shop.sandbox.charges().await.0, 20);
    }
);

on_both_engines!(
    what_is_approved_or_unknown_counts_as_no_decline,
    async |address| {
        let shop = Arc::new(Shop::open(&address).await);
        let pay = async || pay_from(&shop, "203.0.113.7", &card("APRO")).await.status;
        for _ in 0..10 {
            assert_eq!(pay().await, 200);
        }
        for _ in 0..10 {
            shop.sandbox.fail_payment("drop after").await;
            assert_eq!(pay().await, 503);
        }
        // A client whose other payments are under way waits for seconds, not for an hour.
        let sent = async || {
            let calls = shop.sandbox.calls().await;
            let is_sent = |call: &&Value| call["path"] == "/v1/payments";
            calls.iter().filter(is_sent).count()
        };
        let before = sent().await;
        shop.sandbox
            .fail("POST", "/v1/payments", "delay 60m", 5)
            .await;
        let others = Arc::clone(&shop);
        let under_way =
            tokio::spawn(async move { pay_at_once(&others, vec![card("APRO"); 5]).await });
        while sent().await < before + 5 {}
        let refused = pay_from(&shop, "203.0.113.7", &card("APRO")).await;
        assert_eq!(refused.error(), paused(10));
        shop.sandbox.clear_faults().await;
        let answers = under_way.await.unwrap();
        assert!(answers.iter().all(|answer| answer.status == 200));
        assert_eq!(pay().await, 200);
    }
);

shop_on_both_engines!(twenty_declines_of_an_address_are_a_pause, async |shop| {
    for number in 0..20 {
        let body = of_another(number, DECLINED);
        let answer = pay_from(&shop, "203.0.113.7", &body).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
    }
    let body = of_another(20, "APRO");
    let refused = pay_from(&shop, "203.0.113.7", &body).await;
    assert_eq!(refused.error(), paused(3600));
    assert_eq!(pay_from(&shop, "203.0.113.8", &body).await.status, 200);
});

shop_on_both_engines!(
    many_declines_of_many_anonymous_clients_make_the_shop_strict_and_ring_a_bell,
    async |shop| {
        let bell = || {
            let text = shop.figures.encode().unwrap();
            text.contains("\nbalcao_payments_too_many_declined 1\n")
        };
        for number in 0..50 {
            assert!(!bell(), "{number}");
            let address = format!("203.0.113.{number}");
            let body = of_another(number, DECLINED);
            assert_eq!(pay_from(&shop, &address, &body).await.status, 200);
        }
        assert!(bell());
        let body = with(of_another(1, "APRO"), "card_number", json!(card_number(99)));
        let refused = pay_from(&shop, "203.0.113.99", &body).await;
        assert_eq!(refused.error(), paused(3600), "one decline is enough now");
        let new = of_another(99, "APRO");
        assert_eq!(pay_from(&shop, "203.0.113.99", &new).await.status, 200);
        shop.clock.advance(Duration::from_secs(3600));
        assert_eq!(pay_from(&shop, "203.0.113.99", &body).await.status, 200);
        assert!(!bell());
    }
);

shop_on_both_engines!(
    anonymous_clients_learn_of_a_decline_only_what_helps_a_buyer,
    async |shop| {
        let detail = |answer: &Answer| answer.json()["status_detail"].as_str().unwrap().to_owned();
        for (holder, exact, expected) in [
            (
                "SECU",
                "cc_rejected_bad_filled_security_code",
                "cc_rejected_bad_filled_other",
            ),
            (
                "FUND",
                "cc_rejected_insufficient_amount",
                "cc_rejected_other_reason",
            ),
        ] {
            let from_elsewhere = pay_from(&shop, "203.0.113.7", &card(holder)).await;
            assert_eq!(detail(&from_elsewhere), expected);
            assert_eq!(detail(&pay_as_merchant(&shop, &card(holder)).await), exact);
            assert_eq!(detail(&shop.pay(&card(holder)).await), exact);
            let (id, token) = (from_elsewhere.id(), from_elsewhere.token());
            let merchants = shop.merchant("GET", &format!("/payments/{id}"), None).await;
            assert_eq!(detail(&merchants), exact);
            let path = format!("/payments/{id}/status?token={token}");
            assert_eq!(detail(&get_from(&shop, &path, "-").await), expected);
            let key = format!("{UNGUESSABLE}{}", exact.len());
            assert_eq!(shop.pay_with_key(&card(holder), &key).await.status, 200);
            let outcome = get_from(&shop, "/payments/outcome", &key).await;
            assert_eq!(detail(&outcome), expected);
        }
    }
);

on_both_engines!(
    a_shop_may_choose_the_limit_of_declines_or_none,
    async |address| {
        let shop = Shop::open_with(&address, |config| {
            config.decline_limit = "2/hour,3/day".parse().unwrap();
        })
        .await;
        let from_anywhere = async |shop: &Shop, number: u32, body: &Value| {
            let address = format!("203.0.113.{number}");
            pay_from(shop, &address, body).await
        };
        for number in 0..2 {
            let answer = from_anywhere(&shop, number, &card(DECLINED)).await;
            assert_eq!(answer.status, 200);
        }
        let refused = from_anywhere(&shop, 2, &card("APRO")).await;
        assert_eq!(refused.error(), paused(3600));
        shop.clock.advance(Duration::from_secs(3600));
        let answer = from_anywhere(&shop, 3, &card(DECLINED)).await;
        assert_eq!(answer.status, 200);
        let refused = from_anywhere(&shop, 4, &card("APRO")).await;
        assert_eq!(refused.error(), paused(82_800), "three in a day");
        for number in 0..9 {
            let other = of_another(number, DECLINED);
            let expected = if number < 8 { 200 } else { 429 };
            assert_eq!(
                pay_from(&shop, "198.51.100.7", &other).await.status,
                expected
            );
        }
        let off = |config: &mut Config| config.decline_limit = Rates::off();
        let shop = shop.replica(off).await;
        for _ in 0..30 {
            let answer = shop
                .send(from("198.51.100.7", creation(&card(DECLINED), None)))
                .await;
            assert_eq!(answer.status, 200, "{}", answer.text);
        }
    }
);

on_both_engines!(
    a_shop_may_limit_the_payments_of_one_client,
    async |address| {
        let shop = Shop::open_with(&address, |config| {
            config.attempt_limit = "2/hour".parse().unwrap();
        })
        .await;
        for _ in 0..2 {
            assert_eq!(pay_from(&shop, "203.0.113.7", &pix()).await.status, 200);
        }
        let refused = pay_from(&shop, "203.0.113.7", &pix()).await;
        assert_eq!(refused.error(), paused(3600));
        assert_eq!(pay_as_merchant(&shop, &pix()).await.status, 200);
        assert_eq!(shop.pay(&pix()).await.status, 200);
    }
);
