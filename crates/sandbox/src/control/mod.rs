//! What the real provider does not have: faults on demand, a record of calls, a count of the money moved, and the acts of payers and banks.
//!
//! `layer` goes around every call of the provider's interface. For tests, and for the buttons of the sandbox's pages.

mod act;
pub(crate) mod api;
mod calls;
mod charges;
mod faults;
mod layer;
mod mask;

pub(crate) use act::Act;
pub(crate) use calls::Calls;
pub(crate) use faults::Faults;
pub(crate) use layer::{Broken, InFlight, Lag, around};
