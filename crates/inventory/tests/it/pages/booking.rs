//! Goods in and out on pages: booked once for every form, confirmed with the new balance, and
//! undone by users with the permission.

use serde_json::json;
use test_kit::html::{has, has_not};

use crate::{
    app::app_on_both_engines,
    visitor::{is_refused, leads_to, token},
};

app_on_both_engines!(
    goods_go_out_once_however_often_the_form_is_sent_and_come_back_by_undo,
    async |app| {
        let id = app.admin().a_product("Café", 10).await;
        let admin = app.logged_in("admin").await;
        let form = admin.page("/outflows/new/?product=1&next=/products/").await;
        assert!(form.contains("value=\"Café\""), "{form}");
        let token = token(&form);
        let mut fields = vec![
            ("product", "1"),
            ("product_text", "Café"),
            ("product_was", "Café"),
            ("quantity", "3"),
            ("form_token", token.as_str()),
            ("next", "/products/"),
        ];
        for _ in 0..2 {
            leads_to(&admin.submit("/outflows/new/", &fields).await, "/products/");
        }
        assert_eq!(app.admin().quantity_of(id).await, 7);
        let told = admin.page("/products/").await;
        has(&told, &["Booked out: 3 × Café. New balance: 7."]);
        assert!(told.contains("action=\"/outflows/1/delete/\""));
        fields[3] = ("quantity", "4");
        let reused = admin.submit("/outflows/new/", &fields).await;
        is_refused(&reused, &["This form has already been saved"]);
        assert_ne!(self::token(&reused.text), token);
        let undone = admin
            .submit("/outflows/1/delete/", &[("next", "/products/")])
            .await;
        leads_to(&undone, "/products/");
        let told = admin.page("/products/").await;
        has(&told, &["Outflow undone: 3 × Café. New balance: 10."]);
        assert_eq!(app.admin().quantity_of(id).await, 10);
        let twice = admin
            .submit("/outflows/1/delete/", &[("next", "/products/")])
            .await;
        leads_to(&twice, "/products/");
        has(&admin.page("/products/").await, &["already been undone"]);
        fields[3] = ("quantity", "3");
        leads_to(&admin.submit("/outflows/new/", &fields).await, "/products/");
        assert_eq!(app.admin().quantity_of(id).await, 10);
    }
);

app_on_both_engines!(
    a_message_about_a_long_name_still_says_the_balance,
    async |app| {
        let id = app.admin().a_product("Café", 10).await;
        let title = "á".repeat(500);
        app.admin()
            .change_product(id, json!({"title": title}))
            .await;
        let admin = app.logged_in("admin").await;
        let sale = [("product", "1"), ("quantity", "4"), ("next", "/products/")];
        let booked = admin.submit_with_token("/outflows/new/", &sale).await;
        leads_to(&booked, "/products/");
        has(&admin.page("/products/").await, &["ááá…. New balance: 6."]);
    }
);

app_on_both_engines!(more_than_there_is_cannot_go_out, async |app| {
    app.admin().a_product("Café", 2).await;
    let mut manager = app.logged_in("manager").await;
    manager.language = "pt-BR";
    let fields = [
        ("product", "1"),
        ("quantity", "3"),
        ("description", "balcão"),
    ];
    let refused = manager.submit("/outflows/new/", &fields).await;
    is_refused(
        &refused,
        &[
            "Estoque insuficiente: só 2 unidades disponíveis.",
            "value=\"3\"",
            "value=\"balcão\"",
            "href=\"#quantity\"",
        ],
    );
    let refused = manager.submit("/outflows/new/", &[("quantity", "")]).await;
    is_refused(&refused, &["Este campo é obrigatório."]);
    // For a product that is out of stock the message names no number.
    app.admin().sell(1, 2).await;
    let refused = manager.submit("/outflows/new/", &fields).await;
    is_refused(&refused, &["Sem estoque: nenhuma unidade disponível."]);
    manager.language = "en";
    let refused = manager.submit("/outflows/new/", &fields).await;
    is_refused(&refused, &["Out of stock: no unit is available."]);
});

app_on_both_engines!(
    a_link_chooses_a_product_even_if_its_title_is_its_id_and_none_that_does_not_exist,
    async |app| {
        let id = app.admin().a_product("1", 10).await;
        assert_eq!(id, 1);
        let admin = app.logged_in("admin").await;
        let form = admin.page("/outflows/new/?product=1").await;
        assert!(form.contains("name=\"product_was\" value=\"1\""), "{form}");
        let form = admin.page("/outflows/new/?product=2").await;
        assert!(!form.contains("name=\"product_was\" value=\"2\""), "{form}");
    }
);

app_on_both_engines!(
    goods_come_in_from_a_supplier_and_leave_again_only_while_they_are_there,
    async |app| {
        let id = app.admin().a_product("Café", 0).await;
        let admin = app.logged_in("admin").await;
        admin
            .submit("/suppliers/new/", &[("name", "Torra Forte")])
            .await;
        admin.page("/inflows/new/?product=1&supplier=1").await;
        let fields = [
            ("product_text", "cafe"),
            ("supplier_text", "torra"),
            ("quantity", "1,200"),
        ];
        leads_to(&admin.submit("/inflows/new/", &fields).await, "/inflows/");
        assert_eq!(app.admin().quantity_of(id).await, 1200);
        has(&admin.page("/inflows/").await, &["Torra Forte", "+1,200"]);
        admin.page("/inflows/1/").await;
        let asked = admin.page("/inflows/1/delete/").await;
        assert!(asked.contains("action=\"/inflows/1/delete/\""), "{asked}");
        app.admin().sell(id, 1100).await;
        let refused = admin.submit("/inflows/1/delete/", &[]).await;
        assert_eq!(refused.status, 409);
        has(&refused.text, &["only 100 of its 1200 units"]);
        test_kit::html::check(&refused.text);
        // The page that asks for confirmation says so, and has no button.
        let told = admin.page("/inflows/1/delete/").await;
        assert!(
            told.contains("only 100 of its 1200 units are still in stock")
                && told.contains("/products/1/ledger/")
                && !told.contains("action=\"/inflows/1/delete/\""),
            "{told}"
        );
        let told = admin.page("/products/1/delete/").await;
        for address in [
            "/inflows/?product=1",
            "/outflows/?product=1",
            "/products/1/",
        ] {
            assert!(told.contains(&format!("href=\"{address}\"")), "{address}");
        }
        assert!(told.contains("Archive on its page"), "{told}");
        let archived = json!({"archived": true});
        app.admin()
            .put("/api/v1/products/1/archived/", archived)
            .await;
        let told = admin.page("/products/1/delete/").await;
        assert!(!told.contains("Archive on its page"), "{told}");
        let asked = admin.page("/outflows/1/delete/").await;
        assert!(asked.contains("action=\"/outflows/1/delete/\""), "{asked}");
        let root = app.superuser().await;
        let told = root.page("/admin/inflows/1/delete/").await;
        has(&told, &["only 100 of its 1200 units"]);
        has_not(&told, &["I’m sure"]);
    }
);

app_on_both_engines!(
    who_may_not_delete_books_without_being_offered_undo,
    async |app| {
        app.admin().a_product("Café", 10).await;
        let manager = app.logged_in("manager").await;
        manager
            .submit("/outflows/new/", &[("product", "1"), ("quantity", "1")])
            .await;
        let told = manager.page("/outflows/").await;
        assert!(told.contains("Booked out: 1 × Café"), "{told}");
        assert!(!told.contains("delete/"));
        // For users who may not delete, the message, the row and the record link to the stock
        // adjustment, filled in with the quantity of before.
        let correction =
            "/products/1/adjust/?by=1&#38;reason=other&#38;note=Correction+of+outflow+%231";
        assert_eq!(told.matches(correction).count(), 2, "{told}");
        has(&manager.page("/outflows/1/").await, &[correction]);
        let form = manager.page(&correction.replace("&#38;", "&")).await;
        for said in [
            "name=\"quantity\" value=\"10\"",
            "<option value=\"other\" selected>",
            "value=\"Correction of outflow #1\"",
        ] {
            assert!(form.contains(said), "{said}: {form}");
        }
        // Users who may neither delete nor change products are offered nothing. Users who may
        // delete are offered Undo.
        let viewer = app.logged_in("viewer").await;
        let admin = app.logged_in("admin").await;
        for path in ["/outflows/", "/outflows/1/"] {
            has_not(&viewer.page(path).await, &["delete/", "adjust/"]);
            let seen = admin.page(path).await;
            assert!(seen.contains("delete/\"") && !seen.contains("adjust/"));
        }
    }
);

app_on_both_engines!(
    a_movement_says_who_booked_it_what_it_was_worth_and_what_was_left,
    async |app| {
        app.admin().a_product("Café", 10).await;
        let manager = app.logged_in("manager").await;
        let form = manager.page("/outflows/new/").await;
        let field = form.split_once("name=\"product_text\"").unwrap().1;
        assert!(
            field.split_once('>').unwrap().0.contains("autofocus"),
            "{form}"
        );
        manager
            .submit("/outflows/new/", &[("product", "1"), ("quantity", "3")])
            .await;
        let record = manager.page("/outflows/1/").await;
        for (name, value) in [
            ("Who", "manager"),
            ("Balance after", "7"),
            ("Value", "R$\u{a0}37.50"),
        ] {
            let fact = format!("<dt>{name}</dt><dd>{value}</dd>");
            assert!(record.contains(&fact), "{fact}: {record}");
        }
    }
);

app_on_both_engines!(
    a_text_that_means_several_products_is_asked_about,
    async |app| {
        app.admin().a_product("Café forte", 10).await;
        app.admin().a_product("Café suave", 10).await;
        let admin = app.logged_in("admin").await;
        let fields = [("product_text", "café"), ("quantity", "1")];
        let asked = admin.submit("/outflows/new/", &fields).await;
        is_refused(
            &asked,
            &[
                "Choose a result below for",
                "name=\"product_choice\" value=\"2\"",
            ],
        );
        let fields = [
            ("product_text", "café"),
            ("product_choice", "2"),
            ("quantity", "1"),
        ];
        leads_to(&admin.submit("/outflows/new/", &fields).await, "/outflows/");
        assert_eq!(app.admin().quantity_of(2).await, 9);
        let changed_by_hand = [
            ("product", "1"),
            ("product_text", "Café suave"),
            ("product_was", "Café forte"),
            ("quantity", "1"),
        ];
        leads_to(
            &admin.submit("/outflows/new/", &changed_by_hand).await,
            "/outflows/",
        );
        assert_eq!(app.admin().quantity_of(2).await, 8);
        let offered = admin.get("/pick/products/?q=suave").await.json();
        assert_eq!(offered[0]["text"], "Café suave");
        assert_eq!(offered[0]["hint"], "8 in stock · R$\u{a0}12.50");
        admin.page_with("/pick/nothing/", 404).await;
    }
);
