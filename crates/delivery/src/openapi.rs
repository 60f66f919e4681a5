//! The events in a service's OpenAPI document, as its `webhooks`.

use serde_json::{Map, Value, json};
use utoipa::openapi::path::{OperationBuilder, Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::schema::ObjectBuilder;
use utoipa::openapi::{ContentBuilder, Object, Ref, RefOr, Required, ResponseBuilder, Schema};
use web::openapi::{closed, constant, moment, text};

/// The description of an event type.
pub struct Webhook {
    /// The type.
    pub kind: &'static str,
    /// The operation's id, for generated code.
    pub id: &'static str,
    /// A short summary of the event.
    pub summary: &'static str,
    /// When the event is sent.
    pub about: &'static str,
    /// The name of its schema.
    pub schema: &'static str,
    /// The schema of its data.
    pub data: RefOr<Schema>,
    /// An example of its data.
    pub example: Value,
    /// The time of the example.
    pub example_time: &'static str,
}

/// The schemas of the bodies by name, and the document's member `webhooks`.
pub fn describe(
    webhooks: impl IntoIterator<Item = Webhook>,
) -> (Vec<(String, RefOr<Schema>)>, Value) {
    let (mut schemas, mut items) = (Vec::new(), Map::new());
    for webhook in webhooks {
        let operation = json!({"post": operation(&webhook).build()});
        items.insert(webhook.kind.to_owned(), operation);
        let body = body(webhook.kind, webhook.data);
        schemas.push((webhook.schema.to_owned(), body.into()));
    }
    (schemas, Value::Object(items))
}

const ANSWERS: [(&str, &str); 3] = [
    (
        "2XX",
        "The event has been received. Any other status, redirects included, is a failure and is retried.",
    ),
    (
        "410",
        "The receiver no longer exists: its endpoint is disabled and gets no more events.",
    ),
    (
        "429",
        "Too much at once: `Retry-After` is honoured, here and with 503.",
    ),
];

fn operation(webhook: &Webhook) -> OperationBuilder {
    let example = json!({
        "type": webhook.kind,
        "timestamp": webhook.example_time,
        "data": webhook.example,
    });
    let content = ContentBuilder::new()
        .schema(Some(Ref::from_schema_name(webhook.schema)))
        .example(Some(example));
    let body = RequestBodyBuilder::new()
        .required(Some(Required::True))
        .content("application/json", content.build());
    let operation = OperationBuilder::new()
        .operation_id(Some(webhook.id))
        .summary(Some(webhook.summary))
        .description(Some(webhook.about))
        .securities(Some([]))
        .parameters(Some(parameters()))
        .request_body(Some(body.build()));
    ANSWERS
        .into_iter()
        .fold(operation, |operation, (status, what)| {
            operation.response(status, ResponseBuilder::new().description(what))
        })
}

/// The headers of every event.
fn parameters() -> [Parameter; 3] {
    let header = |name: &str, what: &str, schema: ObjectBuilder, example: &str| {
        ParameterBuilder::new()
            .name(name)
            .parameter_in(ParameterIn::Header)
            .description(Some(what))
            .required(Required::True)
            .schema(Some(schema.build()))
            .example(Some(example.into()))
            .build()
    };
    let id = "The event's, the same on every repetition: a receiver that has seen it answers 2xx and does nothing.";
    let timestamp = "When this attempt is made, in seconds since 1970.";
    let signature = "`v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`, as Standard Webhooks 1.0 defines it; \
                     two of them, separated by a space, while a secret is rotated.";
    let seconds = text().pattern(Some("^[0-9]+$"));
    let signed = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
    [
        header("webhook-id", id, text(), "evt_7_1795176000000000"),
        header("webhook-timestamp", timestamp, seconds, "1795176000"),
        header("webhook-signature", signature, text(), signed),
    ]
}

/// The schema of an event body with this data.
fn body(kind: &str, data: RefOr<Schema>) -> Object {
    let timestamp = moment().description(Some("When the event happened, in UTC."));
    let event = ObjectBuilder::new()
        .property("type", constant(kind))
        .property("timestamp", timestamp)
        .property("data", data)
        .required("type")
        .required("timestamp")
        .required("data");
    closed(event).build()
}
