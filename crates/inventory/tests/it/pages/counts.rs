//! Stock counts on pages: quantities are typed or scanned into a draft, the differences are shown,
//! and all are booked or undone together.

use serde_json::json;
use test_kit::html::{has, has_not};

use crate::{
    app::{Answer, TestApp, app_on_both_engines},
    visitor::{Visitor, hidden, is_refused, leads_to, token},
};

const NEW: &str = "/counts/new/";
const DRAFT: &str = "/counts/1/edit/";
const REVIEW: &str = "/counts/1/review/";
const BOOKED: &str = "/counts/1/";

/// A supplier, and ten each of coffee, tea and milk of the category 1, which a scanner finds, and of
/// soap of the category 2.
pub(super) async fn a_shop(app: &TestApp) {
    let admin = app.admin();
    admin.a_category("Grãos").await;
    admin.a_category("Limpeza").await;
    admin.a_brand("Serra").await;
    admin.a_supplier("Torra Forte").await;
    for (title, serie_number, category) in [
        ("Café", "7891000000014", 1),
        ("Chá", "7891000000021", 1),
        ("Leite", "7891000000038", 1),
        ("Sabão", "7891000000045", 2),
    ] {
        admin
            .a_product_with_code(title, serie_number, category)
            .await;
    }
}

/// Begins a count of the first category.
async fn start(visitor: &Visitor<'_>, draft: &str) {
    let begun = visitor.submit_with_token(NEW, &[("category", "1")]).await;
    leads_to(&begun, draft);
}

/// The shop, and the browser of its administrator, who has begun a count.
async fn a_draft(app: &TestApp) -> Visitor<'_> {
    a_shop(app).await;
    let admin = app.logged_in("admin").await;
    start(&admin, DRAFT).await;
    admin
}

/// Types what was counted of lines.
async fn type_in(visitor: &Visitor<'_>, fields: &[(&str, &str)]) {
    let saved = visitor
        .submit_with_token(DRAFT, &[fields, &[("do", "save")]].concat())
        .await;
    leads_to(&saved, DRAFT);
}

/// Books the differences that the review shows.
async fn book(visitor: &Visitor<'_>) -> Answer {
    let review = visitor.page(REVIEW).await;
    let (token, seen) = (token(&review), hidden(&review, "seen"));
    let fields = [("form_token", token.as_str()), ("seen", seen.as_str())];
    visitor.submit(REVIEW, &fields).await
}

/// A row of the table of differences, without its tags.
fn row(review: &str, title: &str) -> String {
    let (_, table) = review.split_once("id=\"differences\"").unwrap();
    let row = table.split("<tr>").find(|row| row.contains(title)).unwrap();
    let (row, _) = row.split_once("</tr>").unwrap();
    let mut words = Vec::new();
    for part in row.split('<') {
        words.extend(part.split_once('>').map(|(_, text)| text.trim()));
    }
    words.retain(|word| !word.is_empty());
    words.join(" ")
}

app_on_both_engines!(
    differences_are_shown_booked_as_a_whole_and_taken_back_as_a_whole,
    async |app| {
        a_shop(&app).await;
        let manager = app.logged_in("manager").await;
        start(&manager, DRAFT).await;
        let draft = manager.page(DRAFT).await;
        assert!(draft.contains("0 of 3 products counted"), "{draft}");
        assert!(!draft.contains("Sabão"), "{draft}");
        type_in(&manager, &[("quantity_1", "8"), ("quantity_2", "10")]).await;
        let review = manager.page(REVIEW).await;
        for said in [
            "1 difference · 1 agrees",
            "Products that were not counted stay as they are.",
            "2 of 3 products counted",
            "Difference at cost price: -R$\u{a0}5.00",
            "Record 1 difference",
        ] {
            assert!(review.contains(said), "{said}: {review}");
        }
        assert_eq!(row(&review, "Café"), "Café 10 8 −2 8");
        assert_eq!(app.stock::<4>().await, [10; 4]);
        leads_to(&book(&manager).await, BOOKED);
        assert_eq!(app.stock::<4>().await, [8, 10, 10, 10]);
        let told = manager.page(BOOKED).await;
        for said in [
            "Count recorded: 1 difference · 1 agrees.",
            "action=\"/counts/1/undo/\"",
        ] {
            assert!(told.contains(said), "{said}: {told}");
        }
        assert_eq!(row(&told, "Café"), "Café 10 8 −2");
        let ledger = app.admin().get("/api/v1/products/1/ledger/").await.json();
        let entry = &ledger["results"][0];
        assert_eq!(
            (&entry["kind"], &entry["change"], &entry["user"]),
            (&json!("adjustment"), &json!(-2), &json!("manager"))
        );
        assert_eq!(
            (&entry["reason"], &entry["note"]),
            (&json!("counted"), &json!("Category: Grãos"))
        );
        let history = manager.page("/products/1/").await;
        assert!(history.contains("Changed: quantity (count) · manager"));
        // Lines without a difference, and lines that nobody counted, have no entry.
        for product in [2, 3] {
            let ledger = format!("/api/v1/products/{product}/ledger/");
            assert_eq!(app.admin().get(&ledger).await.json()["count"], 1);
        }
        for _ in 0..2 {
            leads_to(&manager.submit("/counts/1/undo/", &[]).await, DRAFT);
            assert_eq!(app.stock::<4>().await, [10; 4]);
        }
        has(&manager.page(DRAFT).await, &["already been undone"]);
        type_in(&manager, &[("quantity_3", "0")]).await;
        leads_to(&book(&manager).await, BOOKED);
        assert_eq!(app.stock::<4>().await, [8, 10, 0, 10]);
    }
);

app_on_both_engines!(
    what_was_sold_since_it_was_counted_is_told_and_stays_sold,
    async |app| {
        let admin = a_draft(&app).await;
        app.admin().sell(2, 1).await;
        type_in(&admin, &[("quantity_1", "8"), ("quantity_2", "9")]).await;
        app.admin().sell(1, 3).await;
        let review = admin.page(REVIEW).await;
        let said = "Café 10 8 −2 5 moved since then: −3";
        assert_eq!(row(&review, "Café"), said);
        assert!(review.contains("1 difference · 1 agrees"), "{review}");
        // It may even change between the review and the booking.
        let (token, seen) = (token(&review), hidden(&review, "seen"));
        app.admin().sell(1, 1).await;
        let fields = [("form_token", token.as_str()), ("seen", seen.as_str())];
        leads_to(&admin.submit(REVIEW, &fields).await, BOOKED);
        assert_eq!(app.stock::<4>().await, [4, 9, 10, 10]);
    }
);

app_on_both_engines!(
    a_line_that_cannot_be_booked_is_named_and_keeps_all_from_being_booked,
    async |app| {
        let admin = a_draft(&app).await;
        type_in(&admin, &[("quantity_1", "2"), ("quantity_2", "12")]).await;
        app.admin().sell(1, 9).await;
        let refused = book(&admin).await;
        let said =
            "Café: since it was counted, more units have left than there were. Count it again.";
        is_refused(&refused, &["Nothing was recorded.", said]);
        assert_eq!(app.stock::<4>().await, [1, 10, 10, 10]);
        type_in(
            &admin,
            &[("quantity_1", "0"), ("shown_1", "2"), ("quantity_3", "1")],
        )
        .await;
        app.admin().delete("/api/v1/products/3/").await;
        let refused = book(&admin).await;
        is_refused(
            &refused,
            &["Leite: this product was deleted. Clear its quantity."],
        );
        type_in(&admin, &[("quantity_3", ""), ("shown_3", "1")]).await;
        leads_to(&book(&admin).await, BOOKED);
        let client = app.admin();
        assert_eq!(
            (client.quantity_of(1).await, client.quantity_of(2).await),
            (0, 12)
        );
    }
);

app_on_both_engines!(
    a_count_whose_units_have_left_is_not_undone_in_part,
    async |app| {
        let admin = a_draft(&app).await;
        type_in(&admin, &[("quantity_1", "7"), ("quantity_2", "15")]).await;
        leads_to(&book(&admin).await, BOOKED);
        app.admin().sell(2, 11).await;
        let refused = admin.submit("/counts/1/undo/", &[]).await;
        assert_eq!(refused.status, 409);
        test_kit::html::check(&refused.text);
        let why = "Chá: units that the count added have left already.";
        assert!(refused.text.contains(why), "{refused:?}");
        assert_eq!(app.stock::<4>().await, [7, 4, 10, 10]);
        app.admin().delete("/api/v1/outflows/1/").await;
        leads_to(&admin.submit("/counts/1/undo/", &[]).await, DRAFT);
        assert_eq!(app.stock::<4>().await, [10; 4]);
    }
);

app_on_both_engines!(
    a_scan_counts_one_more_and_what_stands_elsewhere_on_the_shelf_gets_a_line,
    async |app| {
        let admin = a_draft(&app).await;
        let scan = async |code: &str, quantity: &str| {
            let fields = [
                ("product_text", code),
                ("quantity", quantity),
                ("do", "add"),
            ];
            leads_to(&admin.submit_with_token(DRAFT, &fields).await, DRAFT);
            admin.page(DRAFT).await
        };
        for units in 1..=3 {
            let told = scan("7891000000014", "1").await;
            let said = format!("Added: 1 × Café. In the list: {units}.");
            assert!(told.contains(&said), "{told}");
        }
        // The next code is scanned into the quantity field of the line before.
        let told = scan("7891000000021", "7891000000014").await;
        assert!(told.contains("In the list: 4."), "{told}");
        assert!(told.contains("2 of 3 products counted"), "{told}");
        let told = scan("7891000000045", "1").await;
        assert!(told.contains("3 of 4 products counted"), "{told}");
        leads_to(&book(&admin).await, BOOKED);
        assert_eq!(app.stock::<4>().await, [4, 1, 10, 1]);
    }
);

app_on_both_engines!(
    what_is_typed_is_stored_beside_what_another_device_types,
    async |app| {
        let admin = a_draft(&app).await;
        // The script saves it without leaving the page.
        for (field, shown, units) in [
            ("quantity_1", "shown_1", "7"),
            ("quantity_2", "shown_2", "1,200"),
        ] {
            let fields = [(field, units), (shown, ""), ("do", "keep")];
            let kept = admin.submit(DRAFT, &fields).await;
            assert_eq!(kept.status, 204, "{kept:?}");
        }
        // An unchanged line of a stale form leaves the newer value.
        type_in(
            &admin,
            &[("quantity_1", ""), ("shown_1", ""), ("quantity_3", "5")],
        )
        .await;
        has(&admin.page(DRAFT).await, &["3 of 3 products counted"]);
        for wrong in ["-1", "10000000", "x", "1.5"] {
            let fields = [("quantity_2", wrong), ("shown_2", "1200"), ("do", "review")];
            let refused = admin.submit_with_token(DRAFT, &fields).await;
            is_refused(&refused, &["Check the quantity of: Chá."]);
        }
        let fields = [("quantity_2", ""), ("shown_2", "1200"), ("do", "review")];
        leads_to(&admin.submit_with_token(DRAFT, &fields).await, REVIEW);
        leads_to(&book(&admin).await, BOOKED);
        assert_eq!(app.stock::<4>().await, [7, 10, 5, 10]);
        // What is typed after that has no effect.
        let late = [("quantity_1", "9"), ("shown_1", "7"), ("do", "keep")];
        leads_to(&admin.submit(DRAFT, &late).await, BOOKED);
        assert_eq!(app.stock::<4>().await, [7, 10, 5, 10]);
    }
);

app_on_both_engines!(
    just_the_differences_that_were_shown_are_booked_and_once,
    async |app| {
        let admin = a_draft(&app).await;
        has_not(&admin.page(REVIEW).await, &["Record the count"]);
        is_refused(&book(&admin).await, &["Nothing has been counted yet."]);
        type_in(&admin, &[("quantity_1", "8")]).await;
        let old = hidden(&admin.page(REVIEW).await, "seen");
        type_in(&admin, &[("quantity_2", "8")]).await;
        for (seen, said) in [
            (old.as_str(), "has changed since"),
            ("", "has changed since"),
        ] {
            let refused = admin.submit_with_token(REVIEW, &[("seen", seen)]).await;
            is_refused(&refused, &[said, "Chá"]);
        }
        assert_eq!(app.stock::<4>().await, [10; 4]);
        let review = admin.page(REVIEW).await;
        let (token, seen) = (token(&review), hidden(&review, "seen"));
        let fields = [("form_token", token.as_str()), ("seen", seen.as_str())];
        for _ in 0..2 {
            leads_to(&admin.submit(REVIEW, &fields).await, BOOKED);
        }
        assert_eq!(app.stock::<4>().await, [8, 8, 10, 10]);
        for path in [DRAFT, REVIEW] {
            assert_eq!(admin.get(path).await.header("location"), BOOKED);
        }
        admin.submit("/counts/1/undo/", &[]).await;
        // Back shows the form of a document that was booked and undone.
        leads_to(&admin.submit(REVIEW, &fields).await, DRAFT);
        has(&admin.page(DRAFT).await, &["already been undone"]);
        assert_eq!(app.stock::<4>().await, [10; 4]);
    }
);

app_on_both_engines!(
    a_count_is_begun_of_a_category_a_brand_a_supplier_or_a_list,
    async |app| {
        a_shop(&app).await;
        let client = app.admin();
        client.receive(1, 3, 1).await;
        let admin = app.logged_in("admin").await;
        let form = admin.page(NEW).await;
        has(&form, &["the products of its latest 10,000 inflows."]);
        for (at, fields, label, products) in [
            (1, &[("category", "2")][..], "Category: Limpeza", 1),
            (2, &[("brand", "1")][..], "Brand: Serra", 4),
            (
                3,
                &[("category_text", "grãos"), ("search", "chá")][..],
                "“chá” · Category: Grãos",
                1,
            ),
            (4, &[("supplier", "1")][..], "Supplier: Torra Forte", 1),
            (
                5,
                &[("min_price", "4,00")][..],
                "Price from R$\u{a0}4.00",
                4,
            ),
            (6, &[][..], "All products", 4),
        ] {
            let begun = admin.submit_with_token(NEW, fields).await;
            let draft = format!("/counts/{at}/edit/");
            leads_to(&begun, &draft);
            let draft = admin.page(&draft).await;
            assert!(draft.contains(label), "{label}: {draft}");
            let said = format!("0 of {products} product");
            assert!(draft.contains(&said), "{label}: {draft}");
        }
        has(&admin.page("/counts/").await, &["Supplier: Torra Forte"]);
        let both = [("supplier", "1"), ("category", "1")];
        let refused = admin.submit_with_token(NEW, &both).await;
        is_refused(&refused, &["Supplier: Choose the supplier alone"]);
        let none = [("search", "vassoura")];
        let refused = admin.submit_with_token(NEW, &none).await;
        is_refused(&refused, &["There are no products to count."]);
        let unknown = [("category_text", "nada")];
        let refused = admin.submit_with_token(NEW, &unknown).await;
        is_refused(&refused, &["href=\"#category\""]);
    }
);

app_on_both_engines!(
    whoever_may_adjust_is_led_to_counting_and_nobody_else_counts,
    async |app| {
        a_shop(&app).await;
        let manager = app.logged_in("manager").await;
        start(&manager, DRAFT).await;
        let viewer = app.logged_in("viewer").await;
        for path in ["/counts/", NEW, DRAFT, REVIEW, BOOKED] {
            has(&viewer.page_with(path, 403).await, &["Can change product"]);
        }
        for path in [NEW, DRAFT, REVIEW, "/counts/1/delete/", "/counts/1/undo/"] {
            let refused = viewer.submit(path, &[]).await;
            assert_eq!(refused.status, 403, "{path}");
        }
        for (path, link) in [
            ("/products/", "href=\"/counts/\""),
            ("/products/", "href=\"/counts/new/\""),
            (
                "/products/?category=1&search=ch%C3%A1&ordering=-title&page_size=25",
                "href=\"/counts/new/?search=ch%C3%A1&#38;category=1\"",
            ),
            ("/categories/1/", "href=\"/counts/new/?category=1\""),
            ("/brands/1/", "href=\"/counts/new/?brand=1\""),
            ("/suppliers/1/", "href=\"/counts/new/?supplier=1\""),
        ] {
            let seen = manager.page(path).await;
            assert!(seen.contains(link), "{path}: {seen}");
            assert!(!viewer.page(path).await.contains("/counts/"));
        }
        let filtered = "/counts/new/?search=ch%C3%A1&category=1&min_price=4,00";
        let form = manager.page(filtered).await;
        for said in [
            "“chá” · Category: Grãos · Price from R$\u{a0}4.00",
            "name=\"min_price\" value=\"4,00\"",
        ] {
            assert!(form.contains(said), "{said}: {form}");
        }
        // A draft belongs to the user who began it.
        let admin = app.logged_in("admin").await;
        for path in [DRAFT, REVIEW, BOOKED, "/counts/1/delete/"] {
            admin.page_with(path, 404).await;
        }
        // The address of a count does not open a receipt.
        manager.page_with("/receiving/1/edit/", 404).await;
        let asked = manager.page("/counts/1/delete/").await;
        let said = "Category: Grãos · 0 of 3 products counted";
        assert!(asked.contains(said), "{asked}");
        leads_to(&manager.submit("/counts/1/delete/", &[]).await, "/counts/");
        manager.page_with(DRAFT, 404).await;
    }
);

app_on_both_engines!(counts_have_bounds, async |app| {
    app.make_up(501, 0, 1, 30).await;
    let admin = app.logged_in("admin").await;
    let refused = admin.submit_with_token(NEW, &[]).await;
    is_refused(
        &refused,
        &["Category: That is more than 500 products. Choose fewer"],
    );
    let fields = [("category", "1")];
    for _ in 0..20 {
        let begun = admin.submit_with_token(NEW, &fields).await;
        assert_eq!(begun.status, 303, "{begun:?}");
    }
    let refused = admin.submit_with_token(NEW, &fields).await;
    is_refused(&refused, &["You already have 20 drafts"]);
});
