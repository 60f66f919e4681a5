//! The SQL of attempts. Payments and refunds share one table, so each rule about leases, checks, ends
//! and erasure is one statement. The reconciler uses the statements about checks.

mod due;
mod find;
mod write;

pub(super) use due::unknown_attempts;
pub(crate) use due::{
    close_attempt, due_attempts, next_attempt_due, open_attempts, postpone_attempt, update_answer,
};
pub(super) use find::{find_attempt_by_key, find_attempt_by_reference, refunds_of};
pub(super) use write::{
    Finish, Release, delete_attempt, erase_expired, finish_attempt, follow_refund, free_key,
    insert_attempt, keep_card_token, keep_expiry, refuse_attempt, release_attempt,
    release_dead_attempts, take_attempt,
};
