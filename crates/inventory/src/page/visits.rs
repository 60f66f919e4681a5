//! The middleware of pages: loads the session of a request once, and prolongs it.

use std::sync::Arc;

use axum::{
    extract::{Request, State as Extracted},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use http::{Extensions, HeaderValue, header::VARY, request::Parts};
use web::{
    Random,
    access::record_user,
    client::{ClientAddress, Origin},
    cookie::HostOnly,
    limits::with_bounded_body,
    rate::{Key, Period, Rate},
};

use crate::{
    State,
    access::Caller,
    accounts::{
        csrf, second_factor,
        session::{Session, cookies, find, prolong},
    },
    api::gate,
    page::{picker, redirect},
    rest::{Refusal, body::STRANGERS_BODY},
};

/// The rate limit of pages for each user, or for each address without a session. Requests of
/// pickers have a limit of the same size.
const PAGES: Rate = Rate::new(600, Period::Minute);

/// The page that sets up a second factor.
const SECOND_FACTOR: &str = "/account/second-factor/";
/// The pages that a user may open who still has to set up a second factor.
const OPEN: [&str; 5] = [
    SECOND_FACTOR,
    "/login/",
    "/login/code/",
    "/logout/",
    "/preferences",
];

/// The session of a request. `None` if the user has not logged in.
#[derive(Debug, Clone, Default)]
pub(crate) struct Visit(pub(crate) Option<Arc<Session>>);

impl Visit {
    /// The session that [`visits`] has loaded.
    pub(crate) fn of(extensions: &Extensions) -> Self {
        extensions.get().cloned().unwrap_or_default()
    }

    pub(crate) fn caller(&self) -> Option<&Caller> {
        self.0.as_deref().and_then(Session::caller)
    }

    /// Whether the session has neither ended nor changed its user's rights since it was loaded.
    pub(crate) async fn is_current(&self, state: &State, parts: &Parts) -> Result<bool, db::Error> {
        let session = find(state, HostOnly::of(parts)).await?;
        Ok(session.as_ref().and_then(Session::caller) == self.caller())
    }

    /// The CSRF secret for the forms of the response: the session's, else the cookie's, else a new
    /// one.
    pub(crate) fn secret(&self, cookies: HostOnly<'_>, random: &Random) -> csrf::Secret {
        let of_session = self.0.as_deref().and_then(|session| session.csrf.clone());
        of_session
            .or_else(|| csrf::Secret::of_cookie(cookies))
            .unwrap_or_else(|| csrf::Secret::new(random))
    }
}

/// Middleware: inserts the [`Visit`] into the extensions of every request to a page.
pub(crate) async fn visits(
    Extracted(state): Extracted<State>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = visit(&state, request, next)
        .await
        .unwrap_or_else(|refusal| web::Error::from(refusal).into_response());
    response
        .headers_mut()
        .append(VARY, HeaderValue::from_static("Cookie"));
    response
}

async fn visit(state: &State, mut request: Request, next: Next) -> Result<Response, Refusal> {
    let origin = Origin::known(request.extensions());
    let cookies = HostOnly::new(request.headers(), origin.is_https);
    let session = find(state, cookies).await?;
    // Requests of pickers are counted separately, so that typing cannot exhaust the limit of pages.
    let kind = if request.uri().path().starts_with(picker::OFFERS) {
        "inventory:offers:user"
    } else {
        "inventory:pages:user"
    };
    let key = match &session {
        Some(session) => Key::new(kind, session.account.caller.id.to_string()),
        None => Key::of_client("inventory:pages", ClientAddress(origin.address)),
    };
    gate::take(state, &key, &PAGES.into()).await?;
    let Some(session) = session else {
        request.extensions_mut().insert(Visit(None));
        return Ok(next.run(with_bounded_body(STRANGERS_BODY, request)).await);
    };
    record_user(session.account.caller.id);
    if must_set_up(state, &session, request.uri().path()).await? {
        return Ok(redirect(SECOND_FACTOR));
    }
    let cookies = HostOnly::new(request.headers(), origin.is_https);
    let token = cookies::session(cookies).map(str::to_owned);
    // A session cookie without a lifetime ends with the browser and need not be renewed.
    let is_prolonged = prolong(state, &session).await? && session.remembered;
    request
        .extensions_mut()
        .insert(Visit(Some(Arc::new(session))));
    let mut response = next.run(request).await;
    let is_https = origin.is_https;
    if let Some(token) = token.filter(|_| is_prolonged && !cookies::is_settled(&response, is_https))
    {
        cookies::keep(&mut response, &token, is_https);
    }
    Ok(response)
}

/// Whether the user must set up a second factor before opening this page.
async fn must_set_up(state: &State, session: &Session, path: &str) -> Result<bool, db::Error> {
    match session.caller() {
        Some(caller) if !OPEN.contains(&path) => second_factor::is_missing(state, caller).await,
        _ => Ok(false),
    }
}
