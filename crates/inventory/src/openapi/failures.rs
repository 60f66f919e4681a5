//! The error responses of operations. The examples are made from the service's own errors.

use http::{Method, StatusCode};
use utoipa::{
    PartialSchema as _, ToSchema as _,
    openapi::{
        ContentBuilder, Header, Ref, RefOr, Response, ResponseBuilder, Schema, Type,
        schema::{AdditionalProperties, AnyOfBuilder, ArrayBuilder, ObjectBuilder},
    },
};
use web::{
    Error, docs,
    errors::RestErrorBody,
    openapi::{failure_example, failure_name, text},
    rate::throttled_detail,
};

use super::{COOKIE, LIMITS, REQUEST_ID};
use crate::{
    access::{Kind, Model},
    api::{
        gate::not_acceptable,
        openapi::{Detail, PAGE_FAILED},
        submission::too_large,
    },
    catalogue::{ReferenceCount, refuse_when_referenced},
    rest::{
        Message, Refusal, Unauthorized, body, fields::FieldErrors, list::check_search,
        query::Parameters,
    },
};

const RETRY_AFTER: &str = "Retry-After";
/// Names of schemas.
const DETAIL: &str = "Detail";
const FIELD_ERRORS: &str = "FieldErrors";
const MESSAGES: &str = "Messages";
const TOKEN_PROBLEM: &str = "TokenProblem";

/// The schemas of error bodies.
pub(super) fn schemas() -> impl Iterator<Item = (String, RefOr<Schema>)> {
    let messages = || ArrayBuilder::new().items(text()).min_items(Some(1));
    let by_field = ObjectBuilder::new()
        .schema_type(Type::Object)
        .description(Some(
            "Messages by field, all fields at once; `non_field_errors` for the body as a whole.",
        ))
        .min_properties(Some(1))
        .additional_properties(Some(AdditionalProperties::RefOr(messages().into())));
    let of_no_field = messages().description(Some(
        "Messages that belong to no field, such as of a `search` for a NUL character.",
    ));
    let mut of_types = vec![
        (DETAIL.to_owned(), Detail::schema()),
        (TOKEN_PROBLEM.to_owned(), Unauthorized::schema()),
        (FIELD_ERRORS.to_owned(), by_field.into()),
        (MESSAGES.to_owned(), of_no_field.into()),
    ];
    Unauthorized::schemas(&mut of_types);
    of_types.into_iter()
}

/// All error responses by name.
pub(super) fn all() -> impl Iterator<Item = (String, Response)> {
    let by_status = by_status().into_iter().map(|(status, what, errors)| {
        let headers: &[_] = match status {
            401 => &["WWW-Authenticate"],
            429 => &[RETRY_AFTER],
            _ => &[],
        };
        let response = error_response(what, bodies_of(status), headers, errors);
        (failure_name(status), response)
    });
    let others = [
        (failure_name(302), redirect_response()),
        (PAGE_FAILED.to_owned(), page_failed()),
    ];
    by_status.chain(others)
}

/// All errors by status, with a description and examples.
fn by_status() -> [(u16, &'static str, Vec<Error>); 12] {
    let one = |refusal: Refusal| vec![Error::from(refusal)];
    let throttled = Error::new(StatusCode::TOO_MANY_REQUESTS, throttled_detail(12));
    let bad_request =
        "The body is no JSON, or fields or filters are invalid, insufficient stock among them.";
    let unauthorized =
        "Authentication failed: no token or session, or one that is no longer valid.";
    let forbidden = "The permission is missing, or the CSRF check failed.";
    let not_found = "There is no such record, page or address.";
    let conflicting = "Other records refer to it, or the goods of an inflow have left already.";
    let no_json = refused(body::parse(Some("text/plain"), b"name"));
    let reused = "The Idempotency-Key was used for another request, or an event cannot be read.";
    let fault = "An internal error. The request id identifies it in the log.";
    let unavailable = "The database cannot be used at the moment.";
    [
        (400, bad_request, bad_requests()),
        (401, unauthorized, one(Refusal::no_credentials())),
        (403, forbidden, one(Refusal::forbidden())),
        (404, not_found, one(Refusal::NotFound)),
        (406, "`Accept` excludes JSON.", vec![not_acceptable()]),
        (409, conflicting, conflict()),
        (413, "The body has more than 1 MiB.", vec![too_large()]),
        (415, "The body is not JSON.", no_json),
        (422, reused, one(Refusal::KeyReused)),
        (429, "Too many requests.", vec![throttled]),
        (500, fault, vec![Error::internal("a fault")]),
        (503, unavailable, vec![service_unavailable()]),
    ]
}

fn bad_requests() -> Vec<Error> {
    let missing = FieldErrors::of("name", Message::REQUIRED);
    [
        refused::<(), _>(Err(missing)),
        refused(body::parse(Some("application/json"), b"name")),
        refused(check_search(&Parameters::of("search", "\0"))),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn conflict() -> Vec<Error> {
    let referring = ReferenceCount {
        words: Model::Product.words(),
        count: 3,
    };
    refused(refuse_when_referenced(
        Model::Named(Kind::Brand).words(),
        &[referring],
    ))
}

/// The error of a refused result, as an example. Empty if the result is `Ok`.
fn refused<T, E: Into<Refusal>>(result: Result<T, E>) -> Vec<Error> {
    let refusal = result.err().map(Into::into);
    refusal.map(Error::from).into_iter().collect()
}

/// The schemas of error bodies with this status.
const fn bodies_of(status: u16) -> &'static [&'static str] {
    match status {
        400 => &[FIELD_ERRORS, DETAIL, MESSAGES],
        401 => &[TOKEN_PROBLEM],
        _ => &[DETAIL],
    }
}

fn service_unavailable() -> Error {
    Error::new(StatusCode::SERVICE_UNAVAILABLE, "Service unavailable")
}

fn redirect_response() -> Response {
    let response = ResponseBuilder::new().description("For browsers: a redirect.");
    with_headers(response, &[COOKIE, "Location"])
}

fn page_failed() -> Response {
    let what = "An error page, or JSON for callers that prefer it.";
    let (html, page) = docs::html();
    let bodies = &[FIELD_ERRORS, DETAIL];
    let as_json = error_response(
        what,
        bodies,
        &[COOKIE, RETRY_AFTER],
        [service_unavailable()],
    );
    ResponseBuilder::from(as_json).content(html, page).build()
}

/// An error response with examples, and with `headers` in addition to those of every response.
fn error_response(
    description: &str,
    schemas: &[&str],
    headers: &[&str],
    examples: impl IntoIterator<Item = Error>,
) -> Response {
    let examples = examples.into_iter().map(|error| {
        let body = RestErrorBody::new(error.public(), &Method::GET);
        failure_example(&error, &body)
    });
    let references = schemas.iter().copied().map(Ref::from_schema_name);
    let schema: RefOr<Schema> = match *schemas {
        [only] => Ref::from_schema_name(only).into(),
        _ => references
            .fold(AnyOfBuilder::new(), AnyOfBuilder::item)
            .into(),
    };
    let content = ContentBuilder::new()
        .schema(Some(schema))
        .examples_from_iter(examples);
    let response = ResponseBuilder::new()
        .description(description)
        .content("application/json", content.build());
    with_headers(response, headers)
}

fn with_headers(response: ResponseBuilder, headers: &[&str]) -> Response {
    let all = [REQUEST_ID].into_iter().chain(LIMITS);
    let all = all.chain(headers.iter().copied());
    all.fold(response, |response, name| {
        response.header(name, Header::default())
    })
    .build()
}
