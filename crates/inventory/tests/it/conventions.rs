//! The conventions of the API that hold for all resources: the answer to OPTIONS, the order and
//! format of bodies, and the addresses.

use axum::body::Body;
use bytes::Bytes;
use http::{HeaderValue, Method, Request, header};
use serde_json::{Value, json};
use test_kit::database::{Engine, run};

use crate::app::{Answer, Client, TestApp, app_on_both_engines};

async fn options(client: &Client<'_>, path: &str) -> Answer {
    let answer = client.send(Method::OPTIONS, path, None).await;
    assert_eq!(answer.status, 200, "{path}: {answer:?}");
    answer
}

/// The fields that OPTIONS lists as writable by this method.
fn written(answer: &Answer, method: &str) -> Vec<String> {
    let actions = answer.json()["actions"][method].clone();
    let fields = actions.as_object().cloned().unwrap_or_default();
    let place = |field: &String| answer.text.find(&format!("\"{field}\":{{\"type\""));
    let mut names: Vec<String> = fields.keys().cloned().collect();
    names.sort_by_key(place);
    names
}

app_on_both_engines!(
    a_body_that_names_a_member_twice_is_refused_and_nothing_is_saved,
    async |app| {
        let detail = "JSON parse error - Duplicate member 'name'";
        for body in [
            r#"{"name":"Camil","name":"Tio João"}"#,
            r#"{"name":"Camil","description":"","n\u0061me":"Camil"}"#,
        ] {
            let answer = app
                .admin()
                .send_with(Method::POST, "/api/v1/brands/", Some(body.to_owned()), &[])
                .await;
            answer.is(400, &json!({"detail": detail}));
        }
        let brands = app.admin().get("/api/v1/brands/").await;
        assert_eq!(brands.json()["count"], 0);
    }
);

app_on_both_engines!(
    options_tell_what_an_address_is_and_what_its_caller_may_write_there,
    async |app| {
        app.admin().a_product("Arroz", 5).await;
        let brands = options(&app.manager(), "/api/v1/brands/").await;
        assert!(
            brands.text.starts_with(
                r#"{"name":"Brand List","description":"","renders":["application/json"],"parses":["application/json"],"actions":{"POST":{"id":{"type":"integer","required":false,"read_only":true,"label":"ID"},"name":{"type":"string","required":true,"read_only":false,"label":"Name","max_length":500},"#
            ),
            "{}",
            brands.text
        );
        let named = ["id", "name", "description", "created_at", "updated_at"];
        assert_eq!(written(&brands, "POST"), named);
        for (path, name, method, fields) in [
            ("/api/v1/brands/1/", "Brand Instance", "PUT", 5),
            ("/api/v1/categories/", "Category List", "POST", 5),
            ("/api/v1/products/", "Product List", "POST", 11),
            ("/api/v1/products/1/", "Product Instance", "PUT", 11),
            ("/api/v1/inflows/", "Inflow List", "POST", 7),
            ("/api/v1/outflows/", "Outflow List", "POST", 6),
        ] {
            let told = options(&app.manager(), path).await;
            assert_eq!(told.json()["name"], name);
            assert_eq!(written(&told, method).len(), fields, "{path}");
        }
        // OPTIONS lists no writable fields for movements, for unknown records, and for users who
        // may not write.
        for (client, path) in [
            (app.manager(), "/api/v1/inflows/1/"),
            (app.manager(), "/api/v1/brands/99/"),
            (app.manager(), "/api/v1/brands/abc/"),
            (app.viewer(), "/api/v1/brands/"),
            (app.viewer(), "/api/v1/brands/1/"),
        ] {
            assert_eq!(options(&client, path).await.json().get("actions"), None);
        }
    }
);

app_on_both_engines!(
    options_of_tokens_tell_what_is_sent_and_obtain_none,
    async |app| {
        for (place, name, fields) in [
            ("", "Token Obtain Pair", &["username", "password"][..]),
            ("refresh/", "Token Refresh", &["refresh"]),
            ("verify/", "Token Verify", &["token"]),
        ] {
            let path = format!("/api/v1/authentication/token/{place}");
            let told = app
                .anonymous()
                .send(Method::OPTIONS, &path, Some(json!({"username": "admin"})))
                .await;
            assert_eq!((told.status, &told.json()["name"]), (200, &json!(name)));
            assert_eq!(written(&told, "POST"), fields);
        }
    }
);

app_on_both_engines!(
    messages_stand_in_the_order_of_the_fields_and_a_401_begins_with_its_detail,
    async |app| {
        let required = r#"["This field is required."]"#;
        let expected = [
            "title",
            "category",
            "brand",
            "cost_price",
            "selling_price",
            "quantity",
        ]
        .map(|field| format!("\"{field}\":{required}"))
        .join(",");
        let refused = app.admin().post("/api/v1/products/", json!({})).await;
        assert_eq!(refused.text, format!("{{{expected}}}"));
        let filters = app
            .viewer()
            .get("/api/v1/inflows/?date_to=x&date_from=x&product=x&supplier=x")
            .await;
        let places = ["supplier", "product", "date_from", "date_to"]
            .map(|filter| filters.text.find(filter).unwrap());
        assert!(places.is_sorted(), "{}", filters.text);
        let unknown = app
            .anonymous()
            .post(
                "/api/v1/authentication/token/verify/",
                json!({"token": "x".repeat(20_000)}),
            )
            .await;
        assert_eq!(
            unknown.text,
            r#"{"detail":"Token is invalid","code":"token_not_valid"}"#
        );
        let garbage = HeaderValue::from_bytes("Bearer garçon".as_bytes()).unwrap();
        let request = Request::builder()
            .uri("/api/v1/brands/")
            .header(header::AUTHORIZATION, garbage);
        let refused = app.call(request.body(Body::empty()).unwrap()).await;
        assert_eq!(
            refused.text,
            r#"{"detail":"Given token not valid for any token type","code":"token_not_valid","messages":[{"token_class":"AccessToken","token_type":"access","message":"Token is invalid"}]}"#
        );
    }
);

#[test]
fn an_answer_is_written_over_lines_where_that_is_asked_for() {
    run(Engine::Sqlite, async |address| {
        let app = TestApp::new(&address).await;
        let accept = [("accept", "application/json; indent=4")];
        let list = app
            .viewer()
            .send_with(Method::GET, "/api/v1/brands/", None, &accept)
            .await;
        assert_eq!(
            list.text,
            "{\n    \"count\": 0,\n    \"next\": null,\n    \"previous\": null,\n    \"results\": []\n}"
        );
        assert_eq!(list.header("content-type"), "application/json");
        let unknown = app
            .viewer()
            .send_with(Method::GET, "/api/v1/brands/9/", None, &accept)
            .await;
        assert_eq!(unknown.text, "{\n    \"detail\": \"Not found.\"\n}");
        app.admin().a_product("Arroz", 1).await;
        for path in [
            "products/",
            "products/1/ledger/",
            "low-stock/",
            "products/1/threshold/",
        ] {
            let path = format!("/api/v1/{path}");
            let viewer = app.viewer();
            let read = viewer.send_with(Method::GET, &path, None, &accept).await;
            let head = viewer.send_with(Method::HEAD, &path, None, &accept).await;
            assert_eq!(head.header("content-length"), read.text.len().to_string());
            assert_eq!(head.text, "");
        }
    });
}

app_on_both_engines!(
    two_line_ends_of_old_scripts_are_escaped_in_every_answer,
    async |app| {
        let (raw, escaped) = ("a\u{2028}b\u{2029}", "a\\u2028b\\u2029");
        let admin = app.admin();
        let product = admin.a_product(&format!("{raw}c"), 9).await;
        let sale = json!({"product": product, "quantity": 1, "description": format!("{raw}c")});
        let key = [("Idempotency-Key", "once")];
        let sale = || Some(sale.to_string());
        let outflows = "/api/v1/outflows/";
        let mut answers = Vec::new();
        for headers in [&[][..], &key, &key] {
            answers.push(
                admin
                    .send_with(Method::POST, outflows, sale(), headers)
                    .await,
            );
        }
        answers.push(admin.get("/api/v1/products/").await);
        let twice = Some(format!("{{\"{raw}\":1,\"{raw}\":2}}"));
        answers.push(
            admin
                .send_with(Method::POST, "/api/v1/brands/", twice, &[])
                .await,
        );
        for answer in &answers {
            assert!(answer.text.contains(escaped), "{answer:?}");
            assert!(
                !answer.text.contains(['\u{2028}', '\u{2029}']),
                "{answer:?}"
            );
        }
        assert_eq!(answers[1].text, answers[2].text);
    }
);

#[test]
fn what_no_address_has_is_not_found_by_whoever_asks_for_it() {
    run(Engine::Sqlite, async |address| {
        let app = TestApp::new(&address).await;
        for path in [
            "/api/v1/brands/1.0/",
            "/api/v1/brands/%2e/",
            "/api/v1/brands/1%2F2/",
            "/api/v1/brands//",
            "/api/v1/inflows/1.5/",
            "/api/v1/products/1.0/ledger/",
            "/api/v1/products/1.0/threshold/",
        ] {
            for client in [app.anonymous(), app.viewer(), app.admin()] {
                for method in [Method::GET, Method::PUT, Method::DELETE] {
                    let answer = client.send(method, path, None).await;
                    answer.is(404, &json!({"detail": "Not found."}));
                }
            }
        }
    });
}

#[test]
fn a_host_that_no_address_can_name_is_refused() {
    run(Engine::Sqlite, async |address| {
        let app = TestApp::new(&address).await;
        let call = async |host: &str, path: &str| {
            let request = Request::builder()
                .uri(path)
                .header(header::HOST, host)
                .header(header::AUTHORIZATION, app.viewer().authorization())
                .body(Body::empty())
                .unwrap();
            app.open(request).await.status().as_u16()
        };
        for host in ["", "a b", "shop.example/x", "user@shop.example", "<b>"] {
            for path in ["/api/v1/brands/", "/login/"] {
                assert_eq!(call(host, path).await, 400, "{host}");
            }
        }
        for host in [
            "shop.example",
            "127.0.0.1:8001",
            "[::1]:8001",
            "shop_inventory:8001",
        ] {
            assert_eq!(call(host, "/api/v1/brands/").await, 200, "{host}");
        }
    });
}

#[test]
fn a_body_whose_sender_goes_in_the_middle_of_it_is_refused_and_saves_nothing() {
    run(Engine::Sqlite, async |address| {
        let app = TestApp::new(&address).await;
        let parts = [
            Ok(Bytes::from_static(b"{\"name\": \"Arroz\"}")),
            Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof)),
        ];
        let request = Request::builder()
            .method(Method::POST)
            .uri("/api/v1/brands/")
            .header(header::AUTHORIZATION, app.admin().authorization())
            .header(header::CONTENT_TYPE, "application/json")
            .body(Body::from_stream(tokio_stream::iter(parts)))
            .unwrap();
        let refused = app.call(request).await;
        refused.is(400, &json!({"detail": "The body ends before its time."}));
        let list: Value = app.viewer().get("/api/v1/brands/").await.json();
        assert_eq!(list["count"], 0);
    });
}
