//! The documents of our APIs: what `utoipa` has no attribute for, and what middleware adds to every
//! response.
//!
//! A document is made from the routes that serve: each handler is described where it stands, and
//! `OpenApiRouter` gathers the descriptions with the handlers.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use axum::Router;
use http::{Method, StatusCode};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::IntoResponses;
use utoipa::openapi::example::{Example, ExampleBuilder};
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn, PathItem};
use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder, SchemaType};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    Components, InfoBuilder, KnownFormat, LicenseBuilder, Object, OpenApi, OpenApiBuilder, Ref,
    RefOr, Required, Response, Schema, SchemaFormat, ServerBuilder, Type,
};
use utoipa_axum::router::OpenApiRouter;

use crate::Error;

/// Routes with the descriptions of their handlers. Both are gathered once for each process: a
/// description takes a thousand times longer than a route.
pub struct Routes<S> {
    gather: fn() -> OpenApiRouter<S>,
    gathered: OnceLock<(Router<S>, OpenApi)>,
}

impl<S: Clone + Send + Sync + 'static> Routes<S> {
    /// Gathers them when they are first asked for.
    pub const fn new(gather: fn() -> OpenApiRouter<S>) -> Self {
        Self {
            gather,
            gathered: OnceLock::new(),
        }
    }

    /// The routes.
    pub fn router(&self) -> Router<S> {
        self.gathered().0.clone()
    }

    /// The descriptions.
    pub fn openapi(&self) -> OpenApi {
        self.gathered().1.clone()
    }

    fn gathered(&self) -> &(Router<S>, OpenApi) {
        let gather = || (self.gather)().split_for_parts();
        self.gathered.get_or_init(gather)
    }
}

/// What a document says before its operations.
pub struct About<const TAGS: usize> {
    /// What the service is called. Generators make names of it.
    pub title: &'static str,
    /// The version of its interface.
    pub version: &'static str,
    /// What it does, in a sentence.
    pub summary: &'static str,
    /// What holds for all operations.
    pub description: &'static str,
    /// The groups of operations, with what each is about; nothing where its name says it.
    pub tags: [(&'static str, &'static str); TAGS],
}

impl<const TAGS: usize> About<TAGS> {
    /// A document without operations, with what they will refer to.
    pub fn with(self, components: Components) -> OpenApi {
        let license = LicenseBuilder::new()
            .name("MIT OR Apache-2.0")
            .identifier(Some("MIT OR Apache-2.0"));
        let summary = ("summary", self.summary);
        let info = InfoBuilder::new()
            .title(self.title)
            .version(self.version)
            .extensions(Some(Extensions::from_iter([summary])))
            .description(Some(self.description))
            .license(Some(license.build()));
        let server = ServerBuilder::new()
            .url("/")
            .description(Some("Where this document was read from"));
        let tags = self.tags.map(|(name, what)| {
            let what = Some(what).filter(|what| !what.is_empty());
            TagBuilder::new().name(name).description(what).build()
        });
        OpenApiBuilder::new()
            .info(info)
            .servers(Some([server.build()]))
            .tags(Some(tags))
            .components(Some(components))
            .build()
    }
}

/// A header of responses. It is described once, and a response names it.
#[derive(Serialize)]
pub struct Header {
    /// Its name.
    #[serde(skip)]
    pub name: &'static str,
    /// What it means.
    pub description: &'static str,
    /// Its values.
    pub schema: Object,
    /// Whether every response that names it has it.
    #[serde(rename = "required")]
    pub is_required: bool,
    /// One of its values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<Value>,
}

impl Header {
    /// A header that a response may have, with any text.
    pub fn new(name: &'static str, description: &'static str) -> Self {
        Self {
            name,
            description,
            schema: text().build(),
            is_required: false,
            example: None,
        }
    }

    /// The headers that the middleware of this crate sets.
    pub fn shared() -> [Self; 5] {
        let id = "The request's id in the service's log; the caller's own, if it sent one of 1 to 64 letters, digits, points, \
                  underscores or hyphens.";
        let policy =
            "The rate limits, as the IETF draft for rate limit headers defines the header.";
        [
            Self {
                schema: text().pattern(Some("^[A-Za-z0-9._-]{1,64}$")).build(),
                is_required: true,
                ..Self::new("X-Request-Id", id)
            },
            Self {
                example: Some(r#""minute";q=100;w=60"#.into()),
                ..Self::new("RateLimit-Policy", policy)
            },
            Self {
                example: Some(r#""minute";r=99;t=60"#.into()),
                ..Self::new(
                    "RateLimit",
                    "Remaining requests and the time until the limit resets.",
                )
            },
            Self {
                schema: integer().minimum(Some(1)).build(),
                example: Some(17.into()),
                ..Self::new("Retry-After", "Whole seconds to wait.")
            },
            Self::new("WWW-Authenticate", "The scheme to authenticate with."),
        ]
    }
}

/// The document as JSON. A header that a response only names is the one of `headers`.
pub fn to_json(mut api: OpenApi, headers: &[Header]) -> Value {
    leave_out_null(&mut api);
    let headers: Value = headers
        .iter()
        .map(|header| (header.name, json!(header)))
        .collect();
    let components = api.components.get_or_insert_default();
    // `utoipa` has no place for shared headers.
    components.extensions = Some(Extensions::from_iter([("headers", headers)]));
    let mut document = json!(api);
    refer_to_headers(&mut document);
    document
}

/// A body that may be left out may not be `null`: `utoipa` takes an `Option` for both.
fn leave_out_null(api: &mut OpenApi) {
    let bodies = operations(api).flat_map(|(_, _, operation)| &mut operation.request_body);
    for content in bodies.flat_map(|body| body.content.values_mut()) {
        if let Some(RefOr::T(Schema::OneOf(null_or))) = &mut content.schema {
            content.schema = null_or.items.pop();
        }
    }
}

fn refer_to_headers(value: &mut Value) {
    match value {
        Value::Object(members) => {
            if let Some(Value::Object(headers)) = members.get_mut("headers") {
                for (name, header) in headers {
                    if header.get("description").is_none() {
                        *header = json!({"$ref": format!("#/components/headers/{name}")});
                    }
                }
            }
            members.values_mut().for_each(refer_to_headers);
        }
        Value::Array(items) => items.iter_mut().for_each(refer_to_headers),
        _ => {}
    }
}

/// Every operation with its address and method.
pub fn operations(api: &mut OpenApi) -> impl Iterator<Item = (&str, Method, &mut Operation)> {
    api.paths.paths.iter_mut().flat_map(|(path, item)| {
        let all = [
            (Method::GET, &mut item.get),
            (Method::PUT, &mut item.put),
            (Method::POST, &mut item.post),
            (Method::PATCH, &mut item.patch),
            (Method::DELETE, &mut item.delete),
            (Method::OPTIONS, &mut item.options),
        ];
        all.into_iter().filter_map(|(method, operation)| {
            let operation = operation.as_mut()?;
            Some((path.as_str(), method, operation))
        })
    })
}

/// The methods that an address is described with.
pub fn methods(item: &PathItem) -> impl Iterator<Item = Method> {
    let all = [
        (Method::GET, &item.get),
        (Method::POST, &item.post),
        (Method::PUT, &item.put),
        (Method::PATCH, &item.patch),
        (Method::DELETE, &item.delete),
    ];
    let described = all.into_iter().filter(|(_, operation)| operation.is_some());
    described.map(|(method, _)| method)
}

/// Names headers in every response of every operation: those that middleware around the routes sets.
/// Error responses name theirs where they are described.
pub fn name_headers(api: &mut OpenApi, names: &[&str]) {
    for (_, _, operation) in operations(api) {
        for response in operation.responses.responses.values_mut() {
            if let RefOr::T(response) = response {
                for name in names {
                    response.headers.entry((*name).to_owned()).or_default();
                }
            }
        }
    }
}

/// Adds responses to every operation: those of middleware around the routes.
pub fn add_responses(api: &mut OpenApi, responses: &[(String, RefOr<Response>)]) {
    for (_, _, operation) in operations(api) {
        for (status, response) in responses {
            let known = &mut operation.responses.responses;
            known
                .entry(status.clone())
                .or_insert_with(|| response.clone());
        }
    }
}

/// The error response with this status, described once among the document's components.
pub struct Failure<const STATUS: u16>;

impl<const STATUS: u16> IntoResponses for Failure<STATUS> {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        BTreeMap::from([failure(STATUS)])
    }
}

/// A status, and a reference to the error response with it.
pub fn failure(status: u16) -> (String, RefOr<Response>) {
    let response = Ref::from_response_name(failure_name(status));
    (status.to_string(), response.into())
}

/// The name of the error response with a status: `NotFound`.
pub fn failure_name(status: u16) -> String {
    let status = StatusCode::from_u16(status).ok();
    let reason = status.and_then(|status| status.canonical_reason());
    reason.unwrap_or("Error").replace([' ', '-'], "")
}

/// An example of an error's body, named by the words of its detail.
pub fn failure_example(error: &Error, body: &impl Serialize) -> (String, Example) {
    let words = error.public().detail.to_lowercase();
    let words = words.split(|character: char| !character.is_ascii_alphanumeric());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    let example = ExampleBuilder::new().value(Some(json!(body))).build();
    (words.join("_"), example)
}

/// A parameter that may be left out, unless it is a part of the path.
pub fn parameter(
    name: &str,
    parameter_in: ParameterIn,
    description: Option<&str>,
    schema: impl Into<RefOr<Schema>>,
) -> ParameterBuilder {
    ParameterBuilder::from(Parameter::new(name))
        .parameter_in(parameter_in)
        .required(Required::False)
        .description(description)
        .schema(Some(schema))
}

/// Any text.
pub fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

/// Any text, or nothing.
pub fn nullable_text() -> ObjectBuilder {
    text().schema_type(SchemaType::from_iter([Type::String, Type::Null]))
}

/// An object without members that are not described.
pub fn closed(object: ObjectBuilder) -> ObjectBuilder {
    object.additional_properties(Some(AdditionalProperties::<Schema>::FreeForm(false)))
}

/// A moment.
pub fn moment() -> ObjectBuilder {
    text().format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
}

/// One of these texts.
pub fn one_of(texts: impl IntoIterator<Item = &'static str>) -> Object {
    text().enum_values(Some(texts)).build()
}

/// A whole number. Without the format, clients in some languages take 32 bits.
pub fn integer() -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::Integer)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
}

/// A whole number, or nothing.
pub fn nullable_integer() -> ObjectBuilder {
    integer().schema_type(SchemaType::from_iter([Type::Integer, Type::Null]))
}

/// This text and no other. `utoipa` has no `const`.
pub fn constant(value: &str) -> Object {
    let constant = Extensions::from_iter([("const", value)]);
    text().extensions(Some(constant)).build()
}
