//! Suggestions of the search in the header and of product pickers, and the list for a mistyped
//! word.

use serde_json::json;

use crate::{
    app::{TestApp, app_on_both_engines},
    visitor::{Visitor, is_refused},
};

/// The titles that are suggested for a text, in their order.
async fn offered(visitor: &Visitor<'_>, text: &str) -> Vec<String> {
    let answer = visitor.get(&format!("/pick/products/?q={text}")).await;
    let offers = answer.json();
    let titles = offers.as_array().unwrap().iter();
    titles
        .map(|offer| offer["text"].as_str().unwrap().to_owned())
        .collect()
}

async fn shop(app: &TestApp) {
    for title in [
        "Açúcar",
        "Arroz branco",
        "Café torrado",
        "Chá em caixa",
        "Descafeinado",
        "Pó de guaraná",
        "Pó",
    ] {
        app.admin().a_product(title, 5).await;
    }
}

app_on_both_engines!(
    titles_that_begin_so_come_before_words_that_do_and_those_before_other_places,
    async |app| {
        shop(&app).await;
        let viewer = app.logged_in("viewer").await;
        for (text, titles) in [
            (
                "ca",
                &["Café torrado", "Chá em caixa", "Açúcar", "Descafeinado"][..],
            ),
            ("CAF%C3%89", &["Café torrado", "Descafeinado"]),
            ("torrado+caf", &["Café torrado"]),
            ("po", &["Pó", "Pó de guaraná"]),
            ("guarana+po", &["Pó de guaraná"]),
            ("em", &["Chá em caixa"]),
            ("%25", &[]),
            ("torrado+em", &[]),
        ] {
            assert_eq!(offered(&viewer, text).await, titles, "{text}");
        }
        assert_eq!(offered(&viewer, "").await.len(), 7);
    }
);

app_on_both_engines!(
    one_mistyped_missing_or_swapped_letter_is_forgiven_on_pages_and_not_in_the_api,
    async |app| {
        shop(&app).await;
        let viewer = app.logged_in("viewer").await;
        for text in [
            "aroz",
            "arrox",
            "arorz",
            "arrozz",
            "aroz+branco",
            "aroz+branko",
        ] {
            assert_eq!(offered(&viewer, text).await, ["Arroz branco"], "{text}");
        }
        // The beginning of a word.
        assert_eq!(offered(&viewer, "torado").await, ["Café torrado"]);
        assert_eq!(offered(&viewer, "guarna").await, ["Pó de guaraná"]);
        for text in ["arxxz", "chx", "aroz+torrado"] {
            assert_eq!(offered(&viewer, text).await, [""; 0], "{text}");
        }
        let list = viewer.page("/products/?search=aroz").await;
        for said in [
            "No title has all these words. Products with “arroz”:",
            "Arroz branco",
            "1–1 of 1",
        ] {
            assert!(list.contains(said), "{said}: {list}");
        }
        let file = viewer.get("/products/export/?search=aroz").await;
        assert_eq!(file.text.lines().count(), 2, "{}", file.text);
        let api = app.admin().get("/api/v1/products/?search=aroz").await;
        assert_eq!(api.json()["count"], 0);
    }
);

app_on_both_engines!(a_code_is_never_taken_for_another_one, async |app| {
    app.admin().a_product("Filtro 500g abcd1", 5).await;
    let viewer = app.logged_in("viewer").await;
    for text in ["50g", "5000g", "abcd2", "7891000"] {
        assert_eq!(offered(&viewer, text).await, [""; 0], "{text}");
    }
});

app_on_both_engines!(words_of_products_that_are_gone_hide_none, async |app| {
    let admin = app.admin();
    admin.a_product("Cabide", 0).await;
    for number in 10..60 {
        let id = admin.a_product(&format!("Caaa{number}"), 0).await;
        let gone = admin.delete(&format!("/api/v1/products/{id}/")).await;
        assert_eq!(gone.status, 204);
    }
    let viewer = app.logged_in("viewer").await;
    assert_eq!(offered(&viewer, "ca").await, ["Cabide"]);
    assert_eq!(offered(&viewer, "caaa").await, [""; 0]);
});

app_on_both_engines!(
    what_is_not_found_is_offered_to_be_created_with_its_name_by_those_who_may,
    async |app| {
        shop(&app).await;
        let manager = app.logged_in("manager").await;
        for (list, sought, form) in [
            ("products", "xyz+w", "/products/new/?title=xyz+w"),
            (
                "products",
                "7891234567",
                "/products/new/?serie_number=7891234567",
            ),
            ("brands", "xyz", "/brands/new/?name=xyz"),
        ] {
            let text = manager.page(&format!("/{list}/?search={sought}")).await;
            assert!(text.contains(&format!("href=\"{form}\"")), "{text}");
            let said = format!("“{}”", sought.replace('+', " "));
            assert!(text.contains("Nothing found for") && text.contains(&said));
            let value = format!("value=\"{}\"", sought.replace('+', " "));
            assert!(manager.page(form).await.contains(&value), "{form}");
        }
        assert!(manager.page("/").await.contains("data-create="));
        let viewer = app.logged_in("viewer").await;
        let text = viewer.page("/products/?search=xyz").await;
        assert!(!text.contains("/products/new/") && !text.contains("data-create="));
    }
);

app_on_both_engines!(
    what_only_resembles_a_text_is_asked_about_before_it_is_booked,
    async |app| {
        shop(&app).await;
        let admin = app.logged_in("admin").await;
        let fields = [("product_text", "aroz"), ("quantity", "1")];
        let asked = admin.submit("/outflows/new/", &fields).await;
        is_refused(&asked, &["Choose a result below for", "Arroz branco"]);
        assert_eq!(app.admin().quantity_of(2).await, 5);
    }
);

app_on_both_engines!(typing_keeps_nobody_from_a_page, async |app| {
    let viewer = app.logged_in("viewer").await;
    let mut offers = 0;
    while viewer.get("/pick/products/?q=a").await.status == 200 {
        offers += 1;
    }
    assert_eq!(offers, 600);
    viewer.page("/products/").await;
});

app_on_both_engines!(what_is_offered_says_stock_price_and_code, async |app| {
    let id = app.admin().a_product("Café", 5).await;
    let numbered = json!({"serie_number": "789100", "selling_price": "1234.50"});
    app.admin().change_product(id, numbered).await;
    let mut viewer = app.logged_in("viewer").await;
    for (language, hint) in [
        ("en", "5 in stock · R$\u{a0}1,234.50 · 789100"),
        ("pt-BR", "5 em estoque · R$\u{a0}1.234,50 · 789100"),
    ] {
        viewer.language = language;
        let offers = viewer.get("/pick/products/?q=caf").await.json();
        assert_eq!(offers[0]["hint"], hint);
    }
});
