//! The signal to stop.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use http::request::Parts;
use tokio::sync::watch;

/// The signal for servers and workers to stop. Clones share the signal. As an extractor: the
/// server's own.
#[derive(Clone, Debug)]
pub struct Shutdown(Arc<watch::Sender<Stage>>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Running,
    /// Requests are still served, but `/ready` answers 503, so that load balancers turn to other
    /// replicas.
    Draining,
    Stopping,
}

impl Shutdown {
    /// A shutdown that has not begun.
    pub fn new() -> Self {
        Self(Arc::new(watch::Sender::new(Stage::Running)))
    }

    /// Announces the shutdown: `/ready` answers 503 from now on, and everything else goes on.
    pub fn announce(&self) {
        self.advance(Stage::Draining);
    }

    /// Begins the shutdown.
    pub fn begin(&self) {
        self.advance(Stage::Stopping);
    }

    fn advance(&self, to: Stage) {
        self.0.send_if_modified(|stage| {
            let is_later = *stage < to;
            *stage = to.max(*stage);
            is_later
        });
    }

    /// Whether the shutdown is announced or has begun.
    pub fn is_announced(&self) -> bool {
        *self.0.borrow() >= Stage::Draining
    }

    /// Whether the shutdown has begun.
    pub fn has_begun(&self) -> bool {
        *self.0.borrow() == Stage::Stopping
    }

    /// Waits until the shutdown begins.
    pub async fn begun(&self) {
        // The sender lives as long as this value, so waiting ends only with the signal.
        let stops = |stage: &Stage| *stage == Stage::Stopping;
        let _ = self.0.subscribe().wait_for(stops).await;
    }
}

impl Default for Shutdown {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: Sync> FromRequestParts<S> for Shutdown {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_default())
    }
}
