//! The state of all handlers: settings, clock, randomness, the store, and the switches of tests.

use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use web::assets::Assets;
use web::{Clock, Random};

use crate::announcements::RetryQueue;
use crate::calls::{CallLog, Faults, InFlight};
use crate::config::Config;
use crate::lock::lock;
use crate::store::Store;
use crate::values::Moment;

/// A cheap handle to the one state of a sandbox.
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
    /// Where it listens, once that is known; `config.public_url` goes before it.
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

    /// The store, with everything expired that is due. Never held across an await: the guard is not
    /// `Send`.
    pub(crate) fn store(&self) -> MutexGuard<'_, Store> {
        let mut store = lock(&self.store);
        store.expire(self.now());
        store
    }

    pub(crate) fn set_address(&self, url: String) {
        // A second listener does not move the first one's addresses.
        let _ = self.address.set(url);
    }

    /// The beginning of addresses that browsers open.
    pub(crate) fn base_url(&self) -> &str {
        let configured = self.config.public_url.as_deref();
        configured
            .or(self.address.get().map(String::as_str))
            .unwrap_or_default()
    }
}
