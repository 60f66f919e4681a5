//! What people do with webhook endpoints: list, add, change, rotate secrets, disable and enable, delete, test. The pages, the administration and
//! commands all call these functions; each change is written to the audit log in its own transaction.
//! Callers must hold the permission of `accounts::Model::WebhookEndpoint`.

mod configured;
mod secrets;
mod trial;

pub(crate) use configured::configure;
pub(super) use secrets::signing;
pub use trial::test;
pub(crate) use trial::test_once;

use std::time::Duration;

use db::{Conn, Db, Error, Timestamp, Tx};

use super::{
    http::{Secret, Target, TargetError},
    model::{Disabled, Endpoint, Types, UnknownType},
    store::{
        deliveries,
        endpoints::{self, NewEndpoint},
    },
};
use crate::{
    State,
    accounts::Model,
    audit::{self, Action},
    rest::{Message, Refusal, fields::FieldErrors, resource::Repeatable},
    stock::{Actor, movements::repeat},
};

/// How long the secret before the present one signs too, so that a receiver can be changed over without a gap.
const OVERLAP: Duration = Duration::from_secs(24 * 60 * 60);
/// The longest description, in characters.
const LONGEST_DESCRIPTION: usize = 200;

/// What forms say.
const INVALID_ADDRESS: Message = Message::fixed(
    "Digite um endereço que comece com https:// ou http://, sem nome de usuário e sem #.",
    "Enter an address that begins with https:// or http://, without user name and #.",
);
const INVALID_TEXT: Message = Message::fixed(
    "Use no máximo 200 caracteres, em uma linha.",
    "Ensure this field has no more than 200 characters, on one line.",
);
pub(crate) const CONFIGURED: Message = Message::fixed(
    "Este destino está na configuração e é alterado lá.",
    "This endpoint stands in the configuration and is changed there.",
);

/// What a person wants of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wish {
    /// Where events are posted to.
    pub url: String,
    /// What people call it.
    pub description: String,
    /// The types of events it gets, by comma; blank is all.
    pub types: String,
}

/// Why something cannot be done with an endpoint.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// Not an address.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// Not types of events.
    #[error(transparent)]
    Types(#[from] UnknownType),
    /// Too much of a description.
    #[error("a description has at most {LONGEST_DESCRIPTION} characters, on one line")]
    Description,
    /// What the form shows is no longer so.
    #[error("somebody else has changed the endpoint meanwhile")]
    Meanwhile(FieldErrors),
    /// There is none of this id.
    #[error("there is no endpoint {0}")]
    NotFound(i64),
    /// It is the one of the configuration.
    #[error("endpoint {0} stands in the configuration and is changed there")]
    Configured(i64),
    /// Faults of the store.
    #[error("the database fails")]
    Database(#[from] Error),
}

impl From<EndpointError> for Refusal {
    fn from(error: EndpointError) -> Self {
        match error {
            EndpointError::Target(_) => FieldErrors::of("url", INVALID_ADDRESS).into(),
            EndpointError::Types(unknown) => FieldErrors::of("types", unknown.message()).into(),
            EndpointError::Description => FieldErrors::of("description", INVALID_TEXT).into(),
            EndpointError::Meanwhile(errors) => errors.into(),
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
    db.read(async |conn| endpoints::select(conn, None).await)
        .await
}

/// One endpoint.
///
/// # Errors
///
/// Faults of the store.
pub async fn find(db: &Db, id: i64) -> Result<Option<Endpoint>, Error> {
    db.read(async move |conn| endpoints::select(conn, Some(id)).await)
        .await
        .map(|found| found.into_iter().next())
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
        Ok((id, secret.ok_or(Refusal::NotFound)?))
    };
    let added = repeat::once(state, key, write, again).await?;
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
    let (new, secret) = (checked(wish)?, Secret::generate(&state.random));
    let id = endpoints::insert(tx, &new, now).await?;
    let sealed = secrets::sealed(state, id, &secret);
    endpoints::set_secret(tx, id, &sealed, None, now).await?;
    note(tx, actor, Action::Added, (id, &new.url), now).await?;
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
    let wish = wish.clone();
    settle(state, actor, id, move |_| Ok(wish.clone())).await
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
    wish: impl Fn(&Endpoint) -> Result<Wish, FieldErrors> + Send + 'static,
) -> Result<(), EndpointError> {
    let (actor, now) = (actor.clone(), state.clock.now());
    let change = async move |tx: &mut Tx| {
        let endpoint = held(tx, id).await?.ok_or(EndpointError::NotFound(id))?;
        let wish = wish(&endpoint).map_err(EndpointError::Meanwhile)?;
        change_within(tx, &actor, id, &wish, now).await
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
    let new = checked(wish)?;
    let before = own(tx, id).await?;
    let fields = audit::changed([
        ("url", before.url != new.url),
        ("description", before.description != new.description),
        ("types", before.types.to_string() != new.types),
    ]);
    if fields.is_empty() {
        return Ok(());
    }
    endpoints::update(tx, id, &new, now).await?;
    note(tx, actor, Action::Changed(&fields), (id, &new.url), now).await
}

/// An endpoint, which nobody else changes until the transaction ends.
pub(crate) async fn held(tx: &mut Tx, id: i64) -> Result<Option<Endpoint>, Error> {
    endpoints::hold(tx, id).await?;
    Ok(endpoints::select(tx, Some(id)).await?.into_iter().next())
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
        let endpoint = present(tx, id).await?;
        let secret = secret_within(tx, &opening, id).await?;
        let secret = secret.ok_or(Refusal::NotFound)?;
        Ok((secret, endpoint.previous_secret_until))
    };
    repeat::once(state, key, write, again).await
}

/// Gives an endpoint a new secret within a transaction, as [`rotate`] does.
pub(crate) async fn rotate_within(
    tx: &mut Tx,
    state: &State,
    actor: &Actor,
    id: i64,
    now: Timestamp,
) -> Result<(Secret, Option<Timestamp>), EndpointError> {
    let endpoint = own(tx, id).await?;
    let is_signed = secrets::can_sign(tx, state, id).await?;
    let until = is_signed.then(|| now + OVERLAP);
    let secret = Secret::generate(&state.random);
    let sealed = secrets::sealed(state, id, &secret);
    endpoints::set_secret(tx, id, &sealed, until, now).await?;
    let action = Action::Changed(&["secret"]);
    note(tx, actor, action, (id, &endpoint.url), now).await?;
    Ok((secret, until))
}

/// The present secret of an endpoint, for who has just made it; none when it cannot be read.
pub(crate) async fn secret_within(
    tx: &mut Tx,
    state: &State,
    id: i64,
) -> Result<Option<Secret>, Error> {
    let signing = secrets::signing_of(tx, state, id).await?;
    Ok(signing.into_iter().next())
}

/// Whether the secret of an endpoint can be read: not when it was sealed with another key than the present one.
///
/// # Errors
///
/// Faults of the store.
pub(crate) async fn can_sign(state: &State, id: i64) -> Result<bool, Error> {
    let shared = state.clone();
    state
        .db
        .read(async move |conn| secrets::can_sign(conn, &shared, id).await)
        .await
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
        let endpoint = present(tx, id).await?;
        if is_on {
            endpoints::enable(tx, id, now).await?;
            deliveries::let_every_line_go(tx, id, true, now).await?;
        } else {
            endpoints::disable(tx, id, Disabled::ByPerson, now).await?;
        }
        if endpoint.disabled.is_none() == is_on {
            return Ok(());
        }
        let action = Action::Changed(&["enabled"]);
        note(tx, &actor, action, (id, &endpoint.url), now).await
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
        let endpoint = own(tx, id).await?;
        endpoints::delete(tx, id).await?;
        note(tx, &actor, Action::Deleted, (id, &endpoint.url), now).await
    };
    state.db.write(remove).await
}

/// An endpoint that is there.
async fn present(conn: &mut Conn, id: i64) -> Result<Endpoint, EndpointError> {
    let found = endpoints::select(conn, Some(id)).await?;
    found.into_iter().next().ok_or(EndpointError::NotFound(id))
}

/// An endpoint that is there and not the configuration's.
async fn own(conn: &mut Conn, id: i64) -> Result<Endpoint, EndpointError> {
    let endpoint = present(conn, id).await?;
    if endpoint.configured {
        return Err(EndpointError::Configured(id));
    }
    Ok(endpoint)
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

/// A description as it is kept.
///
/// # Errors
///
/// [`EndpointError::Description`]
pub fn description(text: &str) -> Result<String, EndpointError> {
    let text = text.trim();
    if text.chars().count() > LONGEST_DESCRIPTION || text.contains(char::is_control) {
        return Err(EndpointError::Description);
    }
    Ok(text.to_owned())
}

fn checked(wish: &Wish) -> Result<NewEndpoint, EndpointError> {
    Ok(NewEndpoint {
        url: Target::parse(&wish.url)?.to_string(),
        description: description(&wish.description)?,
        types: Types::parse(&wish.types)?.to_string(),
        configured: false,
    })
}
