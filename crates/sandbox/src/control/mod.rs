//! What the real provider does not have: faults on demand, the calls that came in, money counted, and the payer's and the bank's own acts.
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
pub(crate) use layer::{Broken, InFlight, around};
