//! Card tokens: card data goes in, and a single-use token comes out. Of the number only the first
//! six and last four digits are kept, and of the security code only its length.

pub(crate) mod api;

use http::StatusCode;

use crate::model::CardToken;
use crate::refusal::Refusal;
use crate::state::State;

/// Makes a token of the card data in the body.
///
/// # Errors
/// Names the first field that is missing or wrong, by the provider's codes of card fields.
pub(crate) fn create(state: &State, body: &[u8]) -> Result<CardToken, Refusal> {
    let now = state.now();
    let id = state.random.uuid().simple().to_string();
    let token = CardToken::parse(id.into(), body, now)?;
    state.store().insert_token(token.clone(), now);
    Ok(token)
}

/// A token by its id.
///
/// # Errors
/// 404 for a token that is unknown or was forgotten.
pub(crate) fn read(state: &State, id: &str) -> Result<CardToken, Refusal> {
    let token = state.store().token(id).cloned();
    token.ok_or_else(|| Refusal::new(StatusCode::NOT_FOUND, None, "Card token not found"))
}
