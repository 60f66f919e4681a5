//! The audit log: every write of the API that changes a field adds exactly one row in its
//! transaction, and a refused write adds none.

use http::Method;
use inventory::{
    access::{Kind, Model},
    accounts::{
        Tokens,
        users::{self, NewUser},
    },
    audit::{self, Action, Entry, FieldChange},
    rest::{page::PageRequest, query::Parameters},
};
use serde_json::{Value, json};

use crate::app::{TestApp, app_on_both_engines};

/// One row as a line: who, what, to which record, which fields.
fn line(entry: &Entry) -> String {
    let who = entry.user.as_ref().map_or("-", |user| user.name.as_str());
    let id = entry
        .object_id
        .map_or_else(|| "-".to_owned(), |id| id.to_string());
    format!(
        "{who} {} {} {id} “{}” [{}]",
        entry.action.name(),
        entry.model,
        entry.object,
        entry.fields.names().join(" ")
    )
}

impl TestApp {
    /// How many rows the audit log has.
    pub(crate) async fn audit_rows(&self) -> i64 {
        self.number("SELECT count(*) FROM audit_entries").await
    }

    /// The history of one record as lines, newest first.
    pub(crate) async fn history_of(&self, model: Model, id: i64) -> Vec<String> {
        self.entries_of(model, id).await.iter().map(line).collect()
    }

    /// How the fields of one record were changed, the last change first.
    async fn changes_of(&self, model: Model, id: i64) -> Vec<FieldChange> {
        let entries = self.entries_of(model, id).await.into_iter();
        entries.flat_map(|entry| entry.fields.0).collect()
    }

    async fn entries_of(&self, model: Model, id: i64) -> Vec<Entry> {
        let wanted = PageRequest::parse(&self.state, &Parameters::parse("page_size=100")).unwrap();
        let page = audit::history(&self.state, model, id, wanted)
            .await
            .unwrap();
        assert_eq!(page.count, page.results.len() as u64);
        page.results
    }

    /// Sends a request; returns its status and how many rows it added.
    async fn rows_left_by(&self, method: Method, path: &str, body: Option<Value>) -> (u16, i64) {
        let before = self.audit_rows().await;
        let status = self.admin().send(method, path, body).await.status;
        (status, self.audit_rows().await - before)
    }
}

app_on_both_engines!(
    a_write_through_the_api_leaves_one_row_and_one_that_is_refused_or_changes_nothing_none,
    async |app| {
        let product = app.admin().a_product("Arroz", 5).await;
        app.admin().a_supplier("Sul").await;
        let movement = json!({"supplier": 1, "product": product, "quantity": 2});
        for (method, path, body, status, rows) in [
            (
                Method::POST,
                "/api/v1/brands/",
                Some(json!({"name": "Outra"})),
                201,
                1,
            ),
            (
                Method::POST,
                "/api/v1/brands/",
                Some(json!({"name": ""})),
                400,
                0,
            ),
            (
                Method::PATCH,
                "/api/v1/brands/2/",
                Some(json!({"name": "Nova"})),
                200,
                1,
            ),
            (
                Method::PUT,
                "/api/v1/brands/2/",
                Some(json!({"description": "x"})),
                400,
                0,
            ),
            (Method::PATCH, "/api/v1/brands/2/", Some(json!({})), 200, 0),
            // Its description was null, which reads the same.
            (
                Method::PATCH,
                "/api/v1/brands/2/",
                Some(json!({"description": ""})),
                200,
                0,
            ),
            (Method::DELETE, "/api/v1/brands/2/", None, 204, 1),
            (Method::DELETE, "/api/v1/brands/2/", None, 404, 0),
            (Method::DELETE, "/api/v1/brands/1/", None, 409, 0),
            (
                Method::PATCH,
                "/api/v1/products/1/",
                Some(json!({"quantity": 7})),
                200,
                1,
            ),
            (
                Method::PATCH,
                "/api/v1/products/1/",
                Some(json!({"quantity": -1})),
                400,
                0,
            ),
            (
                Method::PUT,
                "/api/v1/products/1/threshold/",
                Some(json!({"threshold": 3})),
                200,
                1,
            ),
            (
                Method::PUT,
                "/api/v1/products/1/threshold/",
                Some(json!({"threshold": 3})),
                200,
                0,
            ),
            (
                Method::PUT,
                "/api/v1/products/1/threshold/",
                Some(json!({"threshold": -3})),
                400,
                0,
            ),
            (
                Method::POST,
                "/api/v1/inflows/",
                Some(movement.clone()),
                201,
                0,
            ),
            (Method::POST, "/api/v1/outflows/", Some(movement), 201, 0),
            (Method::DELETE, "/api/v1/outflows/1/", None, 204, 1),
            (Method::DELETE, "/api/v1/outflows/1/", None, 404, 0),
            (Method::DELETE, "/api/v1/products/1/", None, 409, 0),
            (Method::DELETE, "/api/v1/inflows/1/", None, 204, 1),
            (Method::DELETE, "/api/v1/products/1/", None, 204, 1),
        ] {
            let what = format!("{method} {path} {body:?}");
            assert_eq!(
                app.rows_left_by(method, path, body).await,
                (status, rows),
                "{what}"
            );
        }
    }
);

app_on_both_engines!(
    the_history_of_a_record_names_who_did_what_to_which_fields,
    async |app| {
        let product = app.manager().a_product("Arroz", 5).await;
        let path = format!("/api/v1/products/{product}/");
        let change = json!({"title": "Arroz integral", "selling_price": "12.50", "quantity": 9});
        app.admin().change_product(product, change).await;
        app.admin().change_product(product, json!({})).await;
        app.admin().set_threshold(product, 4).await;
        app.admin().delete(&path).await;
        assert_eq!(
            app.history_of(Model::Product, product).await,
            [
                "admin deleted product 1 “Arroz integral” []",
                "admin changed product 1 “Arroz integral” [threshold]",
                "admin changed product 1 “Arroz integral” [title quantity]",
                "manager added product 1 “Arroz” []",
            ]
        );
        assert_eq!(
            app.history_of(Kind::Brand.model(), 1).await,
            ["manager added brand 1 “Tio João” []"]
        );
        let recent = audit::recent(&app.state, 1, 2).await.unwrap();
        assert_eq!(
            recent.iter().map(|entry| entry.action).collect::<Vec<_>>(),
            [Action::Deleted, Action::Changed]
        );
    }
);

app_on_both_engines!(
    what_commands_do_to_accounts_is_written_down_as_the_programs,
    async |app| {
        let (db, passwords) = (&app.state.db, &app.state.passwords);
        let now = app.clock.now();
        let user = NewUser {
            username: "ana".to_owned(),
            password: "quatro gatos pretos".to_owned(),
            group: Some("Managers".to_owned()),
            superuser: false,
        };
        let id = users::create(db, passwords, now, user.clone())
            .await
            .unwrap();
        users::create(db, passwords, now, user).await.unwrap_err();
        users::set_password(
            db,
            passwords,
            now,
            "ana",
            "cinco gatos pretos",
            Tokens::Kept,
        )
        .await
        .unwrap();
        users::set_active(db, now, "ana", false).await.unwrap();
        assert_eq!(
            app.history_of(Model::User, id).await,
            [
                "- changed user 4 “ana” [active]",
                "- changed user 4 “ana” [password]",
                "- added user 4 “ana” []",
            ]
        );
    }
);

app_on_both_engines!(
    the_history_keeps_what_a_field_was_and_became_but_not_who_somebody_is,
    async |app| {
        let product = app.admin().a_product("Arroz", 5).await;
        let change = json!({"title": "Café", "selling_price": "9.9", "quantity": 7});
        app.admin().change_product(product, change).await;
        app.admin().set_threshold(product, 4).await;
        let terms = json!({
            "lead_time_days": 7, "lead_time_deviation_days": null, "service_level": "95.00",
            "review_interval_days": null, "pack_multiple": null,
        });
        let path = format!("/api/v1/products/{product}/restock/");
        assert_eq!(app.manager().put(&path, terms).await.status, 200);
        assert_eq!(
            app.changes_of(Model::Product, product).await,
            [
                ("lead_time_days", Some(("", "7"))),
                ("service_level", Some(("", "95.00"))),
                ("threshold", Some(("", "4"))),
                ("title", Some(("Arroz", "Café"))),
                ("selling_price", Some(("12.50", "9.90"))),
                ("quantity", Some(("5", "7"))),
            ]
            .map(kept)
        );
        let manager = app.logged_in("manager").await;
        let profile = [("first_name", "Ana"), ("email", "ana@example.com")];
        assert_eq!(manager.submit("/account/", &profile).await.status, 303);
        assert_eq!(
            app.changes_of(Model::User, 2).await,
            [("first_name", None), ("email", None)].map(kept)
        );
    }
);

fn kept((field, values): (&str, Option<(&str, &str)>)) -> FieldChange {
    FieldChange {
        field: field.to_owned(),
        values: values.map(|(before, after)| (before.to_owned(), after.to_owned())),
    }
}
