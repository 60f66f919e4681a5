//! A write in progress, and the one way to run it. API, pages, administration, imports and commands
//! all hand a job to these functions. What a job does to a record is in the `create`, `change` and
//! `delete` of its resource (`api::writes` runs these).

use std::fmt;

use db::{Db, Error, Timestamp, Tx};
use delivery::endpoints::EndpointError;
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    State,
    access::Actor,
    idempotency::{self, IdempotencyKey, KeyError},
};

/// When a low-stock alert is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AlertMode {
    /// After every outflow that leaves a product low, as specified.
    #[default]
    EveryOutflow,
    /// Once until the stock recovers, whichever way it became low; and once when it recovers.
    Once,
}

/// The shop's rules about low stock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// The threshold of products without one of their own.
    pub threshold: i64,
    /// When an alert is sent.
    pub alert: AlertMode,
    /// Whether people are told by mail, once for each crossing.
    pub mails: bool,
}

impl Policy {
    /// The threshold that holds for a product: its own, or else the shop's.
    pub fn threshold_of(self, own: Option<i64>) -> i64 {
        own.unwrap_or(self.threshold)
    }
}

/// Who writes, under which rules of the shop, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Author {
    /// Who.
    pub actor: Actor,
    /// The rules about low stock.
    pub policy: Policy,
    /// When.
    pub now: Timestamp,
}

/// A write in progress: its transaction, and what its [`Author`] says.
pub struct Work<'tx> {
    /// The transaction.
    pub tx: &'tx mut Tx,
    /// Who writes.
    pub actor: &'tx Actor,
    /// The rules about low stock.
    pub policy: Policy,
    /// When.
    pub now: Timestamp,
}

impl fmt::Debug for Work<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut work = formatter.debug_struct("Work");
        work.field("actor", &self.actor).field("now", &self.now);
        work.finish_non_exhaustive()
    }
}

impl Author {
    /// Somebody, now.
    pub(crate) fn new(state: &State, actor: impl Into<Actor>) -> Self {
        Self {
            actor: actor.into(),
            policy: Policy::from(&state.config),
            now: state.clock.now(),
        }
    }

    /// The author of a write that changes no quantity, so that the shop's rules do not matter.
    pub(crate) fn of(actor: Actor, now: Timestamp) -> Self {
        Self {
            actor,
            policy: Policy::default(),
            now,
        }
    }

    /// A write by this author in a transaction.
    pub(crate) const fn work<'tx>(&'tx self, tx: &'tx mut Tx) -> Work<'tx> {
        Work {
            tx,
            actor: &self.actor,
            policy: self.policy,
            now: self.now,
        }
    }
}

/// The error of a job.
pub(crate) trait WriteError: From<Error> {
    /// The error of the database, if it is one.
    fn database(&self) -> Option<&Error>;

    /// Whether something is wrong with what was sent, as far as a check can tell.
    fn is_invalid(&self) -> bool {
        false
    }
}

impl WriteError for Error {
    fn database(&self) -> Option<&Error> {
        Some(self)
    }
}

impl WriteError for EndpointError {
    fn database(&self) -> Option<&Error> {
        match self {
            Self::Database(error) => Some(error),
            _ => None,
        }
    }
}

/// Runs a job in a transaction, and once more when a constraint of the database refused it. Another
/// request then wrote between the job's check and its write: the check of the second run sees that,
/// and explains it.
pub(crate) async fn retry_on_conflict<T, E, F>(db: &Db, job: F) -> Result<T, E>
where
    F: AsyncFn(&mut Tx) -> Result<T, E> + Clone + Send + 'static,
    T: Send + 'static,
    E: WriteError + Send + 'static,
{
    match db.write(job.clone()).await {
        Err(error) if error.database().is_some_and(Error::is_conflict) => db.write(job).await,
        written => written,
    }
}

/// Runs a job as [`retry_on_conflict`] does, and tells open pages that something has changed.
pub(crate) async fn write<T, E, F>(state: &State, actor: impl Into<Actor>, job: F) -> Result<T, E>
where
    F: AsyncFn(&mut Work<'_>) -> Result<T, E> + Clone + Send + 'static,
    T: Send + 'static,
    E: WriteError + Send + 'static,
{
    let author = Author::new(state, actor);
    let run = async move |tx: &mut Tx| job(&mut author.work(tx)).await;
    let written = retry_on_conflict(&state.db, run).await?;
    state.changes.notify();
    Ok(written)
}

/// As [`write()`], of a job that answers what to store under the key beside its result. A
/// repetition under the same key runs `replay` with what was stored, in place of the job. Key and
/// write commit together, so there is never one without the other.
///
/// # Errors
///
/// Those of `job` and `replay`; a key that was used for another request.
pub(crate) async fn write_once<T, S, R, E, F, A>(
    state: &State,
    actor: impl Into<Actor>,
    key: Option<IdempotencyKey>,
    job: F,
    replay: A,
) -> Result<T, E>
where
    T: Send + 'static,
    S: Serialize,
    R: DeserializeOwned,
    E: WriteError + From<KeyError> + Send + 'static,
    F: AsyncFn(&mut Work<'_>) -> Result<(S, T), E> + Clone + Send + 'static,
    A: AsyncFn(&mut Work<'_>, R) -> Result<T, E> + Clone + Send + 'static,
{
    let (actor, is_keyed) = (actor.into(), key.is_some());
    let run = async move |work: &mut Work<'_>| {
        let Some(key) = &key else {
            return Ok(job(work).await?.1);
        };
        if let Some(stored) = idempotency::find(work.tx, key, work.now).await? {
            return replay(work, stored).await;
        }
        let (stored, written) = job(work).await?;
        idempotency::store(work.tx, key, &stored, work.now).await?;
        Ok(written)
    };
    match write(state, actor.clone(), run.clone()).await {
        // The first of two taps may have taken a unique value between our look at the key and our
        // check.
        Err(error) if is_keyed && error.is_invalid() => write(state, actor, run).await,
        written => written,
    }
}
