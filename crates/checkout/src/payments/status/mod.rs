//! The status and detail of payments, as open pages follow them: now and after each change.
//! Contains nothing about the payer.

mod broadcaster;
mod stream;

pub(crate) use broadcaster::{StatusBroadcaster, StatusView};
pub(crate) use stream::{open_stream, watch_statuses};
