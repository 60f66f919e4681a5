//! Flash messages: a sentence that the next page shows once, with an Undo form where the action can
//! be undone. The message is kept in a cookie, signed with the session's secret so that other sites
//! cannot forge it. The page that shows it deletes the cookie.

use std::time::Duration;

use axum::{extract::Request, middleware::Next, response::Response};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use http::{HeaderName, StatusCode, header::LOCATION, request::Parts};
use resource::Both;
use ring::hmac;
use serde::{Deserialize, Serialize};
use web::{
    client::Origin,
    cookie::{self, HostOnly, host_only},
};

use super::{shortened, visits::Visit};
use crate::accounts::csrf;

const COOKIE: &str = "balcao_flash";
/// The lifetime of the cookie. The next page loads well within it.
const LIFETIME: Duration = Duration::from_secs(120);
/// The most characters of a message, because cookies are limited to some 4 KB.
const MAX_TEXT: usize = 400;
/// The most characters of a record's name in a message. What is said about it stands behind it.
const MAX_NAME: usize = 100;
/// Set by scripts that follow redirects themselves. They must not consume the message: it belongs
/// to the page that they load next.
const BY_SCRIPT: HeaderName = HeaderName::from_static("hx-request");
const GO_TO: HeaderName = HeaderName::from_static("hx-redirect");

/// The kind of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Tone {
    /// The action was done.
    Success,
    /// The action was not done.
    Warning,
}

/// A message that is shown once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Flash {
    pub(crate) tone: Tone,
    /// One sentence in the user's language.
    pub(crate) text: String,
    /// The address that an Undo form posts to.
    pub(crate) undo: Option<String>,
    /// The address of a correction, for users who may not undo the action.
    pub(crate) correct: Option<String>,
}

/// A record's name as a message has it.
pub(crate) fn named(name: &str) -> String {
    shortened(name, MAX_NAME)
}

/// The message if the action was undone before.
pub(crate) const UNDONE_BEFORE: Both = ("Isto já foi desfeito.", "This has already been undone.");

impl Flash {
    /// A message about an action that was done.
    pub(crate) fn success(text: impl Into<String>) -> Self {
        Self {
            tone: Tone::Success,
            text: text.into().chars().take(MAX_TEXT).collect(),
            undo: None,
            correct: None,
        }
    }

    /// A message about an action that was not done.
    pub(crate) fn warning(text: impl Into<String>) -> Self {
        Self {
            tone: Tone::Warning,
            ..Self::success(text)
        }
    }

    /// Adds an Undo form that posts to `address`.
    pub(crate) fn undo(mut self, address: impl Into<String>) -> Self {
        self.undo = Some(address.into());
        self
    }

    /// Adds a link to where the action can be corrected.
    pub(crate) fn correct(mut self, address: impl Into<String>) -> Self {
        self.correct = Some(address.into());
        self
    }

    pub(crate) const fn icon(&self) -> &'static str {
        match self.tone {
            Tone::Success => "check",
            Tone::Warning => "alert",
        }
    }

    fn signed(&self, secret: &csrf::Secret) -> Option<String> {
        let payload = URL_SAFE_NO_PAD.encode(serde_json::to_vec(self).ok()?);
        let signature = hmac::sign(&key(secret), message(&payload).as_bytes());
        Some(format!("{payload}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }

    fn verified(text: &str, secret: &csrf::Secret) -> Option<Self> {
        let (payload, signature) = text.split_once('.')?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        hmac::verify(&key(secret), message(payload).as_bytes(), &signature).ok()?;
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).ok()?).ok()
    }
}

fn key(secret: &csrf::Secret) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, secret.expose().as_bytes())
}

/// The signed text. The prefix separates it from other texts that are signed with the same secret.
fn message(payload: &str) -> String {
    format!("flash:{payload}")
}

/// Shows a success message on the next page.
pub(crate) fn success(response: Response, text: impl Into<String>) -> Response {
    leave(response, Flash::success(text))
}

/// Shows a message on the next page that nothing was done.
pub(crate) fn warning(response: Response, text: impl Into<String>) -> Response {
    leave(response, Flash::warning(text))
}

/// Shows a message on the next page.
pub(crate) fn leave(mut response: Response, flash: Flash) -> Response {
    response.extensions_mut().insert(flash);
    response
}

/// The message that the previous action left.
pub(super) fn read(parts: &Parts) -> Option<Flash> {
    let session = Visit::of(&parts.extensions).0?;
    let secret = session.csrf.as_ref()?;
    Flash::verified(HostOnly::of(parts).find(COOKIE)?, secret)
}

/// Deletes the cookie of a message that has been shown.
pub(super) fn forget(response: &mut Response, is_https: bool) {
    let name = host_only(COOKIE, is_https);
    cookie::add(response, cookie::forget(&name, is_https));
}

/// Middleware: stores the message of a handler in the cookie. For scripts, it replaces a redirect
/// by a header that makes them load the whole page.
pub(crate) async fn write(request: Request, next: Next) -> Response {
    let session = Visit::of(request.extensions()).0;
    let is_https = Origin::known(request.extensions()).is_https;
    let is_script = request.headers().contains_key(BY_SCRIPT);
    let mut response = next.run(request).await;
    let flash = response.extensions_mut().remove::<Flash>();
    let secret = session.as_ref().and_then(|session| session.csrf.as_ref());
    if let (Some(flash), Some(secret)) = (flash, secret) {
        let signed = flash.signed(secret);
        let name = host_only(COOKIE, is_https);
        let line = signed.and_then(|text| cookie::remember(&name, &text, LIFETIME, is_https));
        cookie::add(&mut response, line);
    }
    if is_script && let Some(address) = response.headers_mut().remove(LOCATION) {
        *response.status_mut() = StatusCode::OK;
        response.headers_mut().insert(GO_TO, address);
    }
    response
}

#[cfg(test)]
mod tests {
    use web::Random;

    use super::*;

    #[test]
    fn a_sentence_is_read_by_the_session_that_it_was_written_for_and_by_no_other() {
        let random = Random::seeded(1);
        let (secret, other) = (csrf::Secret::new(&random), csrf::Secret::new(&random));
        let flash = Flash::success("Café guardado").undo("/inflows/7/delete/");
        let text = flash.signed(&secret).unwrap();
        assert_eq!(Flash::verified(&text, &secret), Some(flash));
        assert_eq!(Flash::verified(&text, &other), None);
        for forged in ["", ".", "e30.", &text[1..], &format!("{text}A")] {
            assert_eq!(Flash::verified(forged, &secret), None, "{forged}");
        }
    }
}
