//! Error responses in the provider's format:
//! `{message, error, status, cause: [{code, description, data}]}`.

use std::borrow::Cow;

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use serde_json::{Value, json};
use web::errors::{Facts, Public, Render};

/// A request that the provider refuses.
#[derive(Debug)]
pub(crate) struct Refusal {
    status: StatusCode,
    message: Cow<'static, str>,
    code: Option<Code>,
}

/// The code of a cause: a number, or a name for card fields.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Code {
    Number(u16),
    Name(&'static str),
}

impl From<u16> for Code {
    fn from(number: u16) -> Self {
        Self::Number(number)
    }
}

impl From<&'static str> for Code {
    fn from(name: &'static str) -> Self {
        Self::Name(name)
    }
}

impl Refusal {
    /// 400 with one cause.
    pub(crate) fn bad(code: impl Into<Code>, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, Some(code.into()), message)
    }

    pub(crate) fn new(
        status: StatusCode,
        code: Option<Code>,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            status,
            message: message.into(),
            code,
        }
    }

    /// 400 for a request that cannot be parsed.
    pub(crate) fn params() -> Self {
        Self::bad(1, "Params Error")
    }

    pub(crate) fn payment_not_found() -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            Some(Code::Number(2000)),
            "Payment not found",
        )
    }

    pub(crate) fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, None, "resource not found")
    }

    /// The provider's usual response with this status, for faults.
    pub(crate) fn of_status(status: StatusCode) -> Self {
        match status.as_u16() {
            400 => Self::params(),
            401 => Self::new(
                status,
                Some(Code::Number(5)),
                "Must provide your access_token to proceed",
            ),
            404 => Self::payment_not_found(),
            429 => Self::new(status, None, "Too many requests"),
            500 => Self::new(status, None, "internal_error"),
            _ => Self::new(status, None, status.canonical_reason().unwrap_or("error")),
        }
    }

    /// The provider's response with this status and cause, for faults.
    pub(crate) fn of_code(status: StatusCode, code: u16) -> Self {
        let message = match code {
            2001 => "Already posted the same request in the last minute",
            2004 => "POST to Gateway Transactions API fail",
            2007 => "Connection to Card Token API fail",
            _ => "Params Error",
        };
        Self::new(status, Some(code.into()), message)
    }

    fn body(&self) -> Value {
        let cause = self.code.map(|code| {
            let code = match code {
                Code::Number(number) => json!(number),
                Code::Name(name) => json!(name),
            };
            json!({"code": code, "description": self.message, "data": null})
        });
        json!({
            "message": self.message,
            "error": name(self.status),
            "status": self.status.as_u16(),
            "cause": cause.map_or_else(Vec::new, |cause| vec![cause]),
        })
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = self.body().to_string();
        let mut response =
            (self.status, [(CONTENT_TYPE, "application/json")], body).into_response();
        if self.status == StatusCode::TOO_MANY_REQUESTS {
            response
                .headers_mut()
                .insert(RETRY_AFTER, http::HeaderValue::from_static("1"));
        }
        response
    }
}

fn name(status: StatusCode) -> String {
    status
        .canonical_reason()
        .unwrap_or("error")
        .to_lowercase()
        .replace([' ', '-'], "_")
}

/// Renders framework errors for API clients: an unknown path or a method that is not allowed.
#[derive(Clone, Debug)]
pub(crate) struct Programs;

impl Render for Programs {
    fn render(&self, error: &Public, _: &Facts) -> Response {
        let refusal = match error.status {
            StatusCode::NOT_FOUND => Refusal::not_found(),
            status => Refusal::of_status(status),
        };
        refusal.into_response()
    }
}
