//! Archived products: lists, searches, pickers and low stock leave them out, their history stays,
//! and they have no movements until they are unarchived.

use serde_json::{Value, json};
use test_kit::html::has_not;

use crate::{
    app::{TestApp, app_on_both_engines},
    visitor::{is_refused, leads_to},
};

const ARCHIVED: &str = "This product is archived. Unarchive it before booking goods in or out.";

/// The titles of a list of the API.
async fn titles(app: &TestApp, path: &str) -> Vec<String> {
    let list = app.viewer().get(path).await.json();
    let results = list["results"].as_array().unwrap();
    assert_eq!(list["count"], results.len(), "{path}");
    let title = |record: &Value| {
        let title = record
            .get("title")
            .unwrap_or_else(|| &record["product"]["title"]);
        title.as_str().unwrap().to_owned()
    };
    results.iter().map(title).collect()
}

async fn archive(app: &TestApp, product: i64, archived: bool) {
    let path = format!("/api/v1/products/{product}/archived/");
    let body = json!({"archived": archived});
    let answer = app.admin().put(&path, body.clone()).await;
    answer.is(200, &body);
    app.viewer().get(&path).await.is(200, &body);
}

app_on_both_engines!(
    the_dashboard_links_a_category_to_the_list_of_all_products_that_it_counts,
    async |app| {
        let gone = app.admin().a_product("Café antigo", 20).await;
        archive(&app, gone, true).await;
        let visitor = app.logged_in("manager").await;
        let dashboard = visitor.get("/").await.text;
        let address = "/products/?category=1&#38;archived=all";
        assert!(dashboard.contains(address), "{dashboard}");
        let list = visitor.get(&address.replace("&#38;", "&")).await.text;
        assert!(list.contains("Café antigo"), "{list}");
        assert!(!list.contains("outflows/new/?product=1"), "{list}");
        let active = visitor.get("/products/?category=1").await.text;
        assert!(!active.contains("Café antigo"), "{active}");
    }
);

app_on_both_engines!(
    the_api_lists_archived_products_unless_it_is_asked_not_to,
    async |app| {
        let admin = app.admin();
        let gone = admin.a_product("Café antigo", 20).await;
        let sold = admin.a_product("Café novo", 20).await;
        let before = admin.get("/api/v1/products/1/").await.json();
        archive(&app, gone, true).await;
        // The record has the members of the specification and no other.
        let mut after = admin.get("/api/v1/products/1/").await.json();
        after["updated_at"] = before["updated_at"].clone();
        assert_eq!(after, before);
        for (query, expected) in [
            ("", vec!["Café antigo", "Café novo"]),
            ("?search=cafe", vec!["Café antigo", "Café novo"]),
            ("?archived=false", vec!["Café novo"]),
            ("?archived=true", vec!["Café antigo"]),
            ("?archived=false&search=cafe", vec!["Café novo"]),
            ("?archived=true&search=cafe", vec!["Café antigo"]),
            ("?archived=false&category=2", vec!["Café novo"]),
            ("?archived=false&category=1", vec![]),
            ("?archived=false&ordering=quantity", vec!["Café novo"]),
            ("?archived=false&ordering=-category", vec!["Café novo"]),
            ("?archived=false&min_price=0.01", vec!["Café novo"]),
            ("?archived=true&ordering=brand", vec!["Café antigo"]),
        ] {
            let path = format!("/api/v1/products/{query}");
            assert_eq!(titles(&app, &path).await, expected, "{query}");
        }
        let refused = admin.get("/api/v1/products/?archived=perhaps").await;
        refused.is(400, &json!({"archived": ["Must be a valid boolean."]}));
        archive(&app, gone, false).await;
        assert_eq!(
            titles(&app, "/api/v1/products/?archived=false").await.len(),
            2
        );
        // A user who may only read products may not archive them, and an unknown product is 404.
        let body = json!({"archived": true});
        let path = "/api/v1/products/2/archived/";
        let refused = app.viewer().put(path, body.clone()).await;
        assert_eq!(refused.status, 403);
        let missing = admin.put("/api/v1/products/99/archived/", body).await;
        assert_eq!(missing.status, 404);
        for (body, said) in [
            (json!({}), "This field is required."),
            (json!({"archived": null}), "This field may not be null."),
            (json!({"archived": "yes"}), "Must be a valid boolean."),
        ] {
            let refused = admin.put(path, body).await;
            refused.is(400, &json!({"archived": [said]}));
        }
        assert_eq!(admin.quantity_of(sold).await, 20);
    }
);

app_on_both_engines!(
    nothing_of_an_archived_product_moves_but_its_past_can_be_put_right,
    async |app| {
        let admin = app.admin();
        let product = admin.a_product("Café", 20).await;
        let sold = admin.sell(product, 2).await;
        admin.a_supplier("Torra Forte").await;
        archive(&app, product, true).await;
        let sale = json!({"product": product, "quantity": 2});
        let delivery = json!({"product": product, "supplier": 1, "quantity": 2});
        let refusal = json!({"product": [ARCHIVED]});
        for (path, body) in [
            ("/api/v1/outflows/", &sale),
            ("/api/v1/inflows/", &delivery),
        ] {
            admin.post(path, body.clone()).await.is(400, &refusal);
        }
        assert_eq!(admin.quantity_of(product).await, 18);
        let deleted = admin.delete(&format!("/api/v1/outflows/{sold}/")).await;
        assert_eq!(deleted.status, 204);
        admin.change_product(product, json!({"quantity": 19})).await;
        let path = format!("/api/v1/products/{product}/ledger/");
        let ledger = admin.get(&path).await.json();
        assert_eq!(ledger["count"], 4);
        archive(&app, product, false).await;
        admin.sell(product, 2).await;
        assert_eq!(admin.quantity_of(product).await, 17);
        assert_eq!(
            inventory::stock::verify(&app.state.db).await.unwrap(),
            Vec::new()
        );
    }
);

app_on_both_engines!(
    an_archived_product_is_not_low_and_nobody_is_told_so,
    async |app| {
        let admin = app.admin();
        let product = admin.a_product("Café", 5).await;
        let own = admin.a_product("Chá", 50).await;
        admin.set_threshold(own, 60).await;
        assert_eq!(titles(&app, "/api/v1/low-stock/").await, ["Café", "Chá"]);
        for id in [product, own] {
            archive(&app, id, true).await;
        }
        assert!(titles(&app, "/api/v1/low-stock/").await.is_empty());
        let events = app.events().await.len();
        // Changes of its stock level while it is archived emit no event.
        for quantity in [70, 3] {
            admin
                .change_product(own, json!({"quantity": quantity}))
                .await;
        }
        admin.set_threshold(own, 2).await;
        admin.set_threshold(own, 4).await;
        assert_eq!(app.events().await.len(), events);
        assert!(titles(&app, "/api/v1/low-stock/").await.is_empty());
        for id in [product, own] {
            archive(&app, id, false).await;
        }
        assert_eq!(titles(&app, "/api/v1/low-stock/").await, ["Chá", "Café"]);
        let differences = inventory::aggregates::verify(&app.state.db).await.unwrap();
        assert_eq!(differences, Vec::new());
    }
);

app_on_both_engines!(
    a_product_is_archived_on_its_page_found_again_and_unarchived,
    async |app| {
        app.admin().a_product("Café", 5).await;
        app.admin().a_product("Chá", 50).await;
        let manager = app.logged_in("manager").await;
        leads_to(
            &manager.submit("/products/1/archive/", &[]).await,
            "/products/1/",
        );
        let told = manager.page("/products/1/").await;
        for said in [
            "Product archived: Café.",
            "action=\"/products/1/unarchive/\"",
            "Product archived on",
            "Changed: archived · manager",
            "Archived: No → Yes",
        ] {
            assert!(told.contains(said), "{said}: {told}");
        }
        assert!(!told.contains("/outflows/new/?product"), "{told}");
        for (path, is_there) in [
            ("/products/", false),
            ("/products/?search=caf%C3%A9", false),
            ("/products/?archived=true", true),
            ("/low-stock/", false),
            ("/pick/products/?q=caf", false),
            ("/", false),
        ] {
            let seen = manager.get(path).await;
            assert_eq!(seen.status, 200);
            assert_eq!(
                seen.text.contains("/products/1/") || seen.text.contains("\"text\":\"Café\""),
                is_there,
                "{path}: {}",
                seen.text
            );
        }
        // Its row offers no booking either.
        let archived = manager.page("/products/?archived=true").await;
        assert!(!archived.contains("/new/?product="), "{archived}");
        let file = manager.get("/products/export/").await.text;
        assert!(file.contains("Chá") && !file.contains("Café"), "{file}");
        let fields = [("product", "1"), ("quantity", "1")];
        is_refused(
            &manager.submit("/outflows/new/", &fields).await,
            &[ARCHIVED],
        );
        app.admin().a_supplier("Torra Forte").await;
        let receipt = [
            ("supplier", "1"),
            ("product", "1"),
            ("quantity", "1"),
            ("do", "book"),
        ];
        is_refused(
            &manager.submit("/receiving/new/", &receipt).await,
            &["Café: this product is archived. Unarchive it, or remove its line."],
        );
        leads_to(
            &manager
                .submit("/products/1/unarchive/", &[("next", "/products/")])
                .await,
            "/products/",
        );
        let list = manager.page("/products/").await;
        assert!(list.contains("Product unarchived: Café."), "{list}");
        assert!(list.contains("href=\"/products/1/\""), "{list}");
        let viewer = app.logged_in("viewer").await;
        assert_eq!(viewer.submit("/products/1/archive/", &[]).await.status, 403);
        has_not(&viewer.page("/products/1/").await, &["archive/"]);
    }
);

app_on_both_engines!(
    the_administration_archives_many_at_once_and_filters_by_it,
    async |app| {
        for title in ["Arroz", "Café", "Chá"] {
            app.admin().a_product(title, 20).await;
        }
        let root = app.superuser().await;
        let fields = [("action", "archive"), ("row:1", "on"), ("row:2", "on")];
        leads_to(
            &root.submit("/admin/products/", &fields).await,
            "/admin/products/?",
        );
        let list = root.page("/admin/products/").await;
        assert!(list.contains("Products archived: 2."), "{list}");
        for (query, count) in [("", 3), ("?archived=true", 2), ("?archived=false", 1)] {
            let list = root.page(&format!("/admin/products/{query}")).await;
            assert_eq!(
                list.matches("name=\"row:").count(),
                count,
                "{query}: {list}"
            );
        }
        let fields = [("action", "unarchive"), ("row:2", "on"), ("row:3", "on")];
        root.submit("/admin/products/", &fields).await;
        let list = root.page("/admin/products/?archived=true").await;
        // One of the two was archived.
        assert!(list.contains("Products unarchived: 1."), "{list}");
    }
);
