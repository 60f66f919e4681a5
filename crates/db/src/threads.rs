//! The threads of an open database.

use std::{
    sync::Mutex,
    thread::{Builder, JoinHandle},
};

use crate::{Error, lock_mutex};

/// Threads that end after the database is closed.
#[derive(Default)]
pub(crate) struct Threads(Mutex<Vec<JoinHandle<()>>>);

impl Threads {
    pub(crate) fn start(
        &self,
        name: &str,
        work: impl FnOnce() + Send + 'static,
    ) -> Result<(), Error> {
        let thread = Builder::new().name(name.to_owned()).spawn(work);
        let thread = thread.map_err(|error| {
            Error::unavailable(format!("cannot start a database thread: {error}"))
        })?;
        lock_mutex(&self.0).push(thread);
        Ok(())
    }

    /// Waits until all have ended. Returns how many had panicked.
    pub(crate) fn join(&self) -> usize {
        let threads = std::mem::take(&mut *lock_mutex(&self.0));
        let ended = threads.into_iter().map(JoinHandle::join);
        ended.filter(Result::is_err).count()
    }
}
