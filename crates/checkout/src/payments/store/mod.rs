//! The SQL of payments and of the history of their states. Each function is one statement, or two
//! that belong together. None opens a transaction or decides anything.

mod history;
mod payments;

pub(crate) use history::{Source, insert_correction, insert_refusal, insert_steps, last_entry};
pub(crate) use payments::{
    DueQuery, StoredPayment, card_facts, due_payments, find_by_row, find_language, find_payment,
    find_stored, insert_payment, list_payments, lock_stored, next_payment_due, postpone_payment,
    update_snapshot,
};
