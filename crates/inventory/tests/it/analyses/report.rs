//! The report on the whole shop, and the one that comes every week.

use std::time::Duration;

use inventory::analysis::report::{self, ReportLine, ReportParameters, WeeklyRun, run_weekly};
use serde_json::json;
use web::locale::Locale;

use super::{DAY, SERIES, a_product_that_ran_low, record};
use crate::app::{app_on_both_engines, unlimited};

app_on_both_engines!(
    the_report_tells_classes_dead_stock_and_what_to_order,
    async |app| {
        // In stock since long before the others were sold.
        app.manager().a_product("Parado;＝1+1", 40).await;
        app.clock.advance(DAY * 100);
        a_product_that_ran_low(&app, "Arroz").await;
        app.manager().a_product("Novo", 5).await;
        let parameters = ReportParameters::new(&app.state.config, app.clock.now());
        let mut lines: Vec<ReportLine> = Vec::new();
        let summary = report::report(&app.state.db, &parameters, |line| {
            lines.push(line.clone());
            Ok(())
        })
        .await
        .unwrap();
        let [dead, rice, new] = lines.as_slice() else {
            panic!("{lines:?}");
        };
        assert!(dead.is_dead && !rice.is_dead && !new.is_dead);
        assert_eq!((rice.abc.letter(), dead.abc.letter()), ("A", "D"));
        assert_eq!(
            (rice.yearly_units, rice.suggested_quantity),
            (SERIES.iter().sum(), Some(42))
        );
        assert_eq!(rice.yearly_value.to_string(), "600.00");
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
    a_week_has_one_report_whichever_process_makes_it,
    async |app| {
        app.manager().a_product("Arroz", 40).await;
        let other = app.process(unlimited(), 8).await;
        let (first, second) = tokio::join!(run_weekly(&app.state), run_weekly(&other.state));
        let made: Vec<i64> = [first.unwrap(), second.unwrap()]
            .into_iter()
            .filter_map(|week| match week {
                WeeklyRun::Stored(id) => Some(id),
                WeeklyRun::NothingToDo | WeeklyRun::Elsewhere => None,
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
    a_report_whose_process_died_is_made_when_its_time_is_up_and_is_not_over_before,
    async |app| {
        app.manager().a_product("Arroz", 40).await;
        let until = app.clock.now() + Duration::from_secs(3600);
        let dead = async move |tx: &mut db::Tx| {
            let sql = "INSERT INTO report_runs (period, due_at, lease, done) VALUES ('2026-11-16', $1, 'dead', $2)";
            tx.execute(sql, &[&until, &false]).await
        };
        app.state.db.write::<_, db::Error, _>(dead).await.unwrap();
        assert_eq!(run_weekly(&app.state).await.unwrap(), WeeklyRun::Elsewhere);
        app.clock.advance(Duration::from_secs(3600));
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
