//! The error responses that operations refer to. Their examples are built from the service's real
//! errors.

use db::Timestamp;
use http::StatusCode;
use utoipa::openapi::example::Example;
use utoipa::openapi::response::ResponseBuilder;
use utoipa::openapi::{ContentBuilder, Header, Ref, RefOr, Response, Schema};
use utoipa::{PartialSchema, ToSchema};
use web::errors::TimestampedErrorBody;
use web::openapi::{failure_example, failure_name, text};
use web::rate::throttled_detail;
use web::{Error, docs};

use super::{LIMITS, REQUEST_ID};
use crate::access;
use crate::api::errors::{obstacle, reference_taken};
use crate::errors::{busy, order_not_found, payment_not_found};
use crate::orders::{CancelOrderError, Obstacle};
use crate::provider::Failure;
use crate::request::{HOLDS_CARD_NUMBER, Refusal};

const RETRY_AFTER: &str = "Retry-After";

/// The time in the examples: 2026-11-20T12:00:00Z.
const TIME: Timestamp = Timestamp::from_micros(1_795_176_000_000_000);

/// The schema of an error body. Errors of creations and refunds have more members.
pub(super) fn body() -> RefOr<Schema> {
    let mut schema = TimestampedErrorBody::schema();
    if let RefOr::T(Schema::Object(error)) = &mut schema {
        let what = "After a failed creation: whether money may have moved. \
                    After a failed refund: `unknown` when it may have been given back.";
        let outcome = text()
            .enum_values(Some(["not_charged", "unknown"]))
            .description(Some(what));
        let outcome = outcome.build().into();
        error.properties.insert("outcome".to_owned(), outcome);
        let what = "After a reference that is taken: the order that has it.";
        let order = text().description(Some(what)).build().into();
        error.properties.insert("order".to_owned(), order);
    }
    schema
}

/// Every error response by its name.
pub(super) fn all() -> impl Iterator<Item = (String, Response)> {
    let by_status = of_requests().into_iter().chain(of_the_service());
    let by_status = by_status.map(|(status, response)| (failure_name(status), response));
    let others = [("AnyOther", any_other()), ("PageFailed", page_failed())];
    by_status.chain(others.map(|(name, response)| (name.to_owned(), response)))
}

fn of_requests() -> [(u16, Response); 8] {
    let bad_request = "The payment's data is invalid, or the request did not come over HTTPS.";
    let refusals = [
        Refusal::https_required(),
        Refusal::payment_method_required(),
        Refusal::missing("email"),
        Refusal::invalid_payment_method(),
        Refusal::invalid_amount("transaction_amount"),
        Refusal::amount_not_positive("transaction_amount"),
        Refusal::invalid_card_number(),
        Refusal::invalid_payment_status(),
    ];
    let unauthorized = "The key, or the notification's signature, is missing or wrong.";
    let not_there = "There is no such payment, or no such order.";
    let conflict = "A request with the same idempotency key is still at work; or the order is paid, may be paid by another \
                    attempt, has another one's reference, or expired before its cancellation.";
    let conflicts = [
        busy(),
        reference_taken("ord_019aa5c8f0007cc08f0f3f5f8b8c2f11"),
        obstacle(&Obstacle::Paid),
        obstacle(&Obstacle::Confirming),
        CancelOrderError::Conflict(Obstacle::Expired.detail()).into(),
    ];
    let gone = [Obstacle::Expired, Obstacle::Canceled].map(|end| obstacle(&end));
    let too_large = "The body is longer than 64 KiB.";
    let unprocessable =
        "Every other validation failure, and an idempotency key used for another request.";
    let invalid = [
        Refusal::invalid("email", "must be a valid e-mail address"),
        Refusal::invalid("installments", "must be between 1 and 12"),
        Refusal::invalid("description", HOLDS_CARD_NUMBER),
        Refusal::unprocessable("body", "must be a JSON object"),
    ];
    let throttled = "Too many requests from this client.";
    [
        (400, failed(bad_request, &[], refusals)),
        (
            401,
            failed(unauthorized, &["WWW-Authenticate"], [access::refused()]),
        ),
        (
            404,
            failed(not_there, &[], [payment_not_found(), order_not_found()]),
        ),
        (409, failed(conflict, &[RETRY_AFTER], conflicts)),
        (410, failed("The order has ended.", &[], gone)),
        (413, failed(too_large, &[], [Refusal::too_large()])),
        (422, failed(unprocessable, &[], invalid)),
        (
            429,
            failed(throttled, &[RETRY_AFTER], [too_many_requests()]),
        ),
    ]
}

fn of_the_service() -> [(u16, Response); 3] {
    let bad_gateway = "The provider answered an error, or something that cannot be read.";
    let refused = [401, 400, 500].map(|status| Failure::Refused {
        status,
        code: None,
        message: "internal error".to_owned(),
        retry_after: None,
    });
    let unavailable = "The provider or the database cannot be reached, or the quota of calls to the \
                       provider is used up.";
    let not_sent = Failure::NotSent("refused".into());
    [
        (
            500,
            failed("An internal error.", &[], [Error::internal("a fault")]),
        ),
        (
            502,
            failed(bad_gateway, &[RETRY_AFTER, "Idempotent-Replayed"], refused),
        ),
        (503, failed(unavailable, &[RETRY_AFTER], [not_sent])),
    ]
}

fn any_other() -> Response {
    let what = "Any other error: 408 when the request did not arrive in time, 414 and 431 when its \
                head is too large, or an error on the way.";
    failed(
        what,
        &[],
        [Error::new(StatusCode::REQUEST_TIMEOUT, "Request Timeout")],
    )
}

fn page_failed() -> Response {
    let what = "The page cannot be shown: 401 where the shop takes orders alone, 429 after too many requests, 500 for a fault of the \
                service, or an error on the way; as a page or as JSON.";
    let (html, page) = docs::html();
    let headers = [RETRY_AFTER, "WWW-Authenticate"];
    let as_json = failed(what, &headers, [too_many_requests()]);
    ResponseBuilder::from(as_json).content(html, page).build()
}

fn too_many_requests() -> Error {
    Error::new(StatusCode::TOO_MANY_REQUESTS, throttled_detail(17))
}

/// An error response with its own headers in addition to the common ones, and with examples.
fn failed(
    description: &str,
    headers: &[&str],
    examples: impl IntoIterator<Item: Into<Error>>,
) -> Response {
    let content = ContentBuilder::new()
        .schema(Some(Ref::from_schema_name(TimestampedErrorBody::name())))
        .examples_from_iter(examples.into_iter().map(example));
    let response = ResponseBuilder::new()
        .description(description)
        .content("application/json", content.build());
    let all = [REQUEST_ID].into_iter().chain(LIMITS);
    let all = all.chain(headers.iter().copied());
    all.fold(response, |response, name| {
        response.header(name, Header::default())
    })
    .build()
}

fn example(error: impl Into<Error>) -> (String, Example) {
    let error = error.into();
    failure_example(&error, &TimestampedErrorBody::new(error.public(), TIME))
}
