//! The signal within this process that a change was recorded, for the worker that compacts and for
//! the pages that show totals.

use std::sync::Arc;

use tokio::sync::watch;

/// Tells that stock or prices have changed. Clones tell and hear the same word.
#[derive(Debug, Clone)]
pub struct ChangeNotifier(Arc<watch::Sender<u64>>);

impl ChangeNotifier {
    /// Tells it, once the change is committed.
    pub fn notify(&self) {
        self.0
            .send_modify(|version| *version = version.wrapping_add(1));
    }

    /// Hears it from now on.
    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.0.subscribe()
    }
}

impl Default for ChangeNotifier {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }
}
