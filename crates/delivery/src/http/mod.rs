//! How one event goes to one address: its signature (Standard Webhooks 1.0), the exchange, and
//! where it may not go. When it goes and what follows from the answer is in `dispatch`. Knows no
//! database.

mod connector;
mod public;
mod sender;
mod signature;
mod target;

pub(crate) use connector::tls;
pub(crate) use sender::{Answer, Outcome, Reach, SignedMessage, TIMEOUT, WebhookSender};
pub use signature::{Secret, SecretError, SignatureHeaders};
pub use target::{Target, TargetError};
