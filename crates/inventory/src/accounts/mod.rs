//! Who calls and what they may do: users, groups, permissions, tokens.
//! Carries the specification's "Authentication"; which request needs which permission is in `rest`.

mod bearer;
mod permission;
pub(crate) mod store;
mod token;

pub use permission::{Granted, Model, Permission, UnknownPermission, Verb};
pub use token::{Claims, TokenError, TokenKey, TokenType};

use http::HeaderMap;

use crate::{State, rest::Refusal};

/// An authenticated user, as one request sees them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The account's id.
    pub id: i64,
    /// The name they log in with.
    pub username: String,
    /// What they may do.
    pub granted: Granted,
}

/// An account as a token's bearer needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// As the request sees them.
    pub caller: Caller,
    /// Deactivated accounts are out at once.
    pub active: bool,
}

impl Caller {
    /// Whether this may be done.
    pub fn may(&self, permission: Permission) -> bool {
        self.granted.allows(permission)
    }
}

/// Who sends a request, by its bearer token.
///
/// # Errors
///
/// 401 in the conventional words, and faults of the store.
pub async fn authenticate(state: &State, headers: &HeaderMap) -> Result<Caller, Refusal> {
    let token = bearer::token(headers)?;
    let user = bearer::user_of(&state.token_key, token, state.clock.now())?;
    let account = state
        .db
        .read(async move |conn| store::account(conn, user).await)
        .await?;
    bearer::admit(account)
}
