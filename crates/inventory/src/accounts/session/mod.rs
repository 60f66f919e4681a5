//! Sessions of the web interface: a random token in a cookie, its SHA-256 in the store, ended by logging out, by two weeks
//! without a visit, by a new password, and at once with the account. Carries "The web interface uses a session and CSRF protection".
//! Pages are served to sessions in `visits`; what a form must bring is checked in [`super::csrf`].

pub(crate) mod cookies;
pub(crate) mod store;
pub(crate) mod visits;

use std::time::Duration;

use db::Timestamp;
use http::{HeaderMap, header::USER_AGENT, request::Parts};
use web::client::Origin;

use super::{
    Account, Caller, Pair, csrf, digest,
    service::{identify, pair, revoke},
    store::note_login,
    users::{self, User},
};
use crate::{State, rest::Refusal};

/// A session ends this long after its last visit.
pub const LIFETIME: Duration = Duration::from_secs(14 * 24 * 60 * 60);
/// Visits are written down no more often than this: reading pages must not write at every turn.
const NOTED_EVERY: Duration = Duration::from_secs(60 * 60);
/// As much of a browser's name is kept.
const AGENT_LENGTH: usize = 200;

/// A session that holds, and whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its id.
    pub id: i64,
    /// Whose it is.
    pub account: Account,
    /// What its forms prove.
    pub csrf: Option<csrf::Secret>,
    /// The last visit that was written down.
    pub last_seen_at: Timestamp,
}

/// A session that has just begun: what its cookies say.
#[derive(Debug, Clone)]
pub(crate) struct Begun {
    /// The session's token, of which only the digest is kept.
    pub(crate) token: String,
    /// What its forms prove.
    pub(crate) csrf: csrf::Secret,
}

/// A user who has just logged in.
#[derive(Debug, Clone)]
pub(crate) struct Arrived {
    /// Their session.
    pub(crate) begun: Begun,
    /// Their tokens.
    pub(crate) pair: Pair,
    /// Who they are.
    pub(crate) user: User,
    /// What they may do.
    pub(crate) caller: Caller,
}

/// Who begins a session, from where.
#[derive(Debug, Clone)]
struct Visitor {
    user: i64,
    address: String,
    agent: String,
}

impl Session {
    /// Whose it is, while the account is active.
    pub fn caller(&self) -> Option<&Caller> {
        Some(&self.account.caller).filter(|_| self.account.active)
    }
}

/// The session that a request's cookie opens.
///
/// # Errors
///
/// Faults of the store.
pub async fn find(state: &State, headers: &HeaderMap) -> Result<Option<Session>, db::Error> {
    let Some(token) = cookies::session(headers) else {
        return Ok(None);
    };
    let (token_hash, now) = (digest(token), state.clock.now());
    let session = state
        .db
        .read(async move |conn| store::find(conn, &token_hash, now).await)
        .await?;
    Ok(session.filter(|session| session.account.active))
}

/// Who sends a request of the API, by the session's cookie. Requests that change something are checked for being ours first.
///
/// # Errors
///
/// 403 when it may be forged, 401 when there is no session, and faults of the store.
pub(super) async fn authenticate(state: &State, parts: &Parts) -> Result<Caller, Refusal> {
    if cookies::session(&parts.headers).is_none() {
        return Err(Refusal::no_credentials());
    }
    let session = find(state, &parts.headers).await?;
    if !parts.method.is_safe() {
        csrf::check_origin(parts)?;
        check_token(
            session.as_ref(),
            &parts.headers,
            csrf::header(&parts.headers),
        )?;
    }
    let caller = session.and_then(|session| session.caller().cloned());
    caller.ok_or_else(Refusal::no_credentials)
}

/// Compares a token with the session's secret, or, where there is no session, with the cookie's: a cookie that another site of
/// the same domain has planted is of no use against a session.
///
/// # Errors
///
/// [`csrf::Forged`]
pub(crate) fn check_token(
    session: Option<&Session>,
    headers: &HeaderMap,
    sent: Option<csrf::Sent<'_>>,
) -> Result<(), csrf::Forged> {
    let secret = match session {
        Some(session) => session.csrf.clone(),
        None => csrf::Secret::of_cookie(headers),
    };
    let sent = sent.ok_or(csrf::Forged::NoToken);
    match secret {
        Some(secret) => secret.check(sent?),
        None => sent.and(Err(csrf::Forged::NoCookie)),
    }
}

/// Logs a user in: a session, and tokens beside it. `None` when name and password do not belong to an active account.
///
/// # Errors
///
/// 429 when the name is being guessed at; faults of the store.
pub(crate) async fn log_in(
    state: &State,
    parts: &Parts,
    username: String,
    password: String,
) -> Result<Option<Arrived>, Refusal> {
    let Some(account) = identify(state, username, password).await? else {
        return Ok(None);
    };
    let id = account.caller.id;
    let begun = begin(state, parts, id).await?;
    let arrived = users::read(&state.db, id).await?.map(|user| Arrived {
        begun,
        pair: pair(state, id),
        user,
        caller: account.caller,
    });
    Ok(arrived)
}

/// Begins a session; the one that the request came with ends.
async fn begin(state: &State, parts: &Parts, user: i64) -> Result<Begun, db::Error> {
    let begun = Begun {
        token: state.random.token(),
        csrf: csrf::Secret::new(&state.random),
    };
    let (token_hash, csrf_secret) = (digest(&begun.token), begun.csrf.expose());
    let visitor = visitor(parts, user);
    let replaced = cookies::session(&parts.headers).map(digest);
    let now = state.clock.now();
    state
        .db
        .write(async move |tx| {
            store::forget_expired(tx, now).await?;
            if let Some(replaced) = &replaced {
                store::delete(tx, replaced).await?;
            }
            note_login(tx, user, now).await?;
            let expires_at = now + LIFETIME;
            store::insert(tx, &token_hash, &csrf_secret, &visitor, now, expires_at).await
        })
        .await?;
    Ok(begun)
}

fn visitor(parts: &Parts, user: i64) -> Visitor {
    let agent = parts
        .headers
        .get(USER_AGENT)
        .and_then(|agent| agent.to_str().ok())
        .unwrap_or_default();
    Visitor {
        user,
        address: Origin::known(&parts.extensions).address.to_string(),
        agent: agent.chars().take(AGENT_LENGTH).collect(),
    }
}

/// Logs out: ends the session of a request, if it has one, and revokes the refresh token that was sent with it.
///
/// # Errors
///
/// Faults of the store.
pub(crate) async fn log_out(
    state: &State,
    headers: &HeaderMap,
    refresh: Option<&str>,
) -> Result<(), Refusal> {
    if let Some(token_hash) = cookies::session(headers).map(digest) {
        state
            .db
            .write(async move |tx| store::delete(tx, &token_hash).await)
            .await?;
    }
    match refresh {
        Some(token) => revoke(state, token).await,
        None => Ok(()),
    }
}

/// Lets a session last from this visit, if the last one was some time ago; whether it does.
///
/// # Errors
///
/// Faults of the store.
pub(crate) async fn prolong(state: &State, session: &Session) -> Result<bool, db::Error> {
    let now = state.clock.now();
    if now < session.last_seen_at + NOTED_EVERY {
        return Ok(false);
    }
    let id = session.id;
    state
        .db
        .write(async move |tx| store::touch(tx, id, now, now + LIFETIME).await)
        .await?;
    Ok(true)
}
