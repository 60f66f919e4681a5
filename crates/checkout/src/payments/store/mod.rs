//! The SQL of payments, refunds and attempts, and nowhere else. Each function is one statement, or two that belong together;
//! none opens a transaction, and none decides anything.

mod attempts;
mod history;
mod payments;
mod secret;
mod sweeps;

pub(crate) use attempts::{
    Attempt, AttemptStep, Due, Finish, Instruction, Lease, MadeRefund, NewAttempt,
    PaymentInstruction, RefundInstruction, Release, Terms, close_attempt, due_attempts,
    erase_expired, find_attempt_by_key, find_attempt_by_reference, find_language, finish_attempt,
    follow_refund, forget_attempt, free_key, insert_attempt, keep_card_token, next_attempt_due,
    note_answer, open_attempts, postpone_attempt, refunds_of, refuse_attempt, release_attempt,
    release_dead_attempts, take_attempt, unknown_attempts,
};
pub(crate) use history::{Source, insert_correction, insert_refusal, insert_steps, last_entry};
pub(crate) use payments::{
    StoredPayment, due_payments, find_by_row, find_payment, find_status, find_stored,
    insert_payment, list_payments, lock_stored, next_payment_due, postpone_payment,
    update_snapshot,
};
pub(crate) use secret::keep_proof;
pub(crate) use sweeps::{Sweep, begin_sweeps, claim_sweep, find_sweep, oldest_payment, save_sweep};
