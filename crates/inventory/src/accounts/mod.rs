//! Who calls and what they may do: users, groups, permissions, tokens for programs, sessions for
//! people. Carries the specification's "Authentication"; which request needs which permission is in
//! `rest`.

mod attempts;
mod bearer;
mod common_passwords;
pub mod csrf;
mod password;
pub mod second_factor;
pub(crate) mod service;
pub mod session;
pub(crate) mod store;
mod token;
pub mod users;

pub use password::{HashFault, Passwords, PersonalData, WeakPassword, check_strength};
pub use service::{Access, Credentials, Pair, log_in, refresh, revoke, revoke_all, verify};
pub use token::{Claims, TokenError, TokenKey, TokenType};

use db::{Timestamp, Tx};
use http::request::Parts;
use resource::{Field, text, truth};

use crate::{
    State,
    access::{Caller, Model},
    audit::{self, Action},
    rest::Refusal,
    work::Work,
};

/// What the audit log names of an account beside its fields.
pub(crate) const OTHERS: [&Field; 2] = [
    &text::<String>("Senha", "Password", MAX_PASSWORD).named("password"),
    &truth("Sessões", "Sessions").named("sessions"),
];
/// Longer passwords are none.
pub(crate) const MAX_PASSWORD: usize = 4096;

/// An account as a token's bearer needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// As the request sees them.
    pub caller: Caller,
    /// Deactivated accounts are out at once.
    pub active: bool,
    /// Tokens made before this moment are revoked.
    pub tokens_valid_from: Option<Timestamp>,
}

impl Account {
    /// Whether a token made in this second, counted since 1970, was revoked together with all
    /// others of the account.
    fn has_revoked(&self, iat: i64) -> bool {
        self.tokens_valid_from
            .is_some_and(|from| iat < second_of(from))
    }
}

/// The whole second of a moment, counted since 1970, as tokens have it.
fn second_of(moment: Timestamp) -> i64 {
    moment.micros().div_euclid(1_000_000)
}

/// Who sends a request: by its bearer token, and without one by its session.
///
/// # Errors
///
/// 403 when a session's request may be forged, and when the account must have a second factor
/// first; 401 in the conventional words; faults of the store.
pub async fn authenticate(state: &State, parts: &Parts) -> Result<Caller, Refusal> {
    let caller = if bearer::is_sent(&parts.headers) {
        authenticate_bearer(state, parts).await?
    } else {
        // In a box of its own no program's request carries this future along.
        Box::pin(session::authenticate(state, parts)).await?
    };
    if second_factor::is_missing(state, &caller).await? {
        return Err(Refusal::Forbidden(
            service::SECOND_FACTOR_MISSING.to_owned(),
        ));
    }
    Ok(caller)
}

/// Who sends a request by its bearer token.
///
/// # Errors
///
/// 401 in the conventional words, and faults of the store.
pub(crate) async fn authenticate_bearer(state: &State, parts: &Parts) -> Result<Caller, Refusal> {
    let token = bearer::token(&parts.headers)?;
    let (user, iat) = bearer::user_of(&state.token_key, token, state.clock.now())?;
    let account = state.db.find_by_key(&store::ACCOUNT, user).await?;
    bearer::admit(account, iat)
}

/// What becomes of an account's tokens when its password is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tokens {
    /// They stay as they are: the programs that have them go on.
    Kept,
    /// All that were made until now are revoked, in whose hands they may be.
    Revoked,
}

impl Tokens {
    /// As somebody wishes who may have them revoked.
    pub const fn revoked_if(is_wished: bool) -> Self {
        if is_wished { Self::Revoked } else { Self::Kept }
    }

    /// Does it, in the transaction that changes the password.
    async fn settle(self, work: &mut Work<'_>, user: i64) -> Result<(), db::Error> {
        match self {
            Self::Kept => Ok(()),
            Self::Revoked => revoke_made_until(work.tx, user, work.now).await,
        }
    }

    /// The names of what was changed, for the audit log.
    const fn changed(self) -> &'static [&'static str] {
        match self {
            Self::Kept => &["password"],
            Self::Revoked => &["password", "tokens"],
        }
    }
}

/// Revokes every token of a user that was made until now. Tokens know whole seconds: those of this
/// one are revoked too, and those that follow at once say the next.
async fn revoke_made_until(tx: &mut Tx, user: i64, now: Timestamp) -> Result<(), db::Error> {
    let from = Timestamp::from_micros((second_of(now) + 1).saturating_mul(1_000_000));
    store::revoke_until(tx, user, from).await
}

/// Writes down that something of a user was changed, in the transaction that changes it.
async fn record_change(work: &mut Work<'_>, user: i64, what: &[&str]) -> Result<(), db::Error> {
    let Some(name) = store::name_of(work.tx, user).await? else {
        return Ok(());
    };
    audit::record(work, Action::Changed(what), Model::User, user, &name).await
}
