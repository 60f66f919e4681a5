//! The page's view of its payment: status and detail, now and as they change, for whoever holds the payment's token.
//! It contains nothing about the payer.

mod hub;
mod stream;

pub(crate) use hub::{Hub, StatusView};
pub use stream::look_out;
pub(crate) use stream::open;
