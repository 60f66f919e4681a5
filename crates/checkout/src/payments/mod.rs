//! Stored payments: their state machine, rows and JSON, and the streams of their status.
//!
//! `attempts` creates and changes payments. Implements the specification's "Resources" and "States
//! and transitions".

mod attempt_step;
mod by_method;
mod declines;
mod model;
mod query;
mod read;
pub(crate) mod schema;
mod shape;
mod state;
mod status;
pub(crate) mod store;

pub(crate) use attempt_step::AttemptStep;
pub(crate) use by_method::{AnyPayment, PaymentEvent};
pub(crate) use declines::coarse_body;
pub(crate) use model::{
    CardFacts, Intent, Payer, Payment, StatusReport, StatusSnapshot, approved_at,
};
pub(crate) use query::{PaymentListQuery, parse as parse_query};
pub(crate) use read::{find, find_stored, list};
pub(crate) use shape::{ArtefactsBody, PaymentBody, RefundBody};
pub use state::PaymentState;
pub(crate) use state::{Transition, TransitionError, TransitionKind, Transitions};
pub(crate) use status::{StatusBroadcaster, StatusView, open_stream, watch_statuses};
pub(crate) use store::{DueQuery, Source, StoredPayment, find_by_row, find_language};
