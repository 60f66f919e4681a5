//! Assembles the OpenAPI document from the descriptions of the routes and the general parts.

mod failures;

use utoipa::openapi::{
    ComponentsBuilder, OpenApi, Ref,
    extensions::Extensions,
    security::{
        ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme,
    },
    tag::TagBuilder,
};
use web::{
    docs, health,
    locale::Locale,
    openapi::{About, Header, add_responses, constant, failure, name_headers},
};

use crate::{
    SERVICE, VERSION, analysis,
    api::openapi::{PAGE_FAILED, with_head},
    catalogue::named::Kind,
    page::RouteAddress,
    stock,
};

const ABOUT: &str = "\
Obtain a token pair with `POST /api/v1/authentication/token/` and send `Authorization: Bearer <access>`. Everyone who is \
authenticated may read; `add_`, `change_` and `delete_` permissions come from groups: Admin has all of them, Managers all \
but `delete_`.

A request is checked in this order: `Accept` (406), CSRF for sessions (403), authentication (401), permission (403), rate \
(429), method (405), filters (400), page and record (404), body (413, 415, 400), fields (400), stock (400, 409).

Ids and quantities are numbers, prices strings with two decimals, times in UTC. An address without its final slash is \
answered 301 (GET, HEAD) or 308. An unknown address is 404, a method that an address does not have 405 with `Allow`, both as \
`{\"detail\"}`. HEAD answers as GET without a body, OPTIONS as clients of the conventions know it: `name`, `description`, \
`renders`, `parses` and, for a caller who may write there, `actions` with every field of the resource.";

const TAGS: [(&str, &str); 10] = [
    ("Authentication", "Tokens for programs."),
    ("Products", "Products; each has one category and one brand."),
    (
        "Inflows",
        "Goods received. Immutable: to correct one, delete it and create a new one.",
    ),
    (
        "Outflows",
        "Goods shipped out. Immutable: to correct one, delete it and create a new one.",
    ),
    ("Stock", "The stock ledger, thresholds and low stock."),
    ("Analyses", "What runs low, what to order and why."),
    ("Integrations", "Events from the shop's other programs."),
    ("Web session", "For browsers."),
    ("Pages", "For people."),
    ("Operation", "For operators of the service."),
];

/// Names of headers that [`headers`] describes.
const REQUEST_ID: &str = "X-Request-Id";
const LIMITS: [&str; 2] = ["RateLimit-Policy", "RateLimit"];
const COOKIE: &str = "Set-Cookie";

/// The paths of the API's documentation.
pub(crate) const DOCUMENTS: docs::Paths = docs::Paths {
    swagger_ui: "/api/v1/docs/",
    redoc: "/api/v1/redoc/",
    schema: "/api/v1/schema/",
};

/// The OpenAPI document and the addresses in it.
pub(crate) struct ApiDocument {
    /// The document: OpenAPI 3.1 as JSON.
    pub(crate) json: String,
    pub(crate) addresses: Vec<RouteAddress>,
}

/// Builds the document from the descriptions of the routes: of the API, for our own programs, and
/// of the pages that programs may call, too.
pub(crate) fn document(api: OpenApi, integrations: OpenApi, pages: OpenApi) -> ApiDocument {
    let api = merge_routes(api, integrations, pages);
    let addresses = api.paths.paths.iter().map(|(path, item)| RouteAddress {
        path: path.clone(),
        methods: with_head(web::openapi::methods(item)),
    });
    ApiDocument {
        addresses: addresses.collect(),
        json: web::openapi::to_json(api, &headers()).to_string(),
    }
}

/// Merges all operations, adds the responses of the middleware, and the components that operations
/// refer to.
fn merge_routes(mut api: OpenApi, mut integrations: OpenApi, mut pages: OpenApi) -> OpenApi {
    add_responses(&mut api, &[401, 404, 406, 429, 500, 503].map(failure));
    add_forbidden(&mut api);
    name_headers(&mut api, &LIMITS);
    add_responses(
        &mut integrations,
        &[400, 401, 404, 413, 422, 500, 503].map(failure),
    );
    api.merge(integrations);
    docs::describe(&mut pages, DOCUMENTS);
    add_page_failures(&mut pages);
    name_headers(&mut pages, &[COOKIE]);
    api.merge(pages);
    let mut probes = health::openapi(SERVICE);
    add_responses(&mut probes, &[failure(500)]);
    api.merge(probes);
    name_headers(&mut api, &[REQUEST_ID]);
    let mut document = base_document();
    document.merge(api);
    document
}

/// Adds the 403 response to operations that need authentication. Public operations cannot fail so.
fn add_forbidden(api: &mut OpenApi) {
    for (_, _, operation) in web::openapi::operations(api) {
        if operation.security.is_none() {
            let (status, forbidden) = failure(403);
            operation.responses.responses.insert(status, forbidden);
        }
    }
}

/// Adds the default error response of pages to operations that do not describe one of their own.
fn add_page_failures(pages: &mut OpenApi) {
    for (_, _, operation) in web::openapi::operations(pages) {
        let responses = &mut operation.responses.responses;
        if !responses.contains_key("500") {
            let failed = Ref::from_response_name(PAGE_FAILED);
            responses.insert("default".to_owned(), failed.into());
        }
    }
}

fn base_document() -> OpenApi {
    let events = stock::webhooks().into_iter().chain([analysis::webhook()]);
    let (events, webhooks) = delivery::openapi::describe(events);
    let bearer = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .bearer_format("JWT");
    let session =
        "Over HTTPS `__Host-sessionid`. Unsafe methods also need the header `X-CSRFToken`.";
    let session = ApiKey::Cookie(ApiKeyValue::with_description("sessionid", session));
    let components = ComponentsBuilder::new()
        .security_scheme("bearer", SecurityScheme::Http(bearer.build()))
        .security_scheme("session", SecurityScheme::ApiKey(session))
        .schemas_from_iter(failures::schemas())
        .schemas_from_iter(events)
        .responses_from_iter(failures::all());
    let about = About {
        title: "Balcao inventory",
        version: VERSION,
        summary: "Catalogue, stock movements and the ledger behind them.",
        description: ABOUT,
        tags: TAGS,
    };
    let mut api = about.with(components.build());
    let requirements = ["bearer", "session"].map(|name| SecurityRequirement::new(name, NO_SCOPES));
    api.security = Some(requirements.into());
    // `utoipa` has no field for OpenAPI's `webhooks`.
    api.extensions = Some(Extensions::from_iter([("webhooks", webhooks)]));
    tag_kinds(&mut api);
    api
}

const NO_SCOPES: [&str; 0] = [];

/// Adds a tag for each kind of named records.
fn tag_kinds(api: &mut OpenApi) {
    let kinds = Kind::ALL.map(|kind| kind.about().words.title(Locale::En));
    let tags = kinds.map(|name| TagBuilder::new().name(name).build());
    api.tags.get_or_insert_default().splice(..0, tags);
}

/// The descriptions of the headers in responses.
fn headers() -> Vec<Header> {
    let cookie = "`sessionid`, `csrftoken` (over HTTPS with `__Host-` before them), and what a reader chose.";
    let own = [
        Header::new(COOKIE, cookie),
        Header {
            schema: constant("true"),
            ..Header::new(
                "Idempotent-Replayed",
                "`true` if this is the stored response of an earlier request.",
            )
        },
        Header {
            is_required: true,
            ..Header::new("Location", "A path of this service.")
        },
    ];
    Header::shared().into_iter().chain(own).collect()
}
