//! Mail to the people of the shop: what it says, the queue, the protocol. What is worth a mail is decided by who publishes events.

mod compose;
mod message;
mod server;
mod smtp;
mod worker;

pub(super) use compose::Composer;
pub use server::{Server, ServerError};
pub use worker::pass;
pub(crate) use worker::run;

/// How people are told by mail.
#[derive(Debug, Clone)]
pub struct Mail {
    /// The server that takes our mail.
    pub server: Server,
    /// The sender.
    pub from: String,
    /// The receivers of alerts.
    pub to: Vec<String>,
    /// When a digest of what is low goes out each day: minutes after midnight, UTC.
    pub digest: Option<u32>,
}

#[cfg(test)]
impl Mail {
    /// For tests of what mails say.
    fn to(from: &str, to: &[&str]) -> Self {
        Self {
            server: Server::parse("smtp://127.0.0.1:1").unwrap(),
            from: from.to_owned(),
            to: to.iter().map(|address| (*address).to_owned()).collect(),
            digest: None,
        }
    }
}
