//! Tables of related rows in the form of a record.

use inventory::access::Model;
use test_kit::html::{has, has_not};

use crate::{
    app::{TestApp, app_on_both_engines},
    visitor::redirects,
};

/// A supplier, and two products with five units each.
async fn shop(app: &TestApp) {
    let admin = app.admin();
    admin.a_product("Arroz", 5).await;
    admin.a_product("Feijão", 5).await;
    admin.a_supplier("Sul").await;
}

const SUPPLIER: &str = "/admin/suppliers/1/change/";

app_on_both_engines!(
    a_delivery_of_several_goods_is_booked_in_its_suppliers_form,
    async |app| {
        shop(&app).await;
        let visitor = app.superuser().await;
        let page = visitor.page(SUPPLIER).await;
        has(
            &page,
            &[
                "Inflows",
                "name=\"inflows:new-0:product\"",
                "name=\"inflows:new-2:quantity\"",
                "data-add-row",
                "At most 20 at a time.",
            ],
        );
        let fields = [
            ("name", "Sul"),
            ("description", ""),
            ("form_token", "a-token"),
            ("inflows:new-0:product", "1"),
            ("inflows:new-0:quantity", "3"),
            ("inflows:new-1:product", "2"),
            ("inflows:new-1:quantity", "4"),
            ("inflows:new-1:description", "Nota 7"),
            ("inflows:new-2:product", ""),
            ("inflows:new-2:quantity", ""),
        ];
        for _ in 0..2 {
            // The same form sent twice books once.
            let (_, page) = visitor.done(SUPPLIER, &fields).await;
            has(&page, &["The supplier “Sul” was changed successfully."]);
        }
        assert_eq!(app.admin().quantity_of(1).await, 8);
        assert_eq!(app.admin().quantity_of(2).await, 9);
        let page = visitor.page(SUPPLIER).await;
        has(
            &page,
            &[
                "Nota 7",
                "name=\"inflows:1:delete\"",
                "name=\"inflows:2:delete\"",
            ],
        );
        let page = visitor.page("/admin/suppliers/1/history/").await;
        has(&page, &["Changed Inflows."]);
    }
);

app_on_both_engines!(a_ticked_row_is_deleted_with_its_effect, async |app| {
    shop(&app).await;
    app.admin().receive(1, 1, 3).await;
    let visitor = app.superuser().await;
    let fields = [("name", "Sul"), ("inflows:1:delete", "1")];
    visitor.done(SUPPLIER, &fields).await;
    assert_eq!(app.admin().quantity_of(1).await, 5);
    assert_eq!(
        app.history_of(Model::Inflow, 1).await,
        ["root deleted inflow 1 “3 × Arroz” []"]
    );
});

app_on_both_engines!(
    nothing_is_saved_while_a_row_is_filled_in_wrongly,
    async |app| {
        shop(&app).await;
        let visitor = app.superuser().await;
        let rows = app.audit_rows().await;
        let fields = [
            ("name", " "),
            ("inflows:new-0:product", "1"),
            ("inflows:new-0:quantity", "dez"),
            ("inflows:new-1:product", "2"),
            ("inflows:new-1:quantity", "4"),
        ];
        let page = visitor.refused(SUPPLIER, &fields).await;
        has(
            &page,
            &[
                "Please correct the errors below.",
                "Name: This field may not be blank.",
                "href=\"#field-inflows-new-0-quantity\">Quantity: A valid integer is required.",
                "value=\"dez\"",
                "name=\"inflows:new-1:quantity\" value=\"4\"",
            ],
        );
        assert_eq!(app.audit_rows().await, rows);
        assert_eq!(app.admin().quantity_of(2).await, 5);
    }
);

app_on_both_engines!(
    what_only_the_store_knows_refuses_everything_and_keeps_what_was_typed,
    async |app| {
        shop(&app).await;
        let visitor = app.superuser().await;
        let mut fields = [
            ("name", "Sul e Filhos"),
            ("form_token", "a-token"),
            ("inflows:new-0:product", "99"),
            ("inflows:new-0:quantity", "3"),
            ("inflows:new-1:product", "2"),
            ("inflows:new-1:quantity", "4"),
            ("inflows:new-2:product", "98"),
            ("inflows:new-2:quantity", "5"),
        ];
        let rows = app.audit_rows().await;
        let before = app.admin().quantity_of(2).await;
        let page = visitor.refused(SUPPLIER, &fields).await;
        has(
            &page,
            &[
                "Please correct the errors below.",
                "Product: Invalid pk &#34;99&#34; - object does not exist.",
                "Product: Invalid pk &#34;98&#34; - object does not exist.",
                "value=\"Sul e Filhos\"",
                "name=\"inflows:new-0:quantity\" value=\"3\"",
                "name=\"inflows:new-1:quantity\" value=\"4\"",
            ],
        );
        let supplier = app.admin().get("/api/v1/suppliers/1/").await.json();
        assert_eq!(supplier["name"], "Sul");
        assert_eq!(app.audit_rows().await, rows);
        assert_eq!(app.admin().quantity_of(2).await, before);
        // The corrected form is saved once, however often it is sent.
        fields[2].1 = "1";
        fields[6].1 = "2";
        for _ in 0..2 {
            visitor.done(SUPPLIER, &fields).await;
        }
        assert_eq!(app.admin().quantity_of(2).await, before + 9);
    }
);

app_on_both_engines!(
    a_row_that_cannot_be_taken_back_keeps_the_record_as_it_was,
    async |app| {
        shop(&app).await;
        let (admin, visitor) = (app.admin(), app.superuser().await);
        admin.receive(1, 1, 3).await;
        admin.sell(1, 7).await;
        let fields = [
            ("name", "Outro"),
            ("inflows:1:delete", "1"),
            ("inflows:new-0:product", "2"),
            ("inflows:new-0:quantity", "4"),
        ];
        visitor.refused(SUPPLIER, &fields).await;
        let supplier = admin.get("/api/v1/suppliers/1/").await.json();
        assert_eq!(supplier["name"], "Sul");
        assert_eq!(
            (admin.quantity_of(1).await, admin.quantity_of(2).await),
            (1, 5)
        );
    }
);

app_on_both_engines!(
    a_new_record_that_is_refused_leaves_no_row_behind,
    async |app| {
        shop(&app).await;
        let visitor = app.superuser().await;
        let fields = [
            ("name", "Norte"),
            ("inflows:new-0:product", "1"),
            ("inflows:new-0:quantity", "4"),
            ("inflows:new-1:product", "99"),
            ("inflows:new-1:quantity", "4"),
        ];
        let page = visitor.refused("/admin/suppliers/add/", &fields).await;
        has(
            &page,
            &[
                "value=\"Norte\"",
                "name=\"inflows:new-0:quantity\" value=\"4\"",
            ],
        );
        assert_eq!(app.count("suppliers").await, 1);
        assert_eq!(app.admin().quantity_of(1).await, 5);
    }
);

app_on_both_engines!(
    a_products_threshold_is_given_with_the_product_changed_and_taken_back,
    async |app| {
        shop(&app).await;
        let visitor = app.superuser().await;
        let with = |field: &'static str, value: &'static str| {
            [
                ("title", "Café"),
                ("category", "1"),
                ("brand", "1"),
                ("cost_price", "1,00"),
                ("selling_price", "2,50"),
                ("quantity", "7"),
                (field, value),
            ]
        };
        let add = "/admin/products/add/";
        visitor
            .done(add, &with("thresholds:new-0:threshold", "4"))
            .await;
        assert_eq!(app.threshold_of(3).await, 4);
        let change = "/admin/products/3/change/";
        let page = visitor.page(change).await;
        has(&page, &["name=\"thresholds:3:threshold\" value=\"4\""]);
        has_not(&page, &["thresholds:new-0"]);
        visitor
            .done(change, &with("thresholds:3:threshold", "6"))
            .await;
        assert_eq!(app.threshold_of(3).await, 6);
        visitor
            .done(change, &with("thresholds:3:delete", "1"))
            .await;
        assert!(app.threshold_of(3).await.is_null());
        assert_eq!(
            app.history_of(Model::Product, 3).await,
            [
                "root changed product 3 “Café” [threshold]",
                "root changed product 3 “Café” [threshold]",
                "root changed product 3 “Café” [threshold]",
                "root added product 3 “Café” []",
            ]
        );
    }
);

app_on_both_engines!(
    rows_obey_the_permissions_of_their_own_model_and_record,
    async |app| {
        shop(&app).await;
        let admin = app.admin();
        admin.receive(1, 1, 3).await;
        admin.a_supplier("Norte").await;
        let clerk = app
            .staff("clerk", &["change_supplier", "view_inflow"])
            .await;
        let page = clerk.page(SUPPLIER).await;
        has(&page, &["Inflows", "Arroz"]);
        has_not(&page, &["inflows:1:delete", "inflows:new-0"]);
        for field in ["inflows:1:delete", "inflows:new-0:quantity"] {
            let answer = clerk
                .submit(SUPPLIER, &[("name", "Sul"), (field, "1")])
                .await;
            assert_eq!(answer.status, 403, "{field}");
        }
        let nobody = app.staff("nobody", &["change_supplier"]).await;
        has_not(&nobody.page(SUPPLIER).await, &["Inflows"]);
        // A row of another supplier is no row of this one.
        let visitor = app.superuser().await;
        let fields = [("name", "Norte"), ("inflows:1:delete", "1")];
        visitor.done("/admin/suppliers/2/change/", &fields).await;
        assert_eq!(admin.quantity_of(1).await, 8);
    }
);

app_on_both_engines!(a_user_is_put_out_from_their_own_form, async |app| {
    let visitor = app.superuser().await;
    let manager = app.logged_in("manager").await;
    let page = visitor.page("/admin/users/2/change/").await;
    has(&page, &["Sessions", "name=\"sessions:2:delete\""]);
    let fields = [
        ("username", "manager"),
        ("active", "1"),
        ("groups:2", "1"),
        ("sessions:2:delete", "1"),
    ];
    visitor.done("/admin/users/2/change/", &fields).await;
    redirects(&manager.get("/").await, "/login/?next=/");
    let group = visitor.page("/admin/groups/2/change/").await;
    has(&group, &["Users", "manager"]);
});

app_on_both_engines!(too_many_new_rows_are_refused_with_the_limit, async |app| {
    shop(&app).await;
    let visitor = app.superuser().await;
    let names: Vec<_> = (0..21)
        .map(|row| {
            let name = |field: &str| format!("inflows:new-{row:02}:{field}");
            (name("product"), name("quantity"))
        })
        .collect();
    let mut fields = vec![("name", "Sul")];
    for (product, quantity) in &names {
        fields.extend([(product.as_str(), "1"), (quantity.as_str(), "1")]);
    }
    let page = visitor.refused(SUPPLIER, &fields).await;
    has(&page, &["At most 20 at a time.</p>"]);
    assert_eq!(app.admin().quantity_of(1).await, 5);
});
