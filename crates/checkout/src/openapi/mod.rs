//! The OpenAPI document, built from the descriptions of the routes and of their middleware.

mod failures;
mod webhooks;

use std::sync::LazyLock;

use http::Method;
use utoipa::ToSchema;
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{
    ComponentsBuilder, OpenApi, OpenApiBuilder, Ref, RefOr, Response, SchemaFormat,
};
use web::errors::TimestampedErrorBody;
use web::openapi::{About, Header, add_responses, constant, failure, name_headers, text};
use web::{docs, health};

use crate::{SERVICE, VERSION, api, page};

/// The addresses of the API documents.
pub(crate) const DOCUMENTS: docs::Paths = docs::Paths {
    swagger_ui: "/docs",
    redoc: "/redoc",
    schema: "/openapi.json",
};

const ABOUT: &str = "\
All amounts are in BRL, as exact JSON numbers with at most two decimals. Every error is JSON with a text in `detail`; \
nothing of a request's values is ever repeated in it.

Requests come over HTTPS (or from the same machine); anything else is answered 400 `HTTPS required`. An address that does \
not exist is answered 404, a method that an address does not have 405 with the header `Allow`, both with the same error body.

API requests are limited per client; `RateLimit` tells what is left.

The buyer's page, its files and its language switch are no part of this API.";

const TAGS: [(&str, &str); 6] = [
    (
        "Orders",
        "Sums that the shop fixes, each with a page where its buyer pays it.",
    ),
    (
        "Payments",
        "Creating payments is open to the checkout page; the rest needs a merchant's key.",
    ),
    (
        "Following a payment",
        "For the client that created the payment, with the token from the creation's response.",
    ),
    ("Notifications", "Notifications from the provider."),
    ("Pages", "For people."),
    ("Operation", "For operators of the service."),
];

const MERCHANT_KEY: &str =
    "A merchant's API key, from the configuration or made by `balcao checkout key add`.";

/// Names of the headers that [`headers`] describes.
const REQUEST_ID: &str = "X-Request-Id";
const LIMITS: [&str; 2] = ["RateLimit-Policy", "RateLimit"];

/// The document, and the operations that it lists.
struct Document {
    json: String,
    operations: Vec<(String, Method)>,
}

/// Built once per process, since it takes most of the time of a start.
static DOCUMENT: LazyLock<Document> = LazyLock::new(|| {
    let mut api = described();
    let listed = web::openapi::operations(&mut api);
    Document {
        operations: listed
            .map(|(path, method, _)| (path.to_owned(), method))
            .collect(),
        json: web::openapi::to_json(api, &headers()).to_string(),
    }
});

/// The API's document, `OpenAPI` 3.1 as JSON.
pub fn openapi() -> &'static str {
    &DOCUMENT.json
}

/// The paths and methods in the document.
pub(crate) fn operations() -> &'static [(String, Method)] {
    &DOCUMENT.operations
}

/// Every operation with the responses and headers of the middleware, and the schemas they refer to.
fn described() -> OpenApi {
    let mut api = api::openapi();
    add_responses(&mut api, &[400, 401, 429, 500, 503].map(failure));
    add_responses(&mut api, &[otherwise("AnyOther")]);
    let mut pages = page::openapi();
    docs::describe(&mut pages, DOCUMENTS);
    add_responses(&mut pages, &[otherwise("PageFailed")]);
    api.merge(pages);
    name_headers(&mut api, &LIMITS);
    let mut probes = health::openapi(SERVICE);
    add_responses(&mut probes, &[otherwise("AnyOther")]);
    api.merge(probes);
    name_headers(&mut api, &[REQUEST_ID]);
    let (schemas, webhooks) = webhooks::described();
    let events = ComponentsBuilder::new().schemas_from_iter(schemas);
    let mut document = about();
    document.merge(api);
    document.merge(
        OpenApiBuilder::new()
            .components(Some(events.build()))
            .build(),
    );
    // `utoipa` does not support webhooks.
    document.extensions = Some(Extensions::from_iter([("webhooks", webhooks)]));
    document
}

fn otherwise(name: &str) -> (String, RefOr<Response>) {
    ("default".to_owned(), Ref::from_response_name(name).into())
}

fn about() -> OpenApi {
    let merchant_key = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some(MERCHANT_KEY));
    let components = ComponentsBuilder::new()
        .security_scheme("merchantKey", SecurityScheme::Http(merchant_key.build()))
        .schema(TimestampedErrorBody::name(), failures::body())
        .responses_from_iter(failures::all());
    let about = About {
        title: "Balcao checkout",
        version: VERSION,
        summary: "Takes card, pix and boleto payments through an external payment provider.",
        description: ABOUT,
        tags: TAGS,
    };
    about.with(components.build())
}

/// The headers that responses refer to.
fn headers() -> Vec<Header> {
    let replayed = "`true` if this is the stored response of an earlier request with the same key.";
    let own = [
        Header {
            schema: constant("true"),
            ..Header::new("Idempotent-Replayed", replayed)
        },
        Header {
            is_required: true,
            ..Header::new(
                "X-Payment-Status-Token",
                "A token that allows its holder to follow this payment's status.",
            )
        },
        Header {
            schema: text()
                .format(Some(SchemaFormat::Custom("uri".into())))
                .build(),
            is_required: true,
            ..Header::new("Location", "The same page over HTTPS.")
        },
    ];
    Header::shared().into_iter().chain(own).collect()
}
