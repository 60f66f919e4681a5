//! Operators' commands on webhook endpoints. They need no login.

pub use delivery::endpoints::{EndpointError, EndpointInput, Rotation};

use db::{Conn, Error, Tx};
use delivery::{Attempt, Endpoint, Outbox, deliveries, endpoints};

use super::{SERVICE, Secret};

/// Every endpoint, including the one of the configuration, oldest first.
pub async fn list(outbox: &Outbox) -> Result<Vec<Endpoint>, Error> {
    let read = async |conn: &mut Conn| endpoints::list(conn, &SERVICE).await;
    outbox.db.read(read).await
}

/// Adds an endpoint. Returns its id, and its secret, which cannot be shown again.
///
/// # Errors
/// Invalid input, and database errors.
pub async fn add(outbox: &Outbox, input: &EndpointInput) -> Result<(i64, Secret), EndpointError> {
    let (shared, input, now) = (outbox.clone(), input.clone(), outbox.clock.now());
    let add = async move |tx: &mut Tx| endpoints::add(tx, &shared, &input, now).await;
    let (id, _, secret) = outbox.db.write(add).await?;
    Ok((id, secret))
}

/// Changes the address, the description and the types of an endpoint.
///
/// # Errors
/// Invalid input, an endpoint that does not exist or is the one of the configuration, and database
/// errors.
pub async fn change(outbox: &Outbox, id: i64, input: &EndpointInput) -> Result<(), EndpointError> {
    let (input, now) = (input.clone(), outbox.clock.now());
    let change = async move |tx: &mut Tx| endpoints::change(tx, &SERVICE, id, &input, now).await;
    outbox.db.write(change).await.map(drop)
}

/// Gives an endpoint a new secret, which cannot be shown again.
///
/// # Errors
/// The endpoint does not exist or is the one of the configuration, and database errors.
pub async fn rotate(outbox: &Outbox, id: i64) -> Result<Rotation, EndpointError> {
    let (shared, now) = (outbox.clone(), outbox.clock.now());
    let rotate = async move |tx: &mut Tx| endpoints::rotate(tx, &shared, id, now).await;
    outbox.db.write(rotate).await
}

/// Enables or disables an endpoint.
///
/// # Errors
/// The endpoint does not exist, and database errors.
pub async fn switch(outbox: &Outbox, id: i64, is_on: bool) -> Result<(), EndpointError> {
    let now = outbox.clock.now();
    let switch = async move |tx: &mut Tx| endpoints::switch(tx, &SERVICE, id, is_on, now).await;
    outbox.db.write(switch).await.map(drop)
}

/// Deletes an endpoint and the record of its deliveries.
///
/// # Errors
/// The endpoint does not exist or is the one of the configuration, and database errors.
pub async fn delete(outbox: &Outbox, id: i64) -> Result<(), EndpointError> {
    let delete = async move |tx: &mut Tx| endpoints::delete(tx, &SERVICE, id).await;
    outbox.db.write(delete).await.map(drop)
}

/// Sends a test event to an endpoint at once, even if it is disabled. The event is not retried.
///
/// # Errors
/// The endpoint does not exist, and database errors. The endpoint's own failure is in the attempt.
pub async fn test(outbox: &Outbox, id: i64) -> Result<Attempt, EndpointError> {
    let now = outbox.clock.now();
    let begin = async move |tx: &mut Tx| endpoints::begin_test(tx, &SERVICE, id, now).await;
    let trial = outbox.db.write(begin).await?;
    endpoints::post_test(outbox, trial).await
}

/// Delivers an event again to every endpoint that subscribes to its type now. Returns their number.
/// `None` if the event does not exist.
pub async fn redeliver(outbox: &Outbox, event: i64) -> Result<Option<usize>, Error> {
    let now = outbox.clock.now();
    let begin =
        async move |tx: &mut Tx| deliveries::redeliver_event(tx, &SERVICE, event, now).await;
    let done = outbox.db.write(begin).await?;
    outbox.wake();
    Ok(done.map(|(deliveries, _)| deliveries.len()))
}

/// Delivers all given-up deliveries again, at one endpoint or at all enabled ones. Returns their
/// number.
pub async fn redeliver_failed(outbox: &Outbox, endpoint: Option<i64>) -> Result<u64, Error> {
    let note = async |_: &mut Tx, _: &Endpoint| Ok(());
    deliveries::redeliver_failed(outbox, endpoint, note).await
}
