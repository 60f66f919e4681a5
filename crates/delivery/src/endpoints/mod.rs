//! Manages webhook endpoints: list, add, change, rotate secrets, enable and disable, delete, test.
//! Functions that write take the transaction, so that a service can record the actor in it. After
//! the commit the caller must call [`Outbox::wake`].

mod configured;
mod secrets;
mod trial;

pub use configured::configure;
pub(crate) use configured::target;
pub(crate) use secrets::signing;
pub use trial::{TestDelivery, begin_test, post_test, result_of_test};

use std::time::Duration;

use db::{Conn, Error, Timestamp, Tx};
use resource::differences;

use crate::{
    DisabledReason, Endpoint, Outbox, Secret, Service, Target, TargetError, Types, UnknownType,
    model::DESCRIPTION_MAX,
    store::{
        deliveries,
        endpoints::{self, NewEndpoint},
    },
};

/// How long the previous secret signs as well, so that a receiver can switch without a gap.
const OVERLAP: Duration = Duration::from_secs(24 * 60 * 60);

/// A person's input for an endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EndpointInput {
    /// The address to which events are posted.
    pub url: String,
    /// The name that people use.
    pub description: String,
    /// The subscribed event types, separated by commas. Blank means all.
    pub types: String,
}

/// A new secret of an endpoint.
#[derive(Debug, Clone)]
pub struct Rotation {
    /// The endpoint before the change.
    pub endpoint: Endpoint,
    /// The new secret, which cannot be shown again.
    pub secret: Secret,
    /// Until when the previous secret signs as well. `None` when that one could not be decrypted;
    /// it has not signed anything then.
    pub previous_until: Option<Timestamp>,
}

/// Why an operation on an endpoint fails.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// The address is invalid.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// An event type is unknown.
    #[error(transparent)]
    Types(#[from] UnknownType),
    /// The description is too long or contains control characters.
    #[error("a description has at most {DESCRIPTION_MAX} characters, on one line")]
    Description,
    /// No endpoint has this id.
    #[error("there is no endpoint {0}")]
    NotFound(i64),
    /// The endpoint belongs to the configuration and cannot be changed here.
    #[error("endpoint {0} stands in the configuration and is changed there")]
    Configured(i64),
    /// The database failed.
    #[error("the database fails")]
    Database(#[from] Error),
}

/// Every endpoint, including those of the configuration, oldest first.
pub async fn list(conn: &mut Conn, service: &Service) -> Result<Vec<Endpoint>, Error> {
    endpoints::select(conn, service.name, None).await
}

/// One endpoint.
pub async fn find(conn: &mut Conn, service: &Service, id: i64) -> Result<Option<Endpoint>, Error> {
    let found = endpoints::select(conn, service.name, Some(id)).await?;
    Ok(found.into_iter().next())
}

/// Locks an endpoint until the transaction ends, and returns it.
pub async fn lock(tx: &mut Tx, service: &Service, id: i64) -> Result<Option<Endpoint>, Error> {
    endpoints::lock(tx, id).await?;
    find(tx, service, id).await
}

/// Adds an endpoint. Returns its id, its address as stored, and its secret, which cannot be shown
/// again.
pub async fn add(
    tx: &mut Tx,
    outbox: &Outbox,
    input: &EndpointInput,
    now: Timestamp,
) -> Result<(i64, String, Secret), EndpointError> {
    let new = checked(&outbox.service, input)?;
    let secret = Secret::generate(&outbox.random);
    let id = endpoints::insert(tx, outbox.service.name, &new, now).await?;
    let sealed = secrets::encrypted(outbox, id, &secret);
    endpoints::set_secret(tx, id, &sealed, None, now).await?;
    Ok((id, new.url, secret))
}

/// Changes address, description and types of an endpoint. Returns the address, and the names of the
/// changed fields. Waiting deliveries go to the new address.
pub async fn change(
    tx: &mut Tx,
    service: &Service,
    id: i64,
    input: &EndpointInput,
    now: Timestamp,
) -> Result<(String, Vec<&'static str>), EndpointError> {
    let new = checked(service, input)?;
    let before = own(tx, service, id).await?;
    let after = Endpoint {
        url: new.url.clone(),
        description: new.description.clone(),
        types: Types::stored(&new.types),
        ..before.clone()
    };
    let changed = differences(&before, &after).into_iter();
    let fields: Vec<_> = changed.map(|(field, ..)| field.name).collect();
    if !fields.is_empty() {
        endpoints::update(tx, id, &new, now).await?;
    }
    Ok((new.url, fields))
}

/// Gives an endpoint a new secret.
pub async fn rotate(
    tx: &mut Tx,
    outbox: &Outbox,
    id: i64,
    now: Timestamp,
) -> Result<Rotation, EndpointError> {
    let endpoint = own(tx, &outbox.service, id).await?;
    let can_sign = secret(tx, outbox, id).await?.is_some();
    let until = can_sign.then(|| now + OVERLAP);
    let secret = Secret::generate(&outbox.random);
    let sealed = secrets::encrypted(outbox, id, &secret);
    endpoints::set_secret(tx, id, &sealed, until, now).await?;
    Ok(Rotation {
        endpoint,
        secret,
        previous_until: until,
    })
}

/// The current secret of an endpoint. `None` when it was encrypted with another key.
pub async fn secret(conn: &mut Conn, outbox: &Outbox, id: i64) -> Result<Option<Secret>, Error> {
    let signing = secrets::signing_of(conn, outbox, id).await?;
    Ok(signing.into_iter().next())
}

/// Enables an endpoint, whose waiting deliveries become due at once, or disables it. While an
/// endpoint is disabled, its waiting deliveries stay and new events are not delivered to it.
/// Returns the endpoint before the change.
pub async fn switch(
    tx: &mut Tx,
    service: &Service,
    id: i64,
    is_on: bool,
    now: Timestamp,
) -> Result<Endpoint, EndpointError> {
    let endpoint = present(tx, service, id).await?;
    if is_on {
        endpoints::enable(tx, id, now).await?;
        deliveries::release_lines(tx, id, true, now).await?;
    } else {
        endpoints::disable(tx, id, DisabledReason::ByPerson, now).await?;
    }
    Ok(endpoint)
}

/// Deletes an endpoint and the record of its deliveries. Returns what was deleted.
pub async fn delete(tx: &mut Tx, service: &Service, id: i64) -> Result<Endpoint, EndpointError> {
    let endpoint = own(tx, service, id).await?;
    endpoints::delete(tx, id).await?;
    Ok(endpoint)
}

/// The endpoint, or [`EndpointError::NotFound`].
async fn present(conn: &mut Conn, service: &Service, id: i64) -> Result<Endpoint, EndpointError> {
    let found = find(conn, service, id).await?;
    found.ok_or(EndpointError::NotFound(id))
}

/// Same as [`present`], and fails for an endpoint of the configuration.
async fn own(conn: &mut Conn, service: &Service, id: i64) -> Result<Endpoint, EndpointError> {
    let endpoint = present(conn, service, id).await?;
    if endpoint.configured {
        return Err(EndpointError::Configured(id));
    }
    Ok(endpoint)
}

/// Validates and trims a description.
pub fn description(text: &str) -> Result<String, EndpointError> {
    let text = text.trim();
    if text.chars().count() > DESCRIPTION_MAX || text.contains(char::is_control) {
        return Err(EndpointError::Description);
    }
    Ok(text.to_owned())
}

fn checked(service: &Service, input: &EndpointInput) -> Result<NewEndpoint, EndpointError> {
    Ok(NewEndpoint {
        url: Target::parse(&input.url)?.to_string(),
        description: description(&input.description)?,
        types: Types::parse(&input.types, service.types)?.to_string(),
        configured: None,
    })
}
