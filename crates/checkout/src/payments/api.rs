//! The JSON addresses of payments.

use axum::Json;
use axum::body::Body;
use axum::extract::{FromRequestParts, Path, Query, State as From};
use axum::response::{IntoResponse, Response};
use db::Money;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde::Serialize;
use web::Error;
use web::client::{ClientAddress, Origin, PublicUrl};

use super::declines::coarse_body;
use super::errors::{database, not_found, unknown};
use super::events::{self, StatusView};
use super::idempotency::{IdempotencyKey, KeyError, KeyText, REPLAYED};
use super::model::Payment;
use super::outcome::Outcome;
use super::shape::{ArtefactsBody, OutcomeBody, PaymentBody};
use super::{Created, query};
use crate::access::{Caller, Merchant};
use crate::app::State;
use crate::provider::is_provider_id;
use crate::{BODY_MAX, digest, request};

/// Carries the token that lets a page follow its payment.
const STATUS_TOKEN: HeaderName = HeaderName::from_static("x-payment-status-token");

pub(crate) fn content_type(headers: &HeaderMap) -> Option<&str> {
    headers
        .get(CONTENT_TYPE)
        .map(|value| value.to_str().unwrap_or("unreadable"))
}

/// The provider's id in an address. What cannot be one names no payment.
pub(crate) struct PaymentId(String);

impl FromRequestParts<State> for PaymentId {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &State) -> Result<Self, Error> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        let id = path.ok().map(|Path(id)| id).filter(|id| is_provider_id(id));
        id.map(Self).ok_or_else(not_found)
    }
}

/// `POST /create_payment`
pub(crate) async fn payment_create(
    From(state): From<State>,
    origin: Origin,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Error> {
    let client = ClientAddress(origin.address);
    request::check_content_type(content_type(&headers))?;
    let body = request::read_body(body, BODY_MAX).await?;
    let checked = |now| request::check(content_type(&headers), &body, now);
    let now = state.clock.now();
    let request = match checked(now) {
        // A repetition is about a payment that was begun while the card was good.
        Err(refusal) if refusal.is_expired_card() => {
            let caller = Caller::of(&state, &headers, client)
                .await
                .map_err(unknown)?;
            let key = own_key(&state, &headers, &caller)?;
            let begun = super::begun_at(&state, key, now).await;
            let begun = begun.map_err(|error| unknown(database(error)))?;
            checked(begun.ok_or(refusal)?)?
        }
        other => other?,
    };
    drop(body);
    state.config.max_amounts.check(&request)?;
    let caller = Caller::of(&state, &headers, client)
        .await
        .map_err(unknown)?;
    let key = own_key(&state, &headers, &caller)?;
    let stranger = caller.stranger(origin);
    let Created {
        body,
        replayed,
        status_token,
    } = super::create(&state, &request, key, stranger).await?;
    let mut response = text(shown_to(stranger, body), replayed);
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

/// `GET /payments/{id}`
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

/// `PUT /payments/{id}`
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

/// `POST /payments/{id}/refunds`
pub(crate) async fn refund_create(
    From(state): From<State>,
    merchant: Merchant,
    PaymentId(id): PaymentId,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Error> {
    let body = request::read_body(body, BODY_MAX).await?;
    let amount: Option<Money> = request::check_refund(content_type(&headers), &body)?;
    let key = KeyText::from_headers(&headers)?
        .map(|key| key.owned_by(&Caller::Merchant(merchant), &state.config.secret));
    let refunded = super::refund(&state, &id, amount, key).await?;
    Ok(text(refunded.body, refunded.replayed))
}

/// `GET /payments/outcome`: what the creation with the caller's `Idempotency-Key` has come to, for a caller that lost its answer and
/// no longer has the request to send again.
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

#[derive(Serialize)]
struct PageBody<'a> {
    count: i64,
    next: Option<String>,
    previous: Option<String>,
    results: Vec<PaymentBody<'a>>,
}

/// `GET /payments/`
pub(crate) async fn payment_list(
    From(state): From<State>,
    _merchant: Merchant,
    public_url: PublicUrl,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Result<Response, Error> {
    let query = query::parse(&pairs)?;
    let page = super::list(&state, query).await.map_err(database)?;
    let last = ((page.count + query.page_size - 1) / query.page_size).max(1);
    let address = |number: i64| {
        format!(
            "{}{}",
            public_url.join("/payments/"),
            query::of_page(&pairs, number)
        )
    };
    let body = PageBody {
        count: page.count,
        next: (query.page < last).then(|| address(query.page + 1)),
        previous: (query.page > 1).then(|| address((query.page - 1).min(last))),
        results: page.payments.iter().map(PaymentBody::new).collect(),
    };
    Ok(private(Json(body)))
}

/// The token in an address, empty where there is none or more than one. Its value is not in any log: those leave the
/// query out.
pub(crate) struct Token(String);

impl FromRequestParts<State> for Token {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &State) -> Result<Self, Error> {
        let query = Query::<Vec<(String, String)>>::from_request_parts(parts, state).await;
        let pairs = query.map_or_else(|_| Vec::new(), |Query(pairs)| pairs);
        let mut given = pairs
            .into_iter()
            .filter(|(name, _)| name == "token")
            .map(|(_, token)| token);
        Ok(Self(match (given.next(), given.next()) {
            (Some(token), None) => token,
            _ => String::new(),
        }))
    }
}

/// `GET /payments/{id}/status`
pub(crate) async fn payment_status(
    From(state): From<State>,
    origin: Origin,
    PaymentId(id): PaymentId,
    token: Token,
) -> Result<Response, Error> {
    let view = follow(&state, &id, &token).await?;
    Ok(private(Json(view.shown_to(origin))))
}

/// `GET /payments/{id}/events`
pub(crate) async fn payment_events(
    From(state): From<State>,
    origin: Origin,
    PaymentId(id): PaymentId,
    token: Token,
) -> Result<Response, Error> {
    let now = follow(&state, &id, &token).await?;
    let stream = events::open(&state, &id, now, origin);
    stream.map(IntoResponse::into_response).ok_or_else(|| {
        Error::new(StatusCode::SERVICE_UNAVAILABLE, "Service unavailable")
            .header(http::header::RETRY_AFTER, HeaderValue::from_static("5"))
    })
}

/// `GET /payments/{id}/artefacts`: what the page shows of its payment, also when it is loaded again and knows only id and token.
pub(crate) async fn payment_artefacts(
    From(state): From<State>,
    PaymentId(id): PaymentId,
    token: Token,
) -> Result<Response, Error> {
    authorise(&state, &id, &token)?;
    let found = super::find(&state, &id).await.map_err(database)?;
    let payment = found.ok_or_else(not_found)?;
    Ok(private(Json(ArtefactsBody::new(&payment))))
}

async fn follow(state: &State, id: &str, token: &Token) -> Result<StatusView, Error> {
    authorise(state, id, token)?;
    let found = super::find_status(state, id).await.map_err(database)?;
    let (status, detail) = found.ok_or_else(not_found)?;
    Ok(StatusView::new(status, &detail))
}

/// The token belongs to the payment's id: nothing is looked up for a wrong one, and an unknown id answers alike.
fn authorise(state: &State, id: &str, token: &Token) -> Result<(), Error> {
    if digest::is_equal(&state.status_token(id), &token.0) {
        Ok(())
    } else {
        Err(Error::new(StatusCode::UNAUTHORIZED, "Invalid credentials"))
    }
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
fn text(body: String, replayed: bool) -> Response {
    let mut response = private(([(CONTENT_TYPE, "application/json")], body));
    if replayed {
        response
            .headers_mut()
            .insert(REPLAYED, HeaderValue::from_static("true"));
    }
    response
}

/// People's data, which no cache may keep.
fn private(answer: impl IntoResponse) -> Response {
    let mut response = answer.into_response();
    response
        .headers_mut()
        .insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
