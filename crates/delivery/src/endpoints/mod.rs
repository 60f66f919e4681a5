//! Managing webhook endpoints: list, add, change, rotate secrets, disable and enable, delete, test.
//! Functions that write take the transaction, so that a service can record the actor in it. After
//! the commit the workers are woken by [`Outbox::wake`].

mod configured;
mod secrets;
mod trial;

pub use configured::configure;
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

/// How long the secret before the present one signs too, so that a receiver can be changed over
/// without a gap.
const OVERLAP: Duration = Duration::from_secs(24 * 60 * 60);

/// A person's input for an endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EndpointInput {
    /// Where events are posted to.
    pub url: String,
    /// What people call it.
    pub description: String,
    /// The types of events it gets, by comma; blank is all.
    pub types: String,
}

/// A new secret of an endpoint.
#[derive(Debug, Clone)]
pub struct Rotation {
    /// The endpoint as it was before.
    pub endpoint: Endpoint,
    /// The secret, which is shown this once.
    pub secret: Secret,
    /// Until when the previous one signs too; `None` when it cannot be read: then it has signed
    /// nothing for some time.
    pub previous_until: Option<Timestamp>,
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
    #[error("a description has at most {DESCRIPTION_MAX} characters, on one line")]
    Description,
    /// There is none of this id.
    #[error("there is no endpoint {0}")]
    NotFound(i64),
    /// It is one of the configuration.
    #[error("endpoint {0} stands in the configuration and is changed there")]
    Configured(i64),
    /// Faults of the store.
    #[error("the database fails")]
    Database(#[from] Error),
}

/// Every endpoint, those of the configuration included, oldest first.
pub async fn list(conn: &mut Conn, service: &Service) -> Result<Vec<Endpoint>, Error> {
    endpoints::select(conn, service.name, None).await
}

/// One endpoint.
pub async fn find(conn: &mut Conn, service: &Service, id: i64) -> Result<Option<Endpoint>, Error> {
    let found = endpoints::select(conn, service.name, Some(id)).await?;
    Ok(found.into_iter().next())
}

/// An endpoint, which nobody else changes until the transaction ends.
pub async fn lock(tx: &mut Tx, service: &Service, id: i64) -> Result<Option<Endpoint>, Error> {
    endpoints::lock(tx, id).await?;
    find(tx, service, id).await
}

/// Adds an endpoint; its id, its address as it is stored, and its secret, which is shown this once.
///
/// # Errors
///
/// What is wrong with the input, and faults of the store.
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

/// Changes address, description and types of an endpoint: its address, and the fields that changed.
/// What waits goes to the new address.
///
/// # Errors
///
/// What is wrong with the input, no such endpoint or one of the configuration, and faults of the
/// store.
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
///
/// # Errors
///
/// No such endpoint or one of the configuration, and faults of the store.
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

/// The present secret of an endpoint; none when it was sealed with another key than the present
/// one.
pub async fn secret(conn: &mut Conn, outbox: &Outbox, id: i64) -> Result<Option<Secret>, Error> {
    let signing = secrets::signing_of(conn, outbox, id).await?;
    Ok(signing.into_iter().next())
}

/// Lets an endpoint get events again, and what waits there go at once; or stops its events: what
/// waits stays, and what happens meanwhile is not for it. The endpoint as it was before.
///
/// # Errors
///
/// No such endpoint, and faults of the store.
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

/// Deletes an endpoint with the record of its deliveries; what it was.
///
/// # Errors
///
/// No such endpoint, or one of the configuration, and faults of the store.
pub async fn delete(tx: &mut Tx, service: &Service, id: i64) -> Result<Endpoint, EndpointError> {
    let endpoint = own(tx, service, id).await?;
    endpoints::delete(tx, id).await?;
    Ok(endpoint)
}

/// An endpoint that is there.
async fn present(conn: &mut Conn, service: &Service, id: i64) -> Result<Endpoint, EndpointError> {
    let found = find(conn, service, id).await?;
    found.ok_or(EndpointError::NotFound(id))
}

/// An endpoint that is there and not the configuration's.
async fn own(conn: &mut Conn, service: &Service, id: i64) -> Result<Endpoint, EndpointError> {
    let endpoint = present(conn, service, id).await?;
    if endpoint.configured {
        return Err(EndpointError::Configured(id));
    }
    Ok(endpoint)
}

/// A description as it is stored.
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
