//! The status of payments as open pages follow it: status and detail, now and as they change. It
//! contains nothing about the payer.

mod broadcaster;
mod stream;

pub(crate) use broadcaster::{StatusBroadcaster, StatusView};
pub(crate) use stream::{open_stream, watch_statuses};
