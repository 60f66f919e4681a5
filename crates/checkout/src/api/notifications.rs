//! `POST /notifications`, which the provider calls.

use axum::body::Body;
use axum::extract::{Query, State as From};
use http::{HeaderMap, StatusCode};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::openapi::{ObjectBuilder, OneOfBuilder, RefOr, Schema};
use utoipa::{IntoParams, PartialSchema, ToSchema};
use web::Error;
use web::openapi::{Failure, integer, parameter, text};

use crate::json::Object;
use crate::notifications::{Notification, receive};
use crate::state::State;
use crate::{BODY_MAX, request};

/// A change at the provider
///
/// Called by the provider. The notification is stored and answered at once; the payment is then read back from the
/// provider, which alone decides its state. Duplicates and late ones change nothing. With a secret configured,
/// `x-signature` must be valid; without one, a notification is a mere hint to read back.
#[utoipa::path(
    post, path = "/notifications", tag = "Notifications", operation_id = "notify",
    security(), params(Notification),
    request_body(content = Option<Notification>, examples(("updated" = (value = json!({
        "action": "payment.updated", "api_version": "v1", "data": {"id": "1234567890"},
        "date_created": "2026-11-20T12:00:00Z", "id": 12345, "live_mode": true, "type": "payment",
        "user_id": "1",
    }))))),
    responses((status = 200, description = "Stored. No body."), Failure<413>, Failure<422>),
)]
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

impl IntoParams for Notification {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let short = || text().max_length(Some(255));
        let query = |name, what| parameter(name, ParameterIn::Query, Some(what), short());
        let header = |name, what| parameter(name, ParameterIn::Header, Some(what), text());
        let signature = "`ts=<time>,v1=<HMAC-SHA256 in hexadecimal>` over \
                         `id:<data.id>;request-id:<x-request-id>;ts:<ts>;`, parts that are absent \
                         left out.";
        let example = |text: &str| Some(text.into());
        vec![
            query("data.id", "The payment's id at the provider; signed.")
                .example(example("1234567890"))
                .build(),
            query("type", "`payment`; other kinds are accepted and ignored.")
                .example(example("payment"))
                .build(),
            header("x-signature", signature).build(),
            header("x-request-id", "Part of what is signed.").build(),
        ]
    }
}

impl PartialSchema for Notification {
    fn schema() -> RefOr<Schema> {
        let id = OneOfBuilder::new().item(text()).item(integer());
        let data = ObjectBuilder::new().property("id", id);
        let body = ObjectBuilder::new()
            .property("action", text())
            .property("type", text())
            .property("data", data);
        body.into()
    }
}

impl ToSchema for Notification {}

/// Reads both forms of a notification: `?data.id=…&type=payment` with a body, and the older
/// `?id=…&topic=payment` without one.
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
    let member = |name: &str| body.as_ref().and_then(|body| body.get(name).scalar());
    let data = body
        .as_ref()
        .and_then(|body| body.object("data"))
        // Ids are sent as numbers or as strings.
        .and_then(|data| data.get("id").scalar());
    let signed_id = query("data.id");
    Notification {
        payment: signed_id.clone().or_else(|| query("id")).or(data),
        signed_id,
        topic: query("type")
            .or_else(|| query("topic"))
            .or_else(|| member("type"))
            .or_else(|| member("topic")),
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
