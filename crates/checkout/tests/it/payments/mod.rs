//! Payments through the API, over the real sandbox, on both engines where storage matters.

pub(crate) mod anonymous_clients;
pub(crate) mod app;
mod cancels_and_refunds;
mod certainty;
mod creation;
mod faults;
mod following;
mod http_stack;
mod idempotency;
mod key_owners;
pub(crate) mod notified;
mod outcome;
mod provider_quirks;
mod reading;
mod reconciling;
mod reported_changes;
pub(crate) mod requests;
pub(crate) mod sandbox;
mod secrecy;
mod standstill;
