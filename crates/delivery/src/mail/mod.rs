//! Mail: the queue, the message, the protocol. Texts and recipients belong to the service; `mailer`
//! sends due mails.

mod message;
mod server;
mod smtp;

pub use crate::store::mails::NewMail;
pub(crate) use message::{MailMessage, domain};
pub use server::{Server, ServerError};
pub(crate) use smtp::{Envelope, send};

use std::{fmt, sync::Arc};

use db::{Error, Timestamp, Tx};

use crate::{DisabledReason, Service, store::mails};

/// How mail is sent.
#[derive(Clone)]
pub struct Mail {
    /// The server that takes our mail.
    pub server: Server,
    /// The sender.
    pub from: Sender,
    /// What events say.
    pub templates: Arc<dyn MailTemplates>,
}

impl fmt::Debug for Mail {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut mail = formatter.debug_struct("Mail");
        mail.field("server", &self.server).field("from", &self.from);
        mail.finish_non_exhaustive()
    }
}

/// Whom mails come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sender {
    /// What readers see; empty for the address alone.
    pub name: String,
    /// The address.
    pub address: String,
}

/// The mails of a service about events of the workers, one for each recipient. Its other mails it
/// queues itself.
pub trait MailTemplates: Send + Sync {
    /// Whether events of this type become mail.
    fn is_mailed(&self, _kind: &str) -> bool {
        false
    }

    /// The mails of an event.
    fn for_event(&self, _id: i64, _payload: &str) -> Vec<NewMail> {
        Vec::new()
    }

    /// The mails that an endpoint of webhooks gets no more events.
    fn for_disabled_endpoint(
        &self,
        _id: i64,
        _url: &str,
        _reason: DisabledReason,
        _now: Timestamp,
    ) -> Vec<NewMail> {
        Vec::new()
    }
}

/// A service without mail of events.
impl MailTemplates for () {}

/// Queues a mail, in the transaction of what it tells of; whether it was not queued before. It goes
/// out after the commit, at once after [`crate::Outbox::wake_mail`].
pub async fn queue(
    tx: &mut Tx,
    service: &Service,
    mail: &NewMail,
    now: Timestamp,
) -> Result<bool, Error> {
    mails::insert(tx, service.name, mail, now).await
}
