//! Payments: created, read, listed, cancelled and refunded; their state machine, idempotency and storage.
//!
//! The rules of a request live in `request`, the provider's calls in `provider`; notifications and the reconciler come
//! here to record the provider's word. Carries the specification's "Resources" and "States and transitions".

pub mod idempotency;
pub mod state;

pub use idempotency::IdempotencyKey;
pub use state::PaymentState;
