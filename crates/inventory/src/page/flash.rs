//! Flash messages: a sentence that is shown once on the page after an action, with the form that
//! undoes the action where there is one. It is kept in a cookie signed with the session's secret,
//! so no other site can put words into ours; the page that shows it clears the cookie.

use std::time::Duration;

use axum::{extract::Request, middleware::Next, response::Response};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use http::{
    HeaderName, HeaderValue, StatusCode,
    header::{LOCATION, SET_COOKIE},
    request::Parts,
};
use ring::hmac;
use serde::{Deserialize, Serialize};
use web::{client::Origin, cookie};

use super::visits::Visit;
use crate::accounts::{csrf, session::Session};

const COOKIE: &str = "balcao_flash";
/// Nobody waits longer for the page after an action.
const LIFETIME: Duration = Duration::from_secs(120);
/// Characters of a message that are kept: a cookie is small.
const MAX_TEXT: usize = 400;
/// Set by scripts that follow redirects themselves. The message is for the page that they load
/// next, not for them.
const BY_SCRIPT: HeaderName = HeaderName::from_static("hx-request");
const GO_TO: HeaderName = HeaderName::from_static("hx-redirect");

/// How a sentence is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Tone {
    /// It was done.
    Success,
    /// It was not done.
    Warning,
}

/// A message that is shown once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Flash {
    /// How it is meant.
    pub(crate) tone: Tone,
    /// One sentence, in the reader's language.
    pub(crate) text: String,
    /// The address that an Undo form posts to.
    pub(crate) undo: Option<String>,
    /// The address of a correction, for readers who may not undo it.
    pub(crate) correct: Option<String>,
}

impl Flash {
    /// Something was done.
    pub(crate) fn success(text: impl Into<String>) -> Self {
        Self {
            tone: Tone::Success,
            text: text.into().chars().take(MAX_TEXT).collect(),
            undo: None,
            correct: None,
        }
    }

    /// Something was not done.
    pub(crate) fn warning(text: impl Into<String>) -> Self {
        Self {
            tone: Tone::Warning,
            ..Self::success(text)
        }
    }

    /// Offers to take it back: a form that posts to `address`.
    pub(crate) fn undo(mut self, address: impl Into<String>) -> Self {
        self.undo = Some(address.into());
        self
    }

    /// Leads to where it is put right.
    pub(crate) fn correct(mut self, address: impl Into<String>) -> Self {
        self.correct = Some(address.into());
        self
    }

    /// The icon that goes with the tone.
    pub(crate) const fn icon(&self) -> &'static str {
        match self.tone {
            Tone::Success => "check",
            Tone::Warning => "alert",
        }
    }

    fn signed(&self, secret: &csrf::Secret) -> Option<String> {
        let payload = URL_SAFE_NO_PAD.encode(serde_json::to_vec(self).ok()?);
        let seal = hmac::sign(&key(secret), message(&payload).as_bytes());
        Some(format!("{payload}.{}", URL_SAFE_NO_PAD.encode(seal)))
    }

    fn verified(text: &str, secret: &csrf::Secret) -> Option<Self> {
        let (payload, seal) = text.split_once('.')?;
        let seal = URL_SAFE_NO_PAD.decode(seal).ok()?;
        hmac::verify(&key(secret), message(payload).as_bytes(), &seal).ok()?;
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).ok()?).ok()
    }
}

fn key(secret: &csrf::Secret) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, secret.expose().as_bytes())
}

/// What is signed. Forms sign other texts with the same secret.
fn message(payload: &str) -> String {
    format!("flash:{payload}")
}

/// Shows a success message on the next page.
pub(crate) fn success(response: Response, text: impl Into<String>) -> Response {
    leave(response, Flash::success(text))
}

/// Shows a message on the next page.
pub(crate) fn leave(mut response: Response, flash: Flash) -> Response {
    response.extensions_mut().insert(flash);
    response
}

/// What the action before this request left.
pub(super) fn read(parts: &Parts) -> Option<Flash> {
    let visit = Visit::of(&parts.extensions);
    let secret = visit
        .0
        .as_deref()
        .and_then(|session| session.csrf.clone())?;
    Flash::verified(cookie::find(&parts.headers, COOKIE)?, &secret)
}

/// Removes the cookie of a message that was shown.
pub(super) fn forget(response: &mut Response, is_https: bool) {
    append(response, cookie::forget(COOKIE, is_https));
}

fn append(response: &mut Response, line: Option<HeaderValue>) {
    if let Some(line) = line {
        response.headers_mut().append(SET_COOKIE, line);
    }
}

/// Middleware: turns what handlers [`leave`] into a cookie, and redirects for scripts into a header
/// that they follow with the whole page.
pub(crate) async fn write(request: Request, next: Next) -> Response {
    let session = Visit::of(request.extensions()).0;
    let is_https = Origin::known(request.extensions()).is_https;
    let is_script = request.headers().contains_key(BY_SCRIPT);
    let mut response = next.run(request).await;
    let flash = response.extensions_mut().remove::<Flash>();
    let secret = session.as_deref().and_then(secret_of);
    if let (Some(flash), Some(secret)) = (flash, secret) {
        let signed = flash.signed(&secret);
        let line = signed.and_then(|text| cookie::remember(COOKIE, &text, LIFETIME, is_https));
        append(&mut response, line);
    }
    if is_script && let Some(address) = response.headers_mut().remove(LOCATION) {
        *response.status_mut() = StatusCode::OK;
        response.headers_mut().insert(GO_TO, address);
    }
    response
}

fn secret_of(session: &Session) -> Option<csrf::Secret> {
    session.csrf.clone()
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
