//! The JSON addresses of payments; those that follow one payment are in [`following`](super::following).

use axum::Json;
use axum::body::Body;
use axum::extract::{FromRequestParts, Path, Query, State as From};
use axum::response::{IntoResponse, Response};
use db::{Money, Timestamp};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Uri};
use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter, ParameterIn};
use web::Error;
use web::client::{ClientAddress, Origin, PublicUrl};
use web::locale::Locale;
use web::openapi::{self, Failure, parameter};

use super::declines::coarse_body;
use super::errors::{database, not_found, unknown};
use super::idempotency::{IdempotencyKey, KeyError, KeyText, REPLAYED};
use super::model::Payment;
use super::outcome::Outcome;
use super::query::ListQuery;
use super::schema::AnyPayment;
use super::shape::{OutcomeBody, PageBody, PaymentBody, RefundBody};
use super::{Asker, Created, OrderRef, examples, query};
use crate::access::{Caller, Merchant};
use crate::app::State;
use crate::lists::{List, neighbours};
use crate::provider::is_provider_id;
use crate::request::{Cancellation, OrderTerms, PaymentRequest, RefundRequest};
use crate::{BODY_MAX, request};

/// Carries the token that lets a page follow its payment.
const STATUS_TOKEN: HeaderName = HeaderName::from_static("x-payment-status-token");

pub(crate) fn content_type(headers: &HeaderMap) -> Option<&str> {
    headers
        .get(CONTENT_TYPE)
        .map(|value| value.to_str().unwrap_or("unreadable"))
}

/// The provider's id in an address. What cannot be one names no payment.
pub(crate) struct PaymentId(pub(super) String);

impl IntoParams for PaymentId {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let what = "The payment's id, as its creation answered it.";
        let id = parameter("id", ParameterIn::Path, Some(what), openapi::text());
        vec![id.example(Some("1234567890".into())).build()]
    }
}

impl FromRequestParts<State> for PaymentId {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &State) -> Result<Self, Error> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        let id = path.ok().map(|Path(id)| id).filter(|id| is_provider_id(id));
        id.map(Self).ok_or_else(not_found)
    }
}

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
    origin: Origin,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Error> {
    let asked_at = state.clock.now();
    make(&state, (origin, asked_at), &headers, body, None).await
}

/// Checks a request for a payment, which came at a moment, and makes it; of an order, what the order has fixed is not asked for.
pub(crate) async fn make(
    state: &State,
    (origin, asked_at): (Origin, Timestamp),
    headers: &HeaderMap,
    body: Body,
    order: Option<(OrderRef, OrderTerms)>,
) -> Result<Response, Error> {
    let client = ClientAddress(origin.address);
    request::check_content_type(content_type(headers))?;
    let body = request::read_body(body, BODY_MAX).await?;
    let (order, terms) = order.unzip();
    let checked = |now| request::check_for(content_type(headers), &body, terms.as_ref(), now);
    let request = match checked(asked_at) {
        // A repetition is about a payment that was begun while the card was good.
        Err(refusal) if refusal.is_expired_card() => {
            let caller = Caller::of(state, headers, client).await.map_err(unknown)?;
            let key = own_key(state, headers, &caller)?;
            let begun = super::begun_at(state, key, asked_at).await;
            let begun = begun.map_err(|error| unknown(database(error)))?;
            checked(begun.ok_or(refusal)?)?
        }
        other => other?,
    };
    drop(body);
    state.config.max_amounts.check(&request)?;
    let caller = Caller::of(state, headers, client).await.map_err(unknown)?;
    let key = own_key(state, headers, &caller)?;
    let asker = Asker {
        language: Locale::of(headers, &Uri::default()),
        stranger: caller.stranger(origin),
        asked_at,
    };
    let Created {
        body,
        replayed,
        status_token,
    } = super::create(state, &request, key, asker, order.as_ref()).await?;
    let mut response = text(shown_to(asker.stranger, body), replayed);
    let token = HeaderValue::try_from(status_token).map_err(Error::internal)?;
    response.headers_mut().insert(STATUS_TOKEN, token);
    Ok(response)
}

/// The key of a call that anybody may make: the merchant's, or else the client's.
fn own_key(
    state: &State,
    headers: &HeaderMap,
    caller: &Caller,
) -> Result<Option<IdempotencyKey>, Error> {
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
    From(state): From<State>,
    _merchant: Merchant,
    PaymentId(id): PaymentId,
) -> Result<Response, Error> {
    let payment = super::find(&state, &id)
        .await
        .map_err(database)?
        .ok_or_else(not_found)?;
    show(&payment)
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
    _merchant: Merchant,
    PaymentId(id): PaymentId,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Error> {
    request::check_content_type(content_type(&headers))?;
    let body = request::read_body(body, BODY_MAX).await?;
    request::check_cancellation(content_type(&headers), &body)?;
    show(&super::cancel(&state, &id).await?)
}

/// Give money back
///
/// Only while the payment is approved. Without a body, with `{}` or with `null` as amount, all that is left; else a part.
/// The payment is `refunded` once nothing is left.
#[utoipa::path(
    post, path = "/payments/{id}/refunds", tag = "Payments", operation_id = "refundPayment",
    security(("merchantKey" = [])), params(PaymentId, KeyText),
    request_body(content = Option<RefundRequest>, examples(
        ("part" = (summary = "A part", value = json!({"amount": 10.50}))),
        ("all" = (summary = "All that is left", value = json!({}))),
    )),
    responses(
        (status = 200, description = "The refund.", body = RefundBody,
        headers(("Idempotent-Replayed")), examples(("part" = (value = json!(examples::refund()))))),
        Failure<404>, Failure<409>, Failure<413>, Failure<422>, Failure<502>,
    ),
)]
pub(crate) async fn refund_create(
    From(state): From<State>,
    merchant: Merchant,
    PaymentId(id): PaymentId,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Error> {
    let asked_at = state.clock.now();
    let body = request::read_body(body, BODY_MAX).await?;
    let amount: Option<Money> = request::check_refund(content_type(&headers), &body)?;
    let key = KeyText::from_headers(&headers)?
        .map(|key| key.owned_by(&Caller::Merchant(merchant), &state.config.secret));
    let refunded = super::refund(&state, &id, amount, key, asked_at).await?;
    Ok(text(refunded.body, refunded.replayed))
}

/// What a creation has come to
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
        (status = 200, description = "What is known. Nothing of the payer.", body = OutcomeBody,
        headers((
            "X-Payment-Status-Token" = String,
            description = "With `created`: lets its holder follow the payment's status."
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
    origin: Origin,
    headers: HeaderMap,
) -> Result<Response, Error> {
    let client = ClientAddress(origin.address);
    let caller = Caller::of(&state, &headers, client).await?;
    let key = KeyText::from_headers(&headers)?.ok_or(KeyError::Absent)?;
    if matches!(caller, Caller::Client(_)) && !key.is_unguessable() {
        return Err(KeyError::Guessable.into());
    }
    let stranger = caller.stranger(origin);
    let key = key.owned_by(&caller, &state.config.secret);
    let found = super::find_outcome(&state, key).await.map_err(database)?;
    let outcome = found.ok_or_else(not_found)?;
    let body = serde_json::to_string(&OutcomeBody::new(&outcome)).map_err(Error::internal)?;
    let mut response = text(shown_to(stranger, body), false);
    if let Outcome::Created { id, .. } = &outcome {
        let token = HeaderValue::try_from(state.status_token(id)).map_err(Error::internal)?;
        response.headers_mut().insert(STATUS_TOKEN, token);
    }
    Ok(response)
}

/// List payments, newest first
#[utoipa::path(
    get, path = "/payments/", tag = "Payments", operation_id = "listPayments",
    security(("merchantKey" = [])), params(ListQuery),
    responses(
        (status = 200, description = "One page.", body = PageBody,
        examples(("page" = (value = json!(examples::page()))))),
        Failure<422>,
    ),
)]
pub(crate) async fn payment_list(
    From(state): From<State>,
    _merchant: Merchant,
    public_url: PublicUrl,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Result<Response, Error> {
    let query = query::parse(&pairs)?;
    let page = super::list(&state, query).await.map_err(database)?;
    let list = List {
        public_url: &public_url,
        path: "/payments/",
        names: &query::NAMES,
        pairs: &pairs,
    };
    let (next, previous) = neighbours(&list, page.count, query.span);
    let body = PageBody {
        count: page.count,
        next,
        previous,
        results: page.payments.iter().map(PaymentBody::new).collect(),
    };
    Ok(private(Json(body)))
}

/// A body as a stranger may see it, if it is one.
fn shown_to(stranger: Option<ClientAddress>, body: String) -> String {
    match stranger {
        Some(_) => coarse_body(&body).into_owned(),
        None => body,
    }
}

fn show(payment: &Payment) -> Result<Response, Error> {
    Ok(text(
        PaymentBody::to_text(payment).map_err(Error::internal)?,
        false,
    ))
}

/// A JSON body as it is stored.
fn text(body: String, is_replayed: bool) -> Response {
    let mut response = private(([(CONTENT_TYPE, "application/json")], body));
    if is_replayed {
        replayed(&mut response);
    }
    response
}

/// Marks an answer that was given before.
pub(crate) fn replayed(response: &mut Response) {
    response
        .headers_mut()
        .insert(REPLAYED, HeaderValue::from_static("true"));
}

/// People's data, which no cache may keep.
pub(crate) fn private(answer: impl IntoResponse) -> Response {
    let mut response = answer.into_response();
    response
        .headers_mut()
        .insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
