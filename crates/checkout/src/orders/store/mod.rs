//! The SQL of orders and their payments. Each function is one statement. None opens a transaction
//! or decides anything.

mod attempts;
mod orders;
mod overpayments;

pub(super) use attempts::{OrderAttempt, attempts_of, payments_of, pending_of, revoke_lease};
pub(super) use orders::{
    InsertedOrder, OrderEnd, delete_expired_keys, due, find, find_by_key, find_by_reference,
    find_by_token, free_key, insert, list, lock, lock_by_id, next_due, touch, write_due_at,
    write_end,
};
pub(crate) use orders::{LockedOrder, find_by_row, lock_of_payment};
pub(crate) use overpayments::Overpayment;
pub(super) use overpayments::{
    due_overpayments, insert_overpayment, next_overpayment_due, write_refund_at,
};
