//! The JSON bodies of errors: one renderer for each convention that our routers follow.

use axum::Json;
use axum::response::{IntoResponse, Response};
use db::Timestamp;
use http::{Method, StatusCode};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{Facts, Public};
use crate::{Clock, json};

/// Turns the public part of an error into a response body. Status and headers are set by the layer.
pub trait Render: Send + Sync + 'static {
    /// The body, with its content type.
    fn render(&self, error: &Public, request: &Facts) -> Response;
}

impl<F> Render for F
where
    F: Fn(&Public, &Facts) -> Response + Send + Sync + 'static,
{
    fn render(&self, error: &Public, request: &Facts) -> Response {
        self(error, request)
    }
}

/// `{"detail", "status_code", "timestamp", "field"?}`, the error format that the checkout
/// specification recommends.
#[derive(Clone, Debug)]
pub struct TimestampedErrors(Clock);

impl TimestampedErrors {
    /// A renderer that takes its timestamps from `clock`.
    pub const fn new(clock: Clock) -> Self {
        Self(clock)
    }
}

/// The error.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Error)]
pub struct TimestampedErrorBody<'error> {
    /// What is wrong; never a value of the request.
    detail: &'error str,
    #[schema(value_type = i64, minimum = 400, maximum = 599)]
    status_code: u16,
    #[schema(format = DateTime)]
    timestamp: String,
    /// The member that is wrong, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    field: Option<&'error str>,
    #[serde(flatten)]
    #[schema(ignore)]
    extra: &'error Map<String, Value>,
}

impl<'error> TimestampedErrorBody<'error> {
    /// The body of an error that happened at this time.
    pub fn new(error: &'error Public, at: Timestamp) -> Self {
        Self {
            detail: &error.detail,
            status_code: error.status.as_u16(),
            timestamp: at.to_string(),
            field: error.field.as_deref(),
            extra: &error.extra,
        }
    }
}

impl Render for TimestampedErrors {
    fn render(&self, error: &Public, _request: &Facts) -> Response {
        match &error.body {
            Some(body) => Json(body).into_response(),
            None => Json(TimestampedErrorBody::new(error, self.0.now())).into_response(),
        }
    }
}

/// `{"detail"}` or `{field: [messages]}`, the conventions of the inventory API.
#[derive(Clone, Copy, Debug, Default)]
pub struct RestErrors;

/// The body of an error as [`RestErrors`] renders it.
#[derive(Serialize)]
#[serde(untagged)]
pub enum RestErrorBody<'error> {
    /// One that the error brings.
    Own(&'error RawValue),
    /// One that follows from it.
    Members(Members<'error>),
}

impl<'error> RestErrorBody<'error> {
    /// The body of an error of a request with this method.
    pub fn new(error: &'error Public, method: &Method) -> Self {
        if let Some(body) = &error.body {
            return Self::Own(body);
        }
        let mut body = Members::default();
        for (field, messages) in &error.messages {
            body.add(field, messages.clone());
        }
        if error.messages.is_empty() {
            let detail = match error.status {
                StatusCode::NOT_FOUND if error.detail == "Not Found" => "Not found.".to_owned(),
                StatusCode::METHOD_NOT_ALLOWED => format!("Method \"{method}\" not allowed."),
                _ => error.detail.to_string(),
            };
            body.add("detail", detail);
        }
        for (name, value) in &error.extra {
            body.add(name, value.clone());
        }
        Self::Members(body)
    }
}

impl Render for RestErrors {
    fn render(&self, error: &Public, request: &Facts) -> Response {
        let body = RestErrorBody::new(error, &request.method);
        json::answer(json::RECORD_BYTES, StatusCode::OK, &body)
    }
}

/// The members of a body, written in the order in which they came: people read the first one first.
#[derive(Default)]
pub struct Members<'error>(Vec<(&'error str, Value)>);

impl<'error> Members<'error> {
    /// Adds a member; one that is there already stays as it is.
    fn add(&mut self, name: &'error str, value: impl Into<Value>) {
        if self.0.iter().all(|(known, _)| *known != name) {
            self.0.push((name, value.into()));
        }
    }
}

impl Serialize for Members<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}
