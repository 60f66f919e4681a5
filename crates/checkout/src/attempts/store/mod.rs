//! The SQL of attempts and of the search for changed payments. Payments and refunds share one
//! table, so each rule about leases, checks, ends and erasure is one statement.

mod due;
mod find;
mod sweeps;
mod write;

pub(super) use due::{
    close_attempt, due_attempts, next_attempt_due, open_attempts, postpone_attempt,
    unknown_attempts, update_answer,
};
pub(super) use find::{find_attempt_by_key, find_attempt_by_reference, refunds_of};
pub(super) use sweeps::{Sweep, begin_sweeps, claim_sweep, find_sweep, oldest_payment, save_sweep};
pub(super) use write::{
    Finish, Release, delete_attempt, erase_expired, finish_attempt, follow_refund, free_key,
    insert_attempt, keep_card_token, refuse_attempt, release_attempt, release_dead_attempts,
    take_attempt,
};
