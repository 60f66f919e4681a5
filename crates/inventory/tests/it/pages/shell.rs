//! The layout of every page: navigation, search, messages, and the setting of keyboard shortcuts.

use test_kit::html::{has, has_not};

use crate::{app::app_on_both_engines, visitor::leads_to};

app_on_both_engines!(a_page_stands_in_its_frame_in_both_languages, async |app| {
    let mut visitor = app.logged_in("viewer").await;
    for (language, words) in [
        (
            "en",
            [
                "Products",
                "Log out",
                "Search or scan",
                "You are logged in as",
            ],
        ),
        (
            "pt-BR",
            ["Produtos", "Sair", "Buscar ou escanear", "Você entrou como"],
        ),
    ] {
        visitor.language = language;
        for path in ["/", "/shortcuts/"] {
            let page = visitor.page(path).await;
            has(&page, &words);
            has(&page, &["/api/v1/docs/"]);
        }
        visitor.page_with("/nowhere/", 404).await;
    }
    for path in ["/api/v1/docs/", "/api/v1/redoc/", "/api/v1/schema/"] {
        assert_eq!(visitor.status(path).await, 200, "{path}");
    }
});

app_on_both_engines!(keys_that_act_can_be_switched_off, async |app| {
    let visitor = app.logged_in("viewer").await;
    let page = visitor.page("/").await;
    assert!(page.contains("data-shortcuts=\"on\""));
    has_not(&page, &["Book an inflow", "Book an outflow"]);
    let manager = app.logged_in("manager").await;
    let keys = manager.page("/shortcuts/").await;
    has(&keys, &["Book an inflow", "Book an outflow"]);
    let fields = [("shortcuts", "off"), ("next", "/shortcuts/")];
    leads_to(&visitor.submit("/shortcuts/", &fields).await, "/shortcuts/");
    has_not(&visitor.page("/shortcuts/").await, &["data-shortcuts"]);
    visitor.submit("/shortcuts/", &[("shortcuts", "on")]).await;
    assert!(visitor.page("/").await.contains("data-shortcuts"));
});

app_on_both_engines!(
    a_reader_who_has_not_logged_in_is_led_to_the_form_and_scripts_are_told_so,
    async |app| {
        let visitor = app.visitor();
        let answer = visitor.get("/shortcuts/").await;
        assert_eq!(answer.header("location"), "/login/?next=/shortcuts/");
        let by_script = [("hx-request", "true")];
        let answer = visitor
            .send(http::Method::GET, "/shortcuts/", "", &by_script)
            .await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("hx-redirect"), "/login/?next=/shortcuts/");
        assert_eq!(answer.header("location"), "");
    }
);
