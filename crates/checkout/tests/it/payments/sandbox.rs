//! The real sandbox on a free port, and a client of it.

use std::ops::Deref;

use sandbox::ListeningSandbox;
use test_kit::sandbox::SandboxClient;
use web::{Clock, Random};

use super::app::WEBHOOK_SECRET;

/// A running sandbox; it ends with this value.
pub(crate) struct Sandbox {
    client: SandboxClient,
    _listening: ListeningSandbox,
}

impl Sandbox {
    pub(crate) async fn start(clock: Clock) -> Self {
        let config = sandbox::Config {
            webhook_secret: Some(WEBHOOK_SECRET.to_owned()),
            ..sandbox::Config::default()
        };
        let sandbox = sandbox::start(config, clock, Random::seeded(99)).unwrap();
        let listening = sandbox.listen("127.0.0.1:0").await.unwrap();
        Self {
            client: SandboxClient::new(listening.url()),
            _listening: listening,
        }
    }
}

impl Deref for Sandbox {
    type Target = SandboxClient;

    fn deref(&self) -> &SandboxClient {
        &self.client
    }
}
