//! Payments: created, read, listed, cancelled and refunded; their state machine, idempotency and storage.
//!
//! The rules of a request live in `request`, the provider's calls in `provider`; notifications and the reconciler come
//! here to record the provider's word. Carries the specification's "Resources" and "States and transitions".

mod adopt;
pub(crate) mod api;
mod attempt;
mod cancel;
mod checks;
mod create;
mod declines;
mod errors;
pub(crate) mod events;
pub(crate) mod examples;
pub(crate) mod following;
pub mod idempotency;
mod model;
mod news;
mod outcome;
mod query;
mod read;
mod refund;
pub(crate) mod schema;
mod settle;
mod shape;
pub mod state;
mod store;

pub(crate) use adopt::{Adopted, adopt_or_record, complete, record};
pub(crate) use attempt::{begun_at, is_certain, new_key, patience, reference};
pub(crate) use checks::{
    claim_sweep, close_attempt, due_attempts, due_payments, erase_expired, keep_proof, next_due,
    note_answer, open_attempts, postpone_attempt, postpone_payment, release_dead, save_sweep,
    sweep_from, unknown_count,
};
pub(crate) use errors::{
    busy, database as database_error, mismatch, not_found, provider as provider_error, unknown,
    unknown as unknown_outcome,
};
pub(crate) use outcome::find_outcome;
pub(crate) use read::find_stored;
pub(crate) use refund::{Checked, check_refund};
pub(crate) use schema::PaymentEvent;
pub(crate) use settle::Recorded;
pub(crate) use state::{Step, Transitions};
pub(crate) use store::{
    Attempt, AttemptStep, Due, Instruction, Source, StoredPayment, find_by_row, find_language,
};

pub(crate) use cancel::cancel_for;
pub use cancel::{CancelError, cancel};
pub(crate) use create::{Asker, OrderRef, create};
pub use create::{CreateError, Created};
pub use events::look_out;
pub use idempotency::IdempotencyKey;
pub use model::{Artefacts, CardFacts, Payer, Payment, Word};
pub use query::ListQuery;
pub use read::{Page, find, find_status, list};
pub use refund::{RefundError, Refunded, refund};
pub use shape::{ArtefactsBody, PaymentBody};
pub use state::PaymentState;
