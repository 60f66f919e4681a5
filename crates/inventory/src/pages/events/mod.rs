//! `/webhooks/`: the pages of endpoints and deliveries. They work without a script, too.

mod deliveries;
mod endpoints;

use crate::{
    events::Endpoint,
    page::{
        Frame, record_form,
        routes::{PageRouter, get, of_one, post_from},
    },
};

const HERE: &str = "/webhooks/";

/// The pages of events.
pub(crate) fn routes() -> PageRouter {
    PageRouter::new()
        .merge(record_form::routes(endpoints::Endpoints))
        .route("/webhooks/", get(deliveries::list))
        .route(
            "/webhooks/redeliver-failed/",
            post_from("../", deliveries::redeliver_failed),
        )
        .route("/webhooks/deliveries/{id}/", get(deliveries::show))
        .route(
            "/webhooks/deliveries/{id}/redeliver/",
            post_from("../", deliveries::redeliver),
        )
        .route("/webhooks/{id}/", get(endpoints::show))
        .route(
            "/webhooks/{id}/secret/",
            get(endpoints::ask_secret).post(endpoints::rotate),
        )
        .route(
            "/webhooks/{id}/delete/",
            get(endpoints::ask_delete).post(endpoints::delete),
        )
        .route("/webhooks/{id}/test/", post_from("../", endpoints::test))
        .route(
            "/webhooks/{id}/enable/",
            post_from("../", of_one(true, endpoints::switch)),
        )
        .route(
            "/webhooks/{id}/disable/",
            post_from("../", of_one(false, endpoints::switch)),
        )
}

/// The event types that an endpoint gets.
fn types(endpoint: &Endpoint, frame: &Frame) -> String {
    match endpoint.types.listed().join(", ") {
        types if types.is_empty() => frame.text("todos", "all").to_owned(),
        types => types,
    }
}

/// How an attempt ended, in words.
fn outcome_in_words(outcome: Option<&str>, status: Option<i64>, frame: &Frame) -> String {
    let words = match (outcome, status) {
        (_, Some(status)) => return format!("{} {status}", frame.text("resposta", "answer")),
        (None, _) => "–",
        (Some("not_connected"), _) => frame.text("sem conexão", "no connection"),
        (Some("not_public"), _) => frame.text("endereço privado", "private address"),
        (Some("timed_out"), _) => frame.text("sem resposta a tempo", "no answer in time"),
        (Some(_), _) => frame.text("conexão interrompida", "connection broken"),
    };
    words.to_owned()
}
