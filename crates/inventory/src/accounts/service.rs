//! Password authentication, and obtaining, refreshing, verifying and revoking tokens.

use std::time::Duration;

use db::{Conn, Db, Timestamp, Tx};
use http::request::Parts;
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    Account, Claims, TokenError, TokenType,
    attempts::{self, AttemptSource, AttemptTarget, Proof},
    record_change, revoke_made_until, second_factor, second_of, store, users,
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

/// Obtains a token pair for a password, and for a code if the account has a second factor. 401 for
/// wrong credentials, an inactive account, and a missing or wrong code; 429 after too many failed
/// attempts.
pub async fn log_in(
    state: &State,
    parts: &Parts,
    credentials: Credentials,
) -> Result<TokenPair, Refusal> {
    let proven = prove(state, parts, credentials).await?;
    let (now, address) = (state.clock.now(), attempts::address_hash(state, parts));
    let complete = async move |tx: &mut Tx| proven.complete(tx, &address, now).await;
    let account = state.db.write(complete).await?;
    Ok(pair(state, &account.ok_or_else(no_account)?, now))
}

/// Checks credentials. Errors are those of [`log_in`].
pub(super) async fn prove(
    state: &State,
    parts: &Parts,
    credentials: Credentials,
) -> Result<Proven, Refusal> {
    let Credentials {
        username,
        password,
        otp,
    } = credentials;
    let source = AttemptSource::of(state, parts);
    let found = identify(state, &source, username, password).await?;
    let (account, mut proven) = found.ok_or_else(no_account)?;
    let user = proven.user;
    let Some(status) = second_factor::status(&state.db, user).await? else {
        if state.config.second_factor.includes(&account.caller) {
            return Err(Unauthorized::new(SECOND_FACTOR_MISSING)
                .code("otp_setup_required")
                .into());
        }
        return Ok(proven);
    };
    proven.second_factor = Some(status.since);
    let code = otp.ok_or_else(|| {
        let detail = "This account has a second factor: a one-time code is required in otp.";
        Unauthorized::new(detail).code("otp_required")
    })?;
    if second_factor::verify_code(state, &source, user, &code).await? {
        Ok(proven)
    } else {
        let detail = "The one-time code is not valid, or was used already.";
        Err(Unauthorized::new(detail).code("otp_invalid").into())
    }
}

/// Whether the password is that of the logged-in user. Sensitive actions require it again, so that
/// a stolen session is not enough. 429 after too many failed attempts.
pub(super) async fn is_own_password(
    state: &State,
    caller: &Caller,
    password: String,
) -> Result<bool, Refusal> {
    let username = caller.username.clone();
    let found = identify(state, &AttemptSource::Session, username, password).await?;
    Ok(found.is_some_and(|(_, proven)| proven.user == caller.id))
}

/// What a login has proven.
#[derive(Debug, Clone)]
pub(crate) struct Proven {
    pub(crate) user: i64,
    /// The digest of the password's hash, which changes with the password.
    pub(crate) password: String,
    /// When the second factor was turned on whose code is right. `None` without a code.
    pub(crate) second_factor: Option<Timestamp>,
}

impl Proven {
    /// The account, if it is active and what was proven is still so.
    pub(super) async fn account(&self, conn: &mut Conn) -> Result<Option<Account>, db::Error> {
        let hash = store::password_hash(conn, self.user).await?;
        let second_factor = second_factor::since(conn, self.user).await?;
        if digest(hash.unwrap_or_default()) != self.password || second_factor != self.second_factor
        {
            return Ok(None);
        }
        let account = store::account(conn, self.user).await?;
        Ok(account.filter(|account| account.active))
    }

    /// Records the login and locks the account. `None` if what was proven is not so any more: the
    /// password may change while it is verified, which takes long, and a new password ends all
    /// logins.
    pub(super) async fn complete(
        &self,
        tx: &mut Tx,
        address: &str,
        now: Timestamp,
    ) -> Result<Option<Account>, db::Error> {
        users::lock(tx, self.user).await?;
        let account = self.account(tx).await?;
        if account.is_some() {
            attempts::remember_address(tx, self.user, address, now).await?;
            store::set_last_login(tx, self.user, now).await?;
        }
        Ok(account)
    }
}

/// The active account with this user name and password. 429 after too many failed attempts.
pub(super) async fn identify(
    state: &State,
    source: &AttemptSource,
    username: String,
    password: String,
) -> Result<Option<(Account, Proven)>, Refusal> {
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
    Ok(account.filter(|_| admitted).map(|account| {
        let proven = Proven {
            user: account.caller.id,
            password: password_digest,
            second_factor: None,
        };
        (account, proven)
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

/// Obtains an access token for a refresh token. 401 for a token that is invalid, revoked or of the
/// wrong type, and for an account that is deleted or inactive.
pub async fn refresh(state: &State, token: &str) -> Result<AccessToken, Refusal> {
    // A token is dated before its account is read, so that revoking tokens meanwhile revokes it.
    let now = state.clock.now();
    let claims = state
        .token_key
        .verify_type(token, TokenType::Refresh, now)
        .map_err(not_valid)?;
    let access = access(state, &owner(state, claims).await?, now);
    Ok(AccessToken { access })
}

/// Checks a token of either type. 401 if it is invalid or revoked, and for an account that is
/// deleted or inactive.
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
        .write(async move |tx| store::revoke(tx, &claims.jti, user, now, expires_at).await)
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

pub(super) fn pair(state: &State, account: &Account, now: Timestamp) -> TokenPair {
    let lifetime = state.config.refresh_token_lifetime;
    TokenPair {
        refresh: sign(state, account, TokenType::Refresh, lifetime, now),
        access: access(state, account, now),
    }
}

fn access(state: &State, account: &Account, now: Timestamp) -> String {
    let lifetime = state.config.access_token_lifetime;
    sign(state, account, TokenType::Access, lifetime, now)
}

fn sign(
    state: &State,
    account: &Account,
    token_type: TokenType,
    lifetime: Duration,
    now: Timestamp,
) -> String {
    let valid_from = account.tokens_valid_from.map_or(0, second_of);
    let iat = second_of(now).max(valid_from);
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
