//! Whatever a language model does wrong, the computed text is stored.

use std::time::Duration;

use inventory::analysis::{Analysis, Source, WorkOutcome};
use serde_json::json;
use test_kit::on_both_engines;

use super::{
    DAY, a_product_that_ran_low, analysed,
    model_server::{Behaviour, ModelServer, fails, finishes, reply, says},
    record, step, with_model,
};
use crate::app::TestApp;

/// Works until an analysis is stored; returns how often the model was retried later, and the
/// analysis.
async fn until_stored(app: &TestApp) -> (u32, Analysis) {
    for again in 0.. {
        match step(app).await {
            WorkOutcome::RetryAt(due) => app.clock.set(due),
            WorkOutcome::Analysed(id) => return (again, record(app, id).await),
            other => panic!("{other:?}"),
        }
    }
    panic!("never");
}

/// Name, behaviour, stored outcome, number of later retries, and number of calls.
type Misbehaviour = (&'static str, Behaviour, &'static str, u32, usize);

/// Servers that give no answer.
fn failures() -> Vec<Misbehaviour> {
    vec![
        ("429", fails(429), "throttled", 2, 3),
        ("500", fails(500), "unavailable", 2, 3),
        ("503", fails(503), "unavailable", 2, 3),
        ("408", fails(408), "unavailable", 2, 3),
        ("reset", Behaviour::Reset, "unavailable", 2, 3),
        ("broken off", Behaviour::Break, "unavailable", 2, 3),
        ("401", fails(401), "refused", 0, 1),
        // These three statuses may refer to the format, so simpler formats are tried first.
        ("400", fails(400), "refused", 0, 3),
        ("404", fails(404), "refused", 0, 3),
        ("422", fails(422), "refused", 0, 3),
        ("moved", fails(302), "refused", 0, 1),
    ]
}

/// Answers that cannot be used.
fn answers() -> Vec<Misbehaviour> {
    let good = reply("Peça 42 unidades.", &[]);
    let raw = |body: &str| Behaviour::Answer(200, "", body.to_owned());
    let message = json!({"role": "assistant", "content": good});
    vec![
        ("truncated JSON", says(&good[..40]), "unusable", 0, 2),
        ("prose", says("Compre bastante arroz!"), "unusable", 0, 2),
        ("wrong schema", says("{\"quantity\": 3}"), "unusable", 0, 2),
        ("no completion", raw("<html>"), "unusable", 0, 2),
        ("no choice", raw("{\"choices\": []}"), "unusable", 0, 2),
        ("empty", says(""), "unusable", 0, 2),
        (
            "no content",
            finishes(&json!({"role": "assistant", "content": null}), "stop"),
            "unusable",
            0,
            2,
        ),
        ("cut off", finishes(&message, "length"), "unusable", 0, 2),
        (
            "calls a tool",
            finishes(&message, "tool_calls"),
            "unusable",
            0,
            2,
        ),
        (
            "filtered",
            finishes(&message, "content_filter"),
            "filtered",
            0,
            1,
        ),
        (
            "refusal",
            finishes(&json!({"content": null, "refusal": "I cannot"}), "stop"),
            "declined",
            0,
            1,
        ),
        ("huge", raw(&"x".repeat(200_000)), "unusable", 0, 1),
        (
            "another figure",
            says(&reply("Peça 43 unidades.", &[])),
            "unusable",
            0,
            2,
        ),
        (
            "markup",
            says(&reply("Peça [aqui](http://x).", &[])),
            "unusable",
            0,
            2,
        ),
    ]
}

/// Fails unless the product that ran low has the text that was computed for it.
#[track_caller]
fn assert_computed(analysis: &Analysis, what: &str) {
    assert_eq!(analysis.provenance.source, Source::Formula, "{what}");
    let text = &analysis.summary.result;
    assert!(text.contains("Peça agora 42 unidades."), "{what}: {text}");
    assert!(
        text.contains("- Ponto de pedido: 27 unidades"),
        "{what}: {text}"
    );
}

on_both_engines!(
    a_model_that_does_not_answer_in_time_is_asked_again_and_then_done_without,
    async |address| {
        let server = ModelServer::start([Behaviour::Hang]).await;
        let mut config = with_model(&server);
        // Long enough for a busy machine to send the call.
        config.analysis.language_model.as_mut().unwrap().timeout = Duration::from_secs(2);
        let app = TestApp::with(&address, config).await;
        a_product_that_ran_low(&app, "Arroz").await;
        let (tried_again, analysis) = until_stored(&app).await;
        assert_eq!(analysis.provenance.outcome, "timeout");
        assert_eq!((tried_again, server.calls().len()), (2, 3));
        assert_computed(&analysis, "slow");
    }
);

on_both_engines!(
    whatever_the_model_does_the_computed_text_stands_on_record,
    async |address| {
        let server = ModelServer::start([fails(500)]).await;
        let mut config = with_model(&server);
        config.analysis.cooldown = Duration::from_secs(1);
        config.analysis.language_model.as_mut().unwrap().quota = web::rate::Rates::off();
        let app = TestApp::with(&address, config).await;
        let product = a_product_that_ran_low(&app, "Arroz").await;
        let mut made = 0;
        for (what, behaviour, outcome, again, calls) in failures().into_iter().chain(answers()) {
            server.does([behaviour]);
            let (tried_again, analysis) = until_stored(&app).await;
            assert_eq!(analysis.provenance.outcome, outcome, "{what}");
            assert_eq!(tried_again, again, "{what}");
            assert_eq!(server.calls().len() - made, calls, "{what}");
            made = server.calls().len();
            assert_computed(&analysis, what);
            // The cooldown is over when the next analysis is requested.
            app.clock.advance(Duration::from_secs(6 * 60));
            let outflow = app.sell(product, 1).await;
            app.admin()
                .delete(&format!("/api/v1/outflows/{outflow}/"))
                .await;
        }
    }
);

on_both_engines!(
    a_server_that_says_when_to_come_back_is_asked_then,
    async |address| {
        let good = says(&reply("Peça 42 unidades.", &[]));
        let throttled = |headers| Behaviour::Answer(429, headers, "{}".to_owned());
        let server = ModelServer::start([throttled("retry-after: 90\r\n"), good]).await;
        let app = TestApp::with(&address, with_model(&server)).await;
        a_product_that_ran_low(&app, "Arroz").await;
        let WorkOutcome::RetryAt(due) = step(&app).await else {
            panic!("not put off");
        };
        assert_eq!(due.since(app.clock.now()), Duration::from_secs(90));
        app.clock.advance(Duration::from_secs(89));
        assert_eq!(step(&app).await, WorkOutcome::Idle);
        app.clock.advance(Duration::from_secs(1));
        assert_eq!(analysed(&app).await.provenance.source, Source::Model);
    }
);

on_both_engines!(
    a_model_that_failed_for_good_is_left_alone_and_holds_up_no_other_product,
    async |address| {
        let long = Behaviour::Answer(503, "retry-after: 7200\r\n", "{}".to_owned());
        let server = ModelServer::start([long]).await;
        let mut config = with_model(&server);
        config.analysis.cooldown = Duration::from_secs(1);
        let app = TestApp::with(&address, config).await;
        let beans = app.manager().a_product("Feijão", 60).await;
        for _ in 0..4 {
            app.sell(beans, 5).await;
            app.clock.advance(DAY);
        }
        a_product_that_ran_low(&app, "Arroz").await;
        app.sell(beans, 35).await;
        assert_eq!(analysed(&app).await.provenance.outcome, "unavailable");
        assert_eq!(analysed(&app).await.provenance.outcome, "resting");
        assert_eq!(server.calls().len(), 1);
        app.clock.advance(Duration::from_secs(7200));
        server.does([says(&reply("Peça agora.", &[]))]);
        app.sell(beans, 1).await;
        assert_eq!(analysed(&app).await.provenance.outcome, "worded");
    }
);

on_both_engines!(
    calls_are_capped_by_the_hour_across_restarts_and_every_call_counts,
    async |address| {
        let server = ModelServer::start([says(&reply("Peça agora.", &[]))]).await;
        let mut config = with_model(&server);
        config.analysis.cooldown = Duration::from_secs(1);
        config.analysis.language_model.as_mut().unwrap().quota = "2/hour,3/day".parse().unwrap();
        let app = TestApp::with(&address, config.clone()).await;
        let product = a_product_that_ran_low(&app, "Arroz").await;
        let mut outcomes = Vec::new();
        for minutes in [1, 1, 60, 60, 24 * 60, 1] {
            outcomes.push(analysed(&app).await.provenance.outcome);
            app.clock.advance(Duration::from_secs(minutes * 60));
            app.sell(product, 1).await;
        }
        assert_eq!(
            outcomes,
            ["worded", "worded", "quota", "worded", "quota", "worded"]
        );
        // All processes share one count of calls.
        let other = app.process(config, 9).await;
        let stepped = inventory::analysis::work_once(&other.state).await.unwrap();
        assert!(matches!(stepped, WorkOutcome::Analysed(_)), "{stepped:?}");
        assert_eq!(server.calls().len(), 5);
        app.clock.advance(Duration::from_secs(60));
        app.sell(product, 1).await;
        assert_eq!(analysed(&app).await.provenance.outcome, "quota");
        assert_eq!(server.calls().len(), 5);
    }
);
