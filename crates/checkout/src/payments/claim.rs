//! The right to work on a payment attempt: stores the intent before the provider is called, or finds what the caller's idempotency key
//! already stands for. The database's unique key settles every race, between processes too.

use std::time::Duration;

use db::Timestamp;

use super::idempotency::{IdempotencyKey, KEPT};
use super::model::Intent;
use super::store::{self, Attempt, AttemptStep, Lease, NewAttempt};
use crate::app::State;
use crate::provider::{CardToken, ExternalReference, UpstreamKey};
use crate::request::MethodKind;

/// What a caller's request comes to before any call.
pub(super) enum Claim {
    /// Work on it: the attempt is ours until the lease ends.
    Run(Box<Run>),
    /// It has ended; its answer stands.
    Ended(Box<Attempt>),
    /// Another request with the key is at work.
    Busy,
    /// The key belongs to another request.
    Mismatch,
}

/// One run of an attempt.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) id: i64,
    pub(crate) reference: ExternalReference,
    pub(crate) lease: Lease,
    pub(crate) token_key: UpstreamKey,
    pub(crate) create_key: UpstreamKey,
    pub(crate) token: Option<CardToken>,
    /// Stored by this very request, with nothing sent before.
    pub(crate) is_fresh: bool,
    /// When an earlier run may have sent the call that makes the payment: ask the provider before sending it again.
    pub(crate) sent_at: Option<Timestamp>,
}

/// How long a run may take until others may go on with its attempt: two calls one after the other, and some.
pub(crate) fn lease_length(timeout: Duration) -> Duration {
    timeout * 2 + Duration::from_secs(5)
}

/// Stores the intent, or takes up the attempt that the key stands for.
pub(super) async fn claim(
    state: &State,
    intent: &Intent,
    key: Option<IdempotencyKey>,
    fingerprint: Option<String>,
) -> Result<Claim, db::Error> {
    let now = state.clock.now();
    let until = now + lease_length(state.config.provider.timeout);
    let is_card = intent.method == MethodKind::Card;
    let (token_key, create_key) = (new_key(state), new_key(state));
    let new = NewAttempt {
        reference: state.random.uuid_at(now).to_string(),
        idempotency_key: key.map(|key| key.as_str().to_owned()),
        fingerprint,
        // A card's first call makes no payment yet; those of pix and boleto do.
        step: if is_card {
            AttemptStep::Started
        } else {
            AttemptStep::Sending
        },
        intent: intent.clone(),
        token_key: is_card.then(|| token_key.to_string()),
        create_key: create_key.to_string(),
        lease: Lease {
            id: state.replica.lease(&state.random.uuid().to_string()),
            until,
        },
        check_at: until,
        now,
    };
    state
        .db
        .write(async move |tx| {
            if let Some(id) = store::insert_attempt(tx, &new).await? {
                return Ok(Claim::Run(Box::new(fresh(
                    id, &new, token_key, create_key,
                )?)));
            }
            let key = new.idempotency_key.as_deref().unwrap_or_default();
            if store::free_key(tx, key, new.now - KEPT).await? {
                let id = store::insert_attempt(tx, &new)
                    .await?
                    .ok_or_else(vanished)?;
                return Ok(Claim::Run(Box::new(fresh(
                    id, &new, token_key, create_key,
                )?)));
            }
            let found = store::find_attempt_by_key(tx, key)
                .await?
                .ok_or_else(vanished)?;
            take_up(tx, found, &new).await
        })
        .await
}

/// When the attempt began that the caller's key stands for; none while it stands for none.
pub(crate) async fn begun_at(
    state: &State,
    key: Option<IdempotencyKey>,
    now: Timestamp,
) -> Result<Option<Timestamp>, db::Error> {
    let Some(key) = key else {
        return Ok(None);
    };
    let find =
        async move |conn: &mut db::Conn| store::find_attempt_by_key(conn, key.as_str()).await;
    let begun = state.db.read(find).await?.map(|attempt| attempt.created_at);
    Ok(begun.filter(|begun| *begun > now - KEPT))
}

async fn take_up(tx: &mut db::Tx, found: Attempt, new: &NewAttempt) -> Result<Claim, db::Error> {
    if found.fingerprint != new.fingerprint {
        return Ok(Claim::Mismatch);
    }
    if matches!(found.step, AttemptStep::Finished | AttemptStep::Refused) {
        return Ok(Claim::Ended(Box::new(found)));
    }
    let is_card = new.intent.method == MethodKind::Card;
    let was_sent = found.step == AttemptStep::Sending;
    let step = if was_sent || !is_card || found.card_token.is_some() {
        AttemptStep::Sending
    } else {
        AttemptStep::Started
    };
    if !store::take_attempt(tx, found.id, step, &new.lease, new.now).await? {
        return Ok(Claim::Busy);
    }
    Ok(Claim::Run(Box::new(resumed(found, new, was_sent)?)))
}

fn fresh(
    id: i64,
    new: &NewAttempt,
    token_key: UpstreamKey,
    create_key: UpstreamKey,
) -> Result<Run, db::Error> {
    Ok(Run {
        id,
        reference: reference(&new.reference)?,
        lease: new.lease.clone(),
        token_key,
        create_key,
        token: None,
        is_fresh: true,
        sent_at: None,
    })
}

fn resumed(found: Attempt, new: &NewAttempt, was_sent: bool) -> Result<Run, db::Error> {
    let create_key = stored_key(&found.create_key)?;
    Ok(Run {
        id: found.id,
        reference: reference(&found.reference)?,
        lease: new.lease.clone(),
        token_key: found
            .token_key
            .as_deref()
            .map_or(Ok(create_key), stored_key)?,
        create_key,
        token: found.card_token.map(CardToken::new),
        is_fresh: false,
        // A closed attempt was sent too, once: the provider is asked about it again.
        sent_at: if was_sent || found.step == AttemptStep::Closed {
            found.sent_at
        } else {
            None
        },
    })
}

/// A key for a new upstream call.
pub(crate) fn new_key(state: &State) -> UpstreamKey {
    UpstreamKey(state.random.uuid())
}

/// A stored reference, as calls need it.
pub(crate) fn reference(text: &str) -> Result<ExternalReference, db::Error> {
    ExternalReference::parse(text)
        .map_err(|_| db::Error::other("attempts.reference holds no reference"))
}

fn stored_key(text: &str) -> Result<UpstreamKey, db::Error> {
    let key = text
        .parse()
        .map_err(|_| db::Error::other("a stored upstream key is no UUID"))?;
    Ok(UpstreamKey(key))
}

fn vanished() -> db::Error {
    db::Error::other("an idempotency key vanished while it was looked up")
}
