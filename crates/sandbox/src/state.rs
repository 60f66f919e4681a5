//! The shared state of all handlers: settings, clock, randomness, the store, and the test controls.

use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use db::lock_mutex;
use web::assets::Assets;
use web::{Clock, Random};

use crate::announcements::RetryQueue;
use crate::calls::{CallLog, Faults, InFlight};
use crate::config::Config;
use crate::store::Store;
use crate::values::Moment;

/// The shared state of a sandbox. Cheap to clone.
#[derive(Clone)]
pub(crate) struct State(Arc<Shared>);

pub(crate) struct Shared {
    pub(crate) config: Config,
    pub(crate) clock: Clock,
    pub(crate) random: Random,
    pub(crate) calls: CallLog,
    pub(crate) faults: Faults,
    pub(crate) in_flight: InFlight,
    pub(crate) assets: Assets,
    pub(crate) retries: RetryQueue,
    store: Mutex<Store>,
    /// The address on which it listens, once known. `config.public_url` takes precedence.
    address: OnceLock<String>,
}

impl State {
    pub(crate) fn new(
        config: Config,
        clock: Clock,
        random: Random,
        store: Store,
        assets: Assets,
    ) -> Self {
        Self(Arc::new(Shared {
            calls: CallLog::new(config.calls_kept),
            faults: Faults::default(),
            in_flight: InFlight::default(),
            assets,
            retries: RetryQueue::default(),
            store: Mutex::new(store),
            address: OnceLock::new(),
            config,
            clock,
            random,
        }))
    }
}

impl Deref for State {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl Shared {
    pub(crate) fn now(&self) -> Moment {
        Moment::of(self.clock.now())
    }

    /// Locks the store and expires overdue payments. The guard is not `Send`, so it cannot be held
    /// across an await.
    pub(crate) fn store(&self) -> MutexGuard<'_, Store> {
        let mut store = lock_mutex(&self.store);
        store.expire(self.now());
        store
    }

    pub(crate) fn set_address(&self, url: String) {
        // A second listener does not change the first one's address.
        let _ = self.address.set(url);
    }

    /// The prefix of addresses that browsers open.
    pub(crate) fn base_url(&self) -> &str {
        let configured = self.config.public_url.as_deref();
        configured
            .or(self.address.get().map(String::as_str))
            .unwrap_or_default()
    }
}
