//! Imported products with a new category or brand: the import creates it if the box is ticked, and
//! its undo removes it.

use inventory::access::Kind;
use serde_json::{Value, json};
use test_kit::html::{has, has_not};

use super::files::upload_with;
use crate::{
    app::{Answer, TestApp, app_on_both_engines},
    visitor::{Visitor, is_refused, leads_to},
};

const HEADER: &str = "title;category;brand;cost_price;selling_price;quantity\n";

/// Sends a file of products, with the box ticked.
async fn upload(visitor: &Visitor<'_>, rows: &str) -> Answer {
    let fields = [("resource", "products"), ("create_names", "true")];
    upload_with(visitor, &fields, format!("{HEADER}{rows}")).await
}

async fn names(app: &TestApp, resource: &str) -> Vec<Value> {
    let list = app.admin().get(&format!("/api/v1/{resource}/")).await;
    let list = list.json();
    let records = list["results"].as_array().unwrap().iter();
    records.map(|record| record["name"].clone()).collect()
}

const ROWS: &str =
    "Camomila;Chás;Folha;1;2;3\nErva-doce;chas;FOLHA;1;2;3\nArroz;Grãos;Folha;1;2;3\n";

app_on_both_engines!(
    categories_and_brands_that_are_missing_are_created_where_that_is_asked_for,
    async |app| {
        let admin = app.logged_in("admin").await;
        let plain = [("resource", "products")];
        let refused = upload_with(&admin, &plain, format!("{HEADER}{ROWS}")).await;
        is_refused(
            &refused,
            &["There is no category “Chás”.", "There is no brand “Folha”."],
        );
        leads_to(&upload(&admin, ROWS).await, "/import/1/");
        let shown = admin.page("/import/1/").await;
        for said in ["New categories and brands", "Chás", "Folha", "Grãos"] {
            assert!(shown.contains(said), "{said}: {shown}");
        }
        // Another spelling of a name is the same name.
        has(&shown, &["brands to be added: <strong>3</strong>"]);
        assert!(
            names(&app, "categories").await.is_empty(),
            "the check writes nothing"
        );
        leads_to(&admin.submit("/import/1/confirm/", &[]).await, "/import/1/");
        assert_eq!(
            names(&app, "categories").await,
            [json!("Chás"), json!("Grãos")]
        );
        assert_eq!(names(&app, "brands").await, [json!("Folha")]);
        assert_eq!(
            app.history_of(Kind::Category.model(), 1).await,
            ["admin added category 1 “Chás” []"]
        );
        let products = app
            .admin()
            .get("/api/v1/products/?ordering=id")
            .await
            .json();
        let categories = products["results"].as_array().unwrap().iter();
        let categories: Vec<_> = categories
            .map(|product| &product["category"]["name"])
            .collect();
        assert_eq!(categories, ["Chás", "Chás", "Grãos"]);
    }
);

app_on_both_engines!(
    undoing_an_import_deletes_the_names_that_it_created_unless_others_use_them,
    async |app| {
        let admin = app.logged_in("admin").await;
        upload(&admin, ROWS).await;
        leads_to(&admin.submit("/import/1/confirm/", &[]).await, "/import/1/");
        has(
            &admin.page("/import/1/").await,
            &["And the categories and brands that it created"],
        );
        let product = json!({"title": "Feijão", "category": 2, "brand": 1, "cost_price": "1.00", "selling_price": "2.00",
                             "quantity": 1});
        app.admin().post("/api/v1/products/", product).await.id();
        leads_to(&admin.submit("/import/1/undo/", &[]).await, "/import/1/");
        assert_eq!(names(&app, "categories").await, [json!("Grãos")]);
        assert_eq!(names(&app, "brands").await, [json!("Folha")]);
        assert_eq!(
            app.history_of(Kind::Category.model(), 1).await,
            [
                "admin deleted category 1 “Chás” []",
                "admin added category 1 “Chás” []"
            ]
        );
    }
);

app_on_both_engines!(
    an_import_that_is_refused_halfway_leaves_no_new_name_and_may_be_confirmed_again,
    async |app| {
        app.admin().a_product("Café", 5).await;
        let before = names(&app, "categories").await;
        let admin = app.logged_in("admin").await;
        let rows = "Camomila;Chás;Folha;1;2;3\n";
        leads_to(&upload(&admin, rows).await, "/import/1/");
        // Two records of a name in the file were created after the check.
        for _ in 0..2 {
            app.admin().a_brand("Folha").await;
        }
        let refused = admin.submit("/import/1/confirm/", &[]).await;
        is_refused(&refused, &["There are several of “Folha”"]);
        assert_eq!(names(&app, "categories").await, before);
        app.execute("DELETE FROM brands WHERE name = 'Folha'").await;
        leads_to(&admin.submit("/import/1/confirm/", &[]).await, "/import/1/");
        assert!(names(&app, "brands").await.contains(&json!("Folha")));
    }
);

app_on_both_engines!(
    whoever_may_not_add_a_category_is_told_so_by_row,
    async |app| {
        app.execute("DELETE FROM group_permissions WHERE permission = 'add_category'")
            .await;
        let mut manager = app.logged_in("manager").await;
        let refused = upload(&manager, ROWS).await;
        is_refused(
            &refused,
            &["you lack the permission “Can add category” to create it"],
        );
        has_not(&refused.text, &["There is no brand"]);
        manager.language = "pt-BR";
        let refused = upload(&manager, ROWS).await;
        is_refused(
            &refused,
            &["Não há categoria “Chás”", "“Pode adicionar categoria”"],
        );
    }
);

app_on_both_engines!(
    a_file_brings_at_most_five_hundred_new_names_and_no_invalid_one,
    async |app| {
        let admin = app.logged_in("admin").await;
        let rows = (0..501).map(|number| format!("Chá {number};Chás;Marca {number};1;2;3\n"));
        let rows = rows.collect::<Vec<_>>().concat();
        is_refused(
            &upload(&admin, &rows).await,
            &[
                "more than 500 new categories and brands",
                "Problems in the file: 2",
            ],
        );
        let long = format!("Chá;{};Folha;1;2;3\n", "x".repeat(501));
        is_refused(&upload(&admin, &long).await, &["500 characters"]);
    }
);

app_on_both_engines!(
    the_corrected_file_is_chosen_where_its_problems_are_told,
    async |app| {
        let admin = app.logged_in("admin").await;
        let refused = upload(&admin, "Camomila;Chás;Folha;abc;2;3\n").await;
        is_refused(
            &refused,
            &[
                "<input type=\"hidden\" name=\"resource\" value=\"products\">",
                "name=\"create_names\" value=\"true\" checked",
                "Corrected file",
                "<strong>a.csv</strong> · Products",
                "choose it again below",
            ],
        );
        assert!(!refused.text.contains("type=\"radio\""));
        // A file of another kind than products has to be chosen again.
        let other = upload_with(&admin, &[("resource", "products")], "cor\nAzul\n").await;
        is_refused(&other, &["type=\"radio\"", "column title is missing"]);
    }
);
