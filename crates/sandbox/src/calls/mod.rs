//! The handling around calls to the provider's API: the record of calls, injected faults, and
//! idempotency keys in flight.

mod faults;
mod in_flight;
mod mask;
mod record;

use std::time::Duration;

pub(crate) use faults::{ClearSignal, Fault, FaultRequest, Faults, Kind as FaultKind};
pub(crate) use in_flight::{InFlight, KeyClaim};
pub(crate) use record::CallLog;

/// How a connection ends instead of a response. The server finds this value among the response's
/// extensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BrokenConnection {
    Closed,
    Reset,
}

/// Request extension: the response omits what is newer than this.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lag(pub(crate) Duration);
