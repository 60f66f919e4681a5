//! Mail: the queue, the message format, SMTP. The service supplies texts and recipients; `mailer`
//! sends due mails.

mod message;
mod server;
mod smtp;

pub use crate::store::mails::NewMail;
pub(crate) use message::{MailMessage, domain};
pub use server::{Server, ServerError};
pub(crate) use smtp::send;

use std::{fmt, sync::Arc};

use db::{Error, Timestamp, Tx};

use crate::{DisabledReason, Service, store::mails};

/// The mail settings of a service.
#[derive(Clone)]
pub struct Mail {
    /// The SMTP server.
    pub server: Server,
    /// The sender.
    pub from: Sender,
    /// The texts of mails about events.
    pub templates: Arc<dyn MailTemplates>,
}

impl fmt::Debug for Mail {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut mail = formatter.debug_struct("Mail");
        mail.field("server", &self.server).field("from", &self.from);
        mail.finish_non_exhaustive()
    }
}

/// The sender of mails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sender {
    /// The display name. Empty shows only the address.
    pub name: String,
    /// The address.
    pub address: String,
}

/// The mails about events of the workers, one for each recipient. A service queues its other mails
/// itself.
pub trait MailTemplates: Send + Sync {
    /// Whether events of this type are mailed.
    fn is_mailed(&self, _kind: &str) -> bool {
        false
    }

    /// The mails of an event.
    fn for_event(&self, _id: i64, _payload: &str) -> Vec<NewMail> {
        Vec::new()
    }

    /// The mails about a disabled endpoint.
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

/// For a service that mails no events.
impl MailTemplates for () {}

/// Queues a mail in the transaction of the change that it reports. Returns whether it was not
/// queued before. It is sent after the commit, at once after [`crate::Outbox::wake_mail`].
pub async fn queue(
    tx: &mut Tx,
    service: &Service,
    mail: &NewMail,
    now: Timestamp,
) -> Result<bool, Error> {
    mails::insert(tx, service.name, mail, now).await
}
