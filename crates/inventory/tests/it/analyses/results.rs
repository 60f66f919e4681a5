//! Analyses that are stored without a model, and how they are read.

use inventory::analysis::Source;
use serde_json::json;
use test_kit::on_both_engines;
use web::locale::Locale;

use super::{DAY, a_new_product_that_is_low, a_product_that_ran_low, analysed};
use crate::app::{TestApp, app_on_both_engines, unlimited};

const PORTUGUESE: &str = "\
Reposição: Arroz Tio João 5 kg

Peça agora 42 unidades.
Em estoque: 9 unidades, para cerca de 3,4 dias; acaba por volta de 20/12/2026, antes que um pedido de hoje chegue (7 dias).

Por quê
- Demanda prevista: 2,7 por dia. Saíram 75 unidades em 28 dias com estoque; houve saída em 22 dias.
- Sai quase todo dia, em quantidades parecidas. Confiança na previsão: boa.
- Ponto de pedido: 27 unidades, das quais 10 de segurança, para que o estoque dure até a entrega em 95% das vezes.
- Nível a alcançar: 51 unidades, para 7 dias de entrega e 7 dias até a próxima revisão.

Premissas
- Histórico de 28 dias, sempre com estoque.
- Previsão: a média dos dias com estoque.
- Prazo de entrega de 7 dias: presumido, pois pedidos de compra não são registrados.";

const ENGLISH: &str = "\
Restock: Arroz Tio João 5 kg

Order 42 units now.
In stock: 9 units, enough for about 3.4 days; they run out around 20 Dec 2026, before an order placed today arrives (7 days).

Why
- Expected demand: 2.7 a day. 75 units went out in 28 days with stock, on 22 days of them.
- It sells nearly every day, in similar quantities. Confidence in the forecast: good.
- Reorder point: 27 units, including 10 of safety stock, so that the stock lasts until delivery 95% of the time.
- Target level: 51 units, covering 7 days for delivery and 7 days until the next review.

Assumptions
- History of 28 days, always with stock.
- Forecast: the mean of the days with stock.
- A lead time of 7 days: assumed, since purchase orders are not recorded.";

app_on_both_engines!(
    a_product_that_runs_low_has_an_analysis_on_record_that_a_shopkeeper_can_read,
    async |app| {
        let product = a_product_that_ran_low(&app, "Arroz Tio João 5 kg").await;
        let analysis = analysed(&app).await;
        assert_eq!(analysis.summary.result, PORTUGUESE);
        assert_eq!(analysis.summary.product, Some(product));
        assert_eq!(analysis.summary.suggested_quantity, Some(42));
        assert_eq!(analysis.summary.gist(), "Peça agora 42 unidades.");
        let provenance = &analysis.provenance;
        assert_eq!(
            (provenance.source, provenance.outcome.as_str()),
            (Source::Formula, "no_model")
        );
        assert_eq!(
            (provenance.model.as_deref(), provenance.asked_by.as_deref()),
            (None, None)
        );
        assert_eq!(provenance.inputs_digest.len(), 64);
        let figures: serde_json::Value = serde_json::from_str(&analysis.figures).unwrap();
        assert_eq!(figures["forecast"]["class"], "smooth");
        assert_eq!(figures["units"], 75);

        let events = app.events().await;
        let told = events.last().unwrap();
        assert_eq!(told["type"], "analysis.created");
        assert_eq!(told["data"]["suggested_quantity"], 42);
        assert_eq!(told["data"]["result"], PORTUGUESE);
    }
);

app_on_both_engines!(
    what_was_sold_today_is_known_while_there_is_no_forecast,
    async |app| {
        let product = app.admin().a_product("Arroz", 12).await;
        app.clock.advance(DAY * 30);
        app.sell(product, 3).await;
        let analysis = analysed(&app).await;
        assert_eq!(analysis.summary.suggested_quantity, None);
        let figures: serde_json::Value = serde_json::from_str(&analysis.figures).unwrap();
        for (name, value) in [("units", 3), ("demand_days", 1), ("days", 31)] {
            assert_eq!(figures[name], value, "{name}: {figures}");
        }
    }
);

on_both_engines!(
    the_text_is_in_english_where_the_shop_wants_it,
    async |address| {
        let mut config = unlimited();
        config.language = Locale::En;
        let app = TestApp::with(&address, config).await;
        a_product_that_ran_low(&app, "Arroz Tio João 5 kg").await;
        assert_eq!(analysed(&app).await.summary.result, ENGLISH);
    }
);

app_on_both_engines!(
    where_the_shops_own_minimum_sets_the_level_the_text_says_so,
    async |app| {
        let product = a_product_that_ran_low(&app, "Arroz Tio João 5 kg").await;
        let supplier = app.admin().a_supplier("Distribuidora").await;
        app.receive(supplier, product, 31).await;
        app.set_threshold(product, 90).await;
        let text = analysed(&app).await.summary.result;
        for said in [
            "Peça agora 50 unidades.",
            "- Ponto de pedido: 27 unidades, das quais 10 de segurança, para que o estoque dure até a entrega em 95% das vezes. \
             O estoque ainda não chegou a ele, mas está abaixo do mínimo definido pela loja (90).",
            "- Nível a alcançar: 90 unidades, o mínimo definido pela loja.\n",
        ] {
            assert!(text.contains(said), "{said}: {text}");
        }
    }
);

app_on_both_engines!(
    the_next_alert_of_a_product_carries_the_suggestion,
    async |app| {
        let product = a_product_that_ran_low(&app, "Arroz").await;
        analysed(&app).await;
        app.sell(product, 1).await;
        let events = app.events().await;
        let low = events
            .iter()
            .rfind(|event| event["type"] == "product.low_stock");
        assert_eq!(low.unwrap()["data"]["suggested_quantity"], 42);
    }
);

app_on_both_engines!(
    a_product_without_history_is_not_foretold_from,
    async |app| {
        a_new_product_that_is_low(&app, "Novidade\u{202e}\n<b>").await;
        let analysis = analysed(&app).await;
        let text = &analysis.summary.result;
        assert!(text.starts_with("Reposição: Novidade <b>\n"), "{text}");
        assert!(text.contains("Ainda não há histórico suficiente"), "{text}");
        assert!(
            text.contains("Falta 1 unidade para o mínimo definido pela loja (10 unidades)"),
            "{text}"
        );
        assert_eq!(analysis.summary.suggested_quantity, None);
    }
);

app_on_both_engines!(
    analyses_are_read_newest_first_by_everybody_who_is_known,
    async |app| {
        for title in ["Arroz", "Feijão", "Sal"] {
            a_new_product_that_is_low(&app, title).await;
            analysed(&app).await;
        }
        let viewer = app.viewer();
        let list = viewer.get("/api/v1/analyses/?page_size=2").await.json();
        assert_eq!(list["count"], 3);
        assert_eq!(list["results"][0]["id"], 3);
        let members: Vec<&String> = list["results"][0].as_object().unwrap().keys().collect();
        assert_eq!(members.len(), 3);
        let one = viewer.get("/api/v1/analyses/3/").await.json();
        assert_eq!(one, list["results"][0]);
        assert!(one["result"].as_str().unwrap().contains("Sal"));
        assert_eq!(one["created_at"], "2026-11-20T12:00:00Z");
        for unknown in ["/api/v1/analyses/4/", "/api/v1/analyses/x/"] {
            viewer
                .get(unknown)
                .await
                .is(404, &json!({"detail": "Not found."}));
        }
        let unnamed = app.anonymous().get("/api/v1/analyses/").await;
        assert_eq!(unnamed.status, 401);
        let written = app.admin().post("/api/v1/analyses/", json!({})).await;
        assert_eq!(written.status, 405);
        let refused = viewer.post("/api/v1/analyses/", json!({})).await;
        assert_eq!(refused.status, 403);
    }
);

app_on_both_engines!(
    what_is_known_of_a_products_supply_counts_before_what_the_shop_assumes,
    async |app| {
        let product = a_product_that_ran_low(&app, "Arroz").await;
        let path = format!("/api/v1/products/{product}/restock/");
        let nothing = json!({
            "lead_time_days": null, "lead_time_deviation_days": null, "service_level": null,
            "review_interval_days": null, "pack_multiple": null,
        });
        app.viewer().get(&path).await.is(200, &nothing);
        let own = json!({
            "lead_time_days": 7, "lead_time_deviation_days": "2.00", "service_level": "95.00",
            "review_interval_days": 7, "pack_multiple": 12,
        });
        assert_eq!(app.viewer().put(&path, own.clone()).await.status, 403);
        app.manager().put(&path, own.clone()).await.is(200, &own);
        app.viewer().get(&path).await.is(200, &own);
        let analysis = analysed(&app).await;
        // A lead time that varies makes the safety stock larger, and the order is in whole packs.
        assert_eq!(analysis.summary.suggested_quantity, Some(48));
        let text = &analysis.summary.result;
        assert!(
            text.contains("Ponto de pedido: 31 unidades, das quais 13 de segurança"),
            "{text}"
        );
        assert!(text.contains("com desvio de 2 dias"), "{text}");
        assert!(text.contains("Pedidos em múltiplos de 12."), "{text}");

        let wrong = json!({
            "lead_time_days": 0, "lead_time_deviation_days": "1.234", "service_level": 100, "review_interval_days": null,
        });
        app.manager().put(&path, wrong).await.is(400, &json!({
            "lead_time_days": ["Ensure this value is greater than or equal to 1."],
            "lead_time_deviation_days": ["Ensure that there are no more than 2 decimal places."],
            "service_level": ["Ensure this value is from 50 to 99.99."],
            "pack_multiple": ["This field is required."],
        }));
        app.manager()
            .put(&path, nothing.clone())
            .await
            .is(200, &nothing);
        let unknown = app
            .manager()
            .put("/api/v1/products/999/restock/", nothing)
            .await;
        assert_eq!(unknown.status, 404);
    }
);

on_both_engines!(
    days_without_stock_do_not_count_as_days_without_demand,
    async |address| {
        use super::DAY;
        let app = TestApp::new(&address).await;
        let product = app.manager().a_product("Arroz", 20).await;
        let supplier = app.manager().a_supplier("S").await;
        for _ in 0..5 {
            app.sell(product, 4).await;
            app.clock.advance(DAY);
        }
        // Sold out; nine days later goods arrive.
        app.clock.advance(DAY * 9);
        app.receive(supplier, product, 13).await;
        app.sell(product, 4).await;
        app.clock.advance(DAY);
        app.sell(product, 4).await;
        app.clock.advance(DAY / 24);
        let analysis = analysed(&app).await;
        let figures: serde_json::Value = serde_json::from_str(&analysis.figures).unwrap();
        assert_eq!(
            (figures["days"].as_i64(), figures["available_days"].as_i64()),
            (Some(16), Some(7)),
            "{figures}"
        );
        assert_eq!(figures["forecast"]["per_day"], 4.0);
    }
);
