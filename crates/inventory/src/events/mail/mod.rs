//! Mail to the people of the shop: what it says, whom it goes to, and the daily digest. What is worth a mail is decided where events are
//! published; how it is sent is in `delivery`.

mod compose;
mod digest;

pub(super) use compose::Composer;
pub use delivery::mail::{Sender, Server, ServerError};
pub use digest::digest;
pub(crate) use digest::run;

use std::sync::Arc;

use db::{Error, Timestamp, Tx};
use delivery::mail::NewMail;

use super::SERVICE;
use crate::{Config, State, analysis::report::Printed};

/// How people are told by mail.
#[derive(Debug, Clone)]
pub struct Mail {
    /// The server that takes our mail.
    pub server: Server,
    /// The sender.
    pub from: Sender,
    /// The receivers of alerts.
    pub to: Vec<String>,
    /// When a digest of what is low goes out each day: minutes after midnight, UTC.
    pub digest: Option<u32>,
}

/// How the workers send mail; `None` when none is sent.
pub(crate) fn sent_by(config: &Config) -> Option<delivery::mail::Mail> {
    let mail = config.mail.as_ref()?;
    Some(delivery::mail::Mail {
        server: mail.server.clone(),
        from: mail.from.clone(),
        templates: Arc::new(Composer::of(config)?),
    })
}

/// Sends what is due, without sleeping; how many were taken by the server.
///
/// # Errors
///
/// Faults of the store.
pub async fn pass(state: &State) -> Result<usize, Error> {
    delivery::mailer::pass(&state.outbox).await
}

/// Keeps the report of a week for each receiver, where mail is sent, in the transaction that keeps the report itself (as the analysis
/// `id`). It goes out after the commit; one word to [`super::Outbox::wake_mail`] lets it go at once.
///
/// # Errors
///
/// Faults of the store.
pub(crate) async fn keep_report(
    tx: &mut Tx,
    state: &State,
    (week, id): (&str, i64),
    report: Printed,
    now: Timestamp,
) -> Result<(), Error> {
    match Composer::of(&state.config) {
        Some(composer) => queue(tx, &composer.report(week, id, report), now).await,
        None => Ok(()),
    }
}

async fn queue(tx: &mut Tx, mails: &[NewMail], now: Timestamp) -> Result<(), Error> {
    for mail in mails {
        delivery::mail::queue(tx, &SERVICE, mail, now).await?;
    }
    Ok(())
}

#[cfg(test)]
impl Mail {
    /// For tests of what mails say.
    fn to(from: &str, to: &[&str]) -> Self {
        Self {
            server: Server::parse("smtp://127.0.0.1:1").unwrap(),
            from: Sender {
                name: String::new(),
                address: from.to_owned(),
            },
            to: to.iter().map(|address| (*address).to_owned()).collect(),
            digest: None,
        }
    }
}
