//! Reading and listing payments, and who may do so.

use std::time::Duration;

use axum::body::Body;
use http::Request;
use serde_json::{Value, json};
use test_kit::on_both_engines;

use super::app::{API_KEY, Shop};
use super::requests::{boleto, card, pix};
use crate::payments::app::shop_on_both_engines;

shop_on_both_engines!(
    a_payment_is_read_in_the_shape_of_its_creation,
    async |shop| {
        for request in [card("APRO"), pix(), boleto()] {
            let created = shop.pay(&request).await;
            let read = shop
                .merchant("GET", &format!("/payments/{}", created.id()), None)
                .await;
            assert_eq!((read.status, &read.text), (200, &created.text));
            assert_eq!(read.header("cache-control"), Some("no-store"));
        }
    }
);

shop_on_both_engines!(
    a_pix_payment_has_its_date_of_approval_once_it_is_paid,
    async |shop| {
        let created = shop.pay(&pix()).await;
        assert!(created.json().get("date_approved").is_none());
        shop.sandbox.act(&created.id(), "pay").await;
        shop.clock.advance(Duration::from_mins(1));
        shop.reconcile().await;
        let mut expected = created.json();
        let read = shop
            .merchant("GET", &format!("/payments/{}", created.id()), None)
            .await
            .json();
        assert!(
            read["date_approved"]
                .as_str()
                .unwrap()
                .starts_with("2026-11-20T")
        );
        for member in ["status", "status_detail", "date_approved"] {
            expected[member] = read[member].clone();
        }
        assert_eq!(read, expected);
        assert_eq!(
            (read["status"].as_str(), read["status_detail"].as_str()),
            (Some("approved"), Some("accredited"))
        );
    }
);

shop_on_both_engines!(an_unknown_payment_is_not_found, async |shop| {
    for id in [
        "1",
        "x",
        "99999999999999999999999999",
        "%27%20OR%201",
        "%00",
        "%FF",
    ] {
        let answer = shop.merchant("GET", &format!("/payments/{id}"), None).await;
        assert_eq!(
            answer.error(),
            (404, "Payment not found".to_owned()),
            "{id}"
        );
    }
});

shop_on_both_engines!(only_merchants_read_list_cancel_and_refund, async |shop| {
    let id = shop.pay(&pix()).await.id();
    let one = format!("/payments/{id}");
    let refunds = format!("{one}/refunds");
    for (method, path) in [
        ("GET", "/payments/"),
        ("GET", &one),
        ("PUT", &one),
        ("POST", &refunds),
    ] {
        for authorization in [
            None,
            Some("Bearer wrong"),
            Some("Bearer "),
            Some("Basic YTpi"),
            Some(API_KEY),
        ] {
            let mut request = Request::builder().method(method).uri(path);
            if let Some(value) = authorization {
                request = request.header("authorization", value);
            }
            let answer = shop.send(request.body(Body::empty()).unwrap()).await;
            assert_eq!(
                answer.error(),
                (401, "Invalid credentials".to_owned()),
                "{method} {path} {authorization:?}"
            );
            assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        }
    }
});

on_both_engines!(without_any_key_merchants_are_refused_too, async |address| {
    let shop = Shop::open_with(&address, |config| config.api_keys.clear()).await;
    assert_eq!(shop.merchant("GET", "/payments/", None).await.status, 401);
});

shop_on_both_engines!(a_key_of_the_store_works_until_it_is_revoked, async |shop| {
    let random = web::Random::seeded(5);
    let new = checkout::keys::add(&shop.db, &shop.clock, &random, "Loja da Praça")
        .await
        .unwrap();
    assert!(new.key.starts_with(&new.prefix) && new.key.len() > 40);
    let digest = async |conn: &mut db::Conn| {
        conn.one("SELECT digest FROM api_keys", &[], |row| {
            row.get::<String>(0)
        })
        .await
    };
    let digest = shop.db.read::<_, db::Error, _>(digest).await.unwrap();
    assert!(digest.len() == 64 && digest != new.key, "{digest}");
    assert!(digest.bytes().all(|digit| digit.is_ascii_hexdigit()));
    let get = async |key: &str| {
        let request = Request::get("/payments/").header("authorization", format!("Bearer {key}"));
        shop.send(request.body(Body::empty()).unwrap()).await.status
    };
    assert_eq!(get(&new.key).await, 200);
    assert_eq!(get(&new.prefix).await, 401);
    let listed = checkout::keys::list(&shop.db).await.unwrap();
    assert_eq!(
        (
            listed[0].name.as_str(),
            &listed[0].prefix,
            listed[0].revoked_at
        ),
        ("Loja da Praça", &new.prefix, None)
    );
    assert!(!format!("{new:?} {listed:?}").contains(&new.key));
    assert!(
        checkout::keys::revoke(&shop.db, &shop.clock, &new.prefix)
            .await
            .unwrap()
    );
    assert!(
        !checkout::keys::revoke(&shop.db, &shop.clock, &new.prefix)
            .await
            .unwrap()
    );
    assert_eq!(get(&new.key).await, 401);
    let leaked = checkout::keys::add(&shop.db, &shop.clock, &random, "Leaked")
        .await
        .unwrap();
    let revoke = async |key: &str| checkout::keys::revoke(&shop.db, &shop.clock, key).await;
    assert!(!revoke(&format!("{}x", leaked.prefix)).await.unwrap());
    assert_eq!(get(&leaked.key).await, 200, "what only begins like it");
    assert!(revoke(&leaked.key).await.unwrap());
    assert_eq!(get(&leaked.key).await, 401);
    assert!(
        checkout::keys::add(&shop.db, &shop.clock, &random, "  ")
            .await
            .is_err()
    );
});

shop_on_both_engines!(a_list_shows_the_newest_first_in_pages, async |shop| {
    let empty = shop.merchant("GET", "/payments/", None).await.json();
    assert_eq!(
        empty,
        json!({"count": 0, "next": null, "previous": null, "results": []})
    );
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.insert(0, shop.pay(&pix()).await.id());
        shop.clock.advance(Duration::from_secs(1));
    }
    let page = async |query: &str| {
        let request = Request::get(format!("/payments/{query}")).header("host", "localhost:8000");
        let request = request
            .header("authorization", format!("Bearer {API_KEY}"))
            .body(Body::empty())
            .unwrap();
        shop.send(request).await.json()
    };
    let found = |page: &Value| -> Vec<String> {
        page["results"]
            .as_array()
            .unwrap()
            .iter()
            .map(|payment| payment["id"].as_str().unwrap().to_owned())
            .collect()
    };
    let first = page("?page_size=2").await;
    assert_eq!(
        (&first["count"], found(&first)),
        (&json!(5), ids[..2].to_vec())
    );
    assert_eq!(
        first["next"],
        "http://localhost:8000/payments/?page_size=2&page=2"
    );
    assert_eq!(first["previous"], Value::Null);
    let second = page("?page_size=2&page=2").await;
    assert_eq!(found(&second), ids[2..4]);
    assert_eq!(
        second["next"],
        "http://localhost:8000/payments/?page_size=2&page=3"
    );
    assert_eq!(
        second["previous"],
        "http://localhost:8000/payments/?page_size=2"
    );
    let last = page("?page=3&page_size=2").await;
    assert_eq!(
        (found(&last), &last["next"]),
        (ids[4..].to_vec(), &Value::Null)
    );
    let beyond = page("?page=9&page_size=2").await;
    assert_eq!(
        (found(&beyond), &beyond["next"]),
        (Vec::new(), &Value::Null)
    );
    assert_eq!(
        beyond["previous"],
        "http://localhost:8000/payments/?page_size=2&page=3"
    );
});

shop_on_both_engines!(
    a_list_is_filtered_by_status_method_and_creation,
    async |shop| {
        let approved = shop.pay(&card("APRO")).await.id();
        shop.clock.advance(Duration::from_hours(24));
        let pending = shop.pay(&pix()).await.id();
        let slip = shop.pay(&boleto()).await.id();
        let expected: [(&str, Vec<&String>); 11] = [
            ("", vec![&slip, &pending, &approved]),
            ("?status=pending", vec![&slip, &pending]),
            ("?status=approved", vec![&approved]),
            ("?status=refunded", vec![]),
            ("?payment_method=boleto", vec![&slip]),
            ("?status=pending&payment_method=pix", vec![&pending]),
            ("?status=approved&payment_method=pix", vec![]),
            ("?created_to=2026-11-20", vec![&approved]),
            ("?created_from=2026-11-21", vec![&slip, &pending]),
            (
                "?created_from=2026-11-20T12:00:00Z&created_to=2026-11-20T12:00:00Z",
                vec![&approved],
            ),
            ("?created_from=2026-11-21&payment_method=card", vec![]),
        ];
        for (query, ids) in expected {
            let list = shop
                .merchant("GET", &format!("/payments/{query}"), None)
                .await
                .json();
            let found: Vec<_> = list["results"]
                .as_array()
                .unwrap()
                .iter()
                .map(|payment| payment["id"].as_str().unwrap())
                .collect();
            assert_eq!(found, ids, "{query}");
            assert_eq!(list["count"], ids.len(), "{query}");
        }
        for (query, reason) in [
            ("status=paid", "status: must be a payment status"),
            (
                "payment_method=cash",
                "payment_method: must be card, pix or boleto",
            ),
            (
                "page_size=101",
                "page_size: must be a whole number from 1 to 100",
            ),
            (
                "created_from=soon",
                "created_from: must be an ISO 8601 date or date-time",
            ),
        ] {
            let path = format!("/payments/?{query}");
            let answer = shop.merchant("GET", &path, None).await;
            answer.is_error(422, &format!("Validation error: {reason}"));
        }
    }
);
