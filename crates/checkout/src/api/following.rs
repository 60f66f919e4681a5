//! The addresses at which a client follows the payment that it has created, with the payment's
//! status token.

use axum::Json;
use axum::extract::{FromRequestParts, Query, State as From};
use axum::response::{IntoResponse, Response};
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use utoipa::IntoParams;
use utoipa::openapi::Required;
use utoipa::openapi::path::{Parameter, ParameterIn};
use web::Error;
use web::client::Origin;
use web::openapi::{Failure, parameter, text};

use super::examples::payments as examples;
use super::private;
use crate::digest;
use crate::errors::{database, payment_not_found};
use crate::ids::PaymentId;
use crate::payments::{self, ArtefactsBody, StatusView, open_stream};
use crate::state::State;

/// The status token of an address, empty if there is none or more than one. Logs leave the query
/// out, so the token is not logged.
pub(crate) struct StatusToken(String);

impl IntoParams for StatusToken {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let what = "The `X-Payment-Status-Token` of the payment's creation.";
        let schema = text().min_length(Some(1)).max_length(Some(255));
        let token = parameter("token", ParameterIn::Query, Some(what), schema);
        vec![token.required(Required::True).build()]
    }
}

impl<S: Send + Sync> FromRequestParts<S> for StatusToken {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let query = Query::<Vec<(String, String)>>::from_request_parts(parts, state).await;
        let pairs = query.map_or_else(|_| Vec::new(), |Query(pairs)| pairs);
        let mut given = pairs
            .into_iter()
            .filter(|(name, _)| name == "token")
            .map(|(_, token)| token);
        Ok(Self(match (given.next(), given.next()) {
            (Some(token), None) => token,
            _ => String::new(),
        }))
    }
}

/// The status of a payment
#[utoipa::path(
    get, path = "/payments/{id}/status", tag = "Following a payment", operation_id = "readStatus",
    security(), params(PaymentId, StatusToken),
    responses(
        (status = 200, description = "The payment's status, without data about the payer.", body = StatusView,
        examples(("approved" = (value = json!({"status": "approved", "status_detail": "accredited"}))))),
        Failure<404>,
    ),
)]
pub(crate) async fn payment_status(
    From(state): From<State>,
    origin: Origin,
    PaymentId(id): PaymentId,
    token: StatusToken,
) -> Result<Response, Error> {
    let view = follow(&state, &id, &token).await?;
    Ok(private(Json(view.shown_to(origin))))
}

/// Follow a payment
///
/// Server-sent events named `status`, each with the same JSON object as the status address: one at once, and one for each
/// change until a final state.
#[utoipa::path(
    get, path = "/payments/{id}/events", tag = "Following a payment", operation_id = "followStatus",
    security(), params(PaymentId, StatusToken),
    responses(
        (status = 200, description = "The stream.", content_type = "text/event-stream", body = String,
        examples(("approved" = (value = json!(
            "event: status\ndata: {\"status\":\"approved\",\"status_detail\":\"accredited\"}\n\n"
        ))))),
        Failure<404>,
    ),
)]
pub(crate) async fn payment_events(
    From(state): From<State>,
    origin: Origin,
    PaymentId(id): PaymentId,
    token: StatusToken,
) -> Result<Response, Error> {
    let now = follow(&state, &id, &token).await?;
    let stream = open_stream(&state.statuses, &state.shutdown, &id, now, origin);
    stream.map(IntoResponse::into_response).ok_or_else(|| {
        Error::new(StatusCode::SERVICE_UNAVAILABLE, "Service unavailable")
            .header(http::header::RETRY_AFTER, HeaderValue::from_static("5"))
            .expected()
    })
}

/// What the page shows of its payment
///
/// What is paid and what to pay it with, for a page that knows only the payment's id and token. Nothing of who pays.
#[utoipa::path(
    get, path = "/payments/{id}/artefacts", tag = "Following a payment", operation_id = "readArtefacts",
    security(), params(PaymentId, StatusToken),
    responses(
        (status = 200, description = "Texts for the buyer; null where the payment has none.", body = ArtefactsBody,
        examples(("boleto" = (value = json!(examples::boleto_artefacts()))))),
        Failure<404>,
    ),
)]
pub(crate) async fn payment_artefacts(
    From(state): From<State>,
    PaymentId(id): PaymentId,
    token: StatusToken,
) -> Result<Response, Error> {
    authorise(&state, &id, &token)?;
    let found = payments::find(&state.db, &id).await.map_err(database)?;
    let payment = found.ok_or_else(payment_not_found)?;
    Ok(private(Json(ArtefactsBody::new(&payment))))
}

async fn follow(state: &State, id: &str, token: &StatusToken) -> Result<StatusView, Error> {
    authorise(state, id, token)?;
    let found = payments::find_stored(&state.db, id)
        .await
        .map_err(database)?;
    let snapshot = found.ok_or_else(payment_not_found)?.snapshot;
    Ok(StatusView::new(snapshot.state, &snapshot.status_detail))
}

/// Checks that the token belongs to the payment's id. Nothing is read for a wrong token, so an
/// unknown id gets the same response.
fn authorise(state: &State, id: &str, token: &StatusToken) -> Result<(), Error> {
    if digest::is_equal(&state.status_token(id), &token.0) {
        Ok(())
    } else {
        Err(Error::new(StatusCode::UNAUTHORIZED, "Invalid credentials"))
    }
}
