//! Sessions of the web interface: a random token in a cookie, with its SHA-256 in the store. A session ends by logging out, after two weeks
//! without a visit (half a day for users who did not ask to stay logged in), a configured time after it began, with a new password, and at
//! once when the account is deactivated.
//! Carries "The web interface uses a session and CSRF protection". Pages find their session in `page::visits`; CSRF checks are in [`super::csrf`].

pub mod agent;
pub(crate) mod cookies;
mod ending;
mod saved_view;
pub(crate) mod store;
pub(crate) mod ticket;

use std::time::Duration;

use db::{Timestamp, Tx};
use http::{header::USER_AGENT, request::Parts};
use web::{client::Origin, cookie::HostOnly};

use super::{
    Account, Credentials, Pair,
    attempts::{self, AttemptSource, Browser},
    csrf, second_factor,
    service::{identify, no_account, pair, prove, revoke},
    store::note_login,
    users::{self, User},
};
use crate::{State, access::Caller, digest::digest, rest::Refusal};

pub use ending::{end, end_all};
pub use saved_view::SavedView;

/// A session that its reader wants to keep ends this long after its last visit.
pub const LIFETIME: Duration = Duration::from_secs(14 * 24 * 60 * 60);
/// Any other session, which ends with the browser as well.
pub const SHORT_LIFETIME: Duration = Duration::from_secs(12 * 60 * 60);
/// Visits are written down no more often than this: reading pages must not write at every turn.
const NOTED_EVERY: Duration = Duration::from_secs(60 * 60);
/// How long the session before goes on beside its successor: a button that was tapped twice brings the old cookie twice, and the browser shows
/// the second answer alone.
const OVERLAP: Duration = Duration::from_secs(60);
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
    /// When it began.
    pub created_at: Timestamp,
    /// The last visit that was written down.
    pub last_seen_at: Timestamp,
    /// Whether it is kept for [`LIFETIME`] rather than [`SHORT_LIFETIME`].
    pub remembered: bool,
    /// The lists that the user has saved: the navigation of every page has them.
    pub views: Vec<SavedView>,
}

/// A session that has just begun: what its cookies say.
#[derive(Debug, Clone)]
pub(crate) struct NewSession {
    /// The session's token, of which only the digest is kept.
    pub(crate) token: String,
    /// What its forms prove.
    pub(crate) csrf: csrf::Secret,
    /// Whether its cookie outlives the browser.
    pub(crate) remembered: bool,
    /// What the browser is known by from now on; none when it is known already.
    pub(crate) browser: Option<String>,
}

/// A user who has just logged in.
#[derive(Debug, Clone)]
pub(crate) struct Arrived {
    /// Their session.
    pub(crate) begun: NewSession,
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
    remembered: bool,
}

/// What a right password leads to.
#[derive(Debug)]
pub(crate) enum LoginStep {
    /// The session has begun.
    In(NewSession),
    /// The account has a second factor: a code is asked for next.
    Code(i64),
}

impl Session {
    /// Whose it is, while the account is active.
    pub fn caller(&self) -> Option<&Caller> {
        Some(&self.account.caller).filter(|_| self.account.active)
    }
}

/// The session that a request's cookie opens.
pub async fn find(state: &State, cookies: HostOnly<'_>) -> Result<Option<Session>, db::Error> {
    let Some(token) = cookies::session(cookies) else {
        return Ok(None);
    };
    let (token_hash, now) = (digest(token), state.clock.now());
    let session = state
        .db
        .read_inline(async move |conn| store::find(conn, &token_hash, now).await)
        .await?;
    // The longest time may have become shorter since the session began.
    let longest = state.config.session_lifetime;
    Ok(session.filter(|session| session.account.active && now < session.created_at + longest))
}

/// Who sends a request of the API, by the session's cookie. Requests that change something are checked for being ours first.
///
/// # Errors
///
/// 403 when it may be forged, 401 when there is no session, and faults of the store.
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

/// Compares a token with the session's secret, or, where there is no session, with the cookie's: a cookie that another site of
/// the same domain has planted is of no use against a session.
pub(crate) fn check_token(
    session: Option<&Session>,
    cookies: HostOnly<'_>,
    sent: Option<csrf::Sent<'_>>,
) -> Result<(), csrf::Forged> {
    let secret = match session {
        Some(session) => session.csrf.clone(),
        None => csrf::Secret::of_cookie(cookies),
    };
    let sent = sent.ok_or(csrf::Forged::NoToken);
    match secret {
        Some(secret) => secret.check(sent?),
        None => sent.and(Err(csrf::Forged::NoCookie)),
    }
}

/// Logs a person in: a session, or the question for a code. `None` when name and password do not belong to an active account.
///
/// # Errors
///
/// 429 when the name is being guessed at; faults of the store.
pub(crate) async fn log_in(
    state: &State,
    parts: &Parts,
    username: String,
    password: String,
    remembered: bool,
) -> Result<Option<LoginStep>, Refusal> {
    let source = AttemptSource::of(state, parts);
    match identify(state, &source, username, password).await? {
        Some(account) => Ok(Some(go_on(state, parts, &account, remembered).await?)),
        None => Ok(None),
    }
}

/// As [`log_in`], for members of the staff alone.
///
/// # Errors
///
/// As [`log_in`].
pub(crate) async fn log_in_staff(
    state: &State,
    parts: &Parts,
    username: String,
    password: String,
) -> Result<Option<LoginStep>, Refusal> {
    let source = AttemptSource::of(state, parts);
    match identify(state, &source, username, password).await? {
        Some(account) if account.caller.is_staff => {
            Ok(Some(go_on(state, parts, &account, false).await?))
        }
        _ => Ok(None),
    }
}

async fn go_on(
    state: &State,
    parts: &Parts,
    account: &Account,
    remembered: bool,
) -> Result<LoginStep, Refusal> {
    let user = account.caller.id;
    if second_factor::status(&state.db, user).await?.is_some() {
        return Ok(LoginStep::Code(user));
    }
    let begun = begin(state, parts, user, remembered).await?;
    Ok(LoginStep::In(begun))
}

/// The second step of a login: a session for a code. `None` when the code is wrong, or the account is gone.
///
/// # Errors
///
/// 429 when codes are being guessed; faults of the store.
pub(crate) async fn log_in_with_code(
    state: &State,
    parts: &Parts,
    user: i64,
    code: &str,
    remembered: bool,
) -> Result<Option<NewSession>, Refusal> {
    let account = state
        .db
        .read(async move |conn| super::store::account(conn, user).await)
        .await?;
    if !account.is_some_and(|account| account.active)
        || !second_factor::verify_code(state, &AttemptSource::of(state, parts), user, code).await?
    {
        return Ok(None);
    }
    Ok(Some(begin(state, parts, user, remembered).await?))
}

/// Logs a program in: a session, and tokens beside it.
///
/// # Errors
///
/// As [`super::log_in`].
pub(crate) async fn log_in_program(
    state: &State,
    parts: &Parts,
    credentials: Credentials,
) -> Result<Arrived, Refusal> {
    let account = prove(state, parts, credentials).await?;
    let user = account.caller.id;
    let begun = begin(state, parts, user, true).await?;
    let read = users::read(&state.db, user).await?;
    Ok(Arrived {
        begun,
        pair: pair(state, &account),
        // Deleted in this moment.
        user: read.ok_or_else(no_account)?,
        caller: account.caller,
    })
}

/// Begins a session; the one that the request came with ends.
async fn begin(
    state: &State,
    parts: &Parts,
    user: i64,
    remembered: bool,
) -> Result<NewSession, db::Error> {
    let mut begun = NewSession::new(state, remembered);
    begun.browser = Some(Browser::remember(state, HostOnly::of(parts), user));
    let address = attempts::address_hash(state, parts);
    let (token_hash, csrf_secret) = (digest(&begun.token), begun.csrf.expose());
    let visitor = visitor(parts, user, remembered);
    let replaced = cookies::session(HostOnly::of(parts)).map(digest);
    let (now, longest) = (state.clock.now(), state.config.session_lifetime);
    state
        .db
        .write(async move |tx| {
            store::forget_expired(tx, now).await?;
            if let Some(replaced) = &replaced {
                store::delete(tx, replaced).await?;
            }
            attempts::remember(tx, user, &address, now).await?;
            note_login(tx, user, now).await?;
            let expires_at = end_of(now, now, remembered, longest);
            store::insert(tx, &token_hash, &csrf_secret, &visitor, now, expires_at).await
        })
        .await?;
    Ok(begun)
}

/// When a session ends that is visited now: some time after the visit, and no later than the longest that a session lasts.
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
}

/// Gives a session another token, because what opens the account has changed: the one before, and whoever knows it, is out.
/// Its forms go on with the same secret, which alone opens nothing.
pub(crate) async fn renew(state: &State, session: &Session) -> Result<NewSession, db::Error> {
    let begun = NewSession::after(state, session);
    let (token_hash, csrf_secret) = (digest(&begun.token), begun.csrf.expose());
    let id = session.id;
    state
        .db
        .write(async move |tx| store::replace_token(tx, id, &token_hash, &csrf_secret).await)
        .await?;
    Ok(begun)
}

impl NewSession {
    /// What a session goes on with under another token.
    pub(crate) fn after(state: &State, session: &Session) -> Self {
        let mut begun = Self::new(state, session.remembered);
        begun.csrf = session.csrf.clone().unwrap_or(begun.csrf);
        begun
    }
}

/// As [`renew`], within a transaction and for an answer that must be seen: the session before ends after [`OVERLAP`], not at once. The id of
/// its successor.
///
/// # Errors
///
/// 401 when the session has ended; faults of the store.
pub(crate) async fn succeed_within(
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

/// Gives the successor of a session, which the first of two answers named, the token of the second.
pub(crate) async fn rename_within(
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

/// Logs out: ends the session of a request, if it has one, and revokes the refresh token that was sent with it.
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

/// Lets a session last from this visit, if the last one was some time ago; whether it does.
pub(crate) async fn prolong(state: &State, session: &Session) -> Result<bool, db::Error> {
    let now = state.clock.now();
    if now < session.last_seen_at + NOTED_EVERY {
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
