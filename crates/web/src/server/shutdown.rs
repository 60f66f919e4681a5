//! The signal to stop, for everything that has to know.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use http::request::Parts;
use tokio::sync::watch;

/// Tells servers and workers to stop. Clones tell and hear the same word. As an extractor: the server's own.
#[derive(Clone, Debug)]
pub struct Shutdown(Arc<watch::Sender<bool>>);

impl Shutdown {
    /// A shutdown that has not begun.
    pub fn new() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }

    /// Begins the shutdown.
    pub fn begin(&self) {
        self.0.send_replace(true);
    }

    /// Whether the shutdown has begun.
    pub fn has_begun(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until the shutdown begins.
    pub async fn begun(&self) {
        // The sender lives as long as this value, so waiting ends only with the word itself.
        let _ = self.0.subscribe().wait_for(|begun| *begun).await;
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
