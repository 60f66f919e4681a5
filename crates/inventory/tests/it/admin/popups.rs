//! Pop-up forms of related records: the requests of the script beside a field, and the answers to
//! them.

use http::Method;
use test_kit::html::has;

use crate::{app::app_on_both_engines, visitor::Visitor};

const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");
const JSON: (&str, &str) = ("accept", "application/json");

async fn sent(visitor: &Visitor<'_>, path: &str, body: &str) -> crate::app::Answer {
    let token = visitor.cookie("csrftoken").unwrap();
    let body = format!("csrfmiddlewaretoken={token}&{body}");
    visitor.send(Method::POST, path, &body, &[FORM, JSON]).await
}

app_on_both_engines!(
    beside_a_foreign_key_its_record_is_added_changed_viewed_and_deleted,
    async |app| {
        app.admin().a_product("Arroz", 5).await;
        let visitor = app.superuser().await;
        let page = visitor.page("/admin/products/1/change/").await;
        has(
            &page,
            &[
                "href=\"/admin/brands/add/\" data-popup=\"add\"",
                "href=\"/admin/brands/1/change/\" data-popup=\"change\"",
                "href=\"/admin/brands/1/delete/\" data-popup=\"delete\"",
            ],
        );
        let added = sent(&visitor, "/admin/brands/add/", "name=Sol").await;
        assert_eq!(added.status, 201);
        let told = serde_json::json!({"id": 2, "text": "Sol"});
        assert_eq!(added.json(), told);
        let changed = sent(&visitor, "/admin/brands/2/change/", "name=Lua").await;
        assert_eq!(changed.json()["text"], "Lua");
        let refused = sent(&visitor, "/admin/brands/add/", "name=").await;
        assert_eq!(refused.status, 422);
        has(&refused.text, &["This field may not be blank."]);
        let deleted = sent(&visitor, "/admin/brands/2/delete/", "confirm=yes").await;
        assert_eq!(deleted.status, 201);
        assert_eq!(deleted.json()["is_deleted"], true);
        let kept = sent(&visitor, "/admin/brands/1/delete/", "confirm=yes").await;
        assert_eq!(kept.status, 303);
        let page = visitor.page(kept.header("location")).await;
        has(&page, &["Cannot delete brand"]);
    }
);
