//! Payments: created, read, listed, cancelled and refunded; their state machine, idempotency and storage.
//!
//! The rules of a request live in `request`, the provider's calls in `provider`; notifications and the reconciler come
//! here to record the provider's word. Carries the specification's "Resources" and "States and transitions".

mod adopt;
pub(crate) mod api;
mod cancel;
mod checks;
mod claim;
mod create;
mod errors;
pub(crate) mod events;
pub mod idempotency;
mod model;
mod outcome;
mod query;
mod read;
mod refund;
mod settle;
mod shape;
pub mod state;
mod store;

pub(crate) use adopt::{Adopted, adopt_or_record, complete};
pub(crate) use checks::{
    due_attempts, due_payments, due_refunds, erase_old, keep_proof, next_due, postpone_attempt,
    postpone_made_refund, postpone_payment, postpone_refund, release_dead, unknown_count,
};
pub(crate) use claim::{begun_at, new_key, reference};
pub(crate) use errors::database as database_error;
pub(crate) use outcome::find_outcome;
pub(crate) use refund::{follow_refund, match_refund};
pub(crate) use settle::{Recorded, settle_word};
pub(crate) use store::{Attempt, AttemptStep, Due, Known, OpenRefund, Source};

pub use cancel::{CancelError, cancel};
pub use create::{CreateError, Created, create};
pub use idempotency::IdempotencyKey;
pub use model::{Artefacts, CardFacts, Payer, Payment, Word};
pub use read::{ListQuery, Page, find, find_status, list};
pub use refund::{RefundError, Refunded, refund};
pub use shape::{ArtefactsBody, PaymentBody};
pub use state::PaymentState;
