//! A single delivery attempt to one address: the signature (Standard Webhooks 1.0), the HTTP
//! exchange, and forbidden addresses. `dispatch` has the schedule and records the result. This
//! module does not use the database.

mod connector;
mod public;
mod sender;
mod signature;
mod target;

pub(crate) use connector::tls;
pub(crate) use sender::{Answer, Outcome, Reach, SignedMessage, TIMEOUT, WebhookSender};
pub use signature::{Secret, SecretError, SignatureHeaders};
pub use target::{Target, TargetError};
