//! The layout of every page: navigation, search, messages, and the setting of keyboard shortcuts.

use test_kit::html;

use crate::{app::app_on_both_engines, visitor::leads_to};

app_on_both_engines!(a_page_stands_in_its_frame_in_both_languages, async |app| {
    let mut visitor = app.logged_in("viewer").await;
    for (language, words) in [
        ("en", ["Products", "Log out", "Search or scan"]),
        ("pt-BR", ["Produtos", "Sair", "Buscar ou escanear"]),
    ] {
        visitor.language = language;
        for path in ["/", "/shortcuts/"] {
            let page = visitor.get(path).await;
            assert_eq!(page.status, 200, "{page:?}");
            html::check(&page.text);
            for word in words {
                assert!(page.text.contains(word), "{path}: {word}");
            }
        }
    }
});

app_on_both_engines!(keys_that_act_can_be_switched_off, async |app| {
    let visitor = app.logged_in("viewer").await;
    let page = visitor.get("/").await;
    assert!(page.text.contains("data-shortcuts=\"on\""));
    html::has_not(&page.text, &["Book an inflow", "Book an outflow"]);
    let manager = app.logged_in("manager").await;
    let keys = manager.page("/shortcuts/").await;
    html::has(&keys, &["Book an inflow", "Book an outflow"]);
    let fields = [("shortcuts", "off"), ("next", "/shortcuts/")];
    let answer = visitor.submit("/shortcuts/", &fields).await;
    leads_to(&answer, "/shortcuts/");
    let page = visitor.get("/shortcuts/").await;
    assert!(!page.text.contains("data-shortcuts"), "{}", page.text);
    html::check(&page.text);
    visitor.submit("/shortcuts/", &[("shortcuts", "on")]).await;
    assert!(visitor.get("/").await.text.contains("data-shortcuts"));
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
