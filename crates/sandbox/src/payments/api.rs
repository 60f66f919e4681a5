//! `/v1/payments`: parses a request, calls one function of the feature, and responds in the
//! provider's format.

use std::time::Duration;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::{Path, Query, State as Shared};
use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};

use super::answer::payment_answer;
use super::refunds::Outcome;
use super::{refunds, search};
use crate::caller::Caller;
use crate::calls::Lag;
use crate::idempotency::Idempotency;
use crate::model::Payment;
use crate::refusal::Refusal;
use crate::state::State;
use crate::values::Moment;

type ApiResult = Result<Response, Refusal>;

pub(crate) async fn create(
    _caller: Caller,
    Shared(state): Shared<State>,
    headers: HeaderMap,
    body: Bytes,
) -> ApiResult {
    let idempotency = Idempotency::required(&headers, &body)?;
    let payment = super::create(&state, &body, idempotency)?;
    Ok(answer(StatusCode::CREATED, &state, &payment))
}

pub(crate) async fn read(
    _caller: Caller,
    Shared(state): Shared<State>,
    Path(id): Path<String>,
) -> ApiResult {
    let payment = super::read(&state, number(&id)?)?;
    Ok(answer(StatusCode::OK, &state, &payment))
}

pub(crate) async fn update(
    _caller: Caller,
    Shared(state): Shared<State>,
    Path(id): Path<String>,
    body: Bytes,
) -> ApiResult {
    let payment = super::update(&state, number(&id)?, &body)?;
    Ok(answer(StatusCode::OK, &state, &payment))
}

pub(crate) async fn cancel(
    _caller: Caller,
    Shared(state): Shared<State>,
    Path(id): Path<String>,
) -> ApiResult {
    let payment = super::change(&state, number(&id)?, Payment::cancel)?;
    Ok(answer(StatusCode::OK, &state, &payment))
}

pub(crate) async fn search_all(
    _caller: Caller,
    Shared(state): Shared<State>,
    lag: Option<Extension<Lag>>,
    query: Result<Query<search::Query>, axum::extract::rejection::QueryRejection>,
) -> ApiResult {
    let Query(query) = query.map_err(|_| Refusal::params())?;
    let page = search::search(&state, &query, newest(&state, lag))?;
    let payments = page.payments.iter();
    let results: Vec<_> = payments
        .map(|payment| payment_answer(payment, state.base_url()))
        .collect();
    let paging = json!({"total": page.total, "limit": page.limit, "offset": page.offset});
    Ok(respond(
        StatusCode::OK,
        &json!({"paging": paging, "results": results}),
    ))
}

pub(crate) async fn refund(
    _caller: Caller,
    Shared(state): Shared<State>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> ApiResult {
    let idempotency = Idempotency::required(&headers, &body)?;
    match refunds::create(&state, number(&id)?, &body, idempotency)? {
        Outcome::Made(payment, refund) => Ok(respond(
            StatusCode::CREATED,
            &refunds::answer(&payment, &refund),
        )),
        Outcome::Repeated => Ok(StatusCode::OK.into_response()),
    }
}

pub(crate) async fn list_refunds(
    _caller: Caller,
    Shared(state): Shared<State>,
    lag: Option<Extension<Lag>>,
    Path(id): Path<String>,
) -> ApiResult {
    let payment = super::read(&state, number(&id)?)?;
    let newest = newest(&state, lag);
    let refunds = payment.refunds.iter();
    let all: Vec<_> = refunds
        .filter(|refund| refund.created <= newest)
        .map(|refund| refunds::answer(&payment, refund))
        .collect();
    Ok(respond(StatusCode::OK, &json!(all)))
}

pub(crate) async fn read_refund(
    _caller: Caller,
    Shared(state): Shared<State>,
    Path((id, refund)): Path<(String, String)>,
) -> ApiResult {
    let (payment, refund) = refunds::read(&state, number(&id)?, number(&refund)?)?;
    Ok(respond(StatusCode::OK, &refunds::answer(&payment, &refund)))
}

/// The newest creation time that a response may include.
fn newest(state: &State, lag: Option<Extension<Lag>>) -> Moment {
    let lag = lag.map_or(Duration::ZERO, |Extension(Lag(lag))| lag);
    Moment::of(state.clock.now() - lag)
}

/// Parses an id. A text that is not a number is the id of no payment.
fn number(id: &str) -> Result<u64, Refusal> {
    id.parse().map_err(|_| Refusal::payment_not_found())
}

pub(crate) fn answer(status: StatusCode, state: &State, payment: &Payment) -> Response {
    respond(status, &payment_answer(payment, state.base_url()))
}

fn respond(status: StatusCode, body: &Value) -> Response {
    let content_type = [(CONTENT_TYPE, "application/json; charset=utf-8")];
    (status, content_type, body.to_string()).into_response()
}
