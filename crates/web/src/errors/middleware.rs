//! The middleware that renders errors, and logs each of them once.

use std::borrow::Cow;
use std::pin::pin;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::header::{ACCEPT, ACCEPT_LANGUAGE, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, HeaderName};
use http::{HeaderMap, Method, StatusCode, Uri};

use super::{Public, Render};
use crate::accept::ranges;
use crate::assets::Assets;
use crate::error::{ErrorReport, ExpectedFault, Parts};
use crate::locale::{Locale, Theme};
use crate::page::Layout;
use crate::panics;
use crate::request_id::RequestId;

/// The facts of a failed request that a renderer may use.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The method of the request.
    pub method: Method,
    /// The address of the request.
    pub uri: Uri,
    /// The request's id, when it has one.
    pub request_id: Option<RequestId>,
    /// The language of the reader.
    pub locale: Locale,
    /// The colour scheme of the reader.
    pub theme: Theme,
    /// Whether the caller is a program that speaks JSON rather than a person with a browser.
    pub wants_json: bool,
    /// Whether the caller accepts HTML by name, as browsers do and programs do not.
    pub wants_page: bool,
}

impl Facts {
    /// The frame of the page that answers.
    pub fn layout(&self, assets: Assets) -> Layout {
        let request_id = self.request_id.as_ref();
        Layout::new(self.locale, self.theme, &self.uri, request_id, assets)
    }
}

/// The head of a request, from which its [`Facts`] are read when it fails.
struct Head {
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    request_id: Option<RequestId>,
}

impl Head {
    fn of(request: &Request) -> Self {
        Self {
            method: request.method().clone(),
            uri: request.uri().clone(),
            headers: copy_headers(request.headers()),
            request_id: request.extensions().get().cloned(),
        }
    }

    fn facts(self) -> Facts {
        let Self {
            method,
            uri,
            headers,
            request_id,
        } = self;
        Facts {
            locale: Locale::of(&headers, &uri),
            theme: Theme::of(&headers),
            wants_json: wants_json(&headers),
            wants_page: wants_page(&headers),
            method,
            uri,
            request_id,
        }
    }
}

/// The headers that [`Facts`] are read from. A copy of all of them costs every request more than
/// these four lookups.
fn copy_headers(headers: &HeaderMap) -> HeaderMap {
    let mut copies = HeaderMap::new();
    for name in [ACCEPT, ACCEPT_LANGUAGE, CONTENT_TYPE, COOKIE] {
        for value in headers.get_all(&name) {
            copies.append(&name, value.clone());
        }
    }
    copies
}

/// Whether a request sends JSON, or accepts JSON and no HTML. For addresses that people and
/// programs share.
pub fn wants_json(headers: &HeaderMap) -> bool {
    names(headers, CONTENT_TYPE, "application/json")
        || (names(headers, ACCEPT, "application/json") && !names(headers, ACCEPT, "text/html"))
}

fn wants_page(headers: &HeaderMap) -> bool {
    names(headers, ACCEPT, "text/html") && !names(headers, CONTENT_TYPE, "application/json")
}

/// Whether a header names a media type.
fn names(headers: &HeaderMap, header: HeaderName, media_type: &str) -> bool {
    ranges(headers, header).any(|(essence, _)| essence.eq_ignore_ascii_case(media_type))
}

/// Marks a response whose error an inner middleware has rendered and logged.
#[derive(Clone, Copy)]
struct AlreadyRendered;

/// A renderer as the state of [`render`].
#[derive(Clone)]
pub struct Renderer(Arc<dyn Render>);

impl Renderer {
    /// Any renderer.
    pub fn new(renderer: impl Render) -> Self {
        Self(Arc::new(renderer))
    }
}

/// Middleware: renders and logs every error of the router. A panic becomes a 500.
///
/// An error is an [`Error`](super::Error), or a response of the framework: a status from 400 on
/// with a body of plain text or none (rejected extractors, unknown addresses, wrong methods). The
/// framework's texts may repeat values of the request, so they are dropped. Responses with another
/// body are the handler's own and pass. With nested layers the innermost renders.
pub async fn render(State(renderer): State<Renderer>, request: Request, next: Next) -> Response {
    render_with(&*renderer.0, request, |request| next.run(request)).await
}

/// As [`render`], around one function.
pub async fn render_with<R: Render + ?Sized, F: Future<Output = Response>>(
    renderer: &R,
    request: Request,
    handle: impl FnOnce(Request) -> F,
) -> Response {
    let head = Head::of(&request);
    let response = panics::caught(pin!(handle(request))).await;
    let Some(parts) = failure(&response) else {
        return response;
    };
    log(&parts);
    let shown = renderer.render(&parts.public, &head.facts());
    with_head_of(response, shown, &parts)
}

fn failure(response: &Response) -> Option<Arc<Parts>> {
    if response.extensions().get::<AlreadyRendered>().is_some() {
        return None;
    }
    if let Some(ErrorReport(parts)) = response.extensions().get() {
        return Some(Arc::clone(parts));
    }
    let status = response.status();
    let is_error = status.is_client_error() || status.is_server_error();
    (is_error && is_plain(response)).then(|| {
        Arc::new(Parts {
            public: Public::new(status, standard_text(status)),
            cause: None,
            is_expected: false,
        })
    })
}

fn is_plain(response: &Response) -> bool {
    response
        .headers()
        .get(CONTENT_TYPE)
        .is_none_or(|content_type| content_type.as_bytes().starts_with(b"text/plain"))
}

fn standard_text(status: StatusCode) -> Cow<'static, str> {
    match status {
        StatusCode::SERVICE_UNAVAILABLE => "Service unavailable".into(),
        _ => status.canonical_reason().unwrap_or("Error").into(),
    }
}

/// The rendered body with the status and the headers of the failed response (`Allow`,
/// `Retry-After`, `WWW-Authenticate`).
fn with_head_of(failed: Response, mut rendered: Response, parts: &Parts) -> Response {
    *rendered.status_mut() = parts.public.status;
    let mut headers = failed.into_parts().0.headers;
    headers.remove(CONTENT_TYPE);
    headers.remove(CONTENT_LENGTH);
    rendered.headers_mut().extend(headers);
    rendered.extensions_mut().insert(AlreadyRendered);
    if parts.is_expected {
        rendered.extensions_mut().insert(ExpectedFault);
    }
    rendered
}

fn log(parts: &Parts) {
    let Public { status, detail, .. } = &parts.public;
    // As a text, which stands in quotation marks: it may repeat what a stranger sent.
    let (status, detail) = (status.as_u16(), detail.as_ref());
    let cause = Chain(parts.cause.as_deref());
    match status {
        500.. if !parts.is_expected => tracing::error!(status, detail, %cause, "request failed"),
        401 | 403 | 409 | 429 => tracing::info!(status, detail, %cause, "request refused"),
        _ => tracing::debug!(status, detail, %cause, "request refused"),
    }
}

/// A cause and all its sources on one line.
pub(crate) struct Chain<'a>(pub(crate) Option<&'a (dyn std::error::Error + Send + Sync)>);

impl std::fmt::Display for Chain<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Some(cause) = self.0 else {
            return formatter.write_str("none");
        };
        write!(formatter, "{cause}")?;
        let mut source = cause.source();
        while let Some(next) = source {
            write!(formatter, ": {next}")?;
            source = next.source();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn programs_are_told_from_browsers() {
        let wants = |headers: &[(HeaderName, &'static str)]| {
            wants_json(
                &headers
                    .iter()
                    .map(|(name, value)| (name.clone(), HeaderValue::from_static(value)))
                    .collect(),
            )
        };
        assert!(wants(&[(CONTENT_TYPE, "application/json; charset=utf-8")]));
        assert!(wants(&[(ACCEPT, "application/json, */*")]));
        assert!(!wants(&[(ACCEPT, "text/html,application/json;q=0.9")]));
        assert!(!wants(&[(
            CONTENT_TYPE,
            "application/x-www-form-urlencoded"
        )]));
        assert!(!wants(&[]));
    }
}
