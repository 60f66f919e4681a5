//! The page's view of its payment: status and detail, now and as they change, for whoever holds the payment's token.
//! Nothing of the payer is here.

mod hub;
mod stream;

pub(crate) use hub::{Hub, StatusView};
pub(crate) use stream::open;
