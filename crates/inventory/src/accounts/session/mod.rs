//! Sessions of the web interface: a random token in a cookie, with its SHA-256 in the database. A
//! session ends by logging out, with a new password, or when the account is deactivated. It also
//! ends after two weeks without a visit (12 hours if the user did not choose to stay logged in),
//! and a configured time after it began. Implements "The web interface uses a session and CSRF
//! protection". `page::visits` loads the session of a page; CSRF checks are in [`super::csrf`].

pub mod agent;
pub(crate) mod cookies;
mod ending;
pub(crate) mod lifetimes;
mod saved_view;
pub(crate) mod store;
pub(crate) mod ticket;

use std::time::Duration;

use axum::response::Response;
use db::{Timestamp, Tx};
use http::{header::USER_AGENT, request::Parts};
use web::{client::Origin, cookie::HostOnly};

use super::{
    Account, Credentials, TokenPair,
    attempts::{self, AttemptSource, Browser},
    csrf, second_factor,
    service::{Proven, identify, no_account, pair, prove, revoke},
    session::ticket::Ticket,
    users::{self, User},
};
use crate::{State, access::Caller, digest::digest, rest::Refusal};

pub use ending::{end, end_all};
pub use lifetimes::{LIFETIME, SHORT_LIFETIME};
pub use saved_view::SavedView;

/// The least time between two updates of the last visit, so that reading pages rarely writes.
const VISIT_INTERVAL: Duration = Duration::from_secs(60 * 60);
/// How long a replaced session stays valid. A form that is sent twice sends the old cookie twice,
/// and the browser shows only the second response.
const OVERLAP: Duration = Duration::from_secs(60);
/// The most characters of a `User-Agent` header that are stored.
const AGENT_LENGTH: usize = 200;

/// A valid session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// The session's id.
    pub id: i64,
    /// The account.
    pub account: Account,
    /// The CSRF secret.
    pub csrf: Option<csrf::Secret>,
    /// When it began.
    pub created_at: Timestamp,
    /// The last recorded visit.
    pub last_seen_at: Timestamp,
    /// Whether its lifetime is [`LIFETIME`] rather than [`SHORT_LIFETIME`].
    pub remembered: bool,
    /// The saved views, which the navigation of every page shows.
    pub views: Vec<SavedView>,
}

/// A new session, for its cookies.
#[derive(Debug, Clone)]
pub(crate) struct NewSession {
    /// The token, of which only the digest is stored.
    pub(crate) token: String,
    pub(crate) csrf: csrf::Secret,
    /// Whether the cookie outlives the browser.
    pub(crate) remembered: bool,
    /// The new cookie that recognises the browser; `None` keeps the present one.
    pub(crate) browser: Option<String>,
}

/// The result of a program's login.
#[derive(Debug, Clone)]
pub(crate) struct CompletedLogin {
    pub(crate) begun: NewSession,
    pub(crate) pair: TokenPair,
    pub(crate) user: User,
    /// The user with the granted permissions.
    pub(crate) caller: Caller,
}

/// The client that begins a session.
#[derive(Debug, Clone)]
struct Visitor {
    user: i64,
    address: String,
    agent: String,
    remembered: bool,
}

/// The result of a correct password.
#[derive(Debug)]
pub(crate) enum LoginStep {
    /// The session has begun.
    LoggedIn(NewSession),
    /// The account has a second factor, so a code is needed.
    CodeRequired(Proven),
}

impl Session {
    /// The user, if the account is active.
    pub fn caller(&self) -> Option<&Caller> {
        Some(&self.account.caller).filter(|_| self.account.active)
    }
}

/// The valid session of a request's cookie.
pub async fn find(state: &State, cookies: HostOnly<'_>) -> Result<Option<Session>, db::Error> {
    let Some(token) = cookies::session(cookies) else {
        return Ok(None);
    };
    let (token_hash, now) = (digest(token), state.clock.now());
    let session = state
        .db
        .read_inline(async move |conn| store::find(conn, &token_hash, now).await)
        .await?;
    // The configured maximum may have been lowered since the session began.
    let longest = state.config.session_lifetime;
    Ok(session.filter(|session| session.account.active && now < session.created_at + longest))
}

/// Authenticates an API request by the session's cookie. Unsafe methods need a CSRF token. 403 for
/// a failed CSRF check, 401 without a session.
pub(super) async fn authenticate(state: &State, parts: &Parts) -> Result<Caller, Refusal> {
    let cookies = HostOnly::of(parts);
    if cookies::session(cookies).is_none() {
        return Err(Refusal::no_credentials());
    }
    let session = find(state, cookies).await?;
    if !parts.method.is_safe() {
        csrf::check_origin(parts)?;
        check_token(session.as_ref(), cookies, csrf::header(&parts.headers))?;
    }
    let caller = session.and_then(|session| session.caller().cloned());
    caller.ok_or_else(Refusal::no_credentials)
}

/// Compares a token with the session's CSRF secret, or with the cookie's if there is no session. So
/// a cookie planted by another site of the domain cannot forge requests of a session.
pub(crate) fn check_token(
    session: Option<&Session>,
    cookies: HostOnly<'_>,
    sent: Option<csrf::SubmittedToken<'_>>,
) -> Result<(), csrf::CsrfError> {
    let secret = match session {
        Some(session) => session.csrf.clone(),
        None => csrf::Secret::of_cookie(cookies),
    };
    let sent = sent.ok_or(csrf::CsrfError::NoToken);
    match secret {
        Some(secret) => secret.check(sent?),
        None => sent.and(Err(csrf::CsrfError::NoCookie)),
    }
}

/// Logs a user in: begins a session or asks for a code. `None` for wrong credentials, an inactive
/// account, or a user whom `admits` refuses. 429 after too many failed attempts.
pub(crate) async fn log_in(
    state: &State,
    parts: &Parts,
    (username, password): (String, String),
    remembered: bool,
    admits: impl FnOnce(&Caller) -> bool,
) -> Result<Option<LoginStep>, Refusal> {
    let source = AttemptSource::of(state, parts);
    let found = identify(state, &source, username, password).await?;
    let Some((_, proven)) = found.filter(|(account, _)| admits(&account.caller)) else {
        return Ok(None);
    };
    if second_factor::status(&state.db, proven.user)
        .await?
        .is_some()
    {
        return Ok(Some(LoginStep::CodeRequired(proven)));
    }
    let begun = begin(state, parts, proven, remembered, state.clock.now()).await?;
    Ok(begun.map(|(begun, _)| LoginStep::LoggedIn(begun)))
}

/// The second step of a login: begins a session for a code. `None` if the code is wrong, the
/// account is deleted, or its password was changed since the first step. 429 after too many wrong
/// codes.
pub(crate) async fn log_in_with_code(
    state: &State,
    parts: &Parts,
    ticket: &Ticket,
    code: &str,
) -> Result<Option<NewSession>, Refusal> {
    let user = ticket.user;
    let status = second_factor::status(&state.db, user).await?;
    let proven = Proven {
        user,
        password: ticket.password.clone(),
        second_factor: status.map(|status| status.since),
    };
    let step = proven.clone();
    let read = state.db.read(async move |conn| step.account(conn).await);
    if read.await?.is_none()
        || !second_factor::verify_code(state, &AttemptSource::of(state, parts), user, code).await?
    {
        return Ok(None);
    }
    let begun = begin(state, parts, proven, ticket.remembered, state.clock.now()).await?;
    Ok(begun.map(|(begun, _)| begun))
}

/// Logs a program in: begins a session and issues a token pair.
pub(crate) async fn log_in_program(
    state: &State,
    parts: &Parts,
    credentials: Credentials,
) -> Result<CompletedLogin, Refusal> {
    let proven = prove(state, parts, credentials).await?;
    let now = state.clock.now();
    let begun = begin(state, parts, proven, true, now).await?;
    let (begun, account) = begun.ok_or_else(no_account)?;
    let read = users::read(&state.db, account.caller.id).await?;
    Ok(CompletedLogin {
        begun,
        pair: pair(state, &account, now),
        // The user was deleted in the meantime.
        user: read.ok_or_else(no_account)?,
        caller: account.caller,
    })
}

/// Begins a session, unless what was proven is not so any more. The session of the request, if any,
/// ends.
async fn begin(
    state: &State,
    parts: &Parts,
    proven: Proven,
    remembered: bool,
    now: Timestamp,
) -> Result<Option<(NewSession, Account)>, db::Error> {
    let user = proven.user;
    let mut begun = NewSession::new(state, remembered);
    begun.browser = Some(Browser::remember(state, HostOnly::of(parts), user));
    let address = attempts::address_hash(state, parts);
    let (token_hash, csrf_secret) = (digest(&begun.token), begun.csrf.expose());
    let visitor = visitor(parts, user, remembered);
    let replaced = cookies::session(HostOnly::of(parts)).map(digest);
    let longest = state.config.session_lifetime;
    let account = state
        .db
        .write(async move |tx| {
            let Some(account) = proven.complete(tx, &address, now).await? else {
                return Ok::<_, db::Error>(None);
            };
            if let Some(replaced) = &replaced {
                store::delete(tx, replaced).await?;
            }
            let expires_at = end_of(now, now, remembered, longest);
            store::insert(tx, &token_hash, &csrf_secret, &visitor, now, expires_at).await?;
            Ok(Some(account))
        })
        .await?;
    Ok(account.map(|account| (begun, account)))
}

/// The end of a session that is visited now: its lifetime after the visit, but at most `longest`
/// after it began.
fn end_of(created_at: Timestamp, now: Timestamp, remembered: bool, longest: Duration) -> Timestamp {
    let lifetime = if remembered { LIFETIME } else { SHORT_LIFETIME };
    (now + lifetime).min(created_at + longest)
}

impl NewSession {
    fn new(state: &State, remembered: bool) -> Self {
        Self {
            token: state.random.token(),
            csrf: csrf::Secret::new(&state.random),
            remembered,
            browser: None,
        }
    }

    /// A new token for a session; the CSRF secret stays.
    pub(crate) fn after(state: &State, session: &Session) -> Self {
        let mut begun = Self::new(state, session.remembered);
        begun.csrf = session.csrf.clone().unwrap_or(begun.csrf);
        begun
    }

    pub(crate) fn set_cookies(&self, response: &mut Response, is_https: bool) {
        if self.remembered {
            cookies::keep(response, &self.token, is_https);
        } else {
            cookies::keep_until_closed(response, &self.token, is_https);
        }
        cookies::show_secret(response, &self.csrf, is_https);
        if let Some(browser) = &self.browser {
            cookies::recognise(response, browser, is_https);
        }
    }
}

/// Replaces a session's token after a change of the credentials, so that a stolen token becomes
/// invalid. The CSRF secret stays, since it gives no access alone and open forms need it.
pub(crate) async fn renew(state: &State, session: &Session) -> Result<NewSession, db::Error> {
    let begun = NewSession::after(state, session);
    let (id, new) = (session.id, begun.clone());
    let replace = async move |tx: &mut Tx| replace_token(tx, id, &new).await;
    state.db.write(replace).await?;
    Ok(begun)
}

/// Replaces a session within a transaction and returns the successor's id. The old session stays
/// valid for [`OVERLAP`], so that a retry of the form can still get the response. 401 if the
/// session has ended.
pub(crate) async fn begin_successor(
    tx: &mut Tx,
    session: &Session,
    begun: &NewSession,
    longest: Duration,
    now: Timestamp,
) -> Result<i64, Refusal> {
    let expires_at = end_of(session.created_at, now, session.remembered, longest);
    let successor =
        store::insert_successor(tx, session.id, &digest(&begun.token), now, expires_at).await?;
    store::end_by(tx, session.id, now, now + OVERLAP).await?;
    successor.ok_or_else(Refusal::no_credentials)
}

pub(crate) async fn replace_token(
    tx: &mut Tx,
    id: i64,
    begun: &NewSession,
) -> Result<(), db::Error> {
    store::replace_token(tx, id, &digest(&begun.token), &begun.csrf.expose()).await
}

fn visitor(parts: &Parts, user: i64, remembered: bool) -> Visitor {
    let agent = parts
        .headers
        .get(USER_AGENT)
        .and_then(|agent| agent.to_str().ok())
        .unwrap_or_default();
    Visitor {
        user,
        address: Origin::known(&parts.extensions).address.to_string(),
        agent: agent.chars().take(AGENT_LENGTH).collect(),
        remembered,
    }
}

/// Ends the session of a request, if there is one, and revokes the refresh token.
pub(crate) async fn log_out(
    state: &State,
    cookies: HostOnly<'_>,
    refresh: Option<&str>,
) -> Result<(), Refusal> {
    if let Some(token_hash) = cookies::session(cookies).map(digest) {
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

/// Prolongs a session if its last recorded visit is old enough. Returns whether it did.
pub(crate) async fn prolong(state: &State, session: &Session) -> Result<bool, db::Error> {
    let now = state.clock.now();
    if now < session.last_seen_at + VISIT_INTERVAL {
        return Ok(false);
    }
    let (id, seen_at) = (session.id, session.last_seen_at);
    let longest = state.config.session_lifetime;
    let expires_at = end_of(session.created_at, now, session.remembered, longest);
    state
        .db
        .write(async move |tx| store::touch(tx, id, seen_at, now, expires_at).await)
        .await?;
    Ok(true)
}
