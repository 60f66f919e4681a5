//! All reasons to refuse a request, and their conversion to the conventional response.

use std::borrow::Cow;

use axum::response::{IntoResponse, Response};
use http::{
    HeaderValue, Method, StatusCode,
    header::{ALLOW, WWW_AUTHENTICATE},
};

use serde::Serialize;
use utoipa::ToSchema;
use web::errors::PAST_END;

use super::{body::BodyError, fields::FieldErrors, message::Message};
use crate::access::Permission;

const FORBIDDEN: &str = "You do not have permission to perform this action.";
const INVALID: &str = "Invalid data.";
/// The error code of invalid tokens.
pub(crate) const TOKEN_NOT_VALID: &str = "token_not_valid";

/// The requested page does not exist: 404 `Invalid page.`
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("invalid page")]
pub struct InvalidPage;

/// Why a request of the API is refused. Variants hold what the caller may read; causes of server
/// errors go to the log only.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// 401: the caller is not authenticated.
    #[error("not authenticated")]
    Unauthenticated(Unauthorized),
    /// 403: the caller lacks the permission, or the CSRF check failed; with the text of the
    /// response.
    #[error("forbidden")]
    Forbidden(String),
    /// 403 on a page that names the missing permission.
    #[error("forbidden: {0} is missing")]
    Missing(Permission),
    /// 404: the record does not exist.
    #[error("no such record")]
    NotFound,
    /// 404: the page of the list does not exist.
    #[error(transparent)]
    InvalidPage(#[from] InvalidPage),
    /// 405, with the method and the allowed methods.
    #[error("method not allowed")]
    Method(Method, &'static [Method]),
    /// 400 or 415: the body is not a JSON object.
    #[error(transparent)]
    Body(#[from] BodyError),
    /// 400: messages by field.
    #[error("invalid fields")]
    Fields(FieldErrors),
    /// 409: the request conflicts with stored data.
    #[error("conflict")]
    Conflict(Message),
    /// 422: the idempotency key was used for a different request.
    #[error("idempotency key used for another request")]
    KeyReused,
    /// 422: the event is unreadable, for this reason.
    #[error("unreadable event")]
    Event(String),
    /// A complete error response, such as 406, 413 or 429.
    #[error("refused at the edge")]
    Edge(web::Error),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
}

/// The body of a 401.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = TokenProblem)]
pub struct Unauthorized {
    /// The error message.
    detail: Cow<'static, str>,
    /// The same, in a machine-readable form.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    code: Option<&'static str>,
    /// The error of a token.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Vec<TokenMessage>, required = false)]
    messages: Option<[TokenMessage; 1]>,
}

/// The type of token that was expected, and why this one is not valid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = TokenMessage)]
struct TokenMessage {
    token_class: &'static str,
    token_type: &'static str,
    message: String,
}

impl Unauthorized {
    /// A body with only a detail.
    pub fn new(detail: impl Into<Cow<'static, str>>) -> Self {
        Self {
            detail: detail.into(),
            code: None,
            messages: None,
        }
    }

    /// Adds an error code.
    #[must_use]
    pub fn code(mut self, code: &'static str) -> Self {
        self.code = Some(code);
        self
    }

    /// The body for an invalid bearer token, with the reason.
    pub fn token(message: impl Into<String>) -> Self {
        let message = TokenMessage {
            token_class: "AccessToken",
            token_type: "access",
            message: message.into(),
        };
        Self {
            messages: Some([message]),
            ..Self::new("Given token not valid for any token type").code(TOKEN_NOT_VALID)
        }
    }
}

impl From<Unauthorized> for Refusal {
    fn from(body: Unauthorized) -> Self {
        Self::Unauthenticated(body)
    }
}

impl From<FieldErrors> for Refusal {
    fn from(errors: FieldErrors) -> Self {
        Self::Fields(errors)
    }
}

impl From<web::Error> for Refusal {
    fn from(error: web::Error) -> Self {
        Self::Edge(error)
    }
}

impl Refusal {
    /// 403 with the conventional text.
    pub fn forbidden() -> Self {
        Self::Forbidden(FORBIDDEN.to_owned())
    }

    /// 401 with the conventional text for a request without credentials.
    pub fn no_credentials() -> Self {
        Unauthorized::new("Authentication credentials were not provided.").into()
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        web::Error::from(self).into_response()
    }
}

impl From<Refusal> for web::Error {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Unauthenticated(body) => Self::new(StatusCode::UNAUTHORIZED, "Unauthorized")
                .body(&body)
                .header(
                    WWW_AUTHENTICATE,
                    HeaderValue::from_static("Bearer realm=\"api\""),
                ),
            Refusal::Forbidden(text) => Self::new(StatusCode::FORBIDDEN, text),
            Refusal::Missing(permission) => Self::new(StatusCode::FORBIDDEN, FORBIDDEN)
                .extra("permission", permission.to_string())
                .cause(Refusal::Missing(permission)),
            Refusal::NotFound => Self::not_found(),
            Refusal::InvalidPage(_) => Self::new(StatusCode::NOT_FOUND, PAST_END),
            Refusal::Method(method, allowed) => Self::new(
                StatusCode::METHOD_NOT_ALLOWED,
                format!("Method \"{method}\" not allowed."),
            )
            .header(ALLOW, allow(allowed)),
            Refusal::Body(BodyError::MediaType(media_type)) => Self::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                format!("Unsupported media type \"{media_type}\" in request."),
            ),
            Refusal::Body(BodyError::Malformed(reason)) => {
                Self::new(StatusCode::BAD_REQUEST, reason)
            }
            Refusal::Body(BodyError::NotAnObject(message)) => {
                Self::new(StatusCode::BAD_REQUEST, INVALID)
                    .messages("non_field_errors", vec![message])
            }
            Refusal::Fields(errors) => errors.iter().fold(
                Self::new(StatusCode::BAD_REQUEST, INVALID),
                |error, (field, messages)| {
                    let messages = messages.iter().map(Message::to_string);
                    error.messages(field, messages.collect())
                },
            ),
            Refusal::Conflict(message) => Self::new(StatusCode::CONFLICT, message.to_string()),
            Refusal::KeyReused => Self::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "This Idempotency-Key was used for another request.",
            ),
            Refusal::Event(reason) => Self::new(StatusCode::UNPROCESSABLE_ENTITY, reason),
            Refusal::Edge(error) => error,
            Refusal::Database(error) if error.is_unavailable() => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "Service unavailable").cause(error)
            }
            Refusal::Database(error) => Self::internal(error),
        }
    }
}

/// The value of the `Allow` header, in the order of `methods`.
pub(crate) fn allow(methods: &[Method]) -> HeaderValue {
    let names: Vec<&str> = methods.iter().map(Method::as_str).collect();
    HeaderValue::from_str(&names.join(", ")).unwrap_or(HeaderValue::from_static(""))
}
