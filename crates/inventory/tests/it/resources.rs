//! The same five operations of every resource, and what its constraints refuse.

use std::time::Duration;

use http::Method;
use serde_json::{Value, json};

use crate::app::{NOW, app_on_both_engines};

/// Each resource with a body that creates it, with the id 1 or 2, and one that changes it.
/// Movements cannot be changed.
fn resources() -> [(&'static str, Value, Option<Value>); 6] {
    let named = |name: &str| (json!({"name": name}), Some(json!({"name": "Outra"})));
    let product = json!({
        "title": "Café", "category": 1, "brand": 1, "serie_number": "7891", "cost_price": "1", "selling_price": 2.5, "quantity": 7,
    });
    let ((brand, changed), (category, _), (supplier, _)) = (named("M"), named("C"), named("F"));
    [
        ("brands", brand, changed.clone()),
        ("categories", category, changed.clone()),
        ("suppliers", supplier, changed),
        ("products", product, Some(json!({"title": "Chá"}))),
        (
            "inflows",
            json!({"supplier": 1, "product": 1, "quantity": 3}),
            None,
        ),
        ("outflows", json!({"product": 1, "quantity": 2}), None),
    ]
}

app_on_both_engines!(
    every_resource_is_created_with_201_and_listed_and_read_with_200,
    async |app| {
        let admin = app.admin();
        for (path, body, _) in resources() {
            let list = format!("/api/v1/{path}/");
            let created = admin.post(&list, body).await;
            assert_eq!(created.status, 201, "{path}");
            let object = created.json();
            assert!(object["id"].is_i64(), "{path}");
            assert_eq!(
                (&object["created_at"], &object["updated_at"]),
                (&json!(NOW), &json!(NOW))
            );
            admin
                .get(&format!("{list}{}/", object["id"]))
                .await
                .is(200, &object);
            admin.get(&list).await.is(
                200,
                &json!({"count": 1, "next": null, "previous": null, "results": [object]}),
            );
        }
    }
);

app_on_both_engines!(
    every_resource_but_movements_is_changed_with_put_and_patch,
    async |app| {
        let admin = app.admin();
        let mut seconds = 0;
        let mut later = || {
            seconds += 1;
            app.clock.advance(Duration::from_secs(1));
            json!(format!("2026-11-20T12:00:{seconds:02}Z"))
        };
        for (path, body, change) in resources() {
            let created = admin
                .post(&format!("/api/v1/{path}/"), body.clone())
                .await
                .json();
            let one = format!("/api/v1/{path}/{}/", created["id"]);
            let Some(change) = change else {
                for method in [Method::PUT, Method::PATCH] {
                    let refused = admin.send(method.clone(), &one, Some(body.clone())).await;
                    let detail = format!("Method \"{method}\" not allowed.");
                    refused.is(405, &json!({"detail": detail}));
                    assert_eq!(refused.header("allow"), "GET, DELETE, HEAD, OPTIONS");
                }
                continue;
            };
            let mut expected = created.clone();
            for (name, value) in change.as_object().unwrap() {
                expected[name] = value.clone();
            }
            expected["updated_at"] = later();
            admin.patch(&one, change).await.is(200, &expected);
            let mut expected = created;
            expected["updated_at"] = later();
            admin.put(&one, body).await.is(200, &expected);
            admin.get(&one).await.is(200, &expected);
        }
    }
);

app_on_both_engines!(
    every_resource_is_deleted_with_204_and_no_body_unless_it_is_referenced,
    async |app| {
        let admin = app.admin();
        for (path, body, _) in resources() {
            admin.post(&format!("/api/v1/{path}/"), body).await.id();
        }
        let one = |path: &str| format!("/api/v1/{path}/1/");
        for (path, refused) in [
            ("brands", "brand because 1 product record references it."),
            (
                "categories",
                "category because 1 product record references it.",
            ),
            (
                "suppliers",
                "supplier because 1 inflow record references it.",
            ),
            (
                "products",
                "product because 1 inflow record and 1 outflow record reference it.",
            ),
        ] {
            let detail = format!("Cannot delete this {refused}");
            admin
                .delete(&one(path))
                .await
                .is(409, &json!({"detail": detail}));
        }
        for path in [
            "outflows",
            "inflows",
            "products",
            "suppliers",
            "categories",
            "brands",
        ] {
            let deleted = admin.delete(&one(path)).await;
            assert_eq!((deleted.status, deleted.text.as_str()), (204, ""), "{path}");
            assert_eq!(admin.get(&one(path)).await.status, 404, "{path}");
        }
    }
);

app_on_both_engines!(
    what_is_required_may_be_neither_absent_nor_null_and_the_rest_may,
    async |app| {
        let admin = app.admin();
        for (path, body, _) in resources() {
            let list = format!("/api/v1/{path}/");
            for (name, value) in body.as_object().unwrap() {
                let is_optional = name == "serie_number";
                let mut absent = body.clone();
                absent.as_object_mut().unwrap().remove(name);
                let mut null = body.clone();
                null[name] = Value::Null;
                for (body, message) in [
                    (absent, "This field is required."),
                    (null, "This field may not be null."),
                ] {
                    let answer = admin.post(&list, body).await;
                    if is_optional {
                        assert_eq!(answer.json()[name], Value::Null, "{path} {name} {value}");
                    } else {
                        let mut errors = json!({});
                        errors[name] = json!([message]);
                        answer.is(400, &errors);
                    }
                }
            }
            admin.post(&list, body).await.id();
        }
    }
);

app_on_both_engines!(
    a_serie_number_is_unique_when_provided_and_null_when_absent,
    async |app| {
        let admin = app.admin();
        for (path, body, _) in resources().into_iter().take(2) {
            admin.post(&format!("/api/v1/{path}/"), body).await.id();
        }
        let post = async |serie_number: Value| {
            let product = json!({
                "title": "Café", "category": 1, "brand": 1, "serie_number": serie_number, "cost_price": "1", "selling_price": "2", "quantity": 0,
            });
            admin.post("/api/v1/products/", product).await
        };
        assert_eq!(post(json!(" 7891 ")).await.json()["serie_number"], "7891");
        post(json!("7891")).await.is(
            400,
            &json!({"serie_number": ["product with this serie number already exists."]}),
        );
        for absent in [Value::Null, json!(""), json!("  "), Value::Null] {
            assert_eq!(post(absent).await.json()["serie_number"], Value::Null);
        }
    }
);
