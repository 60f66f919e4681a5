//! The pages of analyses as plain HTTP gives them.

use serde_json::json;
use test_kit::{html, on_both_engines};

use super::{a_product_that_ran_low, analysed, step, unlimited};
use crate::app::TestApp;

on_both_engines!(
    a_reader_sees_the_list_and_each_result_with_where_it_came_from_in_both_languages,
    async |address| {
        let app = TestApp::new(&address).await;
        let title = "Arroz <script>alert(1)</script>";
        let product = a_product_that_ran_low(&app, title).await;
        let mut visitor = app.logged_in("viewer").await;
        let empty = visitor.get("/analyses/").await;
        html::check(&empty.text);
        assert!(
            empty.text.contains("1 product waits for its analysis."),
            "{}",
            empty.text
        );
        assert!(
            empty.text.contains("Some products are low already"),
            "{}",
            empty.text
        );
        analysed(&app).await;
        for (language, words) in [
            ("en", ["How this was calculated", "none configured"]),
            ("pt-BR", ["Como isto foi calculado", "nenhum configurado"]),
        ] {
            visitor.language = language;
            let own = format!("/analyses/product/{product}/");
            for path in ["/analyses/", "/analyses/1/", own.as_str()] {
                let page = visitor.get(path).await;
                assert_eq!(page.status.as_u16(), 200, "{page:?}");
                html::check(&page.text);
                assert!(!page.text.contains("<script>alert"), "{}", page.text);
                assert!(
                    page.text.contains("Arroz &#60;script&#62;"),
                    "{path}: {}",
                    page.text
                );
                // Who may not ask is not offered to.
                assert!(!page.text.contains("name=\"product\""), "{path}");
            }
            let page = visitor.get("/analyses/1/").await;
            assert!(
                page.text.contains("Peça agora 42 unidades."),
                "{}",
                page.text
            );
            for word in words {
                assert!(page.text.contains(word), "{word}: {}", page.text);
            }
        }
        for unknown in [
            "/analyses/99/",
            "/analyses/x/",
            "/analyses/product/99/",
            "/analyses/product/x/",
            "/analyses/?page=9",
        ] {
            assert_eq!(visitor.get(unknown).await.status.as_u16(), 404, "{unknown}");
        }
    }
);

on_both_engines!(
    a_manager_asks_for_an_analysis_and_is_led_to_it_once_it_is_there,
    async |address| {
        let app = TestApp::new(&address).await;
        let product = app.manager().a_product("Arroz", 50).await;
        let visitor = app.logged_in("manager").await;
        let own = format!("/analyses/product/{product}/");
        let page = visitor.get(&own).await;
        assert!(page.text.contains("Analyse now"), "{}", page.text);
        let fields = [("product", product.to_string())];
        let fields: Vec<(&str, &str)> = fields
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let asked = visitor.submit("/analyses/", &fields).await;
        assert_eq!(asked.status.as_u16(), 303, "{asked:?}");
        let progress = asked.header("location").to_owned();
        assert_eq!(progress, format!("/analyses/product/{product}/?after=0"));
        let page = visitor.get(&progress).await;
        html::check(&page.text);
        assert!(page.text.contains("In the queue"), "{}", page.text);
        assert!(
            page.text.contains("hx-trigger=\"every 2s\""),
            "{}",
            page.text
        );
        step(&app).await;
        let done = visitor.get(&progress).await;
        assert_eq!(done.header("location"), "/analyses/1/");
        let unknown = visitor.submit("/analyses/", &[("product", "999")]).await;
        assert_eq!(unknown.status.as_u16(), 404);
        let viewer = app.logged_in("viewer").await;
        let refused = viewer.submit("/analyses/", &fields).await;
        assert_eq!(refused.status.as_u16(), 403);
        assert!(refused.text.contains("add_analysis"), "{}", refused.text);
    }
);

on_both_engines!(
    on_the_products_own_page_an_analysis_is_asked_for_and_seen_to_come,
    async |address| {
        let app = TestApp::new(&address).await;
        let product = app.manager().a_product("Arroz", 50).await;
        let visitor = app.logged_in("manager").await;
        let own = format!("/products/{product}/");
        let page = visitor.get(&own).await;
        html::check(&page.text);
        assert!(page.text.contains("Not analysed yet"), "{}", page.text);
        let id = product.to_string();
        let fields = [("product", id.as_str()), ("from", "product")];
        let asked = visitor.submit("/analyses/", &fields).await;
        assert_eq!(asked.header("location"), format!("{own}?after=0#analysis"));
        let progress = format!("{own}?after=0");
        let page = visitor.get(&progress).await;
        html::check(&page.text);
        assert!(page.text.contains("In the queue"), "{}", page.text);
        assert!(
            page.text
                .contains(&format!("hx-get=\"{progress}\" hx-trigger=\"every 2s\"")),
            "{}",
            page.text
        );
        step(&app).await;
        let done = visitor.get(&progress).await;
        html::check(&done.text);
        assert!(!done.text.contains("hx-trigger=\"every 2s\""));
        assert!(done.text.contains("Ready</span>"), "{}", done.text);
        assert!(done.text.contains("href=\"/analyses/1/\""), "{}", done.text);
        // Its text is in the shop's language, and says so.
        assert!(done.text.contains("<p lang=\"pt-BR\">"), "{}", done.text);
        let page = visitor.get("/analyses/1/").await;
        assert!(
            page.text
                .contains("<h1><span lang=\"pt-BR\">Reposição: Arroz</span></h1>"),
            "{}",
            page.text
        );
        let viewer = app.logged_in("viewer").await;
        let page = viewer.get(&own).await;
        assert!(!page.text.contains("name=\"product\""), "{}", page.text);
    }
);

on_both_engines!(
    what_is_known_of_a_supply_is_written_in_a_form_with_the_readers_comma,
    async |address| {
        let app = TestApp::with(&address, unlimited()).await;
        let product = app.manager().a_product("Arroz", 50).await;
        let mut visitor = app.logged_in("manager").await;
        visitor.language = "pt-BR";
        let path = format!("/analyses/product/{product}/terms/");
        let fields = |level| {
            [
                ("lead_time_days", "10"),
                ("lead_time_deviation_days", "1,5"),
                ("service_level", level),
                ("review_interval_days", ""),
                ("pack_multiple", "6"),
            ]
        };
        let saved = visitor.submit(&path, &fields("97,5")).await;
        assert_eq!(saved.status.as_u16(), 303, "{saved:?}");
        let api = format!("/api/v1/products/{product}/restock/");
        app.viewer().get(&api).await.is(
            200,
            &json!({
                "lead_time_days": 10, "lead_time_deviation_days": "1.50", "service_level": "97.50",
                "review_interval_days": null, "pack_multiple": 6,
            }),
        );
        let page = visitor.get(&format!("/analyses/product/{product}/")).await;
        assert!(page.text.contains("value=\"97,5\""), "{}", page.text);
        let wrong = visitor.submit(&path, &fields("101")).await;
        assert_eq!(wrong.status.as_u16(), 422, "{wrong:?}");
        html::check(&wrong.text);
        assert!(wrong.text.contains("value=\"101\""), "{}", wrong.text);
        let summary = "<a href=\"#service_level\">Nível de serviço, em %: ";
        assert!(
            wrong.text.contains("de 50 a 99,99") && wrong.text.contains(summary),
            "{}",
            wrong.text
        );
    }
);
