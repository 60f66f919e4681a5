//! Orders: a sum that the shop sets, the page where its buyer pays it, and what becomes of it.
//!
//! A payment of an order is a payment like any other: `payments` makes it, after asking here whether the order may be paid, and tells here
//! what became of it, in the transaction that stores it.

pub(crate) mod api;
mod cancel;
mod change;
mod create;
mod errors;
pub(crate) mod examples;
mod gate;
mod model;
mod news;
pub(crate) mod pages;
mod query;
mod read;
mod request;
mod shape;
mod store;
mod worker;

pub(crate) use change::{PaymentNews, follow, follow_refused_approval};
pub(crate) use create::{forget_keys, made_at};
pub(crate) use errors::{not_found, reference_taken};
pub(crate) use gate::{OwnAttempt, lock, lock_of_payment, obstacle};
pub(crate) use shape::OrderEvent;
pub(crate) use store::{LockedOrder, find_by_row};
pub(crate) use worker::run;

pub use cancel::{CancelOrderError, cancel};
pub use create::{CreateOrderError, CreatedOrder, create};
pub use gate::Obstacle;
pub use model::{Customer, Item, Order, OrderPayment, OrderStatus};
pub use query::OrderListQuery;
pub use read::{OrderPage, StoredOrder, find, list};
pub use request::NewOrder;
pub use worker::run_due;
