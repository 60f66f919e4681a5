//! The pages of analyses as plain HTTP gives them.

use serde_json::json;
use test_kit::{
    html::{self, has, has_not},
    on_both_engines,
};

use super::{a_product_that_ran_low, analysed, step};
use crate::{
    app::{TestApp, app_on_both_engines, unlimited},
    visitor::leads_to,
};

app_on_both_engines!(
    a_reader_sees_the_list_and_each_result_with_where_it_came_from_in_both_languages,
    async |app| {
        let title = "Arroz <script>alert(1)</script>";
        let product = a_product_that_ran_low(&app, title).await;
        let mut visitor = app.logged_in("viewer").await;
        let empty = visitor.get("/analyses/").await;
        html::check(&empty.text);
        has(
            &empty.text,
            &[
                "1 product is waiting for its analysis.",
                "Some products are already low",
            ],
        );
        analysed(&app).await;
        for (language, words) in [
            ("en", ["How this was calculated", "none configured"]),
            ("pt-BR", ["Como isto foi calculado", "nenhum configurado"]),
        ] {
            visitor.language = language;
            let own = format!("/analyses/product/{product}/");
            for path in ["/analyses/", "/analyses/1/", own.as_str()] {
                let page = visitor.page(path).await;
                assert!(!page.contains("<script>alert"), "{page}");
                assert!(page.contains("Arroz &#60;script&#62;"), "{path}: {page}");
                // A user without the permission is offered no button.
                assert!(!page.contains("name=\"product\""), "{path}");
            }
            let page = visitor.page("/analyses/1/").await;
            has(&page, &["Peça agora 42 unidades."]);
            has(&page, &words);
        }
        for unknown in [
            "/analyses/99/",
            "/analyses/x/",
            "/analyses/product/99/",
            "/analyses/product/x/",
            "/analyses/?page=9",
        ] {
            assert_eq!(visitor.get(unknown).await.status, 404, "{unknown}");
        }
    }
);

app_on_both_engines!(
    advice_and_reasons_are_in_the_open_and_how_they_were_found_is_behind_a_disclosure,
    async |app| {
        a_product_that_ran_low(&app, "Arroz").await;
        analysed(&app).await;
        let visitor = app.logged_in("manager").await;
        let page = visitor.page("/analyses/1/").await;
        let (open, behind) = page.split_once("<details class=\"card\"").unwrap();
        for said in ["Peça agora 42 unidades.", "Nível a alcançar: 51 unidades"] {
            assert!(
                open.contains(said) && !behind.contains(said),
                "{said}: {page}"
            );
        }
        for said in [
            "Previsão: a média dos dias com estoque.",
            "Prazo de entrega de 7 dias: presumido",
            "Formulas",
            "none configured",
        ] {
            assert!(
                !open.contains(said) && behind.contains(said),
                "{said}: {page}"
            );
        }
        assert!(
            !page.contains("Premissas"),
            "the disclosure is their title: {page}"
        );
        // The button stands beside the title, above the text.
        let title = open.find("<h1>").unwrap();
        let button = open.find("Analyse now").unwrap();
        assert!(title < button && button < open.find("Peça agora").unwrap());
        for path in ["/analyses/", "/products/1/", "/"] {
            let page = visitor.page(path).await;
            assert!(page.contains("Peça agora 42 unidades."), "{path}: {page}");
            assert!(
                !page.contains("Formulas") && !page.contains("computed"),
                "{path}"
            );
        }
    }
);

app_on_both_engines!(
    pages_give_no_advice_for_a_stock_that_a_product_had_once,
    async |app| {
        let product = a_product_that_ran_low(&app, "Arroz").await;
        analysed(&app).await;
        let visitor = app.logged_in("manager").await;
        let path = format!("/products/{product}/");
        has(&visitor.page(&path).await, &["Peça agora 42 unidades."]);
        app.manager()
            .change_product(product, json!({"quantity": 1000}))
            .await;
        let page = visitor.page(&path).await;
        has(
            &page,
            &["(the stock was different)", "href=\"/analyses/1/\""],
        );
        has_not(&page, &["Peça agora"]);
        has_not(&visitor.page("/").await, &["Peça agora"]);
        app.manager()
            .change_product(product, json!({"quantity": 9}))
            .await;
        has(&visitor.page(&path).await, &["Peça agora 42 unidades."]);
        leads_to(
            &visitor.submit(&format!("{path}archive/"), &[]).await,
            &path,
        );
        let page = visitor.page(&path).await;
        has(&page, &["Analysis of ", "href=\"/analyses/1/\""]);
        has_not(&page, &["Peça agora", "the stock was different"]);
    }
);

app_on_both_engines!(
    where_products_are_low_already_the_empty_page_says_what_each_reader_can_do,
    async |app| {
        let said = async |username: &str| app.logged_in(username).await.page("/analyses/").await;
        let first = "The first one appears when a product runs low";
        assert!(said("manager").await.contains(first));
        app.manager().a_product("Arroz", 3).await;
        let (manager, viewer) = (said("manager").await, said("viewer").await);
        assert!(!manager.contains(first) && !viewer.contains(first));
        has(&manager, &["choose one and press “Analyse now”"]);
        has(&viewer, &["each is analysed at its next outflow"]);
        html::check(&viewer);
    }
);

app_on_both_engines!(
    while_the_cool_down_runs_pages_say_so_do_not_ask_again_and_offer_the_button,
    async |app| {
        let product = a_product_that_ran_low(&app, "Arroz").await;
        analysed(&app).await;
        app.sell(product, 1).await;
        step(&app).await;
        let visitor = app.logged_in("manager").await;
        let own = format!("/analyses/product/{product}/");
        let catalogue = format!("/products/{product}/");
        for path in [own.as_str(), &catalogue] {
            let page = visitor.page(path).await;
            has(
                &page,
                &[
                    "Queued for 18 Dec 2026",
                    "Analyse now",
                    "Peça agora 42 unidades.",
                ],
            );
            has_not(&page, &["every 2s", "class=\"spinner\""]);
        }
    }
);

app_on_both_engines!(
    a_manager_asks_for_an_analysis_and_is_led_to_it_once_it_is_there,
    async |app| {
        let product = app.manager().a_product("Arroz", 50).await;
        let visitor = app.logged_in("manager").await;
        let own = format!("/analyses/product/{product}/");
        has(&visitor.page(&own).await, &["Analyse now"]);
        let fields = [("product", product.to_string())];
        let fields: Vec<(&str, &str)> = fields
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let asked = visitor.submit("/analyses/", &fields).await;
        assert_eq!(asked.status, 303, "{asked:?}");
        let progress = asked.header("location").to_owned();
        assert_eq!(progress, format!("/analyses/product/{product}/?after=0"));
        let page = visitor.page(&progress).await;
        has(&page, &["Queued", "hx-trigger=\"every 2s\""]);
        step(&app).await;
        let done = visitor.get(&progress).await;
        assert_eq!(done.header("location"), "/analyses/1/");
        let unknown = visitor.submit("/analyses/", &[("product", "999")]).await;
        assert_eq!(unknown.status, 404);
        let viewer = app.logged_in("viewer").await;
        let refused = viewer.submit("/analyses/", &fields).await;
        assert_eq!(refused.status, 403);
        assert!(refused.text.contains("Can add"), "{}", refused.text);
    }
);

app_on_both_engines!(
    on_the_products_own_page_an_analysis_is_asked_for_and_seen_to_come,
    async |app| {
        let product = app.manager().a_product("Arroz", 50).await;
        let visitor = app.logged_in("manager").await;
        let own = format!("/products/{product}/");
        has(&visitor.page(&own).await, &["Not analysed yet"]);
        let id = product.to_string();
        let fields = [("product", id.as_str()), ("from", "product")];
        let asked = visitor.submit("/analyses/", &fields).await;
        assert_eq!(asked.header("location"), format!("{own}?after=0#analysis"));
        let progress = format!("{own}?after=0");
        let page = visitor.page(&progress).await;
        assert!(page.contains("Queued"), "{page}");
        has(
            &page,
            &[&format!("hx-get=\"{progress}\" hx-trigger=\"every 2s\"")],
        );
        step(&app).await;
        let done = visitor.page(&progress).await;
        assert!(!done.contains("hx-trigger=\"every 2s\""));
        assert!(done.contains("Ready</span>"), "{done}");
        assert!(done.contains("href=\"/analyses/1/\""), "{done}");
        // The text is in the shop's language, and its `lang` attribute says so.
        assert!(done.contains("<p lang=\"pt-BR\">"), "{done}");
        let page = visitor.page("/analyses/1/").await;
        has(
            &page,
            &["<h1><span lang=\"pt-BR\">Reposição: Arroz</span></h1>"],
        );
        let viewer = app.logged_in("viewer").await;
        has_not(&viewer.page(&own).await, &["name=\"product\""]);
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
        assert_eq!(saved.status, 303, "{saved:?}");
        let api = format!("/api/v1/products/{product}/restock/");
        app.viewer().get(&api).await.is(
            200,
            &json!({
                "lead_time_days": 10, "lead_time_deviation_days": "1.50", "service_level": "97.50",
                "review_interval_days": null, "pack_multiple": 6,
            }),
        );
        let page = visitor.page(&format!("/analyses/product/{product}/")).await;
        assert!(page.contains("value=\"97,5\""), "{page}");
        let wrong = visitor.refused(&path, &fields("101")).await;
        assert!(wrong.contains("value=\"101\""), "{wrong}");
        let summary = "<a href=\"#service_level\">Nível de serviço, em %: ";
        has(&wrong, &["de 50 a 99,99", summary]);
    }
);
