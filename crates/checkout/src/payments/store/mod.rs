//! The SQL of payments, refunds and attempts, and nowhere else. Each function is one statement, or two that belong together;
//! none opens a transaction, and none decides anything.

mod attempts;
mod history;
mod list;
mod payments;
mod refunds;
mod secret;

pub(crate) use attempts::{
    Attempt, AttemptStep, Due, Finish, Lease, NewAttempt, Release, due_attempts, erase_old_answers,
    find_attempt_by_key, find_attempt_by_reference, finish_attempt, forget_attempt, free_key,
    insert_attempt, keep_card_token, next_attempt_due, postpone_attempt, release_attempt,
    release_dead_attempts, take_attempt, unknown_attempts,
};
pub(crate) use history::{Source, insert_refusal, insert_steps, last_entry};
pub(crate) use list::{Filter, count_payments, list_payments};
pub(crate) use payments::{
    Known, due_payments, find_by_row, find_known, find_payment, find_status, insert_payment,
    lock_known, next_payment_due, postpone_payment, update_standing,
};
pub(crate) use refunds::{
    NewRefund, OpenRefund, Refund, due_refunds, erase_old_refund_answers, find_refund_by_key,
    finish_refund, follow_refund, free_refund_key, insert_refund, is_refused, next_refund_due,
    postpone_refund, refunds_of, release_dead_refunds, release_refund, take_refund,
};
pub(crate) use secret::keep_proof;
