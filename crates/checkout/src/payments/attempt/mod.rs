//! The life of an attempt, the same for a payment and for a refund: the intent is stored with the keys of its calls, one run at a time
//! works on it under a lease, and it ends only by what the provider is certain to have done.
//!
//! What is sent for a payment is in `create`, for a refund in `refund`; the rows are in `store`.

mod claim;
mod end;
mod finality;

pub(crate) use claim::{
    Claim, NewRun, Run, begin, begun_at, holds_key, lease_length, new_key, patience, reference,
    resume,
};
pub(crate) use end::{give_up, give_up_unread};
pub(crate) use finality::{Stage, is_certain};
