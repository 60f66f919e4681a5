//! Orders: an amount that the shop sets, the page where the buyer pays it, and the order's states.
//!
//! Payments of orders are ordinary payments. `attempts` creates them after checking that the order
//! may be paid, and calls [`follow`] in the transaction that stores their state. `closing` cancels
//! the payments of an order that has ended.

mod change;
mod create;
mod end;
mod events;
mod gate;
mod model;
mod query;
mod read;
mod request;
mod shape;
mod store;

pub(crate) use change::{PaymentChange, follow, follow_refused_approval};
pub(crate) use create::{CreateOrderError, CreatedOrder, create, delete_expired_keys, made_at};
pub(crate) use end::{
    CancelOrderError, cancel_locked, due, expire, next_due, postpone_refund, try_cancel,
};
pub(crate) use gate::{LivePayment, Obstacle, lock, obstacle};
pub(crate) use model::{Item, Order, OrderStatus};
pub(crate) use query::{OrderListQuery, parse as parse_query};
pub(crate) use read::{LinkedOrder, find, find_by_token, find_linked, list};
pub(crate) use request::{check as check_request, is_end_out_of_range};
pub(crate) use shape::{OrderEvent, OrderListBody, OrderRequest};
pub(crate) use store::{LockedOrder, Overpayment, find_by_row, lock_of_payment};
