//! The configuration of a sandbox. `balcao` and tests build it; this crate does not read the
//! environment.

use std::path::PathBuf;

/// The settings of a sandbox. [`Config::default`] stores nothing on disk, accepts every access
/// token and signs no notifications.
#[derive(Clone, Debug)]
pub struct Config {
    /// The folder of the journal, with which payments survive a restart. `None` stores them only in
    /// memory.
    pub data: Option<PathBuf>,
    /// The public address without a trailing slash, for the addresses of tickets and boletos.
    /// [`Sandbox::listen`](crate::Sandbox::listen) sets it if it is `None`.
    pub public_url: Option<String>,
    /// The accepted bearer tokens. If empty, any non-empty token is accepted.
    pub access_tokens: Vec<String>,
    /// The key that signs notifications. `None` leaves them unsigned.
    pub webhook_secret: Option<String>,
    /// The address for notifications of payments without a `notification_url`.
    pub notification_url: Option<String>,
    /// The number of calls that `GET /sandbox/calls` lists.
    pub calls_kept: usize,
    /// The most notifications that may wait. Newer ones are dropped with a warning.
    pub notifications_waiting: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            data: None,
            public_url: None,
            access_tokens: Vec::new(),
            webhook_secret: None,
            notification_url: None,
            calls_kept: 1_000,
            notifications_waiting: 10_000,
        }
    }
}
