//! Mail to the staff of the shop: texts and recipients. The crate `delivery` sends it.

mod compose;
mod report;

use compose::Composer;
pub use delivery::mail::{Sender, Server, ServerError};
pub(crate) use report::{ReportSection, ReportText};

use std::sync::Arc;

use db::{Error, Timestamp, Tx};
use delivery::mail::NewMail;

use super::SERVICE;
use crate::{Config, State, level::LowStock};

/// The settings of mail.
#[derive(Debug, Clone)]
pub struct Mail {
    /// The mail server.
    pub server: Server,
    /// The sender.
    pub from: Sender,
    /// The addresses of the recipients.
    pub to: Vec<String>,
    /// The time of the daily digest, in minutes after midnight UTC. `None` without a digest.
    pub digest: Option<u32>,
}

/// The settings of the worker that sends mail; `None` without mail.
pub(crate) fn worker_settings(config: &Config) -> Option<delivery::mail::Mail> {
    let mail = config.mail.as_ref()?;
    Some(delivery::mail::Mail {
        server: mail.server.clone(),
        from: mail.from.clone(),
        templates: Arc::new(Composer::of(config)?),
    })
}

/// Queues the weekly report for each recipient, in the transaction that stores it as the analysis
/// `id`. [`super::Outbox::wake_mail`] sends it right after the commit.
pub(crate) async fn queue_report(
    tx: &mut Tx,
    state: &State,
    (week, id): (&str, i64),
    report: ReportText,
    now: Timestamp,
) -> Result<(), Error> {
    match Composer::of(&state.config) {
        Some(composer) => queue(tx, &composer.report(week, id, report), now).await,
        None => Ok(()),
    }
}

/// Queues the digest of a day for each recipient: the lowest products, of `count` in total.
pub(crate) async fn queue_digest(
    tx: &mut Tx,
    state: &State,
    (day, now): (&str, Timestamp),
    (low, count): (&[LowStock], u64),
) -> Result<(), Error> {
    match Composer::of(&state.config) {
        Some(composer) => queue(tx, &composer.digest((day, now), low, count), now).await,
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
