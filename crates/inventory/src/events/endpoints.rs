//! What people do with endpoints: see, add, change, rotate secrets, switch off and on, remove, try out.
//! Whoever calls has the permission of `accounts::Model::WebhookEndpoint` for it.

use std::time::Duration;

use db::{Db, Timestamp, Tx};
use serde_json::json;
use web::{Clock, Random};

use super::{
    EventType, Outbox, Webhooks, body,
    delivery::secrets,
    http::{Message, Secret, Target, TargetError},
    model::{Attempt, Disabled, Endpoint, Types, UnknownType, webhook_id},
    store::{
        self,
        deliveries::{self, Setback},
        endpoints::{self, NewEndpoint},
    },
};

/// How long the secret before the present one signs too, so that a receiver can be changed over without a gap.
const OVERLAP: Duration = Duration::from_secs(24 * 60 * 60);
/// The longest description, in characters.
const LONGEST_DESCRIPTION: usize = 200;

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
    #[error("a description has at most {LONGEST_DESCRIPTION} characters")]
    Description,
    /// There is none of this id, or it is the one of the configuration and this is done there.
    #[error("there is no such endpoint, or it stands in the configuration and is changed there")]
    NotFound,
    /// Faults of the store.
    #[error("the database fails")]
    Database(#[from] db::Error),
}

/// Every endpoint, the one of the configuration included, oldest first.
///
/// # Errors
///
/// Faults of the store.
pub async fn list(db: &Db) -> Result<Vec<Endpoint>, db::Error> {
    db.read(async |conn| endpoints::all(conn).await).await
}

/// Adds an endpoint; its id, and its secret, which is shown this once.
///
/// # Errors
///
/// What is wrong with the wish, and faults of the store.
pub async fn add(
    db: &Db,
    random: &Random,
    now: Timestamp,
    wish: &Wish,
) -> Result<(i64, Secret), EndpointError> {
    let secret = Secret::generate(random);
    let new = checked(wish, Some(secret.reveal()))?;
    let id = db
        .write(async move |tx| endpoints::insert(tx, &new, now).await)
        .await?;
    Ok((id, secret))
}

/// Changes address, description and types of an endpoint. What waits goes to the new address.
///
/// # Errors
///
/// What is wrong with the wish, no such endpoint, and faults of the store.
pub async fn change(db: &Db, now: Timestamp, id: i64, wish: &Wish) -> Result<(), EndpointError> {
    let new = checked(wish, None)?;
    found(
        db.write(async move |tx| endpoints::update(tx, id, &new, now).await)
            .await,
    )
}

/// Gives an endpoint a new secret, shown this once; the one before signs too until the moment that is answered.
///
/// # Errors
///
/// No such endpoint, and faults of the store.
pub async fn rotate(
    db: &Db,
    random: &Random,
    now: Timestamp,
    id: i64,
) -> Result<(Secret, Timestamp), EndpointError> {
    let (secret, until) = (Secret::generate(random), now + OVERLAP);
    let text = secret.reveal();
    found(
        db.write(async move |tx| endpoints::rotate(tx, id, &text, until, now).await)
            .await,
    )?;
    Ok((secret, until))
}

/// Lets an endpoint get events again; what waits there goes at once.
///
/// # Errors
///
/// No such endpoint, and faults of the store.
pub async fn enable(db: &Db, now: Timestamp, id: i64) -> Result<(), EndpointError> {
    found(
        db.write(async move |tx| {
            let is_there = endpoints::enable(tx, id, now).await?;
            deliveries::let_every_line_go(tx, id, true, now).await?;
            Ok(is_there)
        })
        .await,
    )
}

/// Stops an endpoint's events. What waits stays; what happens meanwhile is not for it.
///
/// # Errors
///
/// No such endpoint, or one that gets none anyway, and faults of the store.
pub async fn disable(db: &Db, now: Timestamp, id: i64) -> Result<(), EndpointError> {
    let reason = Disabled::ByPerson;
    found(
        db.write(async move |tx| endpoints::disable(tx, id, reason, now).await)
            .await,
    )
}

/// Removes an endpoint with the record of its deliveries.
///
/// # Errors
///
/// No such endpoint, or the one of the configuration, and faults of the store.
pub async fn remove(db: &Db, id: i64) -> Result<(), EndpointError> {
    found(
        db.write(async move |tx| endpoints::delete(tx, id).await)
            .await,
    )
}

fn found(done: Result<bool, db::Error>) -> Result<(), EndpointError> {
    if done? {
        Ok(())
    } else {
        Err(EndpointError::NotFound)
    }
}

fn checked(wish: &Wish, secret: Option<String>) -> Result<NewEndpoint, EndpointError> {
    let description = wish.description.trim();
    if description.chars().count() > LONGEST_DESCRIPTION || description.contains(char::is_control) {
        return Err(EndpointError::Description);
    }
    Ok(NewEndpoint {
        url: Target::parse(&wish.url)?.to_string(),
        description: description.to_owned(),
        types: Types::parse(&wish.types)?.to_string(),
        secret,
        configured: false,
    })
}

/// Posts a test event to an endpoint at once, whether it gets events or not, and records it like any other. It is not repeated.
///
/// # Errors
///
/// No such endpoint, and faults of the store; what the endpoint makes of it is in the attempt.
pub async fn test(
    db: &Db,
    webhooks: &Webhooks,
    outbox: &Outbox,
    clock: &Clock,
    id: i64,
) -> Result<Attempt, EndpointError> {
    let now = clock.now();
    let kind = EventType::Test;
    let payload = body(kind, &json!({"message": "A test event."}), now).to_string();
    let text = payload.clone();
    let made = db
        .write(async move |tx| {
            let Some(receiver) = endpoints::receiver(tx, id).await? else {
                return Ok::<_, db::Error>(None);
            };
            let event = store::insert_single_event(tx, kind.name(), &text, now).await?;
            let delivery = deliveries::insert_single(tx, event, id, now).await?;
            Ok(Some((receiver, event, delivery)))
        })
        .await?;
    let (receiver, event, delivery) = made.ok_or(EndpointError::NotFound)?;
    let (target, secrets) = (
        Target::parse(&receiver.url)?,
        secrets(webhooks, &receiver, now),
    );
    let message = Message::signed(webhook_id(event, now), payload.into(), &secrets, now);
    let answer = outbox.sender.send(&target, message).await;
    let attempt = Attempt {
        started_at: now,
        duration_ms: i64::try_from(answer.duration.as_millis()).unwrap_or(i64::MAX),
        outcome: answer.outcome.name().to_owned(),
        status: answer.outcome.status().map(i64::from),
        detail: answer.detail,
    };
    let (is_delivered, outcome) = (answer.outcome.is_delivered(), answer.outcome.name());
    let (recorded, ended_at) = (attempt.clone(), clock.now());
    db.write(async move |tx| {
        record_test(tx, delivery, &recorded, is_delivered, outcome, ended_at).await
    })
    .await?;
    Ok(attempt)
}

async fn record_test(
    tx: &mut Tx,
    delivery: i64,
    attempt: &Attempt,
    is_delivered: bool,
    outcome: &'static str,
    now: Timestamp,
) -> Result<(), db::Error> {
    let mut rows = deliveries::new_attempts();
    rows.push([
        delivery.into(),
        attempt.started_at.into(),
        attempt.duration_ms.into(),
        outcome.into(),
        attempt.status.into(),
        attempt.detail.as_str().into(),
    ]);
    tx.insert_rows(&mut rows).await?;
    if is_delivered {
        return deliveries::end_delivered(tx, &[delivery], attempt.status.unwrap_or(200), now)
            .await;
    }
    let setback = Setback {
        id: delivery,
        due_at: None,
        outcome,
        status: attempt.status,
    };
    deliveries::set_back(tx, &setback, now).await
}

/// Makes the endpoint of the configuration stand among the others as the configuration says.
///
/// # Errors
///
/// Faults of the store.
pub(crate) async fn configure(
    db: &Db,
    webhooks: &Webhooks,
    now: Timestamp,
) -> Result<(), db::Error> {
    let wanted = webhooks
        .configured
        .as_ref()
        .map(|one| one.target.to_string());
    db.write(async move |tx| {
        let all = endpoints::all(tx).await?;
        let present = all.into_iter().find(|endpoint| endpoint.configured);
        match (present, &wanted) {
            (None, None) => Ok(()),
            (None, Some(url)) => {
                let new = NewEndpoint {
                    url: url.clone(),
                    description: String::new(),
                    types: String::new(),
                    secret: None,
                    configured: true,
                };
                endpoints::insert(tx, &new, now).await.map(drop)
            }
            (Some(present), None) => {
                let reason = Disabled::NotConfigured;
                endpoints::disable(tx, present.id, reason, now)
                    .await
                    .map(drop)
            }
            (Some(present), Some(url)) => {
                let is_other = present.url != *url;
                if is_other {
                    endpoints::set_configured_url(tx, present.id, url, now).await?;
                }
                // One that was disabled under this same address stays so until a person enables it.
                if is_other || present.disabled == Some(Disabled::NotConfigured) {
                    endpoints::enable(tx, present.id, now).await?;
                    deliveries::let_every_line_go(tx, present.id, true, now).await?;
                }
                Ok(())
            }
        }
    })
    .await
}
