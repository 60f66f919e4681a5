//! Writing the records of a resource: each of its functions in a job of its own.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::resource::{Created, Resource};
use crate::{
    State,
    access::Actor,
    idempotency::IdempotencyKey,
    rest::{fields::Draft, refusal::Refusal},
    work::{Author, Work, write, write_once},
};

/// Creates a record of a resource. A repetition under the same key is answered with the body of the
/// first answer.
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

/// As [`create`], for a form: the record that it created, now or when it was sent first. `None`
/// when that record is gone again.
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
