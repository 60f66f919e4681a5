//! The service functions of webhook endpoints, for the pages, the administration and the commands.
//! Each change writes an audit entry in its own transaction. Callers must check the permission of
//! `access::Model::WebhookEndpoint`.

pub(crate) use delivery::endpoints::secret;
pub use delivery::endpoints::{EndpointError, EndpointInput, description};

use db::{Conn, Db, Error, Timestamp, Tx};
use delivery::endpoints::{self, TestDelivery};
use resource::Field;

use super::{Attempt, Endpoint, EventType, Outbox, SERVICE, Secret, store};
use crate::{
    State,
    access::{Actor, Model},
    audit::{self, Action, FieldChange},
    digest::digest,
    idempotency::IdempotencyKey,
    listing::{Condition, Test},
    rest::{
        Message, Refusal,
        body::text,
        fields::{FieldErrors, Members},
        list::Filters,
        page::Page,
        query::Parameters,
    },
    work::{Work, write, write_once},
};

const INVALID_ADDRESS: Message = Message::fixed(
    "Digite um endereço que comece com https:// ou http://, sem nome de usuário nem #.",
    "Enter an address that begins with https:// or http://, without a username or #.",
);
const INVALID_TEXT: Message = Message::fixed(
    "Use no máximo 200 caracteres, em uma linha.",
    "Ensure this field has no more than 200 characters, on one line.",
);
pub(crate) const CONFIGURED: Message = Message::fixed(
    "Este destino está na configuração do programa; altere-o lá.",
    "This endpoint is in the program’s configuration; change it there.",
);

const CHANGED_SINCE: Message = Message::fixed(
    "O segredo deste destino já foi trocado de novo.",
    "The secret of this endpoint has been rotated again since.",
);

impl From<EndpointError> for Refusal {
    fn from(error: EndpointError) -> Self {
        match error {
            EndpointError::Target(_) => FieldErrors::of(Endpoint::url.name, INVALID_ADDRESS).into(),
            EndpointError::Types(unknown) => {
                let (name, known) = (&unknown.name, unknown.known.join(", "));
                let message = Message::new(
                    format!("{name:?} não é um tipo de evento; há {known}"),
                    unknown.to_string(),
                );
                FieldErrors::of(Endpoint::types.name, message).into()
            }
            EndpointError::Description => {
                FieldErrors::of(Endpoint::description.name, INVALID_TEXT).into()
            }
            EndpointError::NotFound(_) => Self::NotFound,
            EndpointError::Configured(_) => Self::Conflict(CONFIGURED),
            EndpointError::Database(error) => error.into(),
        }
    }
}

/// Reads the form of an endpoint. Fields that were not sent keep their `stored` values. Types that
/// the program does not know are dropped.
pub(crate) fn input(members: &Members, stored: Option<&Endpoint>) -> EndpointInput {
    let text = |field: &Field, stored: Option<String>| {
        let is_sent = members.contains_key(field.name);
        let stored = stored.filter(|_| !is_sent);
        stored
            .or_else(|| text(members, field.name))
            .unwrap_or_default()
    };
    let url = text(Endpoint::url, stored.map(|stored| stored.url.clone()));
    let description = stored.map(|stored| stored.description.clone());
    let types = text(
        Endpoint::types,
        stored.map(|stored| stored.types.to_string()),
    );
    let chosen: Vec<_> = types.split(',').collect();
    let known = EventType::NAMES.into_iter();
    let known = known.filter(|name| chosen.contains(name));
    EndpointInput {
        url: url.trim().to_owned(),
        description: text(Endpoint::description, description),
        types: known.collect::<Vec<_>>().join(","),
    }
}

/// All endpoints in the order of their creation, including the configured one.
pub async fn list(db: &Db) -> Result<Vec<Endpoint>, Error> {
    db.read(async |conn| endpoints::list(conn, &SERVICE).await)
        .await
}

pub(crate) async fn select(
    state: &State,
    parameters: &Parameters,
) -> Result<Page<Endpoint>, Refusal> {
    let mut filters = Filters::new(parameters);
    let enabled = filters.truth("enabled").map(Test::is);
    filters.finish().into_result()?;
    let enabled = enabled.map(|test| Condition::new("enabled", "enabled", test));
    let endpoints = store::ENDPOINT_LIST.select(parameters, "searched", enabled);
    endpoints.requested(state, parameters).await
}

/// Reads one endpoint.
pub async fn find(db: &Db, id: i64) -> Result<Option<Endpoint>, Error> {
    db.read(async move |conn| endpoints::find(conn, &SERVICE, id).await)
        .await
}

/// Adds an endpoint. Returns its id, and its secret, which is shown only now.
pub(crate) async fn create(
    work: &mut Work<'_>,
    outbox: &Outbox,
    input: &EndpointInput,
) -> Result<(i64, Secret), EndpointError> {
    let (id, url, secret) = endpoints::add(work.tx, outbox, input, work.now).await?;
    audit::record(work, Action::Added, Model::WebhookEndpoint, id, &url).await?;
    Ok((id, secret))
}

/// Adds an endpoint in a transaction of its own. Returns its id, and its secret, which is shown
/// only now.
pub async fn add(
    state: &State,
    actor: &Actor,
    input: &EndpointInput,
) -> Result<(i64, Secret), EndpointError> {
    let (outbox, input) = (state.outbox.clone(), input.clone());
    let job = async move |work: &mut Work<'_>| create(work, &outbox, &input).await;
    let added = write(state, actor, job).await?;
    state.outbox.wake();
    Ok(added)
}

/// As [`add`], but idempotent: a repeated request gets the same endpoint and secret. 404 if the
/// endpoint was deleted before the repetition.
pub(crate) async fn add_once(
    state: &State,
    actor: &Actor,
    input: &EndpointInput,
    key: Option<IdempotencyKey>,
) -> Result<(i64, Secret), Refusal> {
    let (outbox, input, outbox_of_replay) =
        (state.outbox.clone(), input.clone(), state.outbox.clone());
    let job = async move |work: &mut Work<'_>| {
        let (id, secret) = create(work, &outbox, &input).await?;
        Ok(((id, digest_of(&secret)), (id, secret)))
    };
    let replay = async move |work: &mut Work<'_>, (id, shown): (i64, String)| {
        let secret = shown_secret(work.tx, &outbox_of_replay, id, &shown).await?;
        Ok::<_, Refusal>((id, secret))
    };
    let added = write_once(state, actor, key, job, replay).await?;
    state.outbox.wake();
    Ok(added)
}

/// The digest by which a request knows the secret that it has shown.
pub(crate) fn digest_of(secret: &Secret) -> String {
    digest(secret.reveal())
}

/// The secret that an earlier request has shown. An error if it has been changed since: whoever
/// repeats a request must not learn a secret that is shown to somebody else.
async fn shown_secret(
    tx: &mut Tx,
    outbox: &Outbox,
    id: i64,
    shown: &str,
) -> Result<Secret, Refusal> {
    let secret = secret(tx, outbox, id).await?.ok_or(Refusal::NotFound)?;
    if digest_of(&secret) == shown {
        Ok(secret)
    } else {
        Err(Refusal::Conflict(CHANGED_SINCE))
    }
}

/// Changes the address, the description and the types of an endpoint. Waiting deliveries go to the
/// new address.
pub(crate) async fn update(
    work: &mut Work<'_>,
    id: i64,
    input: &EndpointInput,
) -> Result<(), EndpointError> {
    let (url, fields) = endpoints::change(work.tx, &SERVICE, id, input, work.now).await?;
    record_changes(work, &fields, id, &url).await
}

/// Changes an endpoint in a transaction of its own. Waiting deliveries go to the new address.
pub async fn change(
    state: &State,
    actor: &Actor,
    id: i64,
    input: &EndpointInput,
) -> Result<(), EndpointError> {
    let input = input.clone();
    let job = async move |work: &mut Work<'_>| update(work, id, &input).await;
    write(state, actor, job).await
}

/// Reads an endpoint and locks it until the end of the transaction.
pub(crate) async fn find_locked(tx: &mut Tx, id: i64) -> Result<Option<Endpoint>, Error> {
    endpoints::lock(tx, &SERVICE, id).await
}

/// Generates a new secret, which is shown only now. The previous one stays valid until the returned
/// time. The time is `None` if the previous secret could not be decrypted, because it signed
/// nothing then.
pub(crate) async fn rotate_secret(
    work: &mut Work<'_>,
    outbox: &Outbox,
    id: i64,
) -> Result<(Secret, Option<Timestamp>), EndpointError> {
    let rotation = endpoints::rotate(work.tx, outbox, id, work.now).await?;
    record_changes(work, &["secret"], id, &rotation.endpoint.url).await?;
    Ok((rotation.secret, rotation.previous_until))
}

/// Generates a new secret in a transaction of its own. Returns it, and the time until which the
/// previous one stays valid.
pub async fn rotate(
    state: &State,
    actor: &Actor,
    id: i64,
) -> Result<(Secret, Option<Timestamp>), EndpointError> {
    let outbox = state.outbox.clone();
    let job = async move |work: &mut Work<'_>| rotate_secret(work, &outbox, id).await;
    write(state, actor, job).await
}

/// As [`rotate`], but idempotent: a repeated request gets the same secret.
pub(crate) async fn rotate_once(
    state: &State,
    actor: &Actor,
    id: i64,
    key: Option<IdempotencyKey>,
) -> Result<(Secret, Option<Timestamp>), Refusal> {
    let (outbox, outbox_of_replay) = (state.outbox.clone(), state.outbox.clone());
    let job = async move |work: &mut Work<'_>| {
        let rotated = rotate_secret(work, &outbox, id).await?;
        Ok(((id, digest_of(&rotated.0)), rotated))
    };
    let replay = async move |work: &mut Work<'_>, (rotated, shown): (i64, String)| {
        if rotated != id {
            return Err(Refusal::KeyReused);
        }
        let endpoint = endpoints::find(work.tx, &SERVICE, id).await?;
        let until = endpoint.ok_or(Refusal::NotFound)?.previous_secret_until;
        let secret = shown_secret(work.tx, &outbox_of_replay, id, &shown).await?;
        Ok((secret, until))
    };
    write_once(state, actor, key, job, replay).await
}

/// The secret of an endpoint. `None` if it cannot be decrypted with the current key.
pub(crate) async fn current_secret(state: &State, id: i64) -> Result<Option<Secret>, Error> {
    let outbox = state.outbox.clone();
    let read = async move |conn: &mut Conn| secret(conn, &outbox, id).await;
    state.db.read(read).await
}

/// Enables an endpoint. Its waiting deliveries are sent at once.
pub async fn enable(state: &State, actor: &Actor, id: i64) -> Result<(), EndpointError> {
    switch(state, actor, id, true).await?;
    state.outbox.wake();
    Ok(())
}

/// Disables an endpoint. Its waiting deliveries are kept. It does not get events that are published
/// while it is disabled.
pub async fn disable(state: &State, actor: &Actor, id: i64) -> Result<(), EndpointError> {
    switch(state, actor, id, false).await
}

/// Enables or disables an endpoint. Without a change, writes no audit entry.
async fn switch(state: &State, actor: &Actor, id: i64, is_on: bool) -> Result<(), EndpointError> {
    let job = async move |work: &mut Work<'_>| {
        let before = endpoints::switch(work.tx, &SERVICE, id, is_on, work.now).await?;
        if before.enabled == is_on {
            return Ok(());
        }
        record_changes(work, &["enabled"], id, &before.url).await
    };
    write(state, actor, job).await
}

/// Deletes an endpoint with its deliveries.
pub(crate) async fn delete(work: &mut Work<'_>, id: i64) -> Result<(), EndpointError> {
    let deleted = endpoints::delete(work.tx, &SERVICE, id).await?;
    let model = Model::WebhookEndpoint;
    Ok(audit::record(work, Action::Deleted, model, id, &deleted.url).await?)
}

/// Deletes an endpoint with its deliveries, in a transaction of its own.
pub async fn remove(state: &State, actor: &Actor, id: i64) -> Result<(), EndpointError> {
    let job = async move |work: &mut Work<'_>| delete(work, id).await;
    write(state, actor, job).await
}

/// Sends a test event to an endpoint at once, even if it is disabled, and stores the delivery.
/// There are no retries. The attempt has the result.
pub async fn test(state: &State, id: i64) -> Result<Attempt, EndpointError> {
    let now = state.clock.now();
    let begin = async move |tx: &mut Tx| endpoints::begin_test(tx, &SERVICE, id, now).await;
    let trial = state.db.write(begin).await?;
    endpoints::post_test(&state.outbox, trial).await
}

/// The result of the transaction that begins a test.
enum TestRequest {
    /// The event is to be sent.
    First(Box<TestDelivery>),
    /// The same request has begun this delivery before. Its result is awaited.
    Again(i64),
}

/// As [`test()`], but idempotent: a repeated request waits for the result of the first one. `None`
/// if the first one has no result in time.
pub(crate) async fn test_once(
    state: &State,
    actor: &Actor,
    id: i64,
    key: Option<IdempotencyKey>,
) -> Result<Option<Attempt>, Refusal> {
    let job = async move |work: &mut Work<'_>| {
        let trial = endpoints::begin_test(work.tx, &SERVICE, id, work.now).await?;
        Ok((trial.delivery(), TestRequest::First(Box::new(trial))))
    };
    let replay = async move |work: &mut Work<'_>, delivery: i64| {
        let repeated = delivery::deliveries::find(work.tx, &SERVICE, delivery).await?;
        match repeated.ok_or(Refusal::NotFound)? {
            (repeated, ..) if repeated.endpoint.id == id => Ok(TestRequest::Again(delivery)),
            _ => Err(Refusal::KeyReused),
        }
    };
    match write_once(state, actor, key, job, replay).await? {
        // In a task, so that the result is recorded if the client disconnects.
        TestRequest::First(trial) => {
            let outbox = state.outbox.clone();
            let test = tokio::spawn(async move { endpoints::post_test(&outbox, *trial).await });
            Ok(Some(test.await.map_err(web::Error::internal)??))
        }
        TestRequest::Again(delivery) => {
            Ok(endpoints::result_of_test(&state.outbox, delivery).await?)
        }
    }
}

async fn record_changes(
    work: &mut Work<'_>,
    fields: &[&str],
    id: i64,
    url: &str,
) -> Result<(), EndpointError> {
    let changes = FieldChange::all_named(fields);
    Ok(audit::record_changes(work, &changes, Model::WebhookEndpoint, id, url).await?)
}
