//! Editable columns of lists, and forms that are saved as a new record.

use inventory::access::Model;
use serde_json::json;
use test_kit::html::{has, has_not};

use crate::{
    app::{TestApp, app_on_both_engines},
    edit_conflict::{versions, with},
};

const LIST: &str = "/admin/products/?q=a&o=-6";

/// Two products.
async fn shop(app: &TestApp) {
    app.admin().a_product("Arroz", 5).await;
    app.admin().a_product("Farinha", 5).await;
}

async fn price(app: &TestApp, product: i64) -> String {
    let path = format!("/api/v1/products/{product}/");
    let product = app.admin().get(&path).await.json();
    product["selling_price"].as_str().unwrap().to_owned()
}

app_on_both_engines!(
    prices_are_written_in_the_list_and_only_what_was_changed_is_saved,
    async |app| {
        shop(&app).await;
        let visitor = app.superuser().await;
        let page = visitor.page(LIST).await;
        let before = price(&app, 1).await;
        has(
            &page,
            &[
                &format!("name=\"cell:1:selling_price\" value=\"{before}\""),
                "name=\"cell:2:version\"",
                "aria-label=\"Selling price: Arroz\"",
                "Save changes",
            ],
        );
        has_not(&page, &["cell:1:quantity", "cell:1:title"]);
        let shown = versions(&page);
        let fields = with(
            &[
                ("_save", "1"),
                ("cell:1:selling_price", "12,90"),
                ("cell:2:selling_price", before.as_str()),
            ],
            &[],
            &shown,
        );
        let rows = app.audit_rows().await;
        let (to, page) = visitor.done(LIST, &fields).await;
        assert_eq!(to, LIST);
        has(&page, &["1 product was changed successfully."]);
        assert_eq!(price(&app, 1).await, "12.90");
        assert_eq!(app.audit_rows().await, rows + 1);
        assert_eq!(
            app.history_of(Model::Product, 1).await.first().unwrap(),
            "root changed product 1 “Arroz” [selling_price]"
        );
    }
);

app_on_both_engines!(
    every_wrong_cell_is_told_and_nothing_is_saved_until_all_are_right,
    async |app| {
        shop(&app).await;
        let visitor = app.superuser().await;
        let fields = [
            ("_save", "1"),
            ("cell:1:selling_price", "3.00"),
            ("cell:2:selling_price", "caro"),
            ("cell:2:cost_price", "-1"),
        ];
        let before = price(&app, 1).await;
        let page = visitor.refused(LIST, &fields).await;
        has(
            &page,
            &[
                "Please correct the errors below.",
                "A valid number is required.",
                "Ensure this value is greater than or equal to 0.",
                "value=\"caro\"",
                "name=\"cell:1:selling_price\" value=\"3.00\"",
                "aria-describedby=\"cell:2:selling_price-error\"",
            ],
        );
        assert_eq!(price(&app, 1).await, before);
    }
);

app_on_both_engines!(
    a_quantity_is_never_written_in_a_list_and_lookers_write_nothing,
    async |app| {
        shop(&app).await;
        let visitor = app.superuser().await;
        let fields = [("_save", "1"), ("cell:1:quantity", "500")];
        visitor.done(LIST, &fields).await;
        assert_eq!(app.admin().quantity_of(1).await, 5);
        let looker = app.staff("looker", &["view_product"]).await;
        has_not(&looker.page(LIST).await, &["cell:1:", "Save changes"]);
        let fields = [("_save", "1"), ("cell:1:selling_price", "9")];
        assert_eq!(looker.submit(LIST, &fields).await.status, 403);
    }
);

app_on_both_engines!(thresholds_are_written_in_their_list, async |app| {
    shop(&app).await;
    app.admin().set_threshold(1, 3).await;
    let visitor = app.superuser().await;
    let fields = [("_save", "1"), ("cell:1:threshold", "8")];
    let (_, page) = visitor.done("/admin/thresholds/", &fields).await;
    has(&page, &["1 low-stock threshold was changed successfully."]);
    assert_eq!(app.threshold_of(1).await, 8);
});

app_on_both_engines!(
    a_changed_form_is_saved_as_another_record_by_whoever_may_add,
    async |app| {
        shop(&app).await;
        let visitor = app.superuser().await;
        let path = "/admin/products/1/change/";
        has(
            &visitor.page(path).await,
            &["name=\"_saveasnew\"", "Save as new"],
        );
        let fields = |serie: &'static str| {
            [
                ("title", "Arroz integral"),
                ("category", "1"),
                ("brand", "1"),
                ("serie_number", serie),
                ("cost_price", "1"),
                ("selling_price", "2"),
                ("quantity", "9"),
                ("_saveasnew", "1"),
            ]
        };
        let (to, page) = visitor.done(path, &fields("789")).await;
        assert_eq!(to, "/admin/products/3/change/");
        has(
            &page,
            &["The product “Arroz integral” was added successfully. You may edit it again below."],
        );
        assert_eq!(app.admin().quantity_of(1).await, 5);
        assert_eq!(app.admin().quantity_of(3).await, 9);
        let page = visitor.refused(path, &fields("789")).await;
        has(&page, &["Product with this Serie number already exists."]);
        let clerk = app.staff("clerk", &["change_product"]).await;
        has_not(&clerk.page(path).await, &["_saveasnew"]);
        assert_eq!(clerk.submit(path, &fields("")).await.status, 403);
    }
);

app_on_both_engines!(
    a_cell_that_somebody_else_changed_meanwhile_is_told_and_everything_typed_is_kept,
    async |app| {
        shop(&app).await;
        let visitor = app.superuser().await;
        let before = price(&app, 1).await;
        assert_eq!(before, "12.50");
        let shown = versions(&visitor.page(LIST).await);
        let theirs = json!({"selling_price": "31.41"});
        app.change_product(1, theirs).await;
        let typed = [
            ("_save", "1"),
            ("cell:1:selling_price", "12.90"),
            ("cell:2:selling_price", "7.77"),
        ];
        let page = visitor.refused(LIST, &with(&typed, &[], &shown)).await;
        has(
            &page,
            &[
                "Somebody changed this to “R$\u{a0}31.41” while you were editing. Choose which one stays.",
                "name=\"cell:1:selling_price\" value=\"12.90\"",
                "name=\"cell:1:choice:selling_price\" value=\"mine\" checked form=\"edits\"",
                "name=\"cell:2:selling_price\" value=\"7.77\"",
            ],
        );
        assert_eq!(
            (price(&app, 1).await, price(&app, 2).await),
            ("31.41".to_owned(), before)
        );
        let shown = versions(&page);
        let (_, page) = visitor.done(LIST, &with(&typed, &[], &shown)).await;
        has(&page, &["2 products were changed successfully."]);
        assert_eq!(
            (price(&app, 1).await.as_str(), price(&app, 2).await.as_str()),
            ("12.90", "7.77")
        );
        // A field that only another user changed keeps that value. The same value from both users
        // is no conflict.
        let shown = versions(&visitor.page(LIST).await);
        let theirs = json!({"selling_price": "1.00", "cost_price": "0.50"});
        app.change_product(1, theirs).await;
        let same = [
            ("_save", "1"),
            ("cell:1:selling_price", "12.9"),
            ("cell:1:cost_price", "0.50"),
        ];
        visitor.done(LIST, &with(&same, &[], &shown)).await;
        assert_eq!(price(&app, 1).await, "1.00");
        // The other user's value is kept where this user chooses it.
        let theirs = json!({"selling_price": "2.00"});
        app.change_product(1, theirs).await;
        let mine = [
            ("_save", "1"),
            ("cell:1:selling_price", "3.00"),
            ("cell:2:selling_price", "4.00"),
        ];
        let shown = versions(&visitor.refused(LIST, &with(&mine, &[], &shown)).await);
        let mut chosen = with(&mine, &[], &shown);
        chosen.push(("cell:1:choice:selling_price", "theirs"));
        visitor.done(LIST, &chosen).await;
        assert_eq!(
            (price(&app, 1).await.as_str(), price(&app, 2).await.as_str()),
            ("2.00", "4.00")
        );
    }
);

app_on_both_engines!(
    a_description_of_many_lines_is_not_flattened_by_saving_its_list,
    async |app| {
        let brand = json!({"name": "Sol", "description": "Uma linha.\nOutra."});
        app.admin().post("/api/v1/brands/", brand).await.id();
        let root = app.superuser().await;
        let list = root.page("/admin/brands/").await;
        // A control of one line sends its text without the line break.
        let cell = "name=\"cell:1:description\" value=\"Uma linha. Outra.\"";
        has(&list, &[cell]);
        let opened = versions(&list);
        let fields = [
            ("_save", "1"),
            ("cell:1:description", "Uma linha. Outra."),
            (opened[0].0.as_str(), opened[0].1.as_str()),
        ];
        root.done("/admin/brands/", &fields).await;
        let now = app.admin().get("/api/v1/brands/1/").await.json();
        assert_eq!(now["description"], "Uma linha.\nOutra.");
    }
);
