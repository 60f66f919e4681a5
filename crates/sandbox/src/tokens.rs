//! `/v1/card_tokens`: exchanges card data for a single-use token. Of the card number only the first
//! six and last four digits are stored, of the security code only its length.

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State as Shared};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde_json::{Value, json};

use crate::caller::Caller;
use crate::model::CardToken;
use crate::refusal::Refusal;
use crate::state::State;

pub(crate) async fn create(
    _caller: Caller,
    Shared(state): Shared<State>,
    body: Bytes,
) -> Result<Response, Refusal> {
    let now = state.now();
    let id = state.random.uuid().simple().to_string();
    let token = CardToken::parse(id.into(), &body, now)?;
    state.store().insert_token(token.clone(), now);
    Ok((StatusCode::CREATED, Json(answer(&token))).into_response())
}

pub(crate) async fn read(
    _caller: Caller,
    Shared(state): Shared<State>,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    let token = state.store().token(&id).cloned();
    let token =
        token.ok_or_else(|| Refusal::new(StatusCode::NOT_FOUND, None, "Card token not found"))?;
    Ok(Json(answer(&token)).into_response())
}

fn answer(token: &CardToken) -> Value {
    let card = &token.card;
    json!({
        "id": token.id,
        "public_key": null,
        "card_id": null,
        "first_six_digits": card.first_six,
        "last_four_digits": card.last_four,
        "expiration_month": card.expiration_month,
        "expiration_year": card.expiration_year,
        "cardholder": {"name": card.holder, "identification": card.identification},
        "status": if token.is_used { "used" } else { "active" },
        "date_created": token.created,
        "date_last_updated": token.created,
        "date_due": token.due(),
        "luhn_validation": token.is_luhn_valid,
        "live_mode": false,
        "require_esc": false,
        "card_number_length": token.number_length,
        "security_code_length": token.security_code_length,
    })
}
