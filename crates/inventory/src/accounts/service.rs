//! Password authentication, and obtaining, refreshing, verifying and revoking tokens.

use std::time::Duration;

use db::{Db, Timestamp};
use http::request::Parts;
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    Account, Claims, TokenError, TokenType,
    attempts::{self, AttemptSource, AttemptTarget, Proof},
    record_change, revoke_made_until, second_factor, second_of, store,
};
use crate::{
    State,
    access::{Actor, Caller},
    digest::digest,
    rest::{Refusal, TOKEN_NOT_VALID, Unauthorized},
    work::Author,
};

/// The error for programs if the account must set up a second factor first.
pub(super) const SECOND_FACTOR_MISSING: &str =
    "This account must have a second factor: turn it on at /account/second-factor/.";

/// A token pair.
#[derive(Clone, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenPair {
    /// The refresh token, which access tokens are obtained with; valid for a week unless configured otherwise.
    pub refresh: String,
    /// The access token; valid for a day unless configured otherwise.
    pub access: String,
}

/// An access token.
#[derive(Clone, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AccessToken {
    /// The access token; valid for a day unless configured otherwise.
    pub access: String,
}

/// The credentials of a program.
#[derive(Clone)]
pub struct Credentials {
    /// The user name.
    pub username: String,
    /// The password.
    pub password: String,
    /// A code of the second factor, for accounts that have one.
    pub otp: Option<String>,
}

web::masked_debug!(TokenPair, AccessToken, Credentials);

/// Obtains a token pair for a password, and for a code if the account has a second factor.
///
/// # Errors
///
/// 401 for wrong credentials, an inactive account, and a missing or wrong code; 429 after too many
/// failed attempts; errors of the database.
pub async fn log_in(
    state: &State,
    parts: &Parts,
    credentials: Credentials,
) -> Result<TokenPair, Refusal> {
    let account = prove(state, parts, credentials).await?;
    let (id, now) = (account.caller.id, state.clock.now());
    let address = attempts::address_hash(state, parts);
    state
        .db
        .write(async move |tx| {
            attempts::remember_address(tx, id, &address, now).await?;
            store::set_last_login(tx, id, now).await
        })
        .await?;
    Ok(pair(state, &account))
}

/// Checks credentials and returns their account.
///
/// # Errors
///
/// Those of [`log_in`].
pub(super) async fn prove(
    state: &State,
    parts: &Parts,
    credentials: Credentials,
) -> Result<Account, Refusal> {
    let Credentials {
        username,
        password,
        otp,
    } = credentials;
    let source = AttemptSource::of(state, parts);
    let proven = identify(state, &source, username, password).await?;
    let account = proven.ok_or_else(no_account)?.account;
    let user = account.caller.id;
    if second_factor::status(&state.db, user).await?.is_none() {
        if state.config.second_factor.includes(&account.caller) {
            return Err(Unauthorized::new(SECOND_FACTOR_MISSING)
                .code("otp_setup_required")
                .into());
        }
        return Ok(account);
    }
    let code = otp.ok_or_else(|| {
        let detail = "This account has a second factor: a one-time code is required in otp.";
        Unauthorized::new(detail).code("otp_required")
    })?;
    if second_factor::verify_code(state, &source, user, &code).await? {
        Ok(account)
    } else {
        let detail = "The one-time code is not valid, or was used already.";
        Err(Unauthorized::new(detail).code("otp_invalid").into())
    }
}

/// Whether the password is that of the logged-in user. Sensitive actions require it again, so that
/// a stolen session is not enough.
///
/// # Errors
///
/// 429 after too many failed attempts; errors of the database.
pub(super) async fn is_own_password(
    state: &State,
    caller: &Caller,
    password: String,
) -> Result<bool, Refusal> {
    let username = caller.username.clone();
    let found = identify(state, &AttemptSource::Session, username, password).await?;
    Ok(found.is_some_and(|found| found.account.caller.id == caller.id))
}

/// An account whose password was proven.
#[derive(Debug)]
pub(crate) struct Proven {
    pub(crate) account: Account,
    /// The digest of the password's hash, which changes with the password.
    pub(crate) password: String,
}

/// The active account with this user name and password.
///
/// # Errors
///
/// 429 after too many failed attempts; errors of the database.
pub(super) async fn identify(
    state: &State,
    source: &AttemptSource,
    username: String,
    password: String,
) -> Result<Option<Proven>, Refusal> {
    let name = username.clone();
    let found = state
        .db
        .read(async move |conn| store::credentials(conn, &name).await)
        .await?;
    let target = match &found {
        Some((account, _)) => AttemptTarget::User(account.caller.id),
        None => AttemptTarget::UnknownName(&username),
    };
    let is_limited = !state.config.rate_limit_auth.is_off();
    let attempt = if is_limited {
        Some(attempts::begin(state, Proof::Password, target, source).await?)
    } else {
        None
    };
    let (account, hash) = match found {
        Some((account, hash)) => (Some(account), hash),
        None => (None, None),
    };
    let password_digest = digest(hash.as_deref().unwrap_or_default());
    let is_right = state
        .passwords
        .verify(password, hash)
        .await
        .map_err(web::Error::internal)?;
    let admitted = account.as_ref().is_some_and(|user| user.active) && is_right;
    log_password(account.as_ref(), admitted);
    if let Some(attempt) = attempt.filter(|_| admitted) {
        attempts::succeed(state, attempt).await?;
    }
    Ok(account.filter(|_| admitted).map(|account| Proven {
        account,
        password: password_digest,
    }))
}

/// Logs an attempt with the user's id. An unknown user name is not logged: it may be a password
/// that was typed into the wrong field.
fn log_password(account: Option<&Account>, admitted: bool) {
    match account {
        Some(account) if admitted => {
            tracing::info!(user = account.caller.id, "a password was accepted");
        }
        Some(account) => {
            let (user, active) = (account.caller.id, account.active);
            tracing::warn!(user, active, "a password was refused");
        }
        None => tracing::warn!("a password was refused: nobody has the name"),
    }
}

/// 401 with the conventional body, which does not reveal whether the user name exists.
pub(super) fn no_account() -> Refusal {
    Unauthorized::new("No active account found with the given credentials").into()
}

/// Obtains an access token for a refresh token.
///
/// # Errors
///
/// 401 for a token that is invalid, revoked or of the wrong type, and for an account that is
/// deleted or inactive; errors of the database.
pub async fn refresh(state: &State, token: &str) -> Result<AccessToken, Refusal> {
    let claims = state
        .token_key
        .verify_type(token, TokenType::Refresh, state.clock.now())
        .map_err(not_valid)?;
    let access = access(state, &owner(state, claims).await?);
    Ok(AccessToken { access })
}

/// Checks a token of either type.
///
/// # Errors
///
/// 401 for a token that is invalid or revoked, and for an account that is deleted or inactive;
/// errors of the database.
pub async fn verify(state: &State, token: &str) -> Result<(), Refusal> {
    let claims = state
        .token_key
        .verify(token, state.clock.now())
        .map_err(not_valid)?;
    owner(state, claims).await.map(|_| ())
}

/// The active account of a token. Fails if the token is revoked.
async fn owner(state: &State, claims: Claims) -> Result<Account, Refusal> {
    let (user, iat) = (claims.user(), claims.iat);
    let jti = claims.jti;
    let (is_revoked, account) = state
        .db
        .read(async move |conn| {
            let account = match user {
                Some(user) => store::account(conn, user).await?,
                None => None,
            };
            Ok::<_, db::Error>((store::is_revoked(conn, &jti).await?, account))
        })
        .await?;
    if is_revoked {
        return Err(blacklisted());
    }
    match account {
        Some(account) if account.active && account.has_revoked(iat) => Err(blacklisted()),
        Some(account) if account.active => Ok(account),
        _ => Err(Unauthorized::new("No active account found for the given token.").into()),
    }
}

/// Revokes a refresh token. An invalid token is ignored.
pub async fn revoke(state: &State, token: &str) -> Result<(), Refusal> {
    let now = state.clock.now();
    let Ok(claims) = state.token_key.verify_type(token, TokenType::Refresh, now) else {
        return Ok(());
    };
    let expires_at = Timestamp::from_micros(claims.exp.saturating_mul(1_000_000));
    // No user has the id 0.
    let user = claims.user().unwrap_or(0);
    state
        .db
        .write(async move |tx| {
            store::forget_expired(tx, now).await?;
            store::revoke(tx, &claims.jti, user, now, expires_at).await
        })
        .await?;
    Ok(())
}

/// Revokes all tokens of a user that were issued so far, in case they were stolen.
pub async fn revoke_all(
    db: &Db,
    actor: &Actor,
    user: i64,
    now: Timestamp,
) -> Result<(), db::Error> {
    let author = Author::of(actor.clone(), now);
    db.write(async move |tx| {
        revoke_made_until(tx, user, now).await?;
        record_change(&mut author.work(tx), user, &["tokens"]).await
    })
    .await
}

/// A new token pair for an account.
pub(super) fn pair(state: &State, account: &Account) -> TokenPair {
    TokenPair {
        refresh: sign(
            state,
            account,
            TokenType::Refresh,
            state.config.refresh_token_lifetime,
        ),
        access: access(state, account),
    }
}

fn access(state: &State, account: &Account) -> String {
    sign(
        state,
        account,
        TokenType::Access,
        state.config.access_token_lifetime,
    )
}

fn sign(state: &State, account: &Account, token_type: TokenType, lifetime: Duration) -> String {
    let valid_from = account.tokens_valid_from.map_or(0, second_of);
    let iat = second_of(state.clock.now()).max(valid_from);
    let lifetime = i64::try_from(lifetime.as_secs()).unwrap_or(i64::MAX);
    state.token_key.sign(&Claims {
        token_type,
        exp: iat.saturating_add(lifetime),
        iat,
        nbf: None,
        jti: state.random.uuid().simple().to_string(),
        user_id: Some(account.caller.id.to_string()),
    })
}

fn not_valid(error: TokenError) -> Refusal {
    Unauthorized::new(error.to_string())
        .code(TOKEN_NOT_VALID)
        .into()
}

fn blacklisted() -> Refusal {
    Unauthorized::new("Token is blacklisted")
        .code(TOKEN_NOT_VALID)
        .into()
}
