//! Mail to the people of the shop: its contents, the queue, the protocol. What is worth a mail is decided where events are published.

mod compose;
mod message;
mod server;
mod smtp;
mod worker;

pub(super) use compose::Composer;
pub use server::{Server, ServerError};
pub(crate) use worker::run;
pub use worker::{digest, pass};

use db::{Error, Timestamp, Tx};

use super::store::mails;
use crate::{State, analysis::report::Printed};

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

/// Whom mails come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sender {
    /// What readers see; empty for the address alone.
    pub name: String,
    /// The address.
    pub address: String,
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
    let Some(composer) = Composer::of(&state.config) else {
        return Ok(());
    };
    for mail in composer.report(week, id, report) {
        mails::insert(tx, &mail, now).await?;
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
