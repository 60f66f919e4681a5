//! Card tokens: exchanges card data for a single-use token. Of the card number only the first six
//! and last four digits are stored, of the security code only its length.

pub(crate) mod api;

use http::StatusCode;

use crate::model::CardToken;
use crate::refusal::Refusal;
use crate::state::State;

/// Creates a token for the card data in the body.
///
/// # Errors
/// The first field that is missing or invalid, with the provider's code for it.
pub(crate) fn create(state: &State, body: &[u8]) -> Result<CardToken, Refusal> {
    let now = state.now();
    let id = state.random.uuid().simple().to_string();
    let token = CardToken::parse(id.into(), body, now)?;
    state.store().insert_token(token.clone(), now);
    Ok(token)
}

/// The token with this id.
///
/// # Errors
/// 404 for a token that is unknown or was dropped.
pub(crate) fn read(state: &State, id: &str) -> Result<CardToken, Refusal> {
    let token = state.store().token(id).cloned();
    token.ok_or_else(|| Refusal::new(StatusCode::NOT_FOUND, None, "Card token not found"))
}
