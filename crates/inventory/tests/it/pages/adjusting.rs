//! "Adjust stock" on pages: a counted quantity and a reason, relative to the quantity that was
//! shown, booked once for every form.

use serde_json::json;
use test_kit::html::{has, has_not};

use crate::{
    app::app_on_both_engines,
    visitor::{is_refused, leads_to, token},
};

const ADJUST: &str = "/products/1/adjust/";

app_on_both_engines!(
    a_count_is_booked_once_with_its_reason_and_read_wherever_the_ledger_is,
    async |app| {
        let id = app.admin().a_product("Café", 15).await;
        let manager = app.logged_in("manager").await;
        let form = manager.page("/products/1/adjust/?next=/products/").await;
        assert!(form.contains("name=\"shown\" value=\"15\""), "{form}");
        let token = token(&form);
        let fields = [
            ("shown", "15"),
            ("quantity", "12"),
            ("reason", "broken"),
            ("note", " caiu da prateleira "),
            ("form_token", token.as_str()),
            ("next", "/products/"),
        ];
        for _ in 0..2 {
            leads_to(&manager.submit(ADJUST, &fields).await, "/products/");
            let told = manager.page("/products/").await;
            has(&told, &["Stock adjusted: Café. From 15 to 12."]);
        }
        assert_eq!(app.admin().quantity_of(id).await, 12);
        let ledger = app.admin().get("/api/v1/products/1/ledger/").await.json();
        assert_eq!(ledger["count"], 2);
        let row = &ledger["results"][0];
        assert_eq!(
            (&row["kind"], &row["change"], &row["balance_after"]),
            (&json!("adjustment"), &json!(-3), &json!(12))
        );
        assert_eq!(
            (&row["reason"], &row["note"], &row["user"]),
            (
                &json!("broken"),
                &json!("caiu da prateleira"),
                &json!("manager")
            )
        );
        // Rows without a reason have no such members.
        let opening = ledger["results"][1].as_object().unwrap();
        assert!(!opening.contains_key("reason") && !opening.contains_key("note"));
        let said = "Adjustment · Broken or damaged: caiu da prateleira";
        for path in ["/products/1/", "/products/1/ledger/"] {
            let told = manager.page(path).await;
            assert!(told.contains(said), "{path}: {told}");
        }
        let history = manager.page("/products/1/").await;
        assert!(
            history.contains("Changed: quantity (broken or damaged) · manager"),
            "{history}"
        );
        let root = app.superuser().await;
        let ledger = root.page("/admin/ledger/").await;
        has(&ledger, &["Broken or damaged", "caiu da prateleira"]);
    }
);

app_on_both_engines!(
    a_sale_since_the_page_was_opened_is_told_and_not_undone,
    async |app| {
        let id = app.admin().a_product("Café", 15).await;
        let admin = app.logged_in("admin").await;
        app.admin().sell(id, 2).await;
        let mut fields = vec![("shown", "15"), ("quantity", "14"), ("reason", "counted")];
        let refused = admin.submit(ADJUST, &fields).await;
        is_refused(
            &refused,
            &[
                "The stock changed from 15 to 13 while this page was open.",
                "name=\"shown\" value=\"13\"",
                "name=\"quantity\" value=\"14\"",
            ],
        );
        assert_eq!(app.admin().quantity_of(id).await, 13);
        // It is counted again, relative to the present quantity.
        fields[0] = ("shown", "13");
        leads_to(&admin.submit(ADJUST, &fields).await, "/products/1/");
        assert_eq!(app.admin().quantity_of(id).await, 14);
        // A count that agrees with the stock changes nothing.
        fields[0] = ("shown", "14");
        leads_to(&admin.submit(ADJUST, &fields).await, "/products/1/");
        has(&admin.page("/products/1/").await, &["nothing to adjust"]);
        let ledger = app.admin().get("/api/v1/products/1/ledger/").await.json();
        assert_eq!(ledger["count"], 3);
    }
);

app_on_both_engines!(
    all_that_is_wrong_with_an_adjustment_is_told_at_once,
    async |app| {
        app.admin().a_product("Café", 15).await;
        let mut admin = app.logged_in("admin").await;
        admin.language = "pt-BR";
        let long = "x".repeat(201);
        let fields = [
            ("shown", "15"),
            ("quantity", "7891000000007"),
            ("reason", "eaten"),
            ("note", long.as_str()),
        ];
        let refused = admin.submit(ADJUST, &fields).await;
        is_refused(
            &refused,
            &[
                "O valor deve ser no máximo 9.999.999.",
                "Motivo: Este campo é obrigatório.",
                "Observação: Este campo pode ter no máximo 200 caracteres.",
            ],
        );
        let refused = admin.submit(ADJUST, &[]).await;
        is_refused(&refused, &["Quantidade contada: Este campo é obrigatório."]);
        admin.page_with("/products/2/adjust/", 404).await;
        // A user who may not change products may not adjust stock.
        let viewer = app.logged_in("viewer").await;
        viewer.page_with(ADJUST, 403).await;
        viewer.submit(ADJUST, &fields).await.has_status(403);
        for path in ["/products/", "/products/1/"] {
            has_not(&viewer.page(path).await, &["adjust/"]);
            has(&admin.page(path).await, &["adjust/"]);
        }
    }
);
