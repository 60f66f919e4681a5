//! Webhooks as their receivers get them: real posts over real sockets, with a clock that the test
//! moves.

mod delivery;
mod endpoints;
mod faults;
mod mail;
pub(crate) mod pages;
mod payloads;

use std::time::Duration;

use inventory::{
    Config,
    access::Actor,
    events::{
        self, Endpoint, EndpointSettings, Progress, Secret, Target, Webhooks,
        endpoints::EndpointInput,
    },
};
pub(crate) use test_kit::receiver;

use crate::app::{TestApp, unlimited};
use receiver::Receiver;

/// The secret of the configured endpoint.
pub(crate) const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// The actor where it does not matter.
pub(crate) const NOBODY: Actor = Actor(None);

/// Settings with this receiver as the configured endpoint, if any, and receivers on this machine
/// allowed.
pub(crate) fn config(receiver: Option<&Receiver>) -> Config {
    let configured = receiver.map(|receiver| EndpointSettings {
        target: Target::parse(&receiver.url()).unwrap(),
        secrets: vec![Secret::parse(SECRET).unwrap()],
    });
    Config {
        webhooks: Webhooks {
            configured,
            allow_private: true,
            ..Webhooks::default()
        },
        ..unlimited()
    }
}

/// A receiver, and an application with it as the configured endpoint.
async fn receiver_and_app(address: &str) -> (Receiver, TestApp) {
    let receiver = Receiver::start().await;
    let app = TestApp::with(address, config(Some(&receiver))).await;
    (receiver, app)
}

impl TestApp {
    /// Delivers what is due now.
    pub(crate) async fn pass(&self) -> Progress {
        events::pass(&self.state).await.unwrap()
    }

    /// Moves the clock, and delivers what is due then.
    pub(crate) async fn pass_after(&self, seconds: u64) -> Progress {
        self.clock.advance(Duration::from_secs(seconds));
        self.pass().await
    }

    /// Adds an endpoint for these types.
    pub(crate) async fn endpoint(&self, receiver: &Receiver, types: &str) -> (i64, Secret) {
        let input = EndpointInput {
            url: receiver.url(),
            types: types.to_owned(),
            ..EndpointInput::default()
        };
        events::endpoints::add(&self.state, &NOBODY, &input)
            .await
            .unwrap()
    }

    pub(crate) async fn endpoints(&self) -> Vec<Endpoint> {
        events::endpoints::list(&self.state.db).await.unwrap()
    }
}
