//! What the real provider does not have: fault injection, a record of calls, the total of moved
//! money, and actions of payers and banks.
//!
//! `layer` wraps every call of the provider's API. For tests, and for the buttons on the sandbox's
//! pages.

mod act;
pub(crate) mod api;
mod charges;
mod layer;

pub(crate) use act::Act;
pub(crate) use layer::intercept;
