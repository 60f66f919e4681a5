//! The stored data: payments with their states, and card tokens. Pure: time is passed in, and
//! nothing is rendered here.

mod payment;
mod token;

pub(crate) use payment::{Change, ChangeError, Means, Payer, Payment, Refund, Status};
pub(crate) use token::{CardToken, Identification, TokenizedCard};
