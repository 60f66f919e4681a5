//! The one error type of handlers and middleware.

use std::borrow::Cow;
use std::sync::Arc;

use axum::response::{IntoResponse, Response};
use axum::{BoxError, Json};
use http::header::{HeaderName, HeaderValue};
use http::{HeaderMap, StatusCode};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

/// The only text a 500 ever shows.
pub const INTERNAL: &str = "Internal server error";

/// An error in two separate parts: the text that the caller may read, and the cause, which only the
/// log may.
///
/// There is no `Display`, so the cause cannot slip into a text by accident.
#[derive(Debug)]
pub struct Error(Box<Parts>);

/// The part of an error that the caller may read.
#[derive(Clone, Debug)]
pub struct Public {
    /// The status of the answer.
    pub status: StatusCode,
    /// What happened, for a person or a program: one sentence without a value from the request.
    pub detail: Cow<'static, str>,
    /// The field of the request that the error is about.
    pub field: Option<Cow<'static, str>>,
    /// Messages by field, for errors about several fields at once, in the order they were added.
    pub messages: Vec<(Cow<'static, str>, Vec<String>)>,
    /// Further members of a JSON body.
    pub extra: Map<String, Value>,
    /// What a page tells people to do, in Portuguese and English; pages have texts of their own
    /// by status.
    pub advice: Option<(&'static str, &'static str)>,
    /// A whole JSON body as it is written, for the few answers that have a shape of their own.
    pub body: Option<Box<RawValue>>,
    /// Headers of the answer.
    pub headers: HeaderMap,
}

#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) public: Public,
    pub(crate) cause: Option<BoxError>,
    pub(crate) is_expected: bool,
}

/// Marks a response of 500 or above that is no fault of the program.
#[derive(Clone, Copy)]
pub(crate) struct ExpectedFault;

/// The error of a response, for the middleware that renders and logs it.
#[derive(Clone)]
pub(crate) struct ErrorReport(pub(crate) Arc<Parts>);

impl Public {
    pub(crate) fn new(status: StatusCode, detail: Cow<'static, str>) -> Self {
        let detail = if status == StatusCode::INTERNAL_SERVER_ERROR {
            INTERNAL.into()
        } else {
            detail
        };
        let (field, messages, extra) = (None, Vec::new(), Map::new());
        Self {
            status,
            detail,
            field,
            messages,
            extra,
            advice: None,
            body: None,
            headers: HeaderMap::new(),
        }
    }
}

impl Error {
    /// An error that shows `detail`. A status of 500 shows its fixed text, whatever the detail.
    pub fn new(status: StatusCode, detail: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Parts {
            public: Public::new(status, detail.into()),
            cause: None,
            is_expected: false,
        }))
    }

    /// A fault of ours: 500 with its fixed text; the cause goes to the log.
    pub fn internal(cause: impl Into<BoxError>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, INTERNAL).cause(cause)
    }

    /// 404 with the text of its renderer for unknown addresses.
    pub fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "Not Found")
    }

    /// Names the field of the request that the error is about.
    #[must_use]
    pub fn field(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.0.public.field = Some(name.into());
        self
    }

    /// Adds messages about one field, for bodies of the shape `{field: [messages]}`.
    #[must_use]
    pub fn messages(mut self, field: impl Into<Cow<'static, str>>, messages: Vec<String>) -> Self {
        self.0.public.messages.push((field.into(), messages));
        self
    }

    /// Adds the cause. It is logged with all its sources and never shown.
    #[must_use]
    pub fn cause(mut self, cause: impl Into<BoxError>) -> Self {
        self.0.cause = Some(cause.into());
        self
    }

    /// Neither logged nor counted as a fault, whatever its status: the caller has logged its cause
    /// already, or a limit was reached.
    #[must_use]
    pub fn expected(mut self) -> Self {
        self.0.is_expected = true;
        self
    }

    /// Adds a header to the answer.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.0.public.headers.append(name, value);
        self
    }

    /// Adds a member to a JSON body, beside those of its renderer.
    #[must_use]
    pub fn extra(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.0.public.extra.insert(name.into(), value.into());
        self
    }

    /// Sets what a page tells people to do, in Portuguese and English. JSON bodies do not have it.
    #[must_use]
    pub fn advice(mut self, portuguese: &'static str, english: &'static str) -> Self {
        self.0.public.advice = Some((portuguese, english));
        self
    }

    /// Sets the whole JSON body, for an answer whose shape is not the renderer's. Its members are
    /// written in their own order.
    #[must_use]
    pub fn body(mut self, body: &impl Serialize) -> Self {
        // What cannot be written is left to the renderer.
        self.0.public.body = to_raw_value(body).ok();
        self
    }

    /// The status of the answer.
    pub fn status(&self) -> StatusCode {
        self.0.public.status
    }

    /// The part that the caller may read.
    pub fn public(&self) -> &Public {
        &self.0.public
    }
}

impl IntoResponse for Error {
    /// A plain `{"detail"}` that [`crate::errors::render()`] replaces by the body of its router.
    fn into_response(self) -> Response {
        let public = &self.0.public;
        let body = Json(serde_json::json!({ "detail": public.detail }));
        let mut response = (public.status, public.headers.clone(), body).into_response();
        response
            .extensions_mut()
            .insert(ErrorReport(Arc::from(self.0)));
        response
    }
}
