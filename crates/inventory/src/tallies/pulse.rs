//! The signal within this process that a change was noted, for the worker that folds and for the pages that show totals.

use std::sync::Arc;

use tokio::sync::watch;

/// Tells that stock or prices have changed. Clones tell and hear the same word.
#[derive(Debug, Clone)]
pub struct Pulse(Arc<watch::Sender<u64>>);

impl Pulse {
    /// Tells it, once the change is committed.
    pub fn beat(&self) {
        self.0.send_modify(|beats| *beats = beats.wrapping_add(1));
    }

    /// Hears it from now on.
    pub fn follow(&self) -> watch::Receiver<u64> {
        self.0.subscribe()
    }
}

impl Default for Pulse {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }
}
