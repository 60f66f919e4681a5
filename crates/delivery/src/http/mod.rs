//! One delivery to one address: its signature (Standard Webhooks 1.0), the HTTP exchange, and
//! forbidden addresses. `dispatch` has the schedule and handles the result. No database is used
//! here.

mod connector;
mod public;
mod sender;
mod signature;
mod target;

pub(crate) use connector::tls;
pub(crate) use sender::{Answer, Outcome, Reach, SignedMessage, TIMEOUT, WebhookSender};
pub use signature::{Secret, SecretError, SignatureHeaders};
pub use target::{Target, TargetError};
