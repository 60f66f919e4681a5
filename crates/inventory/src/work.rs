//! A write in progress, and the one way to run it. API, pages, administration, imports and commands all hand a job to these functions.
//! What a job does to a record is in the `create`, `change` and `delete` of its [`Resource`].

use std::{fmt, sync::Arc};

use db::{Db, Error, Timestamp, Tx};
use delivery::endpoints::EndpointError;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use crate::{
    State,
    access::Actor,
    idempotency::{self, IdempotencyKey},
    rest::{
        Refusal,
        fields::Draft,
        resource::{Created, Resource},
    },
    stock::Policy,
};

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

/// Runs a job in a transaction, and once more when a constraint of the database refused it. Another request then wrote between the
/// job's check and its write: the check of the second run sees that, and explains it.
///
/// # Errors
///
/// Those of the job.
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
///
/// # Errors
///
/// Those of the job.
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

/// As [`write`], of a job that answers what to store under the key beside its result. A repetition under the same key runs `replay`
/// with what was stored, in place of the job. Key and write commit together, so there is never one without the other.
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
        let (stored, written) = job(work).await?;
        idempotency::store(work.tx, key, &stored, work.now).await?;
        Ok(written)
    };
    match write(state, actor.clone(), run.clone()).await {
        // The first of two taps may have taken a unique value between our look at the key and our check.
        Err(error) if is_keyed && error.is_invalid() => write(state, actor, run).await,
        written => written,
    }
}

/// Creates a record of a resource. A repetition under the same key is answered with the body of the first answer.
///
/// # Errors
///
/// Invalid fields; a key that was used for another request; faults of the store.
pub(crate) async fn create<R: Resource>(
    state: &State,
    actor: impl Into<Actor>,
    resource: R,
    draft: Draft<R::Record>,
    key: Option<IdempotencyKey>,
) -> Result<Created<R::Record>, Refusal> {
    let actor = actor.into();
    if key.is_none()
        && let Some(record) = resource
            .create_batched(state, &Author::new(state, actor.clone()), &draft)
            .await?
    {
        state.changes.notify();
        return Ok(Created::New(record));
    }
    let draft = Arc::new(draft);
    let is_keyed = key.is_some();
    let job = async move |work: &mut Work<'_>| {
        let record = resource.create(work, &draft).await?;
        Ok((is_keyed.then(|| record.clone()), Created::New(record)))
    };
    let replay =
        async |_: &mut Work<'_>, body: Box<RawValue>| Ok(Created::Replayed(body.get().to_owned()));
    write_once(state, actor, key, job, replay).await
}

/// As [`create`], for a form: the record that it created, now or when it was sent first. `None` when that record is gone again.
///
/// # Errors
///
/// As of [`create`].
pub(crate) async fn create_of_form<R: Resource>(
    state: &State,
    actor: impl Into<Actor>,
    resource: R,
    draft: Draft<R::Record>,
    key: Option<IdempotencyKey>,
) -> Result<Option<R::Record>, Refusal> {
    /// As much of an answer as finds its record.
    #[derive(Deserialize)]
    struct Body {
        id: i64,
    }
    match create(state, actor, resource, draft, key).await? {
        Created::New(record) => Ok(Some(record)),
        Created::Replayed(body) => {
            let Body { id } = serde_json::from_str(&body).map_err(web::Error::internal)?;
            resource.read(state, id).await
        }
    }
}

/// Changes a record of a resource; `None` when it is gone.
///
/// # Errors
///
/// Invalid fields, and faults of the store.
pub(crate) async fn change<R: Resource>(
    state: &State,
    actor: impl Into<Actor>,
    resource: R,
    id: i64,
    draft: Draft<R::Record>,
) -> Result<Option<R::Record>, Refusal> {
    let draft = Arc::new(draft);
    let job = async move |work: &mut Work<'_>| resource.change(work, id, &draft).await;
    write(state, actor, job).await
}

/// Deletes a record of a resource; whether it was there.
///
/// # Errors
///
/// 409 while other records need it, and faults of the store.
pub(crate) async fn delete<R: Resource>(
    state: &State,
    actor: impl Into<Actor>,
    resource: R,
    id: i64,
) -> Result<bool, Refusal> {
    let job = async move |work: &mut Work<'_>| resource.delete(work, id).await;
    write(state, actor, job).await
}
