//! The JSON addresses of payments.

use axum::Json;
use axum::body::Body;
use axum::extract::{Query, State as From};
use axum::response::Response;
use db::{Db, Money, Timestamp};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Uri};
use serde::Serialize;
use utoipa::ToSchema;
use web::Error;
use web::client::{ClientAddress, PublicUrl};
use web::locale::Locale;
use web::openapi::Failure;

use super::examples::payments as examples;
use super::{content_type, json_text, private};
use crate::access::{Caller, Merchant};
use crate::attempts::{self, CreationResponse, OrderRef, Requester};
use crate::errors::{database, payment_not_found, unknown_outcome};
use crate::idempotency::{IdempotencyKey, KeyText};
use crate::ids::PaymentId;
use crate::lists::page_links;
use crate::payments::{
    self, AnyPayment, Payment, PaymentBody, PaymentListQuery, RefundBody, Source, coarse_body,
};
use crate::provider::Purpose;
use crate::request::{Cancellation, OrderTerms, PaymentRequest, RefundRequest, Refusal};
use crate::state::State;
use crate::{BODY_MAX, request};

/// The response header with the token that lets a page follow its payment.
pub(super) const STATUS_TOKEN: HeaderName = HeaderName::from_static("x-payment-status-token");

/// Create a payment
///
/// Checks the request, forwards it to the provider (a card is exchanged for a token first) and answers the provider's
/// result. The first check that fails answers; their order is: HTTPS, content type, body, `payment_method` present, other
/// common members present, method known, the method's members present, amount, card, everything else, provider. Unknown
/// members are ignored.
///
/// A declined card is a payment with status `rejected`: 200. After 502 and 503, repeat with the same `Idempotency-Key`,
/// waiting 2, 4, then 8 seconds: there is never a second charge.
#[utoipa::path(
    post, path = "/create_payment", tag = "Payments", operation_id = "createPayment",
    security((), ("merchantKey" = [])), params(KeyText),
    request_body(content = PaymentRequest, description = "At most 64 KiB.", examples(
        ("card" = (
            summary = "By card (a test card of the provider, which the sandbox approves)",
            value = json!(examples::card_request())
        )),
        ("pix" = (summary = "By pix", value = json!(examples::pix_request()))),
        ("boleto" = (summary = "By boleto", value = json!(examples::boleto_request()))),
    )),
    responses(
        (status = 200, description = "The payment, in the shape of its method.", body = AnyPayment,
        headers(("X-Payment-Status-Token"), ("Idempotent-Replayed")), examples(
            ("card" = (summary = "An approved card payment", value = json!(examples::card_payment()))),
            ("pix" = (summary = "A pix payment that waits for its payer", value = json!(examples::pix_payment()))),
            ("boleto" = (summary = "A boleto that waits for its payer", value = json!(examples::boleto_payment()))),
        )),
        Failure<409>, Failure<413>, Failure<422>, Failure<502>,
    ),
)]
pub(crate) async fn payment_create(
    From(state): From<State>,
    request: Parts,
    body: Body,
) -> Result<Response, Error> {
    make(&state, state.clock.now(), &request, body, None).await
}

/// Validates a request for a payment and creates the payment. `order` is the order to pay, with the
/// terms that it fixes.
pub(super) async fn make(
    state: &State,
    requested_at: Timestamp,
    Parts {
        headers,
        extensions,
        ..
    }: &Parts,
    body: Body,
    order: Option<(OrderRef, OrderTerms)>,
) -> Result<Response, Error> {
    request::check_content_type(content_type(headers))?;
    let body = request::read_body(body, BODY_MAX).await?;
    let (order, terms) = order.unzip();
    let checked = |now| request::check_for(content_type(headers), &body, terms.as_ref(), now);
    // A retry concerns a payment that was begun before the card expired or the limit was lowered.
    let begun_or = async |refusal| {
        let key = owned_key(state, headers, &Caller::known(extensions)?)?;
        let begun = attempts::begun_at(&state.db, key, requested_at).await;
        let begun = begun.map_err(|error| unknown_outcome(database(error)))?;
        begun.ok_or_else(|| Error::from(refusal))
    };
    let request = match checked(requested_at) {
        Err(refusal) if refusal.is_expired_card() => checked(begun_or(refusal).await?)?,
        other => other?,
    };
    if let Err(refusal) = state.config.max_amounts.check(&request) {
        begun_or(refusal).await?;
    }
    drop(body);
    let caller = Caller::known(extensions)?;
    if let Caller::Merchant(merchant) = &caller {
        let is_in_force = merchant.confirm(&state.keys).await;
        is_in_force.map_err(unknown_outcome)?;
    }
    let key = owned_key(state, headers, &caller)?;
    let requester = Requester {
        language: Locale::of(headers, &Uri::default()),
        anonymous_client: caller.anonymous_client(),
        requested_at,
    };
    let CreationResponse {
        body,
        replayed,
        status_token,
    } = attempts::create(state, &request, key, requester, order.as_ref()).await?;
    let mut response = json_text(shown_to(requester.anonymous_client, body), replayed);
    let token = HeaderValue::try_from(status_token).map_err(Error::internal)?;
    response.headers_mut().insert(STATUS_TOKEN, token);
    Ok(response)
}

/// The caller's idempotency key.
fn owned_key(
    state: &State,
    headers: &HeaderMap,
    caller: &Caller,
) -> Result<Option<IdempotencyKey>, Refusal> {
    let key = KeyText::from_headers(headers)?;
    Ok(key.map(|key| key.owned_by(caller, &state.config.secret)))
}

/// Read a payment
///
/// The shape of the creation's answer with the current state.
#[utoipa::path(
    get, path = "/payments/{id}", tag = "Payments", operation_id = "readPayment",
    security(("merchantKey" = [])), params(PaymentId),
    responses(
        (status = 200, description = "The payment.", body = AnyPayment, examples(
            ("card" = (summary = "An approved card payment", value = json!(examples::card_payment()))),
            ("pix" = (summary = "A pix payment that waits for its payer", value = json!(examples::pix_payment()))),
            ("boleto" = (summary = "A boleto that waits for its payer", value = json!(examples::boleto_payment()))),
        )),
        Failure<404>,
    ),
)]
pub(crate) async fn payment_read(
    From(db): From<Db>,
    _merchant: Merchant,
    PaymentId(id): PaymentId,
) -> Result<Response, Error> {
    let payment = payments::find(&db, &id)
        .await
        .map_err(database)?
        .ok_or_else(payment_not_found)?;
    Ok(show(&payment))
}

/// Cancel a payment
///
/// Only while it is pending; repeating it is no error.
#[utoipa::path(
    put, path = "/payments/{id}", tag = "Payments", operation_id = "cancelPayment",
    security(("merchantKey" = [])), params(PaymentId),
    request_body(
        content = Cancellation,
        examples(("cancel" = (value = json!({"status": "cancelled"})))),
    ),
    responses(
        (status = 200, description = "The cancelled payment.", body = AnyPayment,
        examples(("pix" = (value = json!(examples::cancelled_payment()))))),
        Failure<404>, Failure<413>, Failure<422>, Failure<502>,
    ),
)]
pub(crate) async fn payment_cancel(
    From(state): From<State>,
    merchant: Merchant,
    PaymentId(id): PaymentId,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Error> {
    request::check_content_type(content_type(&headers))?;
    let body = request::read_body(body, BODY_MAX).await?;
    merchant.confirm(&state.keys).await?;
    request::check_cancellation(content_type(&headers), &body)?;
    let payment = attempts::cancel(&state, &id, Purpose::Buyer, Source::Cancellation).await?;
    Ok(show(&payment))
}

/// Refund a payment
///
/// Only while the payment is approved. Without a body, with `{}` or with `null` as amount, all that is left; else a part.
/// Unknown members are refused. The payment is `refunded` once nothing is left.
#[utoipa::path(
    post, path = "/payments/{id}/refunds", tag = "Payments", operation_id = "refundPayment",
    security(("merchantKey" = [])), params(PaymentId, KeyText),
    request_body(content = Option<RefundRequest>, examples(
        ("part" = (summary = "A part", value = json!({"amount": 10.50}))),
        ("all" = (summary = "Refund the whole remaining amount", value = json!({}))),
    )),
    responses(
        (status = 200, description = "The refund.", body = RefundBody,
        headers(("Idempotent-Replayed")), examples(("part" = (value = json!(examples::refund()))))),
        Failure<404>, Failure<409>, Failure<413>, Failure<422>, Failure<502>,
    ),
)]
pub(crate) async fn refund_create(
    From(state): From<State>,
    merchant: Result<Merchant, Error>,
    id: Result<PaymentId, Error>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Error> {
    let requested_at = state.clock.now();
    // An earlier request with the same key may have moved money.
    let merchant = merchant.map_err(unknown_outcome)?;
    let PaymentId(id) = id?;
    let body = request::read_body(body, BODY_MAX).await?;
    let is_in_force = merchant.confirm(&state.keys).await;
    is_in_force.map_err(unknown_outcome)?;
    let amount: Option<Money> = request::check_refund(content_type(&headers), &body)?;
    let key = KeyText::from_headers(&headers)?
        .map(|key| key.owned_by(&Caller::Merchant(merchant), &state.config.secret));
    let refunded = attempts::refund(&state, &id, amount, key, requested_at).await?;
    Ok(json_text(refunded.body, refunded.replayed))
}

/// One page of payments.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PaymentList)]
struct PaymentListBody<'a> {
    /// The number of records on all pages.
    #[schema(minimum = 0)]
    count: i64,
    /// The next page's address.
    #[schema(required, format = "uri-reference")]
    next: Option<String>,
    /// The previous page's address.
    #[schema(required, format = "uri-reference")]
    previous: Option<String>,
    #[schema(value_type = Vec<AnyPayment>)]
    results: Vec<PaymentBody<'a>>,
}

/// List payments, newest first
#[utoipa::path(
    get, path = "/payments/", tag = "Payments", operation_id = "listPayments",
    security(("merchantKey" = [])), params(PaymentListQuery),
    responses(
        (status = 200, description = "One page.", body = PaymentListBody,
        examples(("page" = (value = json!(examples::page()))))),
        Failure<422>,
    ),
)]
pub(crate) async fn payment_list(
    From(db): From<Db>,
    _merchant: Merchant,
    public_url: PublicUrl,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Result<Response, Error> {
    let request = payments::parse_query(&pairs)?;
    let page = payments::list(&db, request.clone()).await;
    let page = page.map_err(database)?;
    let (next, previous) = page_links(&public_url, &request, &pairs, page.count);
    let body = PaymentListBody {
        count: page.count,
        next,
        previous,
        results: page.rows.iter().map(PaymentBody::new).collect(),
    };
    Ok(private(Json(body)))
}

/// The body as this caller may see it: anonymous clients get coarse decline reasons.
pub(super) fn shown_to(anonymous_client: Option<ClientAddress>, body: String) -> String {
    match anonymous_client {
        Some(_) => coarse_body(&body).into_owned(),
        None => body,
    }
}

fn show(payment: &Payment) -> Response {
    private(Json(PaymentBody::new(payment)))
}
