//! `POST /notifications`, which the provider calls.

use axum::body::Body;
use axum::extract::{Query, State as From};
use http::{HeaderMap, StatusCode};
use web::{Error, rate};

use super::{Notification, ReceiveError, receive};
use crate::BODY_MAX;
use crate::app::State;
use crate::json::{Object, Value, unescape};
use crate::payments::database_error;
use crate::request;

/// `POST /notifications`
pub(crate) async fn notification_receive(
    From(state): From<State>,
    Query(pairs): Query<Vec<(String, String)>>,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, Error> {
    let body = request::read_body(body, BODY_MAX).await?;
    receive(&state, &headers, read(&pairs, &body)).await?;
    Ok(StatusCode::OK)
}

/// Reads both forms: `?data.id=…&type=payment` with a body, and the older `?id=…&topic=payment` without.
fn read(pairs: &[(String, String)], body: &[u8]) -> Notification {
    let query = |name: &str| {
        pairs
            .iter()
            .find(|(given, _)| given == name)
            .map(|(_, value)| value.clone())
    };
    let body = std::str::from_utf8(body)
        .ok()
        .and_then(|text| Object::parse(text).ok());
    let member = |name: &str| body.as_ref().and_then(|body| scalar(body.get(name)));
    let data = body
        .as_ref()
        .and_then(|body| body.object("data"))
        .and_then(|data| scalar(data.get("id")));
    let signed_id = query("data.id");
    Notification {
        payment: signed_id.clone().or_else(|| query("id")).or(data),
        signed_id,
        topic: query("type")
            .or_else(|| query("topic"))
            .or_else(|| member("type"))
            .or_else(|| member("topic")),
        action: member("action"),
    }
}

/// Ids come as numbers and as texts.
fn scalar(value: Value<'_>) -> Option<String> {
    match value {
        Value::Text(source) => unescape(source).map(|text| text.to_string()),
        Value::Number(source) => Some(source.to_owned()),
        Value::Null | Value::Other(_) => None,
    }
}

impl std::convert::From<ReceiveError> for Error {
    fn from(error: ReceiveError) -> Self {
        match error {
            ReceiveError::Signature => Error::new(StatusCode::UNAUTHORIZED, "Invalid credentials"),
            ReceiveError::Throttled(refusal) => rate::throttled(&refusal),
            ReceiveError::Database(error) => database_error(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notification(query: &[(&str, &str)], body: &str) -> Notification {
        let pairs: Vec<_> = query
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        read(&pairs, body.as_bytes())
    }

    #[test]
    fn the_id_is_taken_from_the_query_first() {
        let body = r#"{"action":"payment.updated","type":"payment","data":{"id":"2"}}"#;
        let read = notification(&[("data.id", "1"), ("type", "payment")], body);
        assert_eq!(read.payment.as_deref(), Some("1"));
        assert_eq!(read.signed_id.as_deref(), Some("1"));
        assert_eq!(read.action.as_deref(), Some("payment.updated"));
    }

    #[test]
    fn a_body_alone_tells_its_id_as_text_or_number() {
        for body in [
            r#"{"type":"payment","data":{"id":"7"}}"#,
            r#"{"type":"payment","data":{"id":7}}"#,
        ] {
            let read = notification(&[], body);
            assert_eq!((read.payment.as_deref(), read.signed_id), (Some("7"), None));
        }
    }

    #[test]
    fn the_older_form_has_topic_and_id() {
        let read = notification(&[("topic", "merchant_order"), ("id", "9")], "");
        assert_eq!(
            (read.payment.as_deref(), read.topic.as_deref()),
            (Some("9"), Some("merchant_order"))
        );
    }

    #[test]
    fn a_body_that_is_nonsense_says_nothing() {
        assert_eq!(notification(&[], "\u{0}{["), Notification::default());
    }
}
