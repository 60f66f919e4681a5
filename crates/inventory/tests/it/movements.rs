//! Inflows and outflows: what they do to a quantity, what is refused, and what a deletion reverses.

use http::Method;
use serde_json::json;

use crate::app::{NOW, app_on_both_engines};

app_on_both_engines!(
    an_inflow_raises_the_quantity_and_an_outflow_lowers_it,
    async |app| {
        let admin = app.admin();
        let product = admin.a_product("Arroz", 40).await;
        let supplier = admin.a_supplier("Distribuidora").await;
        let inflow = admin
            .post(
                "/api/v1/inflows/",
                json!({"supplier": supplier, "product": product, "quantity": 5}),
            )
            .await;
        inflow.is(
        201,
        &json!({
            "id": 1, "supplier": {"id": supplier, "name": "Distribuidora"}, "product": {"id": product, "title": "Arroz"},
            "quantity": 5, "description": null, "created_at": NOW, "updated_at": NOW,
        }),
    );
        let outflow = admin.try_to_sell(product, 45).await;
        outflow.is(
        201,
        &json!({
            "id": 1, "product": {"id": product, "title": "Arroz"}, "quantity": 45, "description": null, "created_at": NOW, "updated_at": NOW,
        }),
    );
        assert_eq!(admin.quantity_of(product).await, 0);
    }
);

app_on_both_engines!(
    an_outflow_of_more_than_there_is_saves_nothing,
    async |app| {
        let admin = app.admin();
        let product = admin.a_product("Arroz", 4).await;
        let refused = admin.try_to_sell(product, 5).await;
        refused.is(
            400,
            &json!({"quantity": ["Insufficient stock: 4 available."]}),
        );
        assert_eq!(admin.quantity_of(product).await, 4);
        assert_eq!(admin.get("/api/v1/outflows/").await.json()["count"], 0);
    }
);

app_on_both_engines!(
    deleting_an_inflow_lowers_the_quantity_unless_the_goods_have_left,
    async |app| {
        let admin = app.admin();
        let product = admin.a_product("Arroz", 0).await;
        let supplier = admin.a_supplier("S").await;
        let inflow = admin.receive(supplier, product, 10).await;
        let outflow = admin.sell(product, 7).await;
        let refused = admin.delete(&format!("/api/v1/inflows/{inflow}/")).await;
        refused.is(409, &json!({"detail": "Cannot delete this inflow because only 3 of its 10 units are still in stock."}));
        admin
            .delete(&format!("/api/v1/outflows/{outflow}/"))
            .await
            .has_status(204);
        assert_eq!(admin.quantity_of(product).await, 10);
        admin
            .delete(&format!("/api/v1/inflows/{inflow}/"))
            .await
            .has_status(204);
        assert_eq!(admin.quantity_of(product).await, 0);
    }
);

app_on_both_engines!(
    a_repeated_key_answers_the_same_and_books_once,
    async |app| {
        let admin = app.admin();
        let product = admin.a_product("Arroz", 9).await;
        let body = json!({"product": product, "quantity": 2}).to_string();
        let book = async |body: &str| {
            admin
                .send_with(
                    Method::POST,
                    "/api/v1/outflows/",
                    Some(body.to_owned()),
                    &[("Idempotency-Key", "k1")],
                )
                .await
        };
        let first = book(&body).await;
        let second = book(&body).await;
        assert_eq!((second.status, &second.text), (first.status, &first.text));
        assert_eq!(second.headers["idempotent-replayed"], "true");
        book(&json!({"product": product, "quantity": 3}).to_string())
            .await
            .has_status(422);
        assert_eq!(admin.quantity_of(product).await, 7);
    }
);

app_on_both_engines!(
    a_key_is_one_header_and_is_read_only_where_it_is_accepted,
    async |app| {
        let admin = app.admin();
        let product = admin.a_product("Arroz", 10).await;
        let sale = json!({"product": product, "quantity": 1}).to_string();
        let brand = json!({"name": "Camil"}).to_string();
        let (name, long) = ("Idempotency-Key", "k".repeat(300));
        for headers in [
            &[(name, "")][..],
            &[(name, &long)],
            &[(name, "a"), (name, "b")],
        ] {
            let send = async |path, body: &String| {
                let body = Some(body.clone());
                admin.send_with(Method::POST, path, body, headers).await
            };
            send("/api/v1/outflows/", &sale).await.is(
                400,
                &json!({"detail": "Idempotency-Key must be 1 to 255 visible ASCII characters, once."}),
            );
            send("/api/v1/brands/", &brand).await.has_status(201);
        }
        assert_eq!(admin.quantity_of(product).await, 10);
    }
);

app_on_both_engines!(checks_come_in_the_conventional_order, async |app| {
    let (viewer, manager, admin) = (app.viewer(), app.manager(), app.admin());
    app.anonymous().get("/api/v1/brands/").await.is(
        401,
        &json!({"detail": "Authentication credentials were not provided."}),
    );
    let forbidden = viewer
        .send_with(Method::POST, "/api/v1/brands/", Some("{".to_owned()), &[])
        .await;
    forbidden.is(
        403,
        &json!({"detail": "You do not have permission to perform this action."}),
    );
    assert_eq!(manager.delete("/api/v1/brands/").await.status, 403);
    assert_eq!(admin.delete("/api/v1/brands/").await.status, 405);
    assert_eq!(admin.put("/api/v1/brands/99/", json!({})).await.status, 404);
    assert_eq!(admin.get("/api/v1/brands/abc/").await.status, 404);
});

app_on_both_engines!(
    where_nothing_fits_any_more_no_greatest_quantity_is_named,
    async |app| {
        let admin = app.admin();
        let product = admin.a_product("Arroz", i64::MAX).await;
        let supplier = admin.a_supplier("S").await;
        let inflow = json!({"supplier": supplier, "product": product, "quantity": 1});
        // "At most 0" would contradict "at least 1".
        admin.post("/api/v1/inflows/", inflow).await.is(
            400,
            &json!({"quantity": ["The stock of this product cannot hold more units."]}),
        );
    }
);
