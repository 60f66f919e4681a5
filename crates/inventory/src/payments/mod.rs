//! The shop's pages about orders and payments, as a client of a checkout's API like any other: nothing of it is stored here but who asked for
//! what, in the audit log. What an order or a payment is, and what may become of it, is checkout's business.
//!
//! Money that is given back, and an order that is canceled, leave two rows: before checkout is asked, and after it has answered. So
//! nothing that was done lacks its trace, even when the answer was lost.

mod client;
mod config;
mod model;
pub(crate) mod pages;
mod words;

use db::Money;

pub use client::Checkout;
pub(crate) use client::Failure;
pub use config::Config;
pub(crate) use words::{ORDER, PAYMENT, PLACE, model_word};

use crate::{
    State,
    access::{Caller, Model},
    audit::{self, Action, Entry},
    rest::Refusal,
    work::{Work, write},
};
use model::{
    Exact, List, ListQuery, Listed, NewOrder, NewRefund, Order, OrderStatus, Payment, Refund,
    RefundStatus,
};

/// Rows of the audit log that a payment's page tells.
const TOLD: i64 = 20;

/// What is asked of checkout, as the audit log names it.
struct Request<'a> {
    model: Model,
    /// The record's id at checkout.
    id: &'a str,
    /// What of it.
    text: String,
}

impl Request<'_> {
    /// Writes down what was asked for or came of it.
    async fn record(
        &self,
        state: &State,
        caller: &Caller,
        action: Action<'static>,
    ) -> Result<(), db::Error> {
        let text = match self.text.as_str() {
            "" => self.id.to_owned(),
            text => format!("{}: {text}", self.id),
        };
        let (model, id) = (self.model, self.id.parse::<i64>().ok());
        let job =
            async move |work: &mut Work<'_>| audit::record(work, action, model, id, &text).await;
        write(state, caller, job).await
    }

    /// Writes down what came of it. It was done already, so a fault of the store is for the log alone.
    async fn record_outcome(&self, state: &State, caller: &Caller, action: Action<'static>) {
        if let Err(error) = self.record(state, caller, action).await {
            let (model, id) = (self.model.code(), self.id);
            tracing::error!(%error, model, id, "the audit log lacks what came of a request to checkout");
        }
    }
}

fn checkout(state: &State) -> Result<&Checkout, Failure> {
    state.checkout.as_ref().ok_or(Failure::NotFound)
}

/// One page of orders or payments, newest first.
async fn list<T: Listed>(state: &State, query: &ListQuery) -> Result<List<T>, Failure> {
    checkout(state)?.list(query).await
}

/// One order. What can be no id names none.
async fn order(state: &State, id: &str) -> Result<Order, Failure> {
    check_id(id)?;
    checkout(state)?.order(id).await
}

/// Makes an order; the same key with the same order makes it once.
async fn create_order(
    state: &State,
    caller: &Caller,
    new: &NewOrder,
    key: &str,
) -> Result<Order, Failure> {
    let order = checkout(state)?.create_order(new, key).await?;
    let made = Request {
        model: Model::Order,
        id: &order.id,
        text: state.config.language.money(order.amount),
    };
    made.record_outcome(state, caller, Action::Added).await;
    Ok(order)
}

/// Cancels an order that is open.
async fn cancel_order(state: &State, caller: &Caller, id: &str) -> Result<Order, Failure> {
    check_id(id)?;
    let checkout = checkout(state)?;
    let request = Request {
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

/// One payment. What can be no id names none.
async fn payment(state: &State, id: &str) -> Result<Payment, Failure> {
    check_id(id)?;
    checkout(state)?.payment(id).await
}

/// Gives money back, all that is left without an amount; the same key with the same amount gives it back once.
async fn refund(
    state: &State,
    caller: &Caller,
    id: &str,
    amount: Option<Money>,
    key: &str,
) -> Result<Refund, Failure> {
    check_id(id)?;
    let checkout = checkout(state)?;
    let language = state.config.language;
    let all = language.text("tudo o que resta", "everything that is left");
    let asked = Request {
        model: Model::Payment,
        id,
        text: amount.map_or_else(|| all.to_owned(), |amount| language.money(amount)),
    };
    asked.record(state, caller, Action::Asked).await?;
    let outcome = checkout
        .refund(
            id,
            NewRefund {
                amount: amount.map(Exact),
            },
            key,
        )
        .await;
    match &outcome {
        Ok(refund) => {
            let done = Request {
                text: format!("{}, {}", language.money(refund.amount), refund.id),
                ..asked
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
        Err(_) => asked.record_outcome(state, caller, Action::Refused).await,
    }
    outcome
}

/// What was asked for a payment on these pages, newest first; nothing is known of one whose id is no number.
async fn refunds_asked(state: &State, id: &str) -> Result<Vec<Entry>, Refusal> {
    let Ok(id) = id.parse::<i64>() else {
        return Ok(Vec::new());
    };
    let read = async move |conn: &mut db::Conn| audit::latest(conn, Model::Payment, id, TOLD).await;
    Ok(state.db.read(read).await?)
}

fn check_id(id: &str) -> Result<(), Failure> {
    if model::is_id(id) {
        Ok(())
    } else {
        Err(Failure::NotFound)
    }
}
