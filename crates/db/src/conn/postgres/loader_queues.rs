//! Batch loaders of a lane. Keys that are requested while a statement runs share the next
//! statement, so that a busy service needs fewer round trips. The result for a caller never comes
//! from a statement that was sent before its request.

use std::{
    any::Any,
    collections::{BTreeMap, HashMap},
    mem,
    sync::{Arc, Mutex},
    time::Duration,
};

use deadpool::managed::Pool;
use tokio::sync::oneshot;

use super::{connection::PgManager, session::Session};
use crate::{BatchLoader, Counters, Error, Param, Row, Sql, job, lock_mutex};

/// The queues of one lane. They have connections of their own, because jobs that wait here may hold
/// those of the lane.
pub(crate) struct LoaderQueues {
    connections: Pool<PgManager>,
    limit: Duration,
    counters: Arc<Counters>,
    /// A [`LoaderQueue`] for each [`BatchLoader`], by its address.
    queues: Mutex<HashMap<usize, Box<dyn Any + Send>>>,
}

/// The callers that wait for each key.
type Callers<T> = BTreeMap<i64, Vec<oneshot::Sender<Option<T>>>>;

/// The keys of the next statement.
struct LoaderQueue<T> {
    callers: Callers<T>,
    /// Whether a task sends one statement after the other.
    is_busy: bool,
}

impl LoaderQueues {
    pub(crate) fn new(
        connections: Pool<PgManager>,
        limit: Duration,
        counters: Arc<Counters>,
    ) -> Self {
        Self {
            connections,
            limit,
            counters,
            queues: Mutex::default(),
        }
    }

    /// The row of a key, if there is one. `None` when a statement for several keys failed: then
    /// each caller queries alone, and gets its own error.
    pub(crate) async fn find<T: Send + 'static>(
        self: Arc<Self>,
        what: &'static BatchLoader<T>,
        key: i64,
    ) -> Option<Option<T>> {
        let (caller, answer) = oneshot::channel();
        let was_busy = self.with(what, |queue| {
            queue.callers.entry(key).or_default().push(caller);
            mem::replace(&mut queue.is_busy, true)
        })?;
        if !was_busy {
            tokio::task::spawn_local(self.work(what));
        }
        answer.await.ok()
    }

    /// Sends statements until no caller waits.
    async fn work<T: Send + 'static>(self: Arc<Self>, what: &'static BatchLoader<T>) {
        while let Some(callers) = self.with(what, LoaderQueue::next).flatten() {
            // A caller without a result queries alone, and reports the error.
            let _asks_alone = job::finish(self.answer(what, callers), &self.counters).await;
        }
    }

    async fn answer<T>(
        &self,
        what: &'static BatchLoader<T>,
        mut callers: Callers<T>,
    ) -> Result<(), Error> {
        let keys: Vec<i64> = callers.keys().copied().collect();
        let mut answer_row = |row: &Row<'_>| {
            for caller in callers.remove(&row.get(0)?).unwrap_or_default() {
                let _caller_gone = caller.send(Some((what.row)(row)?));
            }
            Ok(())
        };
        let mut session = Session::new(&self.connections, self.limit);
        if let [key] = keys.as_slice() {
            session
                .each(Sql::Literal(what.one), &[key], &mut answer_row)
                .await?;
        } else {
            let keys: Vec<String> = keys.iter().map(i64::to_string).collect();
            let keys: &dyn Param = &keys.join(",");
            session
                .each(Sql::Literal(what.many), &[keys], &mut answer_row)
                .await?;
        }
        for caller in callers.into_values().flatten() {
            let _caller_gone = caller.send(None);
        }
        Ok(())
    }

    /// Works on the queue of a loader; `None` only if two loaders had one address.
    fn with<T: Send + 'static, A>(
        &self,
        what: &'static BatchLoader<T>,
        act: impl FnOnce(&mut LoaderQueue<T>) -> A,
    ) -> Option<A> {
        lock_mutex(&self.queues)
            .entry(std::ptr::from_ref(what).addr())
            .or_insert_with(|| {
                Box::new(LoaderQueue::<T> {
                    callers: Callers::new(),
                    is_busy: false,
                })
            })
            .downcast_mut()
            .map(act)
    }
}

impl<T> LoaderQueue<T> {
    /// The keys of the next statement; none, and the work ends, when no caller waits.
    fn next(&mut self) -> Option<Callers<T>> {
        self.is_busy = !self.callers.is_empty();
        self.is_busy.then(|| mem::take(&mut self.callers))
    }
}
