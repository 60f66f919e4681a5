//! Pages: templates rendered to responses, and the layout that every page extends.
//!
//! A page is an askama template with a member `layout` that extends `base.html` of this crate;
//! other crates find it through their `askama.toml` (`dirs = ["templates", "../web/templates"]`).
//! The pages themselves belong to the services.

mod layout;

use askama::Template;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderValue};

pub use layout::Layout;

use crate::Error;

/// A template as a response: 200, or the given status, and HTML. A template that cannot be rendered
/// is a 500.
#[derive(Clone, Copy, Debug)]
pub struct Page<T> {
    template: T,
    status: StatusCode,
}

impl<T: Template> Page<T> {
    /// A page with status 200.
    pub const fn new(template: T) -> Self {
        Self {
            template,
            status: StatusCode::OK,
        }
    }

    /// A page with another status: 422 for a form that is shown again, with its values kept.
    pub const fn with_status(status: StatusCode, template: T) -> Self {
        Self { template, status }
    }
}

impl<T: Template> IntoResponse for Page<T> {
    fn into_response(self) -> Response {
        match self.template.render() {
            Ok(html) => {
                let content_type = HeaderValue::from_static("text/html; charset=utf-8");
                (self.status, [(CONTENT_TYPE, content_type)], html).into_response()
            }
            Err(error) => Error::internal(error).into_response(),
        }
    }
}
