//! The report on the whole shop, and the one that comes every week.

use std::time::Duration;

use inventory::{
    aggregates,
    analysis::{
        model::portfolio::Abc,
        report::{self, ReportLine, ReportSummary, WeeklyRun, run_weekly},
    },
    stock::movements::Movement,
    transfer::FileKind,
};
use serde_json::json;
use web::locale::Locale;

use super::{DAY, a_product_that_ran_low, analysed, record};
use crate::{
    app::{TestApp, app_on_both_engines, unlimited},
    transfer::load_bytes,
};

const OUTFLOWS: FileKind = FileKind::Movements(Movement::Outflow);

async fn report_of(app: &TestApp) -> (Vec<ReportLine>, ReportSummary) {
    let mut lines = Vec::new();
    let summary = report::report(&app.state.db, &app.state.config, app.clock.now(), |line| {
        lines.push(line.clone());
        Ok(())
    });
    let summary = summary.await.unwrap();
    (lines, summary)
}

app_on_both_engines!(
    the_report_tells_classes_dead_stock_and_what_to_order,
    async |app| {
        // In stock since long before the others were sold.
        app.manager().a_product("Parado;＝1+1", 40).await;
        app.clock.advance(DAY * 100);
        a_product_that_ran_low(&app, "Arroz").await;
        app.manager().a_product("Novo", 5).await;
        let (lines, summary) = report_of(&app).await;
        let [dead, rice, new] = lines.as_slice() else {
            panic!("{lines:?}");
        };
        assert!(dead.is_dead && !rice.is_dead && !new.is_dead);
        assert_eq!((rice.abc, dead.abc), (Abc::A, Abc::D));
        assert_eq!((rice.yearly_units, rice.suggested_quantity), (75, Some(42)));
        assert_eq!(rice.yearly_value.hundredths(), "600.00");
        assert_eq!(new.days_of_cover, None);
        assert_eq!(dead.cells().len(), ReportLine::COLUMNS.len());
        // Wherever a spreadsheet splits the title, no part of it is a formula.
        assert_eq!(dead.cells()[1], "Parado;'＝1+1");
        let told = serde_json::to_value(&summary).unwrap();
        assert_eq!(told["products"], 3);
        assert_eq!(told["dead"]["value"], "320.00");
        // The value of an order is its cost, whatever was sold before.
        assert_eq!(told["due"]["first"][0]["units"], 42);
        assert_eq!(told["due"]["first"][0]["value"], "336.00");
        assert_eq!(told["due"]["value"], "336.00");
        assert_eq!(told["low"], json!(2));
        let text = summary.text(Locale::PtBr);
        for words in [
            "3 produtos",
            "A: 1 produto, saídas de R$\u{a0}600,00",
            "Estoque parado",
            "Parado;＝1+1: 40 unidades, R$\u{a0}320,00",
            "Pedir agora (a preço de custo)\n- 1 produto, R$\u{a0}336,00\n- Arroz: 42 unidades, R$\u{a0}336,00",
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
    }
);

app_on_both_engines!(
    the_report_forecasts_from_the_first_movement_and_without_empty_days_as_an_analysis_does,
    async |app| {
        let admin = app.admin();
        let product = admin.a_product("Arroz", 0).await;
        let supplier = admin.a_supplier("Torra").await;
        app.clock.advance(DAY * 60);
        app.receive(supplier, product, 100).await;
        for _ in 0..10 {
            app.sell(product, 10).await;
            app.clock.advance(DAY);
        }
        app.clock.advance(DAY * 20 + Duration::from_secs(60 * 60));
        let (lines, _) = report_of(&app).await;
        assert_eq!(lines[0].demand_per_day, Some(10.0));
        assert_eq!(lines[0].suggested_quantity, Some(140));
        let analysis = analysed(&app).await;
        assert_eq!(analysis.summary.suggested_quantity, Some(140));
    }
);

app_on_both_engines!(the_advice_of_a_day_is_the_same_at_every_hour, async |app| {
    let product = app.admin().a_product("Arroz", 400).await;
    for units in [1, 30, 2, 45, 3, 60, 1, 25, 5, 50, 2, 70, 4, 35, 3, 55] {
        app.sell(product, units).await;
        app.clock.advance(Duration::from_secs(29 * 60 * 60));
    }
    let visitor = app.logged_in("manager").await;
    let midnight = aggregates::day_of(app.clock.now()) + DAY;
    let mut of_day = None;
    for hour in 0..24 {
        app.clock
            .set(midnight + Duration::from_secs(60 * 60) * hour);
        let low = visitor.get("/low-stock/export/").await.text;
        let told = (report_of(&app).await.0, low);
        assert!(told.0[0].suggested_quantity > Some(0), "{told:?}");
        assert_eq!(of_day.get_or_insert_with(|| told.clone()), &told, "{hour}");
    }
});

app_on_both_engines!(
    a_movement_imported_after_its_time_does_not_change_the_stock_of_a_year_ago,
    async |app| {
        let product = app.manager().a_product("Arroz", 40).await;
        let other = app.manager().a_product("Feijão", 40).await;
        app.clock.advance(DAY);
        let then = app.clock.now();
        app.clock.advance(DAY * 400);
        app.sell(product, 1).await;
        let sold = format!("product,quantity,created_at\n{product},4,{then}\n{other},4,{then}\n");
        load_bytes(&app, OUTFLOWS, sold).await.unwrap();
        let (lines, _) = report_of(&app).await;
        assert_eq!(lines[0].stock_value.hundredths(), "280.00");
        assert_eq!(lines[0].opening_value.hundredths(), "320.00");
        // Nor where the import is the only entry since.
        assert_eq!(lines[1].stock_value.hundredths(), "288.00");
        assert_eq!(lines[1].opening_value.hundredths(), "320.00");
    }
);

app_on_both_engines!(
    a_sale_imported_after_its_time_makes_no_stock_out_that_never_was,
    async |app| {
        let late = app.manager().a_product("Arroz", 30).await;
        let on_time = app.manager().a_product("Feijão", 1000).await;
        let mut then = app.clock.now();
        for day in 0..28 {
            if !(10..20).contains(&day) {
                app.sell(late, 1).await;
                app.sell(on_time, 1).await;
            }
            if day == 9 {
                app.sell(on_time, 12).await;
                then = app.clock.now();
            }
            app.clock.advance(DAY);
        }
        let sold = format!("product,quantity,created_at\n{late},12,{then}\n");
        load_bytes(&app, OUTFLOWS, sold).await.unwrap();
        assert_eq!(app.manager().quantity_of(late).await, 0);
        let (lines, _) = report_of(&app).await;
        assert!(lines[0].demand_per_day.is_some());
        assert_eq!(lines[0].demand_per_day, lines[1].demand_per_day);
    }
);

app_on_both_engines!(
    goods_that_came_long_ago_are_dead_stock_though_they_were_imported_today,
    async |app| {
        let supplier = app.admin().a_supplier("Torra").await;
        let then = app.clock.now();
        app.clock.advance(DAY * 100);
        let product = app.manager().a_product("Arroz", 40).await;
        let inflows = FileKind::Movements(Movement::Inflow);
        let came =
            format!("supplier,product,quantity,created_at\n{supplier},{product},40,{then}\n");
        load_bytes(&app, inflows, came).await.unwrap();
        let (lines, _) = report_of(&app).await;
        assert!(lines[0].is_dead);
    }
);

app_on_both_engines!(
    history_imported_during_a_stock_out_does_not_interrupt_it,
    async |app| {
        let then = app.clock.now();
        app.clock.advance(DAY);
        let products = ["Arroz", "Feijão"];
        let products = [
            app.manager().a_product(products[0], 10).await,
            app.manager().a_product(products[1], 10).await,
        ];
        let import = async |product: i64| {
            let sold = format!("product,quantity,created_at\n{product},3,{then}\n");
            load_bytes(&app, OUTFLOWS, sold).await.unwrap();
        };
        import(products[0]).await;
        for _ in 0..10 {
            for product in products {
                app.sell(product, 1).await;
            }
            app.clock.advance(DAY);
        }
        app.clock.advance(DAY * 5);
        import(products[1]).await;
        app.clock.advance(DAY * 10);
        let (lines, _) = report_of(&app).await;
        assert!(lines[0].demand_per_day.is_some());
        assert_eq!(lines[0].demand_per_day, lines[1].demand_per_day);
    }
);

app_on_both_engines!(
    stock_outs_of_a_products_earlier_life_do_not_count,
    async |app| {
        let products = FileKind::Products;
        app.admin().a_category("Grãos").await;
        app.admin().a_brand("Sol").await;
        let row = |id: i64, units: i64| {
            format!(
                "id,title,category,brand,cost_price,selling_price,quantity\n{id},P{id},1,1,1.00,2.00,{units}\n"
            )
        };
        load_bytes(&app, products, row(1, 0)).await.unwrap();
        app.admin().delete("/api/v1/products/1/").await;
        let mut history = vec!["product,quantity,created_at".to_owned()];
        for _ in 0..20 {
            let then = resource::time_text(app.clock.now());
            history.extend([1, 2].map(|product| format!("{product},3,{then}")));
            app.clock.advance(DAY * 3);
        }
        for product in [1, 2] {
            load_bytes(&app, products, row(product, 14)).await.unwrap();
        }
        load_bytes(&app, OUTFLOWS, history.join("\n"))
            .await
            .unwrap();
        app.clock.advance(DAY);
        let (lines, _) = report_of(&app).await;
        assert!(lines[0].demand_per_day.is_some());
        assert_eq!(lines[0].demand_per_day, lines[1].demand_per_day);
    }
);

app_on_both_engines!(
    sums_beyond_64_bits_and_the_dearest_product_break_neither_the_report_nor_verify,
    async |app| {
        let product = app.admin().a_product("Arroz", i64::MAX).await;
        let dear = json!({"cost_price": "99999999999999999999.99", "selling_price": "99999999999999999999.99"});
        app.change_product(product, dear).await;
        app.sell(product, i64::MAX).await;
        app.change_product(product, json!({"quantity": i64::MAX}))
            .await;
        app.sell(product, i64::MAX).await;
        app.change_product(product, json!({"quantity": i64::MAX}))
            .await;
        app.admin().a_product("Feijão", 5).await;
        assert_eq!(inventory::stock::verify(&app.state.db).await.unwrap(), []);
        let (lines, summary) = report_of(&app).await;
        assert_eq!(lines[0].yearly_units, i128::from(i64::MAX) * 2);
        assert_eq!(lines[0].abc, Abc::A);
        // The dearest price times 2^64 - 2, and times 2^63 - 1.
        let usage = "1844674407370955161399815532559262904483.86";
        assert_eq!(lines[0].yearly_value.hundredths(), usage);
        let stock = "922337203685477580699907766279631452241.93";
        assert_eq!(lines[0].stock_value.hundredths(), stock);
        let text = summary.text(Locale::En);
        assert!(
            text.contains("R$\u{a0}922,337,203,685,477,580,699,907,766,279,631,452,281.93"),
            "{text}"
        );
        let weekly = run_weekly(&app.state).await.unwrap();
        assert!(matches!(weekly, WeeklyRun::Stored(_)), "{weekly:?}");
    }
);

app_on_both_engines!(
    a_week_has_one_report_whichever_process_makes_it,
    async |app| {
        app.manager().a_product("Arroz", 40).await;
        let other = app.process(unlimited(), 8).await;
        let (first, second) = tokio::join!(run_weekly(&app.state), run_weekly(&other.state));
        let made: Vec<i64> = [first.unwrap(), second.unwrap()]
            .into_iter()
            .filter_map(|week| match week {
                WeeklyRun::Stored(id) => Some(id),
                WeeklyRun::NothingToDo => None,
            })
            .collect();
        assert_eq!(made.len(), 1, "{made:?}");
        let report = record(&app, made[0]).await;
        assert_eq!(
            (report.summary.product, report.provenance.outcome.as_str()),
            (None, "report")
        );
        assert!(
            report
                .summary
                .heading()
                .starts_with("Relatório da loja de 20/11/2026")
        );
        assert_eq!(
            run_weekly(&app.state).await.unwrap(),
            WeeklyRun::NothingToDo
        );
        // The first page shows its beginning, up to the first heading.
        let first = app.logged_in("viewer").await.page("/").await;
        assert!(
            first.contains("<p>1 produto, R$") && !first.contains("Curva ABC"),
            "{first}"
        );
        app.clock.advance(Duration::from_secs(7 * 24 * 60 * 60));
        let next = run_weekly(&app.state).await.unwrap();
        assert!(matches!(next, WeeklyRun::Stored(_)), "{next:?}");
    }
);

app_on_both_engines!(
    a_report_whose_process_died_is_made_by_another_and_not_before,
    async |app| {
        app.manager().a_product("Arroz", 40).await;
        let lease = app.replica().await.state.replica.lease("report");
        let claim = async move |tx: &mut db::Tx| {
            let sql = "INSERT INTO report_runs (period, lease) VALUES ('2026-11-16', $1)";
            tx.execute(sql, &[&lease]).await
        };
        let die = async |tx: &mut db::Tx| tx.execute("DELETE FROM replicas", &[]).await;
        let db = &app.state.db;
        db.write::<_, db::Error, _>(claim).await.unwrap();
        assert_eq!(
            run_weekly(&app.state).await.unwrap(),
            WeeklyRun::NothingToDo
        );
        db.write::<_, db::Error, _>(die).await.unwrap();
        let made = run_weekly(&app.state).await.unwrap();
        assert!(matches!(made, WeeklyRun::Stored(_)), "{made:?}");
        assert_eq!(
            run_weekly(&app.state).await.unwrap(),
            WeeklyRun::NothingToDo
        );
    }
);

app_on_both_engines!(a_shop_without_products_is_over_for_the_week, async |app| {
    assert_eq!(
        run_weekly(&app.state).await.unwrap(),
        WeeklyRun::NothingToDo
    );
    app.manager().a_product("Arroz", 40).await;
    app.clock.advance(Duration::from_secs(3600));
    assert_eq!(
        run_weekly(&app.state).await.unwrap(),
        WeeklyRun::NothingToDo
    );
});
