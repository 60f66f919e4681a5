//! Look-ups of a lane that share statements. What is asked for while a statement is under way travels together in the next one, so that a
//! busy server answers many with one journey. Nobody is answered by a statement that was sent before they asked.

use std::{
    any::Any,
    collections::{BTreeMap, HashMap},
    mem,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use deadpool::managed::Pool;
use tokio::sync::oneshot;

use super::{link::Links, session::Session};
use crate::{ByKey, Counters, Error, Param, Row, Sql, job};

/// What is looked up on one lane. It has connections of its own: those of jobs are held by who waits here.
pub(crate) struct LookUps {
    connections: Pool<Links>,
    limit: Duration,
    counters: Arc<Counters>,
    /// A [`Waiting`] for each [`ByKey`], by its address.
    waiting: Mutex<HashMap<usize, Box<dyn Any + Send>>>,
}

/// Who asks for which key.
type Asked<T> = BTreeMap<i64, Vec<oneshot::Sender<Option<T>>>>;

/// What the next statement is to find.
struct Waiting<T> {
    asked: Asked<T>,
    /// Whether a task sends one statement after the other.
    busy: bool,
}

impl LookUps {
    pub(super) fn new(connections: Pool<Links>, limit: Duration, counters: Arc<Counters>) -> Self {
        Self {
            connections,
            limit,
            counters,
            waiting: Mutex::default(),
        }
    }

    /// The row of a key, if there is one. `None` when a statement for several went wrong: then each asks alone, and gets its own error.
    pub(crate) async fn find<T: Send + 'static>(
        self: Arc<Self>,
        what: &'static ByKey<T>,
        key: i64,
    ) -> Option<Option<T>> {
        let (caller, answer) = oneshot::channel();
        let was_busy = self.with(what, |waiting| {
            waiting.asked.entry(key).or_default().push(caller);
            mem::replace(&mut waiting.busy, true)
        })?;
        if !was_busy {
            tokio::task::spawn_local(self.work(what));
        }
        answer.await.ok()
    }

    /// Sends statements until nobody waits.
    async fn work<T: Send + 'static>(self: Arc<Self>, what: &'static ByKey<T>) {
        while let Some(asked) = self.with(what, Waiting::next).flatten() {
            // Whoever was not answered asks alone, and tells what is wrong.
            let _asked_alone = job::finish(self.answer(what, asked), &self.counters).await;
        }
    }

    async fn answer<T>(&self, what: &'static ByKey<T>, mut asked: Asked<T>) -> Result<(), Error> {
        let keys: Vec<i64> = asked.keys().copied().collect();
        let mut tell = |row: &Row<'_>| {
            for caller in asked.remove(&row.get(0)?).unwrap_or_default() {
                let _caller_gone = caller.send(Some((what.row)(row)?));
            }
            Ok(())
        };
        let mut session = Session::new(&self.connections, self.limit);
        if let [key] = keys.as_slice() {
            session
                .each(Sql::Literal(what.one), &[key], &mut tell)
                .await?;
        } else {
            let keys: Vec<String> = keys.iter().map(i64::to_string).collect();
            let keys: &dyn Param = &keys.join(",");
            session
                .each(Sql::Literal(what.many), &[keys], &mut tell)
                .await?;
        }
        for caller in asked.into_values().flatten() {
            let _caller_gone = caller.send(None);
        }
        Ok(())
    }

    /// Does something with what waits for rows of this kind; `None` only if two kinds stood at one address.
    fn with<T: Send + 'static, A>(
        &self,
        what: &'static ByKey<T>,
        act: impl FnOnce(&mut Waiting<T>) -> A,
    ) -> Option<A> {
        // Nothing panics while the lock is held, so a poisoned one still guards a sound state.
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting
            .entry(std::ptr::from_ref(what).addr())
            .or_insert_with(|| {
                Box::new(Waiting::<T> {
                    asked: Asked::new(),
                    busy: false,
                })
            })
            .downcast_mut()
            .map(act)
    }
}

impl<T> Waiting<T> {
    /// What the next statement is to find; nothing, and the work ends, when nobody waits.
    fn next(&mut self) -> Option<Asked<T>> {
        self.busy = !self.asked.is_empty();
        self.busy.then(|| mem::take(&mut self.asked))
    }
}
