//! Mail to the people of the shop. What is worth a mail is decided by who publishes events.

/// How people are told by mail.
#[derive(Debug, Clone)]
pub struct Mail {
    /// The sender.
    pub from: String,
    /// The receivers of alerts.
    pub to: Vec<String>,
}
