//! Authentication and authorization: users, groups, permissions, tokens for programs, sessions for
//! people. Implements the specification's "Authentication". The permission that a request needs is
//! decided in `api`.

mod attempts;
mod bearer;
mod common_passwords;
pub mod csrf;
mod password;
mod sealed;
pub mod second_factor;
pub(crate) mod service;
pub mod session;
pub(crate) mod store;
mod token;
pub mod users;

pub use password::{HashFault, Passwords, check_strength};
pub use service::{
    AccessToken, Credentials, TokenPair, log_in, refresh, revoke, revoke_all, verify,
};
pub use token::{Claims, TokenError, TokenKey, TokenType};

use db::{Timestamp, Tx};
use http::request::Parts;
use resource::{Field, text, truth};
use web::access::record_user;

use crate::{
    State,
    access::{Caller, Model},
    audit::{self, FieldChange},
    rest::Refusal,
    work::Work,
};

/// What the audit log can name of an account besides its fields.
pub(crate) const OTHERS: [&Field; 2] = [
    &text::<String>("Senha", "Password", MAX_PASSWORD).named("password"),
    &truth("Sessões", "Sessions").named("sessions"),
];
/// The most characters of a password that is read.
pub(crate) const MAX_PASSWORD: usize = 4096;

/// An account, as authentication needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// The user with the granted permissions.
    pub caller: Caller,
    /// Whether the account is active. Requests of other accounts are refused at once.
    pub active: bool,
    /// Tokens issued before this time are revoked.
    pub tokens_valid_from: Option<Timestamp>,
}

impl Account {
    /// Whether tokens issued in this second (since 1970) were revoked with all tokens of the
    /// account.
    fn has_revoked(&self, iat: i64) -> bool {
        self.tokens_valid_from
            .is_some_and(|from| iat < second_of(from))
    }
}

/// The second of a time since 1970, as tokens store it.
fn second_of(moment: Timestamp) -> i64 {
    moment.micros().div_euclid(1_000_000)
}

/// Authenticates a request by its bearer token or, without one, by its session. 403 for a failed
/// CSRF check, or while a mandatory second factor is missing; 401 with the conventional body
/// without valid credentials.
pub async fn authenticate(state: &State, parts: &Parts) -> Result<Caller, Refusal> {
    let caller = if bearer::is_sent(&parts.headers) {
        authenticate_bearer(state, parts).await?
    } else {
        // Boxed, so that the future of requests with a bearer token stays small.
        Box::pin(session::authenticate(state, parts)).await?
    };
    record_user(caller.id);
    if second_factor::is_missing(state, &caller).await? {
        return Err(Refusal::Forbidden(
            service::SECOND_FACTOR_MISSING.to_owned(),
        ));
    }
    Ok(caller)
}

/// Authenticates a request by its bearer token. 401 with the conventional body without a valid one.
pub(crate) async fn authenticate_bearer(state: &State, parts: &Parts) -> Result<Caller, Refusal> {
    let token = bearer::token(&parts.headers)?;
    let (user, iat) = bearer::user_of(&state.token_key, token, state.clock.now())?;
    let account = state.db.find_by_key(&store::ACCOUNT, user).await?;
    bearer::admit(account, iat)
}

/// What happens to an account's tokens when its password changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tokens {
    /// The tokens stay valid.
    Kept,
    /// All tokens issued so far are revoked, in case they were stolen.
    Revoked,
}

impl Tokens {
    /// `Revoked` if the user chose to revoke the tokens.
    pub const fn revoked_if(is_wished: bool) -> Self {
        if is_wished { Self::Revoked } else { Self::Kept }
    }

    /// Revokes the tokens, if chosen, in the transaction that changes the password.
    async fn settle(self, work: &mut Work<'_>, user: i64) -> Result<(), db::Error> {
        match self {
            Self::Kept => Ok(()),
            Self::Revoked => revoke_made_until(work.tx, user, work.now).await,
        }
    }

    /// The names of the changes for the audit log.
    const fn changed(self) -> &'static [&'static str] {
        match self {
            Self::Kept => &["password"],
            Self::Revoked => &["password", "tokens"],
        }
    }
}

/// Ends the sessions and tokens of a user for good, so that none comes back when a deactivated
/// account is activated again.
async fn end_access(tx: &mut Tx, user: i64, now: Timestamp) -> Result<(), db::Error> {
    session::store::delete_of_user(tx, user).await?;
    revoke_made_until(tx, user, now).await
}

/// Revokes all tokens of a user that were issued so far. Tokens store whole seconds, so those of
/// the current second are revoked, too. New tokens get the next second as their time of issue.
async fn revoke_made_until(tx: &mut Tx, user: i64, now: Timestamp) -> Result<(), db::Error> {
    let from = Timestamp::from_micros((second_of(now) + 1).saturating_mul(1_000_000));
    store::revoke_until(tx, user, from).await
}

/// Deletes sessions, revoked tokens, failed attempts and addresses whose time is over.
pub(crate) async fn forget_expired(tx: &mut Tx, now: Timestamp) -> Result<(), db::Error> {
    session::store::forget_expired(tx, now).await?;
    store::forget_expired(tx, now).await?;
    attempts::forget_expired(tx, now).await
}

/// Writes a change of a user to the audit log, in the same transaction.
async fn record_change(work: &mut Work<'_>, user: i64, what: &[&str]) -> Result<(), db::Error> {
    let Some(name) = store::name_of(work.tx, user).await? else {
        return Ok(());
    };
    let changes = FieldChange::all_named(what);
    audit::record_changes(work, &changes, Model::User, user, &name).await
}
