//! Brands, categories, suppliers and products: shapes, validation, lists, protected deletes.

use serde_json::json;

use crate::app::{NOW, app_on_both_engines};

app_on_both_engines!(all_errors_of_all_fields_come_in_one_answer, async |app| {
    let refused = app
        .admin()
        .post(
            "/api/v1/products/",
            json!({"title": " ", "category": 99, "cost_price": "1.999", "quantity": -1}),
        )
        .await;
    refused.is(
        400,
        &json!({
            "title": ["This field may not be blank."],
            "category": ["Invalid pk \"99\" - object does not exist."],
            "brand": ["This field is required."],
            "cost_price": ["Ensure that there are no more than 2 decimal places."],
            "selling_price": ["This field is required."],
            "quantity": ["Ensure this value is greater than or equal to 0."],
        }),
    );
});

app_on_both_engines!(
    a_product_shows_its_references_as_objects_and_its_prices_as_strings,
    async |app| {
        let id = app.admin().a_product("Arroz 5 kg", 40).await;
        app.viewer().get(&format!("/api/v1/products/{id}/")).await.is(
        200,
        &json!({
            "id": id, "title": "Arroz 5 kg", "category": {"id": 1, "name": "Grãos"}, "brand": {"id": 1, "name": "Tio João"},
            "description": null, "serie_number": null, "cost_price": "8.00", "selling_price": "12.50", "quantity": 40,
            "created_at": NOW, "updated_at": NOW,
        }),
    );
    }
);

app_on_both_engines!(pages_carry_the_addresses_of_their_neighbours, async |app| {
    let admin = app.admin();
    for name in ["A", "B", "C", "D", "E"] {
        admin.a_supplier(name).await;
    }
    let page = admin
        .get("/api/v1/suppliers/?zz=1&page_size=2&page=2&aa=2")
        .await
        .json();
    assert_eq!(page["count"], 5);
    assert_eq!(
        page["next"],
        "http://shop.example/api/v1/suppliers/?aa=2&page=3&page_size=2&zz=1"
    );
    assert_eq!(
        page["previous"],
        "http://shop.example/api/v1/suppliers/?aa=2&page_size=2&zz=1"
    );
    assert_eq!(page["results"][0]["name"], "C");
    admin
        .get("/api/v1/suppliers/?page=4&page_size=2")
        .await
        .is(404, &json!({"detail": "Invalid page."}));
});

app_on_both_engines!(the_largest_price_is_kept_exactly, async |app| {
    let admin = app.admin();
    let id = admin.a_product("Ouro", 0).await;
    let body =
        r#"{"selling_price": 99999999999999999999.99, "cost_price": 12345678901234567890.12}"#;
    let path = format!("/api/v1/products/{id}/");
    let changed = admin
        .send_with(http::Method::PATCH, &path, Some(body.to_owned()), &[])
        .await
        .json();
    assert_eq!(changed["selling_price"], "99999999999999999999.99");
    assert_eq!(changed["cost_price"], "12345678901234567890.12");
    let count = async |query: &str| {
        admin
            .get(&format!("/api/v1/products/?{query}"))
            .await
            .json()["count"]
            .clone()
    };
    assert_eq!(count("min_price=99999999999999999999.99").await, 1);
    assert_eq!(count("max_price=99999999999999999999.98").await, 0);
    assert_eq!(count("min_price=99999999999999999999.991").await, 0);
});

app_on_both_engines!(
    a_serie_number_of_staged_rows_is_given_to_no_product,
    async |app| {
        let other = app.admin().a_product("Arroz", 1).await;
        for sql in [
            "INSERT INTO imports (user_name, resource, file_name, state, added, created_at)
             SELECT 'a', 'products', 'a.csv', 'staging', 0, created_at FROM products",
            "INSERT INTO import_serie_numbers (serie_number, import_id) VALUES ('789', 1)",
        ] {
            app.execute(sql).await;
        }
        let product = json!({"title": "Feijão", "category": 1, "brand": 1, "cost_price": "1.00", "selling_price": "2.00",
                             "quantity": 1, "serie_number": "789"});
        let taken = json!({"serie_number": ["product with this serie number already exists."]});
        let manager = app.manager();
        let refused = manager.post("/api/v1/products/", product.clone()).await;
        refused.is(400, &taken);
        let path = format!("/api/v1/products/{other}/");
        let change = json!({"serie_number": "789"});
        manager.patch(&path, change.clone()).await.is(400, &taken);
        app.execute("DELETE FROM import_serie_numbers").await;
        manager.post("/api/v1/products/", product).await.id();
        let held = "SELECT count(*) FROM import_serie_numbers";
        assert_eq!(app.number(held).await, 0);
    }
);
