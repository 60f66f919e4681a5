//! The signal within this process that stock or prices have changed, for the compaction worker and
//! for pages that show totals.

use std::sync::Arc;

use tokio::sync::watch;

/// Notifies subscribers of changes of stock or prices. Clones share their subscribers.
#[derive(Debug, Clone, Default)]
pub struct ChangeNotifier(Arc<watch::Sender<u64>>);

impl ChangeNotifier {
    /// Notifies the subscribers. To be called after the commit.
    pub fn notify(&self) {
        self.0
            .send_modify(|version| *version = version.wrapping_add(1));
    }

    /// A receiver of the notifications from now on.
    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.0.subscribe()
    }
}
