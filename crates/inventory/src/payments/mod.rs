//! The shop's pages about orders and payments, a client of checkout's API. Only the audit log is
//! stored here; checkout holds the data and the rules.
//!
//! A refund or a cancellation writes two entries to the audit log: one before the request to
//! checkout and one after the response. So it is in the log even if the response is lost.

mod client;
mod config;
mod labels;
mod model;
pub(crate) mod pages;

use db::Money;
use serde::de::DeserializeOwned;
use web::rate::{Key, Period, Rate};

pub use client::Checkout;
pub(crate) use client::Failure;
pub use config::CheckoutConfig;
pub(crate) use labels::TITLE;

use crate::{
    State,
    access::{Caller, Model},
    api::gate,
    audit::{self, Action, Entry},
    rest::Refusal,
    work::{Work, write},
};
use model::{
    CheckoutOrder, ExactAmount, ListQuery, NewCheckoutOrder, NewRefund, OrderStatus, Payment,
    PaymentList, Refund, RefundStatus,
};

/// The calls to checkout for one user. They leave others some of the hundred a minute that checkout
/// allows a merchant's key by default.
const CALLS: Rate = Rate::new(60, Period::Minute);
/// The most entries of the audit log on a payment's page.
const AUDIT_ROWS: i64 = 20;

/// A request to checkout as an entry of the audit log.
struct AuditedRequest<'a> {
    model: Model,
    /// The record's id at checkout.
    id: &'a str,
    /// Its details.
    text: String,
}

impl AuditedRequest<'_> {
    /// Records the request or its outcome.
    async fn record(&self, state: &State, caller: &Caller, action: Action) -> Result<(), Refusal> {
        let text = match self.text.as_str() {
            "" => self.id.to_owned(),
            text => format!("{}: {text}", self.id),
        };
        let (model, id) = (self.model, self.id.parse::<i64>().ok());
        let job = async move |work: &mut Work<'_>| {
            Ok(audit::record(work, action, model, id, &text).await?)
        };
        write(state, caller, job).await
    }

    /// Records the outcome. The request has been carried out, so a database error is only logged.
    async fn record_outcome(&self, state: &State, caller: &Caller, action: Action) {
        if let Err(error) = self.record(state, caller, action).await {
            let (model, id) = (self.model.code(), self.id);
            tracing::error!(%error, model, id, "payments: writing the outcome of a request to checkout to the audit log failed: the log keeps the request without its outcome");
        }
    }
}

/// The client for one call to checkout, which counts against the caller's limit.
async fn checkout<'a>(state: &'a State, caller: &Caller) -> Result<&'a Checkout, Failure> {
    let checkout = state.checkout.as_ref().ok_or(Refusal::NotFound)?;
    let key = Key::new("inventory:payments", caller.id.to_string());
    gate::take(state, &key, &CALLS.into()).await?;
    Ok(checkout)
}

/// One page of the orders or payments at a path, newest first.
async fn list<T: DeserializeOwned>(
    state: &State,
    caller: &Caller,
    path: &str,
    query: &ListQuery,
) -> Result<PaymentList<T>, Failure> {
    checkout(state, caller).await?.list(path, query).await
}

/// One order. A text that cannot be an id is not found.
async fn order(state: &State, caller: &Caller, id: &str) -> Result<CheckoutOrder, Failure> {
    check_id(id)?;
    checkout(state, caller).await?.order(id).await
}

/// Creates an order. A retry with the same key creates it only once.
async fn create_order(
    state: &State,
    caller: &Caller,
    new: &NewCheckoutOrder,
    key: &str,
) -> Result<CheckoutOrder, Failure> {
    let checkout = checkout(state, caller).await?;
    let order = checkout.create_order(new, key).await?;
    let request = AuditedRequest {
        model: Model::Order,
        id: &order.id,
        text: state.config.language.money(order.amount),
    };
    request.record_outcome(state, caller, Action::Added).await;
    Ok(order)
}

/// Cancels an open order.
async fn cancel_order(state: &State, caller: &Caller, id: &str) -> Result<CheckoutOrder, Failure> {
    check_id(id)?;
    let checkout = checkout(state, caller).await?;
    let request = AuditedRequest {
        model: Model::Order,
        id,
        text: String::new(),
    };
    request.record(state, caller, Action::Asked).await?;
    let outcome = checkout.cancel_order(id).await;
    let action = match &outcome {
        Ok(order) if order.status == OrderStatus::Canceled => Some(Action::Canceled),
        Ok(_) | Err(Failure::Unanswered(_)) => None,
        Err(_) => Some(Action::Refused),
    };
    if let Some(action) = action {
        request.record_outcome(state, caller, action).await;
    }
    outcome
}

/// One payment. A text that cannot be an id is not found.
async fn payment(state: &State, caller: &Caller, id: &str) -> Result<Payment, Failure> {
    check_id(id)?;
    checkout(state, caller).await?.payment(id).await
}

/// Refunds an amount, or the rest without one. A retry with the same key refunds only once.
async fn refund(
    state: &State,
    caller: &Caller,
    id: &str,
    amount: Option<Money>,
    key: &str,
) -> Result<Refund, Failure> {
    check_id(id)?;
    let checkout = checkout(state, caller).await?;
    let language = state.config.language;
    let all = language.text("tudo o que resta", "everything that is left");
    let request = AuditedRequest {
        model: Model::Payment,
        id,
        text: amount.map_or_else(|| all.to_owned(), |amount| language.money(amount)),
    };
    request.record(state, caller, Action::Asked).await?;
    let outcome = checkout
        .refund(
            id,
            NewRefund {
                amount: amount.map(ExactAmount),
            },
            key,
        )
        .await;
    match &outcome {
        Ok(refund) => {
            let done = AuditedRequest {
                text: format!("{}, {}", language.money(refund.amount), refund.id),
                ..request
            };
            let action = match refund.status {
                RefundStatus::Approved => Some(Action::Refunded),
                RefundStatus::Rejected => Some(Action::Refused),
                RefundStatus::InProcess => None,
            };
            if let Some(action) = action {
                done.record_outcome(state, caller, action).await;
            }
        }
        Err(Failure::Unanswered(_)) => {}
        Err(_) => request.record_outcome(state, caller, Action::Refused).await,
    }
    outcome
}

/// The requests about a payment in the audit log, newest first. A payment whose id is not a number
/// has none.
async fn audited_requests(state: &State, id: &str) -> Result<Vec<Entry>, Refusal> {
    let Ok(id) = id.parse::<i64>() else {
        return Ok(Vec::new());
    };
    let read =
        async move |conn: &mut db::Conn| audit::latest(conn, Model::Payment, id, AUDIT_ROWS).await;
    Ok(state.db.read(read).await?)
}

fn check_id(id: &str) -> Result<(), Refusal> {
    if model::is_id(id) {
        Ok(())
    } else {
        Err(Refusal::NotFound)
    }
}
