//! The sandbox's own JSON API, `/sandbox/…`: faults, recorded calls, charges, and actions of payers
//! and banks.

use axum::Json;
use axum::extract::rejection::FormRejection;
use axum::extract::{Path, Query, State as Shared};
use axum::response::{IntoResponse, Redirect, Response};
use http::StatusCode;
use serde::Deserialize;

use super::{Act, charges};
use crate::calls::FaultRequest;
use crate::payments::api::answer;
use crate::refusal::Refusal;
use crate::state::State;

pub(crate) async fn add_fault(
    Shared(state): Shared<State>,
    Json(fault): Json<FaultRequest>,
) -> Result<Response, Refusal> {
    if state.faults.add(fault) {
        Ok((StatusCode::CREATED, Json(state.faults.shown())).into_response())
    } else {
        let message = "fault is none of: status N, status N code C, delay D, stall D, lag D, drop before, drop after, reset, truncate, garbage";
        Err(Refusal::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            None,
            message,
        ))
    }
}

pub(crate) async fn list_faults(Shared(state): Shared<State>) -> Response {
    Json(state.faults.shown()).into_response()
}

pub(crate) async fn clear_faults(Shared(state): Shared<State>) -> StatusCode {
    state.faults.clear();
    StatusCode::NO_CONTENT
}

pub(crate) async fn list_calls(Shared(state): Shared<State>) -> Response {
    Json(state.calls.shown()).into_response()
}

pub(crate) async fn clear_calls(Shared(state): Shared<State>) -> StatusCode {
    state.calls.clear();
    StatusCode::NO_CONTENT
}

pub(crate) async fn list_notifications(Shared(state): Shared<State>) -> Response {
    Json(state.retries.shown()).into_response()
}

#[derive(Deserialize)]
pub(crate) struct ChargesQuery {
    external_reference: Option<String>,
}

pub(crate) async fn list_charges(
    Shared(state): Shared<State>,
    Query(query): Query<ChargesQuery>,
) -> Response {
    Json(charges::all(&state, query.external_reference.as_deref())).into_response()
}

/// The form of a button on a page.
#[derive(Deserialize)]
pub(crate) struct Form {
    /// The page that the button is on: `payment`, `ticket` or `boleto`.
    from: String,
}

/// Performs an action on a payment. Responds with the payment as JSON, or redirects to the page
/// whose button was pressed.
pub(crate) async fn perform(
    Shared(state): Shared<State>,
    Path((id, act)): Path<(u64, String)>,
    form: Result<axum::Form<Form>, FormRejection>,
) -> Result<Response, Refusal> {
    let act = Act::of(&act).ok_or_else(Refusal::not_found)?;
    let done = act.perform(&state, id);
    let Ok(axum::Form(form)) = form else {
        let payment = done?;
        return Ok(answer(StatusCode::OK, &state, &payment));
    };
    let page = format!("/sandbox/payments/{id}");
    let back = match (done, form.from.as_str()) {
        (Err(_), _) => format!("{page}?refused=1"),
        (Ok(_), "ticket" | "boleto") => format!("{page}/{}", form.from),
        (Ok(_), _) => page,
    };
    Ok(Redirect::to(&back).into_response())
}
