//! The owner of an `Idempotency-Key`: clients with the same key do not collide, and a client whose
//! address changes does not pay twice.

use std::net::{IpAddr, SocketAddr};

use axum::body::Body;
use axum::extract::ConnectInfo;
use http::{HeaderValue, Request};
use serde_json::{Value, json};
use test_kit::on_both_engines;

use super::app::{API_KEY, Answer, Shop, creation};
use super::requests::{card, pix, with};
use crate::payments::app::shop_on_both_engines;

/// A key of the kind that the page makes.
const RANDOM: &str = "0b5cf1b8-7d5c-4b7e-9a0b-c0ffee000000";

/// The request as it comes from this address through a proxy, over HTTPS.
fn from(address: &str, mut request: Request<Body>) -> Request<Body> {
    let proxy = SocketAddr::new(IpAddr::from([127, 0, 0, 1]), 1);
    request.extensions_mut().insert(ConnectInfo(proxy));
    let headers = request.headers_mut();
    headers.insert("x-forwarded-for", address.parse().unwrap());
    headers.insert("x-forwarded-proto", "https".parse().unwrap());
    request
}

fn by_merchant(key: &str, mut request: Request<Body>) -> Request<Body> {
    let value = format!("Bearer {key}").parse().unwrap();
    request.headers_mut().insert("authorization", value);
    request
}

fn is_replayed(answer: &Answer) -> bool {
    answer.header("idempotent-replayed") == Some("true")
}

shop_on_both_engines!(
    an_anonymous_clients_order_number_does_not_block_the_shops_own,
    async |shop| {
        let order = |amount: i64| {
            let body = with(pix(), "transaction_amount", json!(amount));
            creation(&body, Some("order-1001"))
        };
        let anonymous = shop.send(from("203.0.113.7", order(1))).await.id();
        let merchant = shop.send(by_merchant(API_KEY, order(2))).await.id();
        let buyer = shop.send(from("198.51.100.4", order(3))).await.id();
        assert!(anonymous != merchant && merchant != buyer && buyer != anonymous);
        for (request, id) in [
            (from("203.0.113.7", order(1)), &anonymous),
            (by_merchant(API_KEY, order(2)), &merchant),
            // A merchant is the same from every address.
            (from("192.0.2.1", by_merchant(API_KEY, order(2))), &merchant),
            (from("198.51.100.4", order(3)), &buyer),
        ] {
            let again = shop.send(request).await;
            assert_eq!((&again.id(), is_replayed(&again)), (id, true));
        }
        let used = "Validation error: Idempotency-Key: was used for another request";
        let other = shop.send(from("203.0.113.7", order(2))).await;
        assert_eq!(other.error(), (422, used.to_owned()));
    }
);

on_both_engines!(each_merchants_key_has_keys_of_its_own, async |address| {
    let second = "balcao_another_merchant";
    let shop = Shop::open_with(&address, |config| {
        config.api_keys.push(checkout::Secret::new(second));
    })
    .await;
    let order = || creation(&pix(), Some("order-1001"));
    let one = shop.send(by_merchant(API_KEY, order())).await.id();
    let two = shop.send(by_merchant(second, order())).await.id();
    assert_ne!(one, two);
    let payment = shop.pay(&card("APRO")).await.id();
    let refund = |key: &str| {
        let path = format!("/payments/{payment}/refunds");
        let request = Request::post(path)
            .header("content-type", "application/json")
            .header("idempotency-key", "refund-1")
            .body(Body::from(r#"{"amount": 10}"#))
            .unwrap();
        by_merchant(key, request)
    };
    let first = shop.send(refund(API_KEY)).await;
    assert!(is_replayed(&shop.send(refund(API_KEY)).await));
    let other = shop.send(refund(second)).await;
    assert_eq!((first.status, other.status), (200, 200), "{}", other.text);
    assert!(!is_replayed(&other));
});

shop_on_both_engines!(
    a_buyer_whose_address_changes_goes_on_with_the_same_attempt,
    async |shop| {
        let pay = || creation(&card("APRO"), Some(RANDOM));
        shop.sandbox.fail_payment("drop after").await;
        let lost = shop.send(from("203.0.113.7", pay())).await;
        assert_eq!(lost.status, 503, "{}", lost.text);
        for address in ["198.51.100.4", "2001:db8::1", "203.0.113.7"] {
            assert_eq!(shop.send(from(address, pay())).await.status, 200);
        }
        assert_eq!(shop.sandbox.charges().await, (1, 1));
    }
);

shop_on_both_engines!(
    whoever_shows_a_key_that_is_not_in_force_is_not_taken_for_an_anonymous_client,
    async |shop| {
        let refused = (401, "Invalid credentials".to_owned());
        let pay = |body: &Value| creation(body, Some("order-1001"));
        let answer = shop.send(by_merchant("balcao_revoked", pay(&pix()))).await;
        assert_eq!(answer.error(), refused);
        let invalid = with(pix(), "email", json!("nobody"));
        let answer = shop
            .send(by_merchant("balcao_revoked", pay(&invalid)))
            .await;
        assert_eq!(answer.status, 422, "the request is checked first");
        for header in [
            &b"Bearer"[..],
            b"Bearer ",
            b"bearer chav\xe9",
            b"bearer\tkey",
            b"BEARER balcao_a balcao_b",
            b"balcao_without_its_scheme",
            b"Token balcao_a",
        ] {
            let mut request = pay(&pix());
            let value = HeaderValue::from_bytes(header).unwrap();
            request.headers_mut().insert("authorization", value);
            assert_eq!(shop.send(request).await.error(), refused, "{header:?}");
        }
        assert_eq!(shop.steps().await, Vec::<String>::new());
        let mut of_a_proxy = pay(&pix());
        let value = HeaderValue::from_static("Basic c2hvcDpzaG9w");
        of_a_proxy.headers_mut().insert("authorization", value);
        assert_eq!(shop.send(of_a_proxy).await.status, 200);
    }
);

on_both_engines!(
    a_key_that_cannot_be_looked_up_leaves_the_outcome_of_its_request_unknown,
    async |address| {
        let shop = Shop::open_with(&address, |config| config.open_payments = false).await;
        let paid = by_merchant(API_KEY, creation(&card("APRO"), Some("order-9")));
        let payment = shop.send(paid).await.id();
        let broken = async |tx: &mut db::Tx| tx.execute("DROP TABLE api_keys", &[]).await;
        shop.db.write::<_, db::Error, _>(broken).await.unwrap();
        let refund = Request::post(format!("/payments/{payment}/refunds"));
        for request in [
            creation(&card("APRO"), Some("order-9")),
            refund.body(Body::empty()).unwrap(),
        ] {
            let answer = shop.send(by_merchant("balcao_stored", request)).await;
            assert_eq!(
                (answer.status, &answer.json()["outcome"]),
                (500, &json!("unknown")),
                "{}",
                answer.text
            );
        }
    }
);

shop_on_both_engines!(an_empty_key_is_refused, async |shop| {
    let empty = (
        422,
        "Validation error: Idempotency-Key: must not be empty".to_owned(),
    );
    for header in ["idempotency-key", "x-idempotency-key"] {
        let mut request = creation(&pix(), None);
        request.headers_mut().insert(header, "".parse().unwrap());
        assert_eq!(shop.send(request).await.error(), empty);
    }
    let payment = shop.pay(&card("APRO")).await.id();
    let path = format!("/payments/{payment}/refunds");
    let refund = shop.merchant_with_key("POST", &path, None, "").await;
    assert_eq!(refund.error(), empty);
    assert_eq!(shop.steps().await, ["finished"]);
});
