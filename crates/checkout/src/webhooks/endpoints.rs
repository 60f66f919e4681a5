//! Commands of operators on webhook endpoints. They have no login.

pub use delivery::endpoints::{EndpointError, EndpointInput, Rotation, description};
pub use delivery::{Attempt, DisabledReason, Endpoint, TargetError, Types, UnknownType};

use db::{Conn, Error, Tx};
use delivery::{Outbox, deliveries, endpoints};

use super::{SERVICE, Secret};

/// Reads types of events that endpoints may ask for, by comma; blank is all.
pub fn types(text: &str) -> Result<Types, UnknownType> {
    Types::parse(text, SERVICE.types)
}

/// Every endpoint, the one of the configuration included, oldest first.
pub async fn list(outbox: &Outbox) -> Result<Vec<Endpoint>, Error> {
    let read = async |conn: &mut Conn| endpoints::list(conn, &SERVICE).await;
    outbox.db.read(read).await
}

/// One endpoint.
pub async fn find(outbox: &Outbox, id: i64) -> Result<Option<Endpoint>, Error> {
    let read = async move |conn: &mut Conn| endpoints::find(conn, &SERVICE, id).await;
    outbox.db.read(read).await
}

/// Adds an endpoint; its id, and its secret, which is shown this once.
///
/// # Errors
/// What is wrong with the input, and faults of the database.
pub async fn add(outbox: &Outbox, input: &EndpointInput) -> Result<(i64, Secret), EndpointError> {
    let (shared, input, now) = (outbox.clone(), input.clone(), outbox.clock.now());
    let add = async move |tx: &mut Tx| endpoints::add(tx, &shared, &input, now).await;
    let (id, _, secret) = outbox.db.write(add).await?;
    Ok((id, secret))
}

/// Gives an endpoint a new secret, which is shown this once.
///
/// # Errors
/// No such endpoint or the one of the configuration, and faults of the database.
pub async fn rotate(outbox: &Outbox, id: i64) -> Result<Rotation, EndpointError> {
    let (shared, now) = (outbox.clone(), outbox.clock.now());
    let rotate = async move |tx: &mut Tx| endpoints::rotate(tx, &shared, id, now).await;
    outbox.db.write(rotate).await
}

/// Lets an endpoint get events again, or stops them.
///
/// # Errors
/// No such endpoint, and faults of the database.
pub async fn switch(outbox: &Outbox, id: i64, is_on: bool) -> Result<(), EndpointError> {
    let now = outbox.clock.now();
    let switch = async move |tx: &mut Tx| endpoints::switch(tx, &SERVICE, id, is_on, now).await;
    outbox.db.write(switch).await.map(drop)
}

/// Deletes an endpoint with the record of its deliveries.
///
/// # Errors
/// No such endpoint or the one of the configuration, and faults of the database.
pub async fn delete(outbox: &Outbox, id: i64) -> Result<(), EndpointError> {
    let delete = async move |tx: &mut Tx| endpoints::delete(tx, &SERVICE, id).await;
    outbox.db.write(delete).await.map(drop)
}

/// Posts a test event to an endpoint at once, whether it gets events or not. It is not repeated.
///
/// # Errors
/// No such endpoint, and faults of the database; what the endpoint makes of it is in the attempt.
pub async fn test(outbox: &Outbox, id: i64) -> Result<Attempt, EndpointError> {
    let now = outbox.clock.now();
    let begin = async move |tx: &mut Tx| endpoints::begin_test(tx, &SERVICE, id, now).await;
    let trial = outbox.db.write(begin).await?;
    endpoints::post_test(outbox, trial).await
}

/// Delivers an event once more to every endpoint that gets its type now; to how many. `None` when
/// there is no such event.
pub async fn redeliver(outbox: &Outbox, event: i64) -> Result<Option<usize>, Error> {
    let now = outbox.clock.now();
    let begin =
        async move |tx: &mut Tx| deliveries::redeliver_event(tx, &SERVICE, event, now).await;
    let done = outbox.db.write(begin).await?;
    outbox.wake();
    Ok(done.map(|(deliveries, _)| deliveries.len()))
}

/// Delivers all that was given up once more, at one endpoint or at all that get events; how many.
pub async fn redeliver_failed(outbox: &Outbox, endpoint: Option<i64>) -> Result<u64, Error> {
    let note = async |_: &mut Tx, _: &Endpoint| Ok(());
    deliveries::redeliver_failed(outbox, endpoint, note).await
}
