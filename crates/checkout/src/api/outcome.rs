//! The address that reports the outcome of a payment's creation.

use axum::extract::State as From;
use axum::response::Response;
use http::{HeaderMap, HeaderValue};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::Object;
use web::Error;
use web::openapi::{Failure, one_of};

use super::examples::payments as examples;
use super::json_text;
use super::payments::{STATUS_TOKEN, shown_to};
use crate::access::Caller;
use crate::attempts::{CreationOutcome, find_outcome};
use crate::errors::{database, key_refused, payment_not_found};
use crate::idempotency::KeyText;
use crate::json::to_text;
use crate::payments::PaymentState;
use crate::state::State;

/// What a creation has come to. `id`, `status` and `status_detail` come with `created`.
#[derive(Debug, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Outcome)]
struct OutcomeBody<'a> {
    #[schema(schema_with = outcome_name)]
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    status: Option<PaymentState>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    status_detail: Option<&'a str>,
}

impl<'a> OutcomeBody<'a> {
    fn new(outcome: &'a CreationOutcome) -> Self {
        let without_payment = |outcome| Self {
            outcome,
            id: None,
            status: None,
            status_detail: None,
        };
        match outcome {
            CreationOutcome::NotCharged => without_payment("not_charged"),
            CreationOutcome::Unknown => without_payment("unknown"),
            CreationOutcome::Created(payment) => Self {
                outcome: "created",
                id: Some(&payment.id),
                status: Some(payment.state),
                status_detail: Some(&payment.status_detail),
            },
        }
    }
}

fn outcome_name() -> Object {
    one_of(["created", "not_charged", "unknown"])
}

/// The outcome of a creation
///
/// For whoever lost the answer of a creation and no longer has the request to repeat it, as a page that was loaded again.
/// Repeats nothing and charges nothing. `created`: the payment was made, and `X-Payment-Status-Token` lets its caller
/// follow it. `not_charged`: no payment was made. `unknown`: it may have been made; ask again, and pay for the same thing
/// by no other way until it is known. 404: no creation with this key has arrived in the last 72 hours.
///
/// Without a merchant's key the `Idempotency-Key` must be a random UUID (version 4), which nobody can guess.
#[utoipa::path(
    get, path = "/payments/outcome", tag = "Following a payment", operation_id = "readOutcome",
    security((), ("merchantKey" = [])), params(KeyText),
    responses(
        (status = 200, description = "The known outcome, without data about the payer.", body = OutcomeBody,
        headers((
            "X-Payment-Status-Token" = String,
            description = "With `created`: a token that allows its holder to follow the payment's status."
        )),
        examples(
            ("created" = (value = json!(examples::outcome_created()))),
            ("not_charged" = (value = json!({"outcome": "not_charged"}))),
            ("unknown" = (value = json!({"outcome": "unknown"}))),
        )),
        Failure<404>, Failure<422>,
    ),
)]
pub(crate) async fn payment_outcome(
    From(state): From<State>,
    caller: Caller,
    headers: HeaderMap,
) -> Result<Response, Error> {
    let key = KeyText::from_headers(&headers)?.ok_or_else(|| key_refused("is required"))?;
    if matches!(caller, Caller::Client { .. }) && !key.is_unguessable() {
        // Whoever guesses the key would learn the outcome of somebody else's payment.
        let reason = "must be a random UUID (version 4), or come with a merchant's key";
        return Err(key_refused(reason).into());
    }
    let anonymous_client = caller.anonymous_client();
    let key = key.owned_by(&caller, &state.config.secret);
    let found = find_outcome(&state.db, key, state.clock.now())
        .await
        .map_err(database)?;
    let outcome = found.ok_or_else(payment_not_found)?;
    let body = to_text(&OutcomeBody::new(&outcome)).map_err(database)?;
    let mut response = json_text(shown_to(anonymous_client, body), false);
    if let CreationOutcome::Created(payment) = &outcome {
        let token =
            HeaderValue::try_from(state.status_token(&payment.id)).map_err(Error::internal)?;
        response.headers_mut().insert(STATUS_TOKEN, token);
    }
    Ok(response)
}
