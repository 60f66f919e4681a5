//! The queue of analyses: one request for each product, none lost, none worked on twice.

use std::{collections::BTreeSet, time::Duration};

use inventory::{
    access::{Caller, Granted},
    analysis::{self, Phase, WorkOutcome},
    rest::Refusal,
};
use serde_json::json;
use test_kit::{database::Engine, on_both_engines};
use tokio::task::JoinSet;

use super::{
    a_new_product_that_is_low, analysed,
    model_server::{Behaviour, ModelServer, fails},
    record, step, with_model,
};
use crate::app::{TestApp, app_on_both_engines, unlimited};

const HOUR: Duration = Duration::from_secs(60 * 60);

fn caller(granted: Granted) -> Caller {
    Caller {
        id: 2,
        username: "manager".to_owned(),
        is_staff: false,
        granted,
    }
}

app_on_both_engines!(
    ten_sales_of_a_low_product_are_one_analysis_and_the_next_waits_for_the_cool_down,
    async |app| {
        let product = a_new_product_that_is_low(&app, "Arroz").await;
        for _ in 0..5 {
            app.sell(product, 1).await;
        }
        analysed(&app).await;
        assert_eq!(step(&app).await, WorkOutcome::Idle);

        app.clock.advance(HOUR);
        app.sell(product, 1).await;
        let WorkOutcome::CoolingDown(due) = step(&app).await else {
            panic!("no cool-down");
        };
        assert_eq!(due.since(app.clock.now()), HOUR * 5);
        assert_eq!(step(&app).await, WorkOutcome::Idle);
        app.clock.advance(HOUR * 5);
        let second = analysed(&app).await;
        assert_eq!(second.summary.id, 2);
        assert!(
            second.summary.result.contains("Em estoque: 3 unidades"),
            "{second:?}"
        );
        assert_eq!(step(&app).await, WorkOutcome::Idle);
    }
);

app_on_both_engines!(
    a_product_that_was_restocked_during_the_cool_down_needs_no_analysis,
    async |app| {
        let product = a_new_product_that_is_low(&app, "Arroz").await;
        analysed(&app).await;
        app.sell(product, 1).await;
        assert!(matches!(step(&app).await, WorkOutcome::CoolingDown(_)));
        app.change_product(product, json!({"quantity": 50})).await;
        app.clock.advance(HOUR * 6);
        assert_eq!(step(&app).await, WorkOutcome::Dropped);
        assert_eq!(step(&app).await, WorkOutcome::Idle);
    }
);

app_on_both_engines!(
    who_may_asks_for_an_analysis_at_any_time_and_sees_how_it_stands,
    async |app| {
        let product = a_new_product_that_is_low(&app, "Arroz").await;
        let first = analysed(&app).await.summary.id;
        app.sell(product, 1).await;
        assert!(matches!(step(&app).await, WorkOutcome::CoolingDown(_)));
        let standing = analysis::status(&app.state, product).await.unwrap();
        assert!(
            matches!(standing.phase, Some(Phase::Postponed(_))),
            "{standing:?}"
        );

        let asked = analysis::analyse_now(&app.state, &caller(Granted::Superuser), product).await;
        assert_eq!(asked.unwrap().newest, Some(first));
        let standing = analysis::status(&app.state, product).await.unwrap();
        assert_eq!(standing.phase, Some(Phase::Waiting));
        let second = analysed(&app).await;
        assert_eq!(second.provenance.asked_by.as_deref(), Some("manager"));
        let standing = analysis::status(&app.state, product).await.unwrap();
        assert_eq!(
            (standing.phase, standing.newest),
            (None, Some(second.summary.id))
        );

        let nobody = caller(Granted::Only(BTreeSet::new()));
        let refused = analysis::analyse_now(&app.state, &nobody, product).await;
        assert!(matches!(refused, Err(Refusal::Forbidden(_))));
        let unknown = analysis::analyse_now(&app.state, &caller(Granted::Superuser), 999).await;
        assert!(matches!(unknown, Err(Refusal::NotFound)));
    }
);

app_on_both_engines!(a_deleted_product_takes_its_request_along, async |app| {
    let product = app.manager().a_product("Arroz", 0).await;
    let asked = analysis::analyse_now(&app.state, &caller(Granted::Superuser), product).await;
    asked.unwrap();
    let deleted = app
        .admin()
        .delete(&format!("/api/v1/products/{product}/"))
        .await;
    assert_eq!(deleted.status, 204, "{deleted:?}");
    assert_eq!(step(&app).await, WorkOutcome::Idle);
});

on_both_engines!(
    a_worker_that_dies_in_the_middle_loses_nothing_and_leaves_nothing_twice,
    async |address| {
        let server = ModelServer::start([Behaviour::Hang]).await;
        let app = TestApp::with(&address, with_model(&server)).await;
        super::a_product_that_ran_low(&app, "Arroz").await;
        // The worker dies while it waits for the model.
        tokio::select! {
            step = step(&app) => panic!("{step:?}"),
            () = server.called() => {}
        }
        assert_eq!(step(&app).await, WorkOutcome::Idle);
        let answer = app.viewer().get("/api/v1/analyses/").await.json();
        assert_eq!(answer["count"], 0);
        app.clock.advance(HOUR);
        let sold = super::model_server::says(&super::model_server::reply("Peça 42 unidades.", &[]));
        server.does([sold]);
        analysed(&app).await;
        assert_eq!(step(&app).await, WorkOutcome::Idle);
    }
);

#[test]
fn the_request_of_a_dead_process_is_due_at_once_and_that_of_a_living_one_never_on_postgres() {
    test_kit::database::run(Engine::Postgres, async |address| {
        let server = ModelServer::start([Behaviour::Hang]).await;
        let app = TestApp::with(&address, with_model(&server)).await;
        super::a_product_that_ran_low(&app, "Arroz").await;
        let other = app.replica().await;
        tokio::select! {
            step = step(&app) => panic!("{step:?}"),
            () = server.called() => {}
        }
        // A clock that is ahead does not end the lease of a live process.
        let right = app.clock.now();
        app.clock.advance(HOUR);
        assert_eq!(step(&other).await, WorkOutcome::Idle);
        app.clock.set(right);
        other.sees_dead().await;
        assert_eq!(analysis::release_dead(&other.state).await.unwrap(), 1);
        let sold = super::model_server::says(&super::model_server::reply("Peça 42 unidades.", &[]));
        server.does([sold]);
        analysed(&other).await;
        assert_eq!(step(&app).await, WorkOutcome::Idle);
    });
}

on_both_engines!(
    a_worker_that_was_taken_for_dead_keeps_no_second_result,
    async |address| {
        let held = Behaviour::Held(503, String::new());
        let server = ModelServer::start([held, fails(503)]).await;
        let app = TestApp::with(&address, with_model(&server)).await;
        super::a_product_that_ran_low(&app, "Arroz").await;
        let state = app.state.clone();
        let slow = tokio::spawn(async move { analysis::work_once(&state).await.unwrap() });
        server.called().await;
        // Its lease ends. Another worker takes over, and the model fails again.
        app.clock.advance(HOUR);
        let second = step(&app).await;
        assert!(matches!(second, WorkOutcome::RetryAt(_)), "{second:?}");
        server.release();
        let first = slow.await.unwrap();
        assert_eq!(first, WorkOutcome::LeaseLost);
    }
);

/// Sells two units while an analysis waits for the model. Returns the analysis's id.
async fn analysed_during_a_sale(app: &TestApp, server: &ModelServer, product: i64) -> i64 {
    let state = app.state.clone();
    let working = tokio::spawn(async move { analysis::work_once(&state).await.unwrap() });
    server.called().await;
    app.sell(product, 2).await;
    server.release();
    let WorkOutcome::Analysed(id) = working.await.unwrap() else {
        panic!("no analysis");
    };
    id
}

on_both_engines!(
    what_is_sold_while_an_analysis_is_made_is_looked_at_after_the_cool_down,
    async |address| {
        let held = Behaviour::Held(401, String::new());
        let server = ModelServer::start([held]).await;
        let app = TestApp::with(&address, with_model(&server)).await;
        let product = super::a_product_that_ran_low(&app, "Arroz").await;
        let id = analysed_during_a_sale(&app, &server, product).await;
        let first = record(&app, id).await.summary.result;
        assert!(first.contains("Em estoque: 9 unidades"), "{first}");
        assert_eq!(step(&app).await, WorkOutcome::Idle);
        app.clock.advance(HOUR * 6);
        server.release();
        let second = analysed(&app).await.summary.result;
        assert!(second.contains("Em estoque: 7 unidades"), "{second}");
        assert_eq!(step(&app).await, WorkOutcome::Idle);
    }
);

on_both_engines!(
    what_was_sold_during_an_analysis_and_restocked_after_it_needs_no_other,
    async |address| {
        let held = Behaviour::Held(401, String::new());
        let server = ModelServer::start([held]).await;
        let app = TestApp::with(&address, with_model(&server)).await;
        let product = super::a_product_that_ran_low(&app, "Arroz").await;
        analysed_during_a_sale(&app, &server, product).await;
        app.change_product(product, json!({"quantity": 50})).await;
        app.clock.advance(HOUR * 6);
        assert_eq!(step(&app).await, WorkOutcome::Dropped);
    }
);

app_on_both_engines!(
    two_processes_at_once_analyse_each_product_once,
    async |app| {
        let other = app.process(unlimited(), 8).await;
        for number in 0..12 {
            a_new_product_that_is_low(&app, &format!("Produto {number}")).await;
        }
        let mut work = JoinSet::new();
        for state in [&app.state, &other.state] {
            for _ in 0..3 {
                let state = state.clone();
                work.spawn(async move {
                    let mut ids = Vec::new();
                    let mut idle = 0;
                    while idle < 2 {
                        match analysis::work_once(&state).await.unwrap() {
                            WorkOutcome::Analysed(id) => ids.push(id),
                            WorkOutcome::Idle => idle += 1,
                            other => panic!("{other:?}"),
                        }
                    }
                    ids
                });
            }
        }
        let ids: Vec<i64> = work.join_all().await.into_iter().flatten().collect();
        assert_eq!(ids.len(), 12, "{ids:?}");
        let mut products = BTreeSet::new();
        for id in ids {
            products.insert(record(&app, id).await.summary.product);
        }
        assert_eq!(products.len(), 12);
        assert_eq!(
            app.viewer().get("/api/v1/analyses/").await.json()["count"],
            12
        );
    }
);

on_both_engines!(
    the_running_service_makes_analyses_by_itself_and_puts_back_what_it_cannot_end,
    async |address| {
        let server = ModelServer::start([Behaviour::Hang]).await;
        let config = with_model(&server);
        let app = TestApp::with(&address, config.clone()).await;
        super::a_product_that_ran_low(&app, "Arroz").await;
        let running = app.process(config, 8).await;
        let state = running.state.clone();
        let workers = tokio::spawn(running.workers.run());
        server.called().await;
        // A model that hangs does not delay sales.
        a_new_product_that_is_low(&app, "Feijão").await;
        state.shutdown.begin();
        workers.await.unwrap();
        // Both requests are there, and due at once.
        server.does([Behaviour::Answer(400, "", String::new())]);
        let mut titles = BTreeSet::new();
        loop {
            match step(&app).await {
                WorkOutcome::Analysed(id) => {
                    titles.insert(record(&app, id).await.summary.heading().to_owned())
                }
                WorkOutcome::Idle => break,
                other => panic!("{other:?}"),
            };
        }
        assert!(titles.contains("Reposição: Arroz"), "{titles:?}");
        assert_eq!(
            app.viewer().get("/api/v1/analyses/").await.json()["count"],
            2
        );
    }
);
