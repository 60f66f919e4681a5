//! Runs writes in transactions. API, pages, administration, imports and commands pass a job to the
//! functions here. The changes themselves are the `create`, `change` and `delete` of each resource,
//! which `api::writes` calls.

mod store;

pub(crate) use store::lock_product;

use db::{Db, Error, Timestamp, Tx};
use delivery::endpoints::EndpointError;
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    State,
    access::Actor,
    idempotency::{self, IdempotencyKey},
    rest::Refusal,
};

/// When a low-stock alert is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AlertMode {
    /// After every outflow that leaves a product low, as specified.
    #[default]
    EveryOutflow,
    /// Once when a product becomes low, by any change, and once when it recovers.
    Once,
}

/// The shop's settings for low stock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// The threshold of products that have none of their own.
    pub threshold: i64,
    /// When an alert is sent.
    pub alert: AlertMode,
    /// Whether low products are reported by mail, once per crossing.
    pub mails: bool,
}

impl Policy {
    /// The threshold that applies to a product: its own, or else the shop's.
    pub fn threshold_of(self, own: Option<i64>) -> i64 {
        own.unwrap_or(self.threshold)
    }
}

/// The author of a write: the user, the shop's settings and the time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Author {
    /// The user who writes.
    pub actor: Actor,
    /// The settings for low stock.
    pub policy: Policy,
    /// The time of the write.
    pub now: Timestamp,
}

/// Where the records of a write come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A request, or the program itself.
    Request,
    /// An import, or its withdrawal because of a refused row. The audit log has one entry for a
    /// whole import, and none for one that was refused.
    Import,
    /// A refused undo, which adds the records again that it had deleted.
    RefusedUndo,
}

/// A write in progress: its transaction, and the data of its [`Author`].
pub struct Work<'tx> {
    /// The transaction.
    pub tx: &'tx mut Tx,
    /// The user who writes.
    pub actor: &'tx Actor,
    /// The settings for low stock.
    pub policy: Policy,
    /// The time of the write. Locking a stock row may raise it.
    pub now: Timestamp,
    /// Where the records come from.
    pub origin: Origin,
}

impl Author {
    /// An author who writes now.
    pub(crate) fn new(state: &State, actor: impl Into<Actor>) -> Self {
        Self {
            actor: actor.into(),
            policy: Policy::from(&state.config),
            now: state.clock.now(),
        }
    }

    /// An author of writes that change no quantity, so the settings for low stock do not matter.
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
            origin: Origin::Request,
        }
    }
}

/// The error of a job.
pub(crate) trait WriteError: From<Error> {
    /// The error of the database, if it is one.
    fn database(&self) -> Option<&Error>;

    /// Whether the input is invalid, as far as a check can tell.
    fn is_invalid(&self) -> bool {
        false
    }
}

impl WriteError for Error {
    fn database(&self) -> Option<&Error> {
        Some(self)
    }
}

impl WriteError for Refusal {
    fn database(&self) -> Option<&Error> {
        match self {
            Self::Database(error) => Some(error),
            _ => None,
        }
    }

    fn is_invalid(&self) -> bool {
        matches!(self, Self::Fields(_))
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

/// Runs a job in a transaction, and retries it once after a violated constraint. Another request
/// then wrote between the job's check and its write, so the check of the second run sees the reason
/// and reports it.
pub(crate) async fn retry_on_conflict<T, E, F>(db: &Db, job: F) -> Result<T, E>
where
    F: AsyncFn(&mut Tx) -> Result<T, E> + Clone + Send + 'static,
    T: Send + 'static,
    E: WriteError + Send + 'static,
{
    match db.write(job.clone()).await {
        Err(error) if error.database().is_some_and(Error::is_conflict) => db.write(job).await,
        result => result,
    }
}

/// Runs a job as [`retry_on_conflict`] does, and notifies subscribers of changes.
pub(crate) async fn write<T, E, F>(state: &State, actor: impl Into<Actor>, job: F) -> Result<T, E>
where
    F: AsyncFn(&mut Work<'_>) -> Result<T, E> + Clone + Send + 'static,
    T: Send + 'static,
    E: WriteError + Send + 'static,
{
    let author = Author::new(state, actor);
    let run = async move |tx: &mut Tx| job(&mut author.work(tx)).await;
    let result = retry_on_conflict(&state.db, run).await?;
    state.changes.notify();
    Ok(result)
}

/// Same as [`write()`], with an optional idempotency key. The job returns a value to store with the
/// key, and its result. A retry with the same key calls `replay` with the stored value instead of
/// the job. Key and write commit in one transaction.
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
    E: WriteError + From<Refusal> + Send + 'static,
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
        let (stored, result) = job(work).await?;
        idempotency::store(work.tx, key, &stored, work.now).await?;
        Ok(result)
    };
    match write(state, actor.clone(), run.clone()).await {
        // A concurrent request with the same key may have committed between the lookup of the key
        // and the job's check, which then refuses a duplicate value. The second run finds the key.
        Err(error) if is_keyed && error.is_invalid() => write(state, actor, run).await,
        result => result,
    }
}
