//! The parts that the real provider does not have: faults on demand, a record of calls, a count of
//! the money moved, and acts of payers and banks.
//!
//! `layer` goes around every call of the provider's interface. For tests, and for the buttons of
//! the sandbox's pages.

mod act;
pub(crate) mod api;
mod charges;
mod layer;

pub(crate) use act::Act;
pub(crate) use layer::intercept;
