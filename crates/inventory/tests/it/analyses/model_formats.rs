//! Servers that do not support every response format are asked for a simpler one, and their answer
//! is checked all the same.

use std::time::Duration;

use inventory::analysis::Source;
use test_kit::on_both_engines;

use super::{
    a_product_that_ran_low, analysed,
    model_server::{Behaviour, ModelServer, format, reply},
    with_model,
};
use crate::app::TestApp;

fn formats(server: &ModelServer) -> Vec<String> {
    let calls = server.calls();
    calls.iter().map(format).collect()
}

on_both_engines!(
    a_server_that_knows_no_schema_is_asked_for_an_object_and_then_for_no_format,
    async |address| {
        let content = format!("Here it is:\n```json\n{}\n```", reply("Peça agora.", &[]));
        let servers: [(&[&str], u16, &[&str]); 5] = [
            // As llama-cpp-python's does.
            (&["json_object"], 500, &["json_schema", "json_object"]),
            (&["json_object"], 422, &["json_schema", "json_object"]),
            (&["none"], 400, &["json_schema", "json_object", "none"]),
            (&["none"], 404, &["json_schema", "json_object", "none"]),
            (&["none"], 500, &["json_schema", "json_object", "none"]),
        ];
        let server = ModelServer::start([Behaviour::Hang]).await;
        let mut config = with_model(&server);
        config.analysis.cooldown = Duration::from_secs(1);
        let app = TestApp::with(&address, config).await;
        let product = a_product_that_ran_low(&app, "Arroz").await;
        for (knows, status, asked) in servers {
            server.does([Behaviour::Knows(knows, status, content.clone())]);
            let before = server.calls().len();
            let analysis = analysed(&app).await;
            assert_eq!(analysis.provenance.source, Source::Model, "{status}");
            assert!(analysis.summary.result.contains("\nPeça agora.\n"));
            assert_eq!(formats(&server)[before..], *asked, "{status}");
            // The format that the server accepted is forgotten.
            app.clock.advance(Duration::from_secs(60 * 60));
            app.sell(product, 1).await;
        }
    }
);

on_both_engines!(
    the_format_that_a_server_knows_is_remembered_for_an_hour,
    async |address| {
        let content = reply("Peça agora.", &[]);
        let server = ModelServer::start([Behaviour::Knows(&["none"], 400, content)]).await;
        let mut config = with_model(&server);
        config.analysis.cooldown = Duration::from_secs(1);
        let app = TestApp::with(&address, config).await;
        let product = a_product_that_ran_low(&app, "Arroz").await;
        let mut calls = Vec::new();
        for minutes in [59, 2, 1] {
            analysed(&app).await;
            calls.push(server.calls().len());
            app.clock.advance(Duration::from_secs(minutes * 60));
            app.sell(product, 1).await;
        }
        assert_eq!(calls, [3, 4, 7]);
        assert_eq!(formats(&server)[3], "none");
    }
);

on_both_engines!(
    an_answer_without_a_format_is_checked_as_any_other,
    async |address| {
        let content = reply("Peça 5000 unidades.", &[]);
        let server = ModelServer::start([Behaviour::Knows(&["none"], 400, content)]).await;
        let app = TestApp::with(&address, with_model(&server)).await;
        a_product_that_ran_low(&app, "Arroz").await;
        let analysis = analysed(&app).await;
        assert_eq!(analysis.provenance.source, Source::Formula);
        assert_eq!(analysis.provenance.outcome, "unusable");
        // Three calls until a format was accepted, and one repair.
        assert_eq!(server.calls().len(), 4);
    }
);

on_both_engines!(
    a_server_that_refuses_max_tokens_or_the_temperature_by_name_is_asked_otherwise_for_an_hour,
    async |address| {
        let refused: &[&str] = &["max_tokens", "temperature"];
        let content = reply("Peça agora.", &[]);
        let server = ModelServer::start([Behaviour::Refuses(refused, content)]).await;
        let mut config = with_model(&server);
        config.analysis.cooldown = Duration::from_secs(1);
        let app = TestApp::with(&address, config).await;
        let product = a_product_that_ran_low(&app, "Arroz").await;
        let mut calls = Vec::new();
        for minutes in [59, 2, 1] {
            assert_eq!(analysed(&app).await.provenance.source, Source::Model);
            calls.push(server.calls().len());
            app.clock.advance(Duration::from_secs(minutes * 60));
            app.sell(product, 1).await;
        }
        assert_eq!(calls, [3, 4, 7]);
        let remembered = server.calls()[3].json();
        assert_eq!(remembered["max_completion_tokens"], 600);
        assert_eq!(format(&server.calls()[3]), "json_schema");
    }
);
