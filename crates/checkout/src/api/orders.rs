//! The JSON addresses of orders.

use axum::Json;
use axum::body::Body;
use axum::extract::{Query, State as From};
use axum::response::Response;
use http::request::Parts;
use http::{HeaderMap, StatusCode};
use web::Error;
use web::client::PublicUrl;
use web::openapi::Failure;

use super::examples::orders as examples;
use super::payments::make;
use super::{content_type, mark_replayed, private};
use crate::access::{Caller, Merchant};
use crate::attempts::OrderRef;
use crate::errors::{database, order_not_found, unknown_outcome};
use crate::idempotency::KeyText;
use crate::ids::{OrderId, PageToken};
use crate::lists::page_links;
use crate::orders::{self, CreatedOrder, Order, OrderListBody, OrderListQuery, OrderRequest};
use crate::payments::AnyPayment;
use crate::request::{OrderTerms, PaymentOfOrderRequest, Refusal, check_content_type, read_body};
use crate::state::State;
use crate::{BODY_MAX, closing};

/// Create an order
///
/// Fixes a sum that its buyer pays on the page at `url`. Members that are not described here are refused.
#[utoipa::path(
    post, path = "/orders/", tag = "Orders", operation_id = "createOrder",
    security(("merchantKey" = [])), params(KeyText),
    request_body(content = OrderRequest, description = "At most 64 KiB.",
        examples(("items" = (value = json!(examples::request()))))),
    responses(
        (status = 201, description = "The order.", body = Order,
        headers(("Idempotent-Replayed")), examples(("open" = (value = json!(examples::open_order()))))),
        Failure<409>, Failure<413>, Failure<422>,
    ),
)]
pub(crate) async fn order_create(
    From(state): From<State>,
    merchant: Merchant,
    public_url: PublicUrl,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Error> {
    check_content_type(content_type(&headers))?;
    let body = read_body(body, BODY_MAX).await?;
    merchant.confirm(&state.keys).await?;
    let now = state.clock.now();
    let checked = |now| orders::check_request(content_type(&headers), &body, now);
    let key = KeyText::from_headers(&headers);
    let caller = Caller::Merchant(merchant);
    let owned = |key: KeyText| key.owned_by(&caller, &state.config.secret);
    // A retry concerns an order that was created earlier, when its expiry was further away and its
    // amount allowed.
    let made_or = async |refusal: Refusal| {
        let made = orders::made_at(&state.db, key.clone()?.map(owned), now).await;
        made.map_err(database)?.ok_or_else(|| Error::from(refusal))
    };
    let new = match checked(now) {
        Err(refusal) if orders::is_end_out_of_range(&refusal) => checked(made_or(refusal).await?)?,
        other => other?,
    };
    if let Err(refusal) = new.check_amount(&state.config.max_amounts) {
        made_or(refusal).await?;
    }
    let CreatedOrder {
        order,
        replayed: is_replayed,
    } = orders::create(&state, new, key?.map(owned), now).await?;
    let order = with_url(&state, &public_url, order);
    let mut response = private((StatusCode::CREATED, Json(order)));
    if is_replayed {
        mark_replayed(&mut response);
    }
    Ok(response)
}

/// List orders, newest first
#[utoipa::path(
    get, path = "/orders/", tag = "Orders", operation_id = "listOrders",
    security(("merchantKey" = [])), params(OrderListQuery),
    responses(
        (status = 200, description = "One page.", body = OrderListBody,
        examples(("page" = (value = json!(examples::page()))))),
        Failure<422>,
    ),
)]
pub(crate) async fn order_list(
    From(state): From<State>,
    _merchant: Merchant,
    public_url: PublicUrl,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Result<Response, Error> {
    let request = orders::parse_query(&pairs)?;
    let page = orders::list(&state.db, request.clone()).await;
    let page = page.map_err(database)?;
    let (next, previous) = page_links(&public_url, &request, &pairs, page.count);
    let orders = page.rows.into_iter();
    let body = OrderListBody {
        count: page.count,
        next,
        previous,
        results: orders
            .map(|order| with_url(&state, &public_url, order))
            .collect(),
    };
    Ok(private(Json(body)))
}

/// Read an order
#[utoipa::path(
    get, path = "/orders/{id}", tag = "Orders", operation_id = "readOrder",
    security(("merchantKey" = [])), params(OrderId),
    responses(
        (status = 200, description = "The order.", body = Order,
        examples(("open" = (value = json!(examples::open_order()))))),
        Failure<404>,
    ),
)]
pub(crate) async fn order_read(
    From(state): From<State>,
    _merchant: Merchant,
    public_url: PublicUrl,
    OrderId(id): OrderId,
) -> Result<Response, Error> {
    let found = orders::find(&state.db, &id).await.map_err(database)?;
    let order = found.ok_or_else(order_not_found)?;
    Ok(private(Json(with_url(&state, &public_url, order))))
}

/// Cancel an order
///
/// Only while it is open. A pending payment is cancelled at the provider first: if that turns out to be paid, the answer is 409
/// and the order is paid. Repeating it is no error.
#[utoipa::path(
    post, path = "/orders/{id}/cancel", tag = "Orders", operation_id = "cancelOrder",
    security(("merchantKey" = [])), params(OrderId),
    responses(
        (status = 200, description = "The canceled order.", body = Order,
        examples(("canceled" = (value = json!(examples::canceled_order()))))),
        Failure<404>, Failure<409>, Failure<502>,
    ),
)]
pub(crate) async fn order_cancel(
    From(state): From<State>,
    _merchant: Merchant,
    public_url: PublicUrl,
    OrderId(id): OrderId,
) -> Result<Response, Error> {
    let order = closing::cancel(&state, &id).await?;
    Ok(private(Json(with_url(&state, &public_url, order))))
}

/// Pay an order
///
/// As `POST /create_payment`, without `transaction_amount` and `description`, which the order has fixed. At most one payment of
/// an order is alive: a pix or a boleto that still waits for its payer is cancelled at the provider first; while the outcome of
/// another attempt is not known, the answer is 409.
#[utoipa::path(
    post, path = "/pay/{token}", tag = "Orders", operation_id = "payOrder",
    security((), ("merchantKey" = [])), params(PageToken, KeyText),
    request_body(content = PaymentOfOrderRequest, description = "At most 64 KiB.",
        examples(("pix" = (value = json!(examples::payment()))))),
    responses(
        (status = 200, description = "The payment, in the shape of its method.", body = AnyPayment,
        headers(("X-Payment-Status-Token"), ("Idempotent-Replayed"))),
        Failure<404>, Failure<409>, Failure<410>, Failure<413>, Failure<422>, Failure<502>,
    ),
)]
pub(crate) async fn order_pay(
    From(state): From<State>,
    PageToken(token): PageToken,
    request: Parts,
    body: Body,
) -> Result<Response, Error> {
    let requested_at = state.clock.now();
    let found = orders::find_by_token(&state.db, &token).await;
    // An earlier request with the same key may have moved money.
    let found = found.map_err(|error| unknown_outcome(database(error)))?;
    let (row, order) = found.ok_or_else(order_not_found)?;
    let of_order = OrderRef {
        row,
        id: order.id,
        expires_at: order.expires_at,
    };
    let terms = OrderTerms {
        amount: order.amount,
        description: order.description,
        methods: order.payment_methods,
        max_installments: order.max_installments,
    };
    let order = Some((of_order, terms));
    make(&state, requested_at, &request, body, order).await
}

/// Adds the address of an order's page.
fn with_url(state: &State, public_url: &PublicUrl, order: Order) -> Order {
    let url = public_url.join(&format!("/pay/{}", state.order_token(&order.id)));
    Order {
        url: Some(url),
        ..order
    }
}
