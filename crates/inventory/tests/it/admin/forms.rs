//! Forms: adding, changing, deleting, the messages about it, and the history.

use inventory::access::Model;
use serde_json::json;
use test_kit::html::{has, has_not};

use crate::{
    app::app_on_both_engines,
    visitor::{leads_to, token},
};

const PRODUCT: [(&str, &str); 7] = [
    ("title", "Café"),
    ("category", "1"),
    ("brand", "1"),
    ("serie_number", ""),
    ("cost_price", "1.00"),
    ("selling_price", "2.50"),
    ("quantity", "7"),
];

/// The fields of a product with another value and a button.
fn product<'a>(field: &'a str, value: &'a str, button: &'a str) -> Vec<(&'a str, &'a str)> {
    let mut fields: Vec<_> = PRODUCT.to_vec();
    fields.retain(|(name, _)| *name != field);
    fields.extend([(field, value), (button, "1")]);
    fields
}

app_on_both_engines!(
    save_save_and_add_another_and_save_and_continue_say_what_was_done,
    async |app| {
        app.admin().a_product("Arroz", 5).await;
        let visitor = app.superuser().await;
        let add = "/admin/products/add/";
        let (to, page) = visitor.done(add, &product("title", "Um", "_save")).await;
        assert_eq!(to, "/admin/products/");
        has(&page, &["The product “Um” was added successfully.</p>"]);
        let (to, page) = visitor
            .done(add, &product("title", "Dois", "_addanother"))
            .await;
        assert_eq!(to, "/admin/products/add/");
        has(
            &page,
            &["The product “Dois” was added successfully. You may add another product below."],
        );
        let (to, page) = visitor
            .done(add, &product("title", "Três", "_continue"))
            .await;
        assert_eq!(to, "/admin/products/4/change/");
        has(
            &page,
            &[
                "The product “Três” was added successfully. You may edit it again below.",
                "Change product",
                "value=\"2.50\"",
            ],
        );
        let (to, page) = visitor.done(&to, &product("quantity", "9", "_save")).await;
        assert_eq!(to, "/admin/products/");
        has(&page, &["The product “Café” was changed successfully."]);
        assert_eq!(app.admin().quantity_of(4).await, 9);
        assert_eq!(
            app.history_of(Model::Product, 4).await,
            [
                "root changed product 4 “Café” [title quantity]",
                "root added product 4 “Três” []"
            ]
        );
        has_not(&visitor.page("/admin/products/").await, &["successfully"]);
    }
);

app_on_both_engines!(messages_are_in_the_readers_language, async |app| {
    let mut visitor = app.superuser().await;
    visitor.language = "pt-BR";
    let (_, page) = visitor
        .done(
            "/admin/brands/add/",
            &[("name", "Sol"), ("_addanother", "1")],
        )
        .await;
    has(
        &page,
        &["A marca “Sol” foi adicionada com sucesso. Você pode adicionar outra marca abaixo."],
    );
    let page = visitor.refused("/admin/brands/add/", &[("name", "")]).await;
    has(
        &page,
        &[
            "Corrija o erro abaixo.",
            "Este campo não pode ficar em branco.",
        ],
    );
    let (_, page) = visitor
        .done("/admin/brands/1/change/", &[("name", "Lua")])
        .await;
    has(&page, &["A marca “Lua” foi alterada com sucesso."]);
    let cell = [("_save", "1"), ("cell:1:description", "Nova")];
    let (_, page) = visitor.done("/admin/brands/", &cell).await;
    has(&page, &["1 marca foi alterada com sucesso."]);
    let (_, page) = visitor.done("/admin/brands/1/delete/", &[]).await;
    has(&page, &["A marca “Lua” foi excluída com sucesso."]);
    let page = visitor.page("/admin/products/").await;
    has(
        &page,
        &["Selecione um produto para alterar", "Nada foi encontrado."],
    );
});

app_on_both_engines!(
    a_refused_form_keeps_its_values_and_names_each_error,
    async |app| {
        let admin = app.admin();
        let first = admin.a_product("Arroz", 5).await;
        admin
            .change_product(first, json!({"serie_number": "789"}))
            .await;
        let visitor = app.superuser().await;
        let rows = app.audit_rows().await;
        let mut fields = product("serie_number", "789", "_save");
        fields.retain(|(name, _)| !["title", "brand", "cost_price"].contains(name));
        fields.extend([("title", " "), ("brand", ""), ("cost_price", "dez")]);
        let page = visitor.refused("/admin/products/add/", &fields).await;
        has(
            &page,
            &[
                "Please correct the errors below.",
                "This field may not be blank.",
                "This field may not be null.",
                "A valid number is required.",
                "Product with this Serie number already exists.",
                "value=\"dez\"",
                "value=\"789\"",
                "aria-invalid=\"true\"",
                "href=\"#field-cost_price\"",
            ],
        );
        assert_eq!(app.audit_rows().await, rows);
    }
);

app_on_both_engines!(initial_values_come_from_the_query_string, async |app| {
    app.admin().a_product("Arroz", 5).await;
    let visitor = app.superuser().await;
    let page = visitor
        .page("/admin/products/add/?title=Ch%C3%A1&brand=1&password1=x")
        .await;
    has(
        &page,
        &[
            "value=\"Chá\"",
            "<option value=\"1\" selected>Tio João",
            "class=\"site-required\"",
        ],
    );
});

app_on_both_engines!(
    foreign_keys_are_picked_with_ways_to_add_change_and_view_beside_them,
    async |app| {
        app.admin().a_product("Arroz", 5).await;
        let visitor = app.superuser().await;
        let page = visitor.page("/admin/products/1/change/").await;
        has(
            &page,
            &[
                "Add another: Brand",
                "Change selected: Brand",
                "href=\"/admin/brands/1/change/\"",
            ],
        );
        let looker = app.staff("looker", &["change_product", "view_brand"]).await;
        let page = looker.page("/admin/products/1/change/").await;
        has(&page, &["View selected: Brand"]);
        has_not(&page, &["Add another: Brand", "Change selected"]);
    }
);

app_on_both_engines!(
    a_movement_is_booked_once_however_often_its_form_is_sent,
    async |app| {
        let product = app.admin().a_product("Arroz", 5).await.to_string();
        let visitor = app.superuser().await;
        let fields = [
            ("product", product.as_str()),
            ("quantity", "2"),
            ("form_token", "a-token"),
        ];
        for _ in 0..2 {
            let (to, _) = visitor.done("/admin/outflows/add/", &fields).await;
            assert_eq!(to, "/admin/outflows/");
        }
        assert_eq!(app.admin().quantity_of(1).await, 3);
        // After Back the form is sent again with another quantity: nothing is booked, and no
        // message says so.
        let mut other = fields;
        other[1] = ("quantity", "1");
        let refused = visitor.refused("/admin/outflows/add/", &other).await;
        has(
            &refused,
            &["This form has already been saved", "value=\"1\""],
        );
        assert_eq!(app.admin().quantity_of(1).await, 3);
        let renewed = token(&refused);
        assert_ne!(renewed, "a-token");
        other[2] = ("form_token", &renewed);
        for _ in 0..2 {
            visitor.done("/admin/outflows/add/", &other).await;
        }
        assert_eq!(app.admin().quantity_of(1).await, 2);
        let refused = visitor
            .refused(
                "/admin/outflows/add/",
                &[("product", product.as_str()), ("quantity", "4")],
            )
            .await;
        has(&refused, &["Insufficient stock: 2 available."]);
        let page = visitor.page("/admin/outflows/1/change/").await;
        has(&page, &["View outflow", "root"]);
        visitor
            .submit("/admin/outflows/1/change/", &fields)
            .await
            .has_status(403);
    }
);

app_on_both_engines!(
    a_record_that_is_not_there_leads_to_the_index_with_a_word_about_it,
    async |app| {
        let visitor = app.superuser().await;
        for id in ["99999", "abc"] {
            let answer = visitor.get(&format!("/admin/products/{id}/change/")).await;
            leads_to(&answer, "/admin/");
            let page = visitor.page("/admin/").await;
            has(
                &page,
                &[&format!(
                    "Product with ID “{id}” doesn’t exist. Perhaps it was deleted?"
                )],
            );
        }
    }
);

app_on_both_engines!(
    deleting_asks_first_and_names_what_goes_and_what_protects,
    async |app| {
        app.admin().a_product("Arroz", 5).await;
        let visitor = app.superuser().await;
        let page = visitor.page("/admin/brands/1/delete/").await;
        has(
            &page,
            &[
                "Cannot delete brand",
                "Deleting the brand “Tio João” would require deleting the following protected related objects:",
                "href=\"/admin/products/?brand=1\">1 product · Tio João",
            ],
        );
        has_not(&page, &["Yes, I’m sure"]);
        let (_, page) = visitor
            .done("/admin/brands/1/delete/", &[("confirm", "yes")])
            .await;
        has(
            &page,
            &["Cannot delete this brand because 1 product record references it."],
        );
        let page = visitor.page("/admin/products/1/delete/").await;
        has(
            &page,
            &[
                "Are you sure you want to delete the product “Arroz”? All of the following related items will be deleted:",
                "Summary",
                "Products: 1",
                "Objects",
                "Yes, I’m sure",
                "No, take me back",
            ],
        );
        let (to, page) = visitor
            .done("/admin/products/1/delete/", &[("confirm", "yes")])
            .await;
        assert_eq!(to, "/admin/products/");
        has(&page, &["The product “Arroz” was deleted successfully."]);
        assert_eq!(app.admin().get("/api/v1/products/1/").await.status, 404);
    }
);

app_on_both_engines!(
    the_history_of_a_record_tells_when_who_and_what,
    async |app| {
        app.admin().a_product("Arroz", 5).await;
        let visitor = app.superuser().await;
        visitor.done("/admin/products/1/change/", &PRODUCT).await;
        let page = visitor.page("/admin/products/1/history/").await;
        has(
            &page,
            &[
                "Date/time",
                "Changed Title, Cost price, Selling price and Quantity.",
                "<li>Title: Arroz → Café</li>",
                "<li>Quantity: 5 → 7</li>",
                "Added.",
                ">root<",
                ">admin<",
                "20 Nov 2026, 09:00",
            ],
        );
        let index = visitor.page("/admin/").await;
        has(
            &index,
            &[
                "href=\"/admin/products/1/change/\">Café</a>",
                "Changed Title",
            ],
        );
        has_not(&index, &[">Arroz<"]);
    }
);

app_on_both_engines!(thresholds_are_given_changed_and_taken_back, async |app| {
    let product = app.admin().a_product("Arroz", 5).await.to_string();
    let visitor = app.superuser().await;
    let fields = [("product", product.as_str()), ("threshold", "3")];
    let (_, page) = visitor.done("/admin/thresholds/add/", &fields).await;
    has(
        &page,
        &["The low-stock threshold “Arroz” was added successfully."],
    );
    assert_eq!(app.threshold_of(1).await, 3);
    visitor
        .done("/admin/thresholds/1/change/", &[("threshold", "4")])
        .await;
    assert_eq!(app.threshold_of(1).await, 4);
    let page = visitor
        .refused(
            "/admin/thresholds/add/",
            &[("product", "99"), ("threshold", "3")],
        )
        .await;
    has(&page, &["object does not exist"]);
    visitor.done("/admin/thresholds/1/delete/", &[]).await;
    assert!(app.threshold_of(1).await.is_null());
});

app_on_both_engines!(
    a_record_is_added_once_however_often_its_form_is_sent,
    async |app| {
        let visitor = app.superuser().await;
        let token = token(&visitor.page("/admin/brands/add/").await);
        let mut fields = [("name", "Alfa"), ("form_token", token.as_str())];
        for _ in 0..2 {
            let (_, page) = visitor.done("/admin/brands/add/", &fields).await;
            has(&page, &["The brand “Alfa” was added successfully."]);
        }
        fields[0] = ("name", "Beta");
        let refused = visitor.refused("/admin/brands/add/", &fields).await;
        has(
            &refused,
            &["This form has already been saved", "value=\"Beta\""],
        );
        assert_eq!(app.count("brands").await, 1);
    }
);
