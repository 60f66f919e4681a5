//! Making, reading and listing orders.

use axum::body::Body;
use http::Request;
use serde_json::{Value, json};
use test_kit::on_both_engines;

use super::{cancel, make, order, read};
use crate::payments::{
    app::{Shop, shop_on_both_engines},
    requests::{VISA, with},
};

shop_on_both_engines!(
    members_that_were_not_given_are_answered_all_the_same,
    async |shop| {
        let answer = shop.merchant("POST", "/orders/", Some(&order())).await;
        assert_eq!(answer.status, 201);
        let made = answer.json();
        let id = made["id"].as_str().unwrap();
        assert!(id.starts_with("ord_") && id.len() == 36, "{id}");
        assert_eq!(made["payment_methods"], json!(["card", "pix", "boleto"]));
        assert_eq!(
            (&made["items"], &made["metadata"]),
            (&json!([]), &json!({}))
        );
        for member in [
            "reference",
            "max_installments",
            "customer",
            "success_url",
            "cancel_url",
            "paid_at",
        ] {
            assert_eq!(made[member], Value::Null, "{member}");
        }
        assert_eq!(made["expires_at"], "2026-11-21T12:00:00.000000Z");
        assert_eq!(made["created_at"], "2026-11-20T12:00:00.000000Z");
        assert!(answer.text.contains("\"amount\":12.50"), "{}", answer.text);
        assert!(answer.text.contains("\"refunded_amount\":0.00"));
        let path = format!("/orders/{id}");
        assert_eq!(shop.merchant("GET", &path, None).await.json(), made);
        let unknown = shop.merchant("GET", "/orders/ord_1", None).await;
        unknown.is_error(404, "Order not found");
    }
);

shop_on_both_engines!(
    everything_that_was_given_is_given_back_as_it_came,
    async |shop| {
        let body = json!({
            "reference": "1042", "description": "  Pedido 1042 ", "amount": 89.30,
            "items": [
                {"title": "Café", "quantity": 2, "unit_price": 39.90, "sku": "CAFE-500"},
                {"title": "Filtro", "quantity": 1, "unit_price": 9.5},
                {"title": "Brinde", "quantity": 1, "unit_price": 0, "sku": null},
            ],
            "payment_methods": ["pix", "card", "pix"], "max_installments": 3,
            "customer": {"name": "Maria Silva", "email": "maria@example.com", "identification_number": "123.456.789-09", "zip_code": "01310-100", "federal_unit": "sp"},
            "success_url": "https://shop.example/thanks?a=b", "cancel_url": "http://127.0.0.1:3000/",
            "metadata": {"z": "1", "a": " á \n"}, "expires_at": "2026-11-20T10:00:00-03:00",
        });
        let made = make(&shop, &body).await;
        let order = read(&shop, &made).await;
        assert_eq!(order["description"], "Pedido 1042");
        assert_eq!(
            order["items"][1],
            json!({"title": "Filtro", "quantity": 1, "unit_price": 9.5, "sku": null})
        );
        assert_eq!(order["payment_methods"], json!(["card", "pix"]));
        assert_eq!(order["max_installments"], 3);
        assert_eq!(order["customer"]["identification_number"], "12345678909");
        assert_eq!(order["customer"]["zip_code"], "01310100");
        assert_eq!(order["customer"]["federal_unit"], "SP");
        assert_eq!(order["customer"]["city"], Value::Null);
        assert_eq!(order["success_url"], "https://shop.example/thanks?a=b");
        assert_eq!(order["metadata"], body["metadata"]);
        assert_eq!(order["expires_at"], "2026-11-20T13:00:00.000000Z");
    }
);

shop_on_both_engines!(
    the_items_make_the_sum_and_an_amount_given_too_must_be_equal,
    async |shop| {
        let items = |price: Value, quantity: Value| json!({"description": "x", "items": [{"title": "a", "quantity": quantity, "unit_price": price}]});
        let made = make(&shop, &items(json!(0.1), json!(3))).await;
        assert_eq!(read(&shop, &made).await["amount"], 0.3);
        let refused = async |body: &Value| {
            let answer = shop.merchant("POST", "/orders/", Some(body)).await;
            let field = answer.json()["field"]
                .as_str()
                .unwrap_or_default()
                .to_owned();
            (answer.status, answer.detail(), field)
        };
        let other = with(items(json!(10), json!(1)), "amount", json!(10.01));
        let expected = "Validation error: amount: must be the items' sum".to_owned();
        assert_eq!(refused(&other).await, (422, expected, "amount".to_owned()));
        let free = refused(&items(json!(0), json!(1))).await;
        let expected = "Transaction amount must be greater than zero".to_owned();
        assert_eq!(free, (400, expected, "amount".to_owned()));
        let large = refused(&items(json!(999_999_999_999_i64), json!(2))).await;
        assert_eq!(
            large,
            (400, "Invalid amount".to_owned(), "amount".to_owned())
        );
    }
);

shop_on_both_engines!(
    every_wrong_member_is_refused_by_its_name_nested_ones_too,
    async |shop| {
        let long = |length: usize| json!("é".repeat(length));
        let item = |member: &str, value: Value| {
            let item = json!({"title": "a", "quantity": 1, "unit_price": 1});
            json!([{"title": "a", "quantity": 1, "unit_price": 1}, with(item, member, value)])
        };
        let many = |count: usize| {
            Value::Array(vec![
                json!({"title": "a", "quantity": 1, "unit_price": 1});
                count
            ])
        };
        let texts: serde_json::Map<_, _> = (0..21).map(|n| (n.to_string(), json!("x"))).collect();
        for (member, value, status, field) in [
            ("description", json!(null), 400, "description"),
            ("description", json!("  "), 400, "description"),
            ("description", json!(1), 422, "description"),
            ("description", long(257), 422, "description"),
            ("amount", json!(null), 400, "amount"),
            ("amount", json!("10"), 400, "amount"),
            ("amount", json!(0), 400, "amount"),
            ("amount", json!(1.234), 400, "amount"),
            ("reference", long(65), 422, "reference"),
            ("reference", json!(VISA), 422, "reference"),
            ("items", json!({}), 422, "items"),
            ("items", many(101), 422, "items"),
            ("items", json!([1]), 422, "items[0]"),
            ("items", item("title", json!(null)), 400, "items[1].title"),
            ("items", item("title", json!(VISA)), 422, "items[1].title"),
            (
                "items",
                item("quantity", json!(0)),
                422,
                "items[1].quantity",
            ),
            (
                "items",
                item("quantity", json!(1.5)),
                422,
                "items[1].quantity",
            ),
            (
                "items",
                item("quantity", json!(null)),
                400,
                "items[1].quantity",
            ),
            (
                "items",
                item("unit_price", json!(-1)),
                400,
                "items[1].unit_price",
            ),
            (
                "items",
                item("unit_price", json!(null)),
                400,
                "items[1].unit_price",
            ),
            ("items", item("sku", long(201)), 422, "items[1].sku"),
            ("items", item("price", json!(1)), 422, "items[1].price"),
            ("payment_methods", json!([]), 422, "payment_methods"),
            ("payment_methods", json!(["cash"]), 422, "payment_methods"),
            ("payment_methods", json!("pix"), 422, "payment_methods"),
            ("max_installments", json!(0), 422, "max_installments"),
            ("max_installments", json!(13), 422, "max_installments"),
            ("customer", json!([]), 422, "customer"),
            ("customer", json!({"email": "a@b"}), 422, "customer.email"),
            ("customer", json!({"phone": "1"}), 422, "customer.phone"),
            (
                "customer",
                json!({"identification_number": "1"}),
                422,
                "customer.identification_number",
            ),
            (
                "customer",
                json!({"zip_code": "1"}),
                422,
                "customer.zip_code",
            ),
            (
                "customer",
                json!({"federal_unit": "XX"}),
                422,
                "customer.federal_unit",
            ),
            ("customer", json!({"name": VISA}), 422, "customer.name"),
            (
                "success_url",
                json!("http://shop.example/"),
                422,
                "success_url",
            ),
            (
                "success_url",
                json!("javascript:alert(1)"),
                422,
                "success_url",
            ),
            (
                "cancel_url",
                json!("https://user@shop.example/"),
                422,
                "cancel_url",
            ),
            ("metadata", json!([]), 422, "metadata"),
            ("metadata", json!({"a": 1}), 422, "metadata"),
            ("metadata", json!({"a": "x".repeat(501)}), 422, "metadata"),
            ("metadata", json!({"a": VISA}), 422, "metadata"),
            ("metadata", Value::Object(texts), 422, "metadata"),
            (
                "expires_at",
                json!("2026-11-20T12:09:59Z"),
                422,
                "expires_at",
            ),
            (
                "expires_at",
                json!("2026-12-20T12:00:01Z"),
                422,
                "expires_at",
            ),
            ("expires_at", json!("tomorrow"), 422, "expires_at"),
            ("expire_at", json!("2026-11-21T12:00:00Z"), 422, "expire_at"),
        ] {
            let body = with(order(), member, value);
            let answer = shop.merchant("POST", "/orders/", Some(&body)).await;
            assert_eq!(answer.status, status, "{body}: {}", answer.text);
            assert_eq!(answer.json()["field"], field, "{body}: {}", answer.text);
        }
        let unknown = with(order(), "4235 6477 2802 5682", json!(1));
        let answer = shop.merchant("POST", "/orders/", Some(&unknown)).await;
        let expected = "Validation error: body: has an unknown member".to_owned();
        assert_eq!(
            answer.error(),
            (422, expected),
            "no name is repeated that is no name"
        );
    }
);

on_both_engines!(
    an_order_above_the_largest_amount_of_its_methods_is_refused,
    async |address| {
        let shop = Shop::open_with(&address, |config| {
            config.max_amounts = "card=20,pix=30".parse().unwrap();
        })
        .await;
        let made = async |methods: Value, amount: Value| {
            let body = with(order(), "payment_methods", methods);
            let body = with(body, "amount", amount);
            shop.merchant("POST", "/orders/", Some(&body)).await
        };
        let refused = made(json!(["card", "pix"]), json!(30.01)).await;
        refused.is_error(422, "Validation error: amount: must be at most 30.00");
        assert_eq!(refused.json()["field"], "amount");
        for (methods, amount) in [(json!(["card", "pix"]), 30), (json!(null), 1000)] {
            made(methods, json!(amount)).await.has_status(201);
        }
    }
);

shop_on_both_engines!(
    a_repeated_order_is_answered_though_its_amount_is_no_longer_allowed_and_its_end_is_near,
    async |shop| {
        let body = with(order(), "expires_at", json!("2026-11-20T12:15:00Z"));
        let first = shop.merchant_with_key("POST", "/orders/", Some(&body), "k");
        let first = first.await;
        first.has_status(201);
        shop.clock.advance(std::time::Duration::from_mins(10));
        let restarted = shop.replica(|config| {
            config.max_amounts = "card=10,pix=10,boleto=10".parse().unwrap();
        });
        let restarted = restarted.await;
        let ask = async |body: &Value, key: &str| {
            restarted
                .merchant_with_key("POST", "/orders/", Some(body), key)
                .await
        };
        let again = ask(&body, "k").await;
        assert_eq!((again.status, &again.text), (201, &first.text));
        let other = ask(&with(body, "amount", json!(11)), "k").await;
        other.is_error(
            422,
            "Validation error: Idempotency-Key: was used for another request",
        );
        let new = ask(&order(), "l").await;
        new.is_error(422, "Validation error: amount: must be at most 10.00");
    }
);

shop_on_both_engines!(
    a_reference_names_one_order_whatever_became_of_it,
    async |shop| {
        let body = with(order(), "reference", json!("1042"));
        let first = make(&shop, &body).await;
        for _ in 0..2 {
            let again = shop.merchant("POST", "/orders/", Some(&body)).await;
            again.is_error(409, "An order with this reference exists");
            assert_eq!(again.json()["order"], first.id.as_str());
            assert_eq!(cancel(&shop, &first).await.status, 200);
        }
    }
);

shop_on_both_engines!(a_key_makes_one_order, async |shop| {
    let ask = async |body: &Value, key: &str| {
        shop.merchant_with_key("POST", "/orders/", Some(body), key)
            .await
    };
    let first = ask(&order(), "k").await;
    assert_eq!(
        (first.status, first.header("idempotent-replayed")),
        (201, None)
    );
    shop.clock.advance(std::time::Duration::from_secs(60));
    let id = first.json()["id"].as_str().unwrap().to_owned();
    let canceled = shop
        .merchant("POST", &format!("/orders/{id}/cancel"), None)
        .await;
    assert_eq!(canceled.status, 200);
    let again = ask(&order(), "k").await;
    assert_eq!(
        (again.status, again.header("idempotent-replayed")),
        (201, Some("true"))
    );
    assert_eq!(again.text, first.text, "as it was answered first");
    let other = ask(&with(order(), "amount", json!(13)), "k").await;
    assert_eq!(other.status, 422, "{}", other.text);
    assert_ne!(ask(&order(), "l").await.json()["id"], first.json()["id"]);
    shop.clock.advance(std::time::Duration::from_hours(72));
    checkout::reconcile::purge_expired(&shop.state)
        .await
        .unwrap();
    let kept = async |conn: &mut db::Conn| {
        let sql =
            "SELECT count(*) FROM orders WHERE key_digest IS NOT NULL OR fingerprint IS NOT NULL";
        conn.one(sql, &[], |row| row.get::<i64>(0)).await
    };
    assert_eq!(shop.db.read::<_, db::Error, _>(kept).await.unwrap(), 0);
    assert_ne!(
        ask(&order(), "k").await.json()["id"],
        first.json()["id"],
        "keys are kept for 72 hours"
    );
});

shop_on_both_engines!(
    a_key_stands_for_its_order_though_the_end_has_come_nearer_than_a_new_one_may,
    async |shop| {
        let body = with(order(), "expires_at", json!("2026-11-20T12:10:00Z"));
        let ask = async |key: &str| {
            shop.merchant_with_key("POST", "/orders/", Some(&body), key)
                .await
        };
        let first = ask("k").await;
        assert_eq!(first.status, 201, "{}", first.text);
        for _ in 0..2 {
            shop.clock.advance(std::time::Duration::from_mins(9));
            let again = ask("k").await;
            assert_eq!((again.status, again.text), (201, first.text.clone()));
            let new = ask("l").await;
            assert_eq!(
                (new.status, &new.json()["field"]),
                (422, &json!("expires_at"))
            );
        }
    }
);

shop_on_both_engines!(orders_are_listed_newest_first_and_filtered, async |shop| {
    let mut ids = Vec::new();
    for reference in ["a", "b", "c"] {
        ids.push(make(&shop, &with(order(), "reference", json!(reference))).await);
        shop.clock.advance(std::time::Duration::from_secs(60));
    }
    assert_eq!(cancel(&shop, &ids[1]).await.status, 200);
    let listed = async |query: &str| {
        let answer = shop
            .merchant("GET", &format!("/orders/{query}"), None)
            .await;
        assert_eq!(answer.status, 200, "{query}: {}", answer.text);
        let results = answer.json()["results"].as_array().unwrap().clone();
        let names = results
            .iter()
            .map(|order| order["reference"].as_str().unwrap().to_owned());
        (
            answer.json()["count"].as_i64().unwrap(),
            names.collect::<String>(),
        )
    };
    assert_eq!(listed("").await, (3, "cba".to_owned()));
    assert_eq!(listed("?status=open").await, (2, "ca".to_owned()));
    assert_eq!(
        listed("?status=canceled&reference=b").await,
        (1, "b".to_owned())
    );
    assert_eq!(listed("?reference=d").await, (0, String::new()));
    assert_eq!(
        listed("?created_from=2026-11-20T12:01:00Z&created_to=2026-11-20T12:01:00Z").await,
        (1, "b".to_owned())
    );
    assert_eq!(
        listed("?created_from=-009998-01-01T00:00:00Z").await,
        (3, "cba".to_owned())
    );
    assert_eq!(listed("?page=2&page_size=2").await, (3, "a".to_owned()));
    let page = shop
        .merchant("GET", "/orders/?status=open&page_size=1", None)
        .await
        .json();
    assert!(
        page["next"]
            .as_str()
            .unwrap()
            .ends_with("/orders/?status=open&page_size=1&page=2")
    );
    for query in [
        "?status=done",
        "?page=0",
        "?created_from=x",
        "?reference=%00",
    ] {
        let answer = shop
            .merchant("GET", &format!("/orders/{query}"), None)
            .await;
        assert_eq!(answer.status, 422, "{query}");
    }
});

shop_on_both_engines!(orders_need_a_merchants_key, async |shop| {
    let made = make(&shop, &order()).await;
    for (method, path) in [
        ("POST", "/orders/".to_owned()),
        ("GET", "/orders/".to_owned()),
        ("GET", format!("/orders/{}", made.id)),
        ("POST", format!("/orders/{}/cancel", made.id)),
    ] {
        let request = Request::builder().method(method).uri(&path);
        let request = request.header("content-type", "application/json");
        let answer = shop.send(request.body(Body::from("{}")).unwrap()).await;
        assert_eq!(
            answer.error(),
            (401, "Invalid credentials".to_owned()),
            "{method} {path}"
        );
    }
});
