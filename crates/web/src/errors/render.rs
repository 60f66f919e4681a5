//! The JSON bodies of errors: one renderer for each convention that our routers follow.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde_json::{Map, Value, json};

use super::{Facts, Public};
use crate::Clock;

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

/// `{"detail", "status_code", "timestamp", "field"?}`, the error format that the checkout specification recommends.
#[derive(Clone, Debug)]
pub struct Detailed(Clock);

impl Detailed {
    /// A renderer that takes its timestamps from `clock`.
    pub const fn new(clock: Clock) -> Self {
        Self(clock)
    }
}

impl Render for Detailed {
    fn render(&self, error: &Public, _request: &Facts) -> Response {
        let mut body = Map::new();
        body.insert("detail".to_owned(), error.detail.as_ref().into());
        body.insert("status_code".to_owned(), error.status.as_u16().into());
        body.insert("timestamp".to_owned(), self.0.now().to_string().into());
        if let Some(field) = &error.field {
            body.insert("field".to_owned(), field.as_ref().into());
        }
        respond(body, error)
    }
}

/// `{"detail"}` or `{field: [messages]}`, the conventions of the inventory API.
#[derive(Clone, Copy, Debug, Default)]
pub struct Conventional;

impl Render for Conventional {
    fn render(&self, error: &Public, request: &Facts) -> Response {
        let mut body = Map::new();
        for (field, messages) in &error.messages {
            body.insert(field.to_string(), json!(messages));
        }
        if body.is_empty() {
            let detail = match error.status {
                StatusCode::NOT_FOUND if error.detail == "Not Found" => "Not found.".to_owned(),
                StatusCode::METHOD_NOT_ALLOWED => {
                    format!("Method \"{}\" not allowed.", request.method)
                }
                _ => error.detail.to_string(),
            };
            body.insert("detail".to_owned(), detail.into());
        }
        respond(body, error)
    }
}

fn respond(mut body: Map<String, Value>, error: &Public) -> Response {
    if let Some(body) = &error.body {
        return Json(body).into_response();
    }
    for (name, value) in &error.extra {
        body.entry(name.as_str()).or_insert_with(|| value.clone());
    }
    Json(body).into_response()
}
