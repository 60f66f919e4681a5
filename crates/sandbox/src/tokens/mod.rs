//! Card tokens: card data comes in, a token that may be used once goes out. Of the number only the first six and last four digits stay,
//! of the security code its length.

pub(crate) mod api;
mod model;

pub(crate) use model::{CardToken, TokenizedCard};

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
