//! The configuration of a sandbox. `balcao` and tests fill it in; nothing here reads the
//! environment.

use std::path::PathBuf;

/// Settings of one sandbox; [`Config::default`] keeps nothing on disk, accepts every access token
/// and sends no signature.
#[derive(Clone, Debug)]
pub struct Config {
    /// Folder for the journal that lets payments survive a restart; in memory only without it.
    pub data: Option<PathBuf>,
    /// Where browsers reach it, without a slash at the end: the beginning of ticket and boleto
    /// addresses. [`Sandbox::listen`](crate::Sandbox::listen) fills it in when it is absent.
    pub public_url: Option<String>,
    /// Bearer tokens that are accepted; any that is not empty, when there are none here.
    pub access_tokens: Vec<String>,
    /// Key of the notifications' signatures; unsigned without it.
    pub webhook_secret: Option<String>,
    /// Where notifications go for payments that name no `notification_url`.
    pub notification_url: Option<String>,
    /// How many calls `GET /sandbox/calls` remembers.
    pub calls_kept: usize,
    /// Notifications that may wait; newer ones are dropped, with a warning, when there are more.
    pub notifications_waiting: usize,
    /// Notifications that may be on their way at once.
    pub notification_workers: usize,
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
            notification_workers: 8,
        }
    }
}
