//! Attempts: requests to the provider for payments, refunds and cancellations, and their results.
//!
//! Payments and refunds are created in the same way. The intent is stored with the idempotency keys
//! of its calls. One run at a time works on the attempt under a lease (`claim`). The attempt ends
//! only when it is certain what the provider has done (`finality`). `settle` records every report
//! of the provider, so the state machine of payments is applied in one place.

mod adopt;
mod cancel;
mod checks;
mod claim;
mod create;
mod end;
mod events;
mod finality;
mod model;
mod outcome;
mod refund;
mod settle;
mod store;

pub(crate) use adopt::{Adoption, adopt_or_record, complete};
pub(crate) use cancel::{CancelError, cancel};
pub(crate) use checks::{
    claim_sweep, close_attempt, due_attempts, due_payments, erase_expired, find_or_begin_sweep,
    next_due, open_attempts, postpone_attempt, postpone_payment, record_answer, release_dead,
    save_sweep, unknown_count,
};
pub(crate) use claim::{begun_at, new_key, patience, reference};
pub(crate) use create::{CreateError, CreationResponse, OrderRef, Requester, create};
pub(crate) use finality::is_certain;
pub(crate) use model::{Attempt, Instruction};
pub(crate) use outcome::{CreationOutcome, find_outcome};
pub(crate) use refund::{RefundCheck, RefundError, check_refund, record, refund};
pub(crate) use settle::ReportOutcome;
