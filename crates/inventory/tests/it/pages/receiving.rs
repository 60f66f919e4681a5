//! Receiving goods on pages: a draft that is filled line by line, booked as a whole and undone as a
//! whole.

use serde_json::json;
use test_kit::html::{has, has_not};

use super::counts::a_shop;
use crate::{
    app::{TestApp, app_on_both_engines},
    visitor::{Visitor, is_refused, leads_to, token},
};

async fn inflows(app: &TestApp) -> Vec<serde_json::Value> {
    let list = app.admin().get("/api/v1/inflows/?ordering=id").await;
    list.json()["results"].as_array().unwrap().clone()
}

/// Begins the draft 1 for the supplier.
async fn begin(visitor: &Visitor<'_>) {
    let fields = [("supplier_text", "torra"), ("invoice", "4711")];
    leads_to(&visitor.submit_with_token(NEW, &fields).await, DRAFT);
}

/// The shop, and the browser of its administrator, who has begun the draft 1.
async fn a_draft(app: &TestApp) -> Visitor<'_> {
    a_shop(app).await;
    let admin = app.logged_in("admin").await;
    begin(&admin).await;
    admin
}

/// Scans a product into the draft 1.
async fn scan(visitor: &Visitor<'_>, code: &str, quantity: &str) {
    let fields = [
        ("supplier", "1"),
        ("invoice", "4711"),
        ("product_text", code),
        ("quantity", quantity),
        ("do", "add"),
    ];
    leads_to(&visitor.submit_with_token(DRAFT, &fields).await, DRAFT);
}

/// The other fields of the draft 1.
const HEADER: [(&str, &str); 2] = [("supplier", "1"), ("invoice", "4711")];
const LIST: &str = "/receiving/";
const NEW: &str = "/receiving/new/";
const DRAFT: &str = "/receiving/1/edit/";

/// Presses a button of the draft 1.
async fn press(visitor: &Visitor<'_>, button: &str) -> crate::app::Answer {
    let [supplier, invoice] = HEADER;
    visitor
        .submit_with_token(DRAFT, &[supplier, invoice, ("do", button)])
        .await
}

app_on_both_engines!(
    an_invoice_is_booked_as_a_whole_and_taken_back_as_a_whole,
    async |app| {
        let mut admin = a_draft(&app).await;
        for (code, quantity) in [
            ("7891000000014", "3"),
            ("cha", "1,200"),
            ("7891000000038", "5"),
        ] {
            scan(&admin, code, quantity).await;
        }
        let told = admin.page(DRAFT).await;
        assert!(told.contains("Added: 5 × Leite. In the list: 5."), "{told}");
        let draft = admin.page(DRAFT).await;
        let sums = "3 products · 1,208 units · R$\u{a0}3,020.00 at cost price";
        assert!(draft.contains(sums), "{draft}");
        assert_eq!(app.stock::<3>().await, [10, 10, 10]);
        admin.language = "pt-BR";
        leads_to(&press(&admin, "book").await, "/receiving/1/");
        admin.language = "en";
        assert_eq!(app.stock::<3>().await, [13, 1210, 15]);
        let booked = inflows(&app).await;
        let quantities: Vec<_> = booked.iter().map(|inflow| &inflow["quantity"]).collect();
        assert_eq!(quantities, [3, 1200, 5], "in the order of the list");
        for inflow in &booked {
            assert_eq!(inflow["supplier"]["name"], "Torra Forte");
            assert_eq!(inflow["description"], "Nota fiscal 4711");
        }
        let told = admin.page("/receiving/1/").await;
        for said in [
            "Mercadoria recebida: 3 produtos",
            "action=\"/receiving/1/undo/\"",
            "href=\"/inflows/2/\"",
            "href=\"/products/3/\"",
        ] {
            assert!(told.contains(said), "{said}: {told}");
        }
        assert_eq!(admin.get(DRAFT).await.header("location"), "/receiving/1/");
        has(&admin.page(LIST).await, &["Torra Forte · 4711"]);
        // What was paid stays, whatever the goods cost later.
        app.change_product(1, json!({"cost_price": "999.00"})).await;
        has(&admin.page("/receiving/1/").await, &["R$\u{a0}3,020.00"]);
        for _ in 0..2 {
            leads_to(&admin.submit("/receiving/1/undo/", &[]).await, DRAFT);
            assert_eq!(app.stock::<3>().await, [10, 10, 10]);
        }
        has(&admin.page(DRAFT).await, &["already been undone"]);
        has(&admin.page(DRAFT).await, &["R$\u{a0}6,009.50"]);
        // The draft is corrected and booked again as a whole.
        leads_to(&press(&admin, "remove-2").await, DRAFT);
        leads_to(&press(&admin, "book").await, "/receiving/1/");
        assert_eq!(app.stock::<3>().await, [13, 10, 15]);
    }
);

app_on_both_engines!(
    the_same_product_adds_up_and_lines_are_changed_and_removed,
    async |app| {
        let admin = a_draft(&app).await;
        scan(&admin, "7891000000014", "3").await;
        scan(&admin, "7891000000021", "1").await;
        scan(&admin, "7891000000014", "4").await;
        has(&admin.page(DRAFT).await, &["In the list: 7."]);
        // A field that the form shows unchanged keeps another user's change.
        let [supplier, invoice] = HEADER;
        let changed = [
            supplier,
            invoice,
            ("quantity_1", "3"),
            ("shown_1", "3"),
            ("quantity_2", "6"),
            ("shown_2", "1"),
            ("do", "save"),
        ];
        leads_to(&admin.submit_with_token(DRAFT, &changed).await, DRAFT);
        has(&admin.page(DRAFT).await, &["2 products · 13 units"]);
        for wrong in ["0", "1000001", "x", ""] {
            let changed = [
                supplier,
                invoice,
                ("quantity_2", wrong),
                ("shown_2", "6"),
                ("do", "book"),
            ];
            let refused = admin.submit_with_token(DRAFT, &changed).await;
            is_refused(&refused, &["Check the quantity of: Chá."]);
        }
        leads_to(&press(&admin, "remove-1").await, DRAFT);
        let told = admin.page(DRAFT).await;
        assert!(told.contains("Removed from the list: Café."), "{told}");
        assert!(told.contains("1 product · 6 units"), "{told}");
        assert_eq!(app.stock::<3>().await, [10, 10, 10]);
    }
);

app_on_both_engines!(
    a_code_scanned_into_the_quantity_is_the_next_product,
    async |app| {
        let admin = a_draft(&app).await;
        let [supplier, invoice] = HEADER;
        let product = ("product_text", "7891000000014");
        let fields = [supplier, invoice, product, ("quantity", "7891000000021")];
        let next = "/receiving/1/edit/?product=2";
        leads_to(&admin.submit_with_token(DRAFT, &fields).await, next);
        let form = admin.page(next).await;
        assert!(form.contains("Added: 1 × Café."), "{form}");
        assert!(form.contains("value=\"Chá\""), "{form}");
        let quantity = form.split_once("id=\"quantity\"").unwrap().1;
        assert!(quantity.split('>').next().unwrap().contains("autofocus"));
        let fields = [supplier, invoice, product, ("quantity", "99999999")];
        let refused = admin.submit_with_token(DRAFT, &fields).await;
        is_refused(&refused, &["less than or equal to 1000000"]);
        let fields = [invoice, ("product_text", "zzz"), ("quantity", "x")];
        let refused = admin.submit_with_token(NEW, &fields).await;
        let both = ["“zzz”", "Quantity: A valid integer is required."];
        is_refused(&refused, &both);
    }
);

app_on_both_engines!(
    a_list_that_another_window_changed_is_not_booked_before_it_was_seen,
    async |app| {
        let admin = a_draft(&app).await;
        scan(&admin, "7891000000014", "5").await;
        let [supplier, invoice] = HEADER;
        let book = [
            supplier,
            invoice,
            ("quantity_1", "5"),
            ("shown_1", "5"),
            ("shown", "1:5"),
            ("do", "book"),
        ];
        let corrected = [supplier, invoice, ("quantity_1", "2"), ("shown_1", "5")];
        leads_to(&admin.submit_with_token(DRAFT, &corrected).await, DRAFT);
        let refused = admin.submit_with_token(DRAFT, &book).await;
        assert_eq!(refused.status, 422);
        let current = [
            "The list was changed in another window.",
            "name=\"shown\" value=\"1:2\"",
        ];
        has(&refused.text, &current);
        has_not(&refused.text, &["value=\"5\""]);
        assert_eq!(inflows(&app).await.len(), 0);
        scan(&admin, "cha", "1").await;
        let mut seen = book;
        seen[2..5].copy_from_slice(&[("quantity_1", "2"), ("shown_1", "2"), ("shown", "1:2")]);
        assert_eq!(admin.submit_with_token(DRAFT, &seen).await.status, 422);
        seen[4] = ("shown", "2:1,1:2");
        leads_to(
            &admin.submit_with_token(DRAFT, &seen).await,
            "/receiving/1/",
        );
    }
);

app_on_both_engines!(
    a_receipt_is_booked_once_however_often_the_form_is_sent,
    async |app| {
        let admin = a_draft(&app).await;
        let [supplier, invoice] = HEADER;
        let add = |token| {
            [
                supplier,
                invoice,
                ("product_text", "cafe"),
                ("quantity", "3"),
                ("do", "add"),
                ("form_token", token),
            ]
        };
        let token = token(&admin.page(DRAFT).await);
        for _ in 0..2 {
            leads_to(&admin.submit(DRAFT, &add(&token)).await, DRAFT);
        }
        let draft = admin.page(DRAFT).await;
        assert!(draft.contains("1 product · 3 units"), "{draft}");
        let token = self::token(&draft);
        let book = [supplier, invoice, ("do", "book"), ("form_token", &token)];
        for _ in 0..2 {
            leads_to(&admin.submit(DRAFT, &book).await, "/receiving/1/");
            let told = admin.page("/receiving/1/").await;
            assert!(told.contains("Goods received: 1 product"), "{told}");
        }
        assert_eq!(app.stock::<3>().await, [13, 10, 10]);
        admin.submit("/receiving/1/undo/", &[]).await;
        // Back shows the form of a document that was booked and undone.
        leads_to(&admin.submit(DRAFT, &book).await, DRAFT);
        has(&admin.page(DRAFT).await, &["already been undone"]);
        assert_eq!(app.stock::<3>().await, [10, 10, 10]);
        // A form that begins a draft begins only one.
        let token = self::token(&admin.page(NEW).await);
        let new = [supplier, ("form_token", token.as_str())];
        for _ in 0..2 {
            leads_to(&admin.submit(NEW, &new).await, "/receiving/2/edit/");
        }
    }
);

app_on_both_engines!(
    a_line_that_cannot_be_booked_is_named_and_keeps_all_from_being_booked,
    async |app| {
        let admin = a_draft(&app).await;
        for code in ["cafe", "cha", "leite"] {
            scan(&admin, code, "2").await;
        }
        let full = json!({"quantity": i64::MAX - 1});
        let client = app.admin();
        client.change_product(2, full).await;
        let refused = press(&admin, "book").await;
        is_refused(
            &refused,
            &["Chá: Ensure this value is less than or equal to 1."],
        );
        client.change_product(2, json!({"quantity": 10})).await;
        client.delete("/api/v1/products/3/").await;
        let refused = press(&admin, "book").await;
        let said = [
            "Leite: this product was deleted. Remove its line.",
            "(deleted)",
        ];
        is_refused(&refused, &said);
        assert!(inflows(&app).await.is_empty());
        assert_eq!(client.quantity_of(1).await, 10);
        leads_to(&press(&admin, "remove-3").await, DRAFT);
        leads_to(&press(&admin, "book").await, "/receiving/1/");
        assert_eq!(client.quantity_of(1).await, 12);
    }
);

app_on_both_engines!(
    a_receipt_whose_goods_have_left_is_not_undone_in_part,
    async |app| {
        let admin = a_draft(&app).await;
        for code in ["cafe", "cha", "leite"] {
            scan(&admin, code, "2").await;
        }
        leads_to(&press(&admin, "book").await, "/receiving/1/");
        app.admin().sell(2, 11).await;
        let refused = admin.submit("/receiving/1/undo/", &[]).await;
        assert_eq!(refused.status, 409);
        test_kit::html::check(&refused.text);
        let why =
            "Chá: Cannot delete this inflow because only 1 of its 2 units are still in stock.";
        assert!(refused.text.contains(why), "{refused:?}");
        assert_eq!(app.stock::<3>().await, [12, 1, 12]);
        // An inflow that was deleted on its own does not prevent the undo.
        app.admin().delete("/api/v1/outflows/1/").await;
        app.admin().delete("/api/v1/inflows/1/").await;
        leads_to(&admin.submit("/receiving/1/undo/", &[]).await, DRAFT);
        assert_eq!(app.stock::<3>().await, [10, 10, 10]);
    }
);

app_on_both_engines!(
    a_draft_is_its_makers_and_waits_for_the_next_login,
    async |app| {
        a_shop(&app).await;
        let manager = app.logged_in("manager").await;
        begin(&manager).await;
        scan(&manager, "cafe", "3").await;
        manager.submit("/logout/", &[]).await;
        let admin = app.logged_in("admin").await;
        for path in [DRAFT, "/receiving/1/", "/receiving/1/delete/"] {
            admin.page_with(path, 404).await;
        }
        assert_eq!(admin.submit(DRAFT, &[("do", "book")]).await.status, 404);
        admin.submit("/receiving/1/delete/", &[]).await;
        has(&admin.page(LIST).await, &["No drafts."]);
        let manager = app.logged_in("manager").await;
        has(&manager.page(LIST).await, &["1 product · 3 units"]);
        leads_to(&press(&manager, "book").await, "/receiving/1/");
        // Users who may not delete inflows are offered no Undo. After an Undo the draft belongs to
        // its maker again.
        has_not(&manager.page("/receiving/1/").await, &["/undo/"]);
        assert_eq!(manager.submit("/receiving/1/undo/", &[]).await.status, 403);
        leads_to(&admin.submit("/receiving/1/undo/", &[]).await, LIST);
        assert_eq!(app.stock::<3>().await, [10, 10, 10]);
        admin.page_with(DRAFT, 404).await;
        let asked = manager.page("/receiving/1/delete/").await;
        assert!(asked.contains("Torra Forte · 1 product"), "{asked}");
        leads_to(&manager.submit("/receiving/1/delete/", &[]).await, LIST);
        manager.page_with(DRAFT, 404).await;
    }
);

app_on_both_engines!(
    what_a_deleted_user_booked_stays_and_a_draft_goes_to_who_edits_it_next,
    async |app| {
        a_shop(&app).await;
        let manager = app.logged_in("manager").await;
        begin(&manager).await;
        scan(&manager, "cafe", "3").await;
        leads_to(&press(&manager, "book").await, "/receiving/1/");
        let fields = [("supplier", "1")];
        let begun = manager.submit_with_token(NEW, &fields).await;
        leads_to(&begun, "/receiving/2/edit/");
        let root = app.superuser().await;
        let confirmed = [("confirm", "yes")];
        root.done("/admin/users/2/delete/", &confirmed).await;
        let admin = app.logged_in("admin").await;
        let listed = admin.page(LIST).await;
        has(
            &listed,
            &["Torra Forte · 4711", "manager", "\"/receiving/2/\""],
        );
        let (_, drafts) = listed.split_once("id=\"drafts\"").unwrap();
        let (drafts, _) = drafts.split_once("id=\"booked\"").unwrap();
        has(drafts, &["data-label=\"Who\">manager<"]);
        has(&admin.page("/receiving/1/").await, &["<dd>manager</dd>"]);
        // Undoing makes it a draft, which is nobody's either.
        leads_to(&admin.submit("/receiving/1/undo/", &[]).await, DRAFT);
        leads_to(&press(&admin, "book").await, "/receiving/1/");
        has(&root.page("/receiving/1/").await, &["<dd>admin</dd>"]);
        leads_to(&root.submit("/receiving/2/delete/", &[]).await, LIST);
    }
);

app_on_both_engines!(who_may_not_book_goods_in_receives_none, async |app| {
    a_shop(&app).await;
    let viewer = app.logged_in("viewer").await;
    for path in [LIST, NEW, DRAFT, "/receiving/1/"] {
        has(&viewer.page_with(path, 403).await, &["Can add inflow"]);
    }
    for path in [NEW, DRAFT, "/receiving/1/delete/", "/receiving/1/undo/"] {
        let refused = viewer.submit(path, &[]).await;
        assert_eq!(refused.status, 403, "{path}");
    }
    let leads = |page: &str| page.matches("href=\"/receiving/\"").count();
    assert_eq!(leads(&viewer.page("/inflows/").await), 0);
    // Links in the navigation, behind "More" on phones, and on the list of inflows.
    let manager = app.logged_in("manager").await;
    assert_eq!(leads(&manager.page("/inflows/").await), 3);
    assert_eq!(leads(&manager.page("/outflows/").await), 2);
});

app_on_both_engines!(drafts_have_bounds, async |app| {
    a_shop(&app).await;
    let admin = app.logged_in("admin").await;
    let long = "1".repeat(61);
    let refused = admin.submit_with_token(NEW, &[("invoice", &long)]).await;
    is_refused(&refused, &["Invoice number: "]);
    let unknown = [("supplier_text", "ninguém"), ("product_text", "nada")];
    let refused = admin.submit_with_token(NEW, &unknown).await;
    is_refused(&refused, &["href=\"#supplier\"", "href=\"#product\""]);
    let access_key = "3".repeat(44);
    for _ in 0..20 {
        let fields = [("invoice", access_key.as_str())];
        let begun = admin.submit_with_token(NEW, &fields).await;
        assert_eq!(begun.status, 303, "{begun:?}");
    }
    let refused = admin.submit_with_token(NEW, &[("invoice", "1")]).await;
    is_refused(&refused, &["You already have 20 drafts"]);
});

app_on_both_engines!(
    without_a_supplier_or_a_product_nothing_is_booked_and_no_draft_begun,
    async |app| {
        a_shop(&app).await;
        let admin = app.logged_in("admin").await;
        let none = [("do", "book")];
        let refused = admin.submit_with_token(NEW, &none).await;
        is_refused(&refused, &["Supplier: This field is required."]);
        let nothing = [("supplier", "1"), ("do", "book")];
        let refused = admin.submit_with_token(NEW, &nothing).await;
        is_refused(&refused, &["Add at least one product."]);
        has(&admin.page(LIST).await, &["No drafts."]);
    }
);
