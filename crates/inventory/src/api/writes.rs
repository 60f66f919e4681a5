//! Writes the records of a resource, each in one transaction.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{answer::Created, resource::ApiResource};
use crate::{
    State,
    access::Actor,
    idempotency::IdempotencyKey,
    rest::{fields::Draft, refusal::Refusal},
    work::{Author, Work, write, write_once},
};

/// Creates a record of a resource. A retry with the same idempotency key gets the body of the first
/// response.
pub(crate) async fn create<R: ApiResource>(
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

/// Creates a record from a form. If the form is sent again, returns the record that it created the
/// first time, or `None` if that has been deleted.
pub(crate) async fn create_of_form<R: ApiResource>(
    state: &State,
    actor: impl Into<Actor>,
    resource: R,
    draft: Draft<R::Record>,
    key: Option<IdempotencyKey>,
) -> Result<Option<R::Record>, Refusal> {
    /// The only part of the stored response that is needed to find the record.
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

/// Changes a record of a resource; `None` if it does not exist.
pub(crate) async fn change<R: ApiResource>(
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

/// Deletes a record of a resource. Returns whether it existed. 409 while other records refer to it.
pub(crate) async fn delete<R: ApiResource>(
    state: &State,
    actor: impl Into<Actor>,
    resource: R,
    id: i64,
) -> Result<bool, Refusal> {
    let job = async move |work: &mut Work<'_>| resource.delete(work, id).await;
    write(state, actor, job).await
}
