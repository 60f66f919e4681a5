//! Around the calls to the provider's interface: the record of calls, injected faults, and
//! idempotency keys in flight.

mod faults;
mod in_flight;
mod mask;
mod record;

use std::time::Duration;

pub(crate) use faults::{ClearSignal, Fault, FaultRequest, Faults, Kind as FaultKind};
pub(crate) use in_flight::{InFlight, KeyClaim};
pub(crate) use record::CallLog;

/// How a connection ends in place of an answer; the server finds it in the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BrokenConnection {
    Closed,
    Reset,
}

/// Travels with a request whose answer leaves out what is younger than this.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lag(pub(crate) Duration);
