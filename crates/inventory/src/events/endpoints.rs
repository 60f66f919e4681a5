//! What people do with webhook endpoints: list, add, change, rotate secrets, disable and enable, delete, test. The pages, the administration and
//! commands all call these functions; each change is written to the audit log in its own transaction.
//! Callers must hold the permission of `access::Model::WebhookEndpoint`.

pub use delivery::endpoints::{EndpointError, Wish, description};

use db::{Conn, Db, Error, Timestamp, Tx};
use delivery::endpoints::{self, Trial};

use super::{Attempt, Endpoint, SERVICE, Secret};
use crate::{
    State,
    access::{Actor, Model},
    audit::{self, Action},
    idempotency::once,
    rest::{Message, Refusal, fields::FieldErrors, resource::Repeatable},
};

/// What forms say.
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

impl From<EndpointError> for Refusal {
    fn from(error: EndpointError) -> Self {
        match error {
            EndpointError::Target(_) => FieldErrors::of("url", INVALID_ADDRESS).into(),
            EndpointError::Types(unknown) => {
                let (name, known) = (&unknown.name, unknown.known.join(", "));
                let message = Message::new(
                    format!("{name:?} não é um tipo de evento; há {known}"),
                    unknown.to_string(),
                );
                FieldErrors::of("types", message).into()
            }
            EndpointError::Description => FieldErrors::of("description", INVALID_TEXT).into(),
            EndpointError::NotFound(_) => Self::NotFound,
            EndpointError::Configured(_) => Self::Conflict(CONFIGURED),
            EndpointError::Database(error) => error.into(),
        }
    }
}

/// Every endpoint, the one of the configuration included, oldest first.
///
/// # Errors
///
/// Faults of the store.
pub async fn list(db: &Db) -> Result<Vec<Endpoint>, Error> {
    db.read(async |conn| endpoints::list(conn, &SERVICE).await)
        .await
}

/// One endpoint.
///
/// # Errors
///
/// Faults of the store.
pub async fn find(db: &Db, id: i64) -> Result<Option<Endpoint>, Error> {
    db.read(async move |conn| endpoints::find(conn, &SERVICE, id).await)
        .await
}

/// Adds an endpoint; its id, and its secret, which is shown this once.
///
/// # Errors
///
/// What is wrong with the wish, and faults of the store.
pub async fn add(
    state: &State,
    actor: &Actor,
    wish: &Wish,
) -> Result<(i64, Secret), EndpointError> {
    let (sealing, actor, wish) = (state.clone(), actor.clone(), wish.clone());
    let now = state.clock.now();
    let add = async move |tx: &mut Tx| add_within(tx, &sealing, &actor, &wish, now).await;
    let added = state.db.write(add).await?;
    state.outbox.wake();
    Ok(added)
}

/// As [`add`]; what is asked for again under the same key is the endpoint that was added the first time, and its secret.
///
/// # Errors
///
/// As [`add`], and an endpoint that is gone again.
pub(crate) async fn add_once(
    state: &State,
    actor: &Actor,
    wish: &Wish,
    key: Option<Repeatable>,
) -> Result<(i64, Secret), Refusal> {
    let (sealing, actor, wish) = (state.clone(), actor.clone(), wish.clone());
    let now = state.clock.now();
    let opening = state.clone();
    let write = async move |tx: &mut Tx| {
        let (id, secret) = add_within(tx, &sealing, &actor, &wish, now).await?;
        Ok((id, (id, secret)))
    };
    let again = async move |tx: &mut Tx, id| {
        let secret = secret_within(tx, &opening, id).await?;
        Ok::<_, Refusal>((id, secret.ok_or(Refusal::NotFound)?))
    };
    let added = once(state, key, write, again).await?;
    state.outbox.wake();
    Ok(added)
}

/// Adds an endpoint within a transaction.
pub(crate) async fn add_within(
    tx: &mut Tx,
    state: &State,
    actor: &Actor,
    wish: &Wish,
    now: Timestamp,
) -> Result<(i64, Secret), EndpointError> {
    let (id, url, secret) = endpoints::add(tx, &state.outbox, wish, now).await?;
    note(tx, actor, Action::Added, (id, &url), now).await?;
    Ok((id, secret))
}

/// Changes address, description and types of an endpoint. What waits goes to the new address.
///
/// # Errors
///
/// What is wrong with the wish, no such endpoint or the one of the configuration, and faults of the store.
pub async fn change(
    state: &State,
    actor: &Actor,
    id: i64,
    wish: &Wish,
) -> Result<(), EndpointError> {
    let (actor, wish, now) = (actor.clone(), wish.clone(), state.clock.now());
    let change = async move |tx: &mut Tx| change_within(tx, &actor, id, &wish, now).await;
    state.db.write(change).await
}

/// As [`change`], where what is wished depends on the endpoint as it stands: nobody else changes it until it is written.
///
/// # Errors
///
/// As [`change`], and what is refused.
pub(crate) async fn settle(
    state: &State,
    actor: &Actor,
    id: i64,
    wish: impl Fn(&Endpoint) -> Result<Wish, FieldErrors> + Clone + Send + 'static,
) -> Result<(), Refusal> {
    let (actor, now) = (actor.clone(), state.clock.now());
    let change = async move |tx: &mut Tx| {
        let endpoint = held(tx, id).await?.ok_or(EndpointError::NotFound(id))?;
        let wish = wish(&endpoint)?;
        Ok::<_, Refusal>(change_within(tx, &actor, id, &wish, now).await?)
    };
    state.db.write(change).await
}

/// Changes an endpoint within a transaction.
pub(crate) async fn change_within(
    tx: &mut Tx,
    actor: &Actor,
    id: i64,
    wish: &Wish,
    now: Timestamp,
) -> Result<(), EndpointError> {
    let (url, fields) = endpoints::change(tx, &SERVICE, id, wish, now).await?;
    if fields.is_empty() {
        return Ok(());
    }
    note(tx, actor, Action::Changed(&fields), (id, &url), now).await
}

/// An endpoint, which nobody else changes until the transaction ends.
pub(crate) async fn held(tx: &mut Tx, id: i64) -> Result<Option<Endpoint>, Error> {
    endpoints::lock(tx, &SERVICE, id).await
}

/// Gives an endpoint a new secret, shown this once. The previous one stays valid until the moment that is answered, unless it cannot be
/// read: then it has signed nothing for some time, and there is no such moment.
///
/// # Errors
///
/// No such endpoint or the one of the configuration, and faults of the store.
pub async fn rotate(
    state: &State,
    actor: &Actor,
    id: i64,
) -> Result<(Secret, Option<Timestamp>), EndpointError> {
    let (shared, actor, now) = (state.clone(), actor.clone(), state.clock.now());
    let rotate = async move |tx: &mut Tx| rotate_within(tx, &shared, &actor, id, now).await;
    state.db.write(rotate).await
}

/// As [`rotate`]; under the same key it is rotated once, and the answer is the same.
///
/// # Errors
///
/// As [`rotate`], and a key that was used for another endpoint.
pub(crate) async fn rotate_once(
    state: &State,
    actor: &Actor,
    id: i64,
    key: Option<Repeatable>,
) -> Result<(Secret, Option<Timestamp>), Refusal> {
    let (shared, opening) = (state.clone(), state.clone());
    let (actor, now) = (actor.clone(), state.clock.now());
    let write = async move |tx: &mut Tx| {
        let rotated = rotate_within(tx, &shared, &actor, id, now).await?;
        Ok((id, rotated))
    };
    let again = async move |tx: &mut Tx, rotated: i64| {
        if rotated != id {
            return Err(Refusal::KeyReused);
        }
        let endpoint = endpoints::find(tx, &SERVICE, id).await?;
        let until = endpoint.ok_or(Refusal::NotFound)?.previous_secret_until;
        let secret = secret_within(tx, &opening, id).await?;
        Ok((secret.ok_or(Refusal::NotFound)?, until))
    };
    once(state, key, write, again).await
}

/// Gives an endpoint a new secret within a transaction, as [`rotate`] does.
pub(crate) async fn rotate_within(
    tx: &mut Tx,
    state: &State,
    actor: &Actor,
    id: i64,
    now: Timestamp,
) -> Result<(Secret, Option<Timestamp>), EndpointError> {
    let rotation = endpoints::rotate(tx, &state.outbox, id, now).await?;
    let (action, url) = (Action::Changed(&["secret"]), &rotation.endpoint.url);
    note(tx, actor, action, (id, url), now).await?;
    Ok((rotation.secret, rotation.previous_until))
}

/// The present secret of an endpoint, for who has just made it; none when it cannot be read.
pub(crate) async fn secret_within(
    tx: &mut Tx,
    state: &State,
    id: i64,
) -> Result<Option<Secret>, Error> {
    endpoints::secret(tx, &state.outbox, id).await
}

/// Whether the secret of an endpoint can be read: not when it was sealed with another key than the present one.
///
/// # Errors
///
/// Faults of the store.
pub(crate) async fn can_sign(state: &State, id: i64) -> Result<bool, Error> {
    let outbox = state.outbox.clone();
    let read = async move |conn: &mut Conn| endpoints::secret(conn, &outbox, id).await;
    let secret: Option<Secret> = state.db.read::<_, Error, _>(read).await?;
    Ok(secret.is_some())
}

/// Lets an endpoint get events again; what waits there goes at once.
///
/// # Errors
///
/// No such endpoint, and faults of the store.
pub async fn enable(state: &State, actor: &Actor, id: i64) -> Result<(), EndpointError> {
    switch(state, actor, id, true).await?;
    state.outbox.wake();
    Ok(())
}

/// Stops an endpoint's events. What waits stays; what happens meanwhile is not for it.
///
/// # Errors
///
/// No such endpoint, and faults of the store.
pub async fn disable(state: &State, actor: &Actor, id: i64) -> Result<(), EndpointError> {
    switch(state, actor, id, false).await
}

/// One that stands so already is no error, and nothing to write down.
async fn switch(state: &State, actor: &Actor, id: i64, is_on: bool) -> Result<(), EndpointError> {
    let (actor, now) = (actor.clone(), state.clock.now());
    let switch = async move |tx: &mut Tx| {
        let before = endpoints::switch(tx, &SERVICE, id, is_on, now).await?;
        if before.disabled.is_none() == is_on {
            return Ok(());
        }
        let action = Action::Changed(&["enabled"]);
        note(tx, &actor, action, (id, &before.url), now).await
    };
    state.db.write(switch).await
}

/// Removes an endpoint with the record of its deliveries.
///
/// # Errors
///
/// No such endpoint, or the one of the configuration, and faults of the store.
pub async fn remove(state: &State, actor: &Actor, id: i64) -> Result<(), EndpointError> {
    let (actor, now) = (actor.clone(), state.clock.now());
    let remove = async move |tx: &mut Tx| {
        let removed = endpoints::delete(tx, &SERVICE, id).await?;
        note(tx, &actor, Action::Deleted, (id, &removed.url), now).await
    };
    state.db.write(remove).await
}

/// Posts a test event to an endpoint at once, whether it gets events or not, and records it like any other. It is not repeated.
///
/// # Errors
///
/// No such endpoint, and faults of the store; what the endpoint makes of it is in the attempt.
pub async fn test(state: &State, id: i64) -> Result<Attempt, EndpointError> {
    let now = state.clock.now();
    let begin = async move |tx: &mut Tx| endpoints::begin_test(tx, &SERVICE, id, now).await;
    let trial = state.db.write(begin).await?;
    endpoints::post_test(&state.outbox, trial).await
}

/// What a tap on the button does.
enum Tap {
    /// Posts the event.
    First(Box<Trial>),
    /// Waits for what became of this delivery.
    Again(i64),
}

/// As [`test()`]; under the same key one event is posted, and the answer is the same. `None` when the first tap has recorded no result in time.
///
/// # Errors
///
/// As [`test()`], and a key that was used for another endpoint.
pub(crate) async fn test_once(
    state: &State,
    id: i64,
    key: Option<Repeatable>,
) -> Result<Option<Attempt>, Refusal> {
    let now = state.clock.now();
    let write = async move |tx: &mut Tx| {
        let trial = endpoints::begin_test(tx, &SERVICE, id, now).await?;
        Ok((trial.delivery(), Tap::First(Box::new(trial))))
    };
    let again = async move |tx: &mut Tx, delivery: i64| {
        let made = delivery::deliveries::find(tx, &SERVICE, delivery).await?;
        match made.ok_or(Refusal::NotFound)? {
            (made, ..) if made.endpoint.id == id => Ok(Tap::Again(delivery)),
            _ => Err(Refusal::KeyReused),
        }
    };
    match once(state, key, write, again).await? {
        Tap::First(trial) => Ok(Some(endpoints::post_test(&state.outbox, *trial).await?)),
        Tap::Again(delivery) => Ok(endpoints::result_of_test(&state.outbox, delivery).await?),
    }
}

async fn note(
    tx: &mut Tx,
    actor: &Actor,
    action: Action<'_>,
    (id, url): (i64, &str),
    now: Timestamp,
) -> Result<(), EndpointError> {
    Ok(audit::record(tx, actor, action, Model::WebhookEndpoint, id, url, now).await?)
}
