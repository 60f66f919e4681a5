//! The lease of an attempt. The intent is stored before the provider is called, unless the caller's
//! idempotency key has an attempt already. The database's unique key settles every race, between
//! processes too.

use std::time::Duration;

use db::{Db, Timestamp, Tx};
use web::Clock;

use super::finality::is_certain;
use super::model::{Attempt, Instruction, Lease, NewAttempt};
use super::store;
use crate::idempotency::{IdempotencyKey, RETENTION};
use crate::payments::AttemptStep;
use crate::provider::{ExternalReference, Failure, UpstreamKey};
use crate::state::State;

/// How often a key is looked up again whose attempt vanished between two statements.
const LOOKUPS_MAX: usize = 5;

/// The result of claiming an attempt for a request, before any call.
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
pub(super) struct Run {
    pub(crate) attempt: Attempt,
    pub(crate) lease: Lease,
    /// Stored by this very request.
    pub(crate) is_fresh: bool,
    /// When the call that moves the money was last sent before this run; none when it never was, or
    /// when it is certain that it had no effect. The provider's state is read before that call is
    /// sent again.
    pub(crate) sent_at: Option<Timestamp>,
}

impl Run {
    /// The provider, read at `requested_at`, knows nothing of an earlier call. If it must know that
    /// call by now, the call came to nothing: what is sent next is sent for the first time.
    pub(super) fn rule_out_earlier_call(&mut self, requested_at: Timestamp) {
        self.sent_at = self.sent_at.filter(|sent| !is_certain(*sent, requested_at));
    }

    /// The call that moves the money is sent only while the attempt is surely ours. A run that
    /// stalled for longer sends nothing: an hour after the time that is stored as the last sending,
    /// what the provider does not know counts as never made.
    pub(super) fn check_lease(&self, clock: &Clock) -> Result<(), Failure> {
        if clock.now() < self.lease.until {
            Ok(())
        } else {
            Err(Failure::NotSent("the run stalled for too long".into()))
        }
    }
}

/// What every request for money brings along, whatever it is for.
#[derive(Debug, Clone)]
pub(super) struct NewRun {
    pub(crate) key: Option<IdempotencyKey>,
    pub(crate) fingerprint: Option<String>,
    pub(crate) upstream_key: UpstreamKey,
    pub(crate) lease: Lease,
    pub(crate) now: Timestamp,
}

impl NewRun {
    /// A run for a caller who has waited since `requested_at`. When the caller has been told
    /// meanwhile that the outcome is unknown, a run that is at work goes on, but none begins.
    pub(super) fn new(
        state: &State,
        key: Option<IdempotencyKey>,
        fingerprint: Option<String>,
        requested_at: Timestamp,
    ) -> Result<Self, Failure> {
        let now = state.clock.now();
        if now > requested_at + patience(state.config.provider.timeout) {
            return Err(Failure::NotSent("the request stalled for too long".into()));
        }
        Ok(Self {
            key,
            fingerprint,
            upstream_key: new_key(state),
            lease: Lease {
                id: state.replica.lease(&state.random.uuid().to_string()),
                until: now + lease_length(state.config.provider.timeout),
            },
            now,
        })
    }

    /// The attempt to be stored for it.
    pub(super) fn attempt(&self, step: AttemptStep, instruction: Instruction) -> NewAttempt {
        NewAttempt {
            key: self.key.clone(),
            fingerprint: self.fingerprint.clone(),
            step,
            instruction,
            upstream_key: self.upstream_key,
            lease: self.lease.clone(),
            now: self.now,
        }
    }
}

/// How long a caller waits at most: a creation makes at most four calls one after the other.
pub(crate) fn patience(timeout: Duration) -> Duration {
    timeout * 4 + Duration::from_secs(10)
}

/// How long a run may take until others may go on with its attempt: two calls one after the other,
/// and some.
pub(super) fn lease_length(timeout: Duration) -> Duration {
    timeout * 2 + Duration::from_secs(5)
}

/// Stores the attempt, or acquires the one that its key stands for.
pub(super) async fn begin(tx: &mut Tx, run: &NewRun, new: &NewAttempt) -> Result<Claim, db::Error> {
    for _ in 0..LOOKUPS_MAX {
        if let Some(id) = store::insert_attempt(tx, new).await? {
            return Ok(Claim::Run(Box::new(Run {
                attempt: Attempt::fresh(id, new),
                lease: new.lease.clone(),
                is_fresh: true,
                sent_at: None,
            })));
        }
        // None when the other attempt was forgotten since: then the key is free.
        if let Some(claim) = resume(tx, run).await? {
            return Ok(claim);
        }
    }
    Err(db::Error::retry(
        "an idempotency key vanished whenever it was looked up",
    ))
}

/// Acquires the attempt that the key stands for; none when it stands for none, or has been held
/// long enough.
pub(super) async fn resume(tx: &mut Tx, run: &NewRun) -> Result<Option<Claim>, db::Error> {
    let Some(key) = &run.key else {
        return Ok(None);
    };
    let Some(found) = store::find_attempt_by_key(tx, key).await? else {
        return Ok(None);
    };
    if !holds_key(&found, run.now) {
        store::free_key(tx, found.id).await?;
        return Ok(None);
    }
    acquire(tx, found, run).await.map(Some)
}

/// A key is held for as long as nobody knows what came of its attempt, and for 72 hours after: a
/// caller who got `unknown` may repeat.
pub(super) fn holds_key(attempt: &Attempt, now: Timestamp) -> bool {
    let since = attempt.finished_at.unwrap_or(attempt.created_at);
    attempt.step == AttemptStep::Sending || since > now - RETENTION
}

/// When the attempt began that the caller's key stands for; none while it stands for none.
pub(crate) async fn begun_at(
    db: &Db,
    key: Option<IdempotencyKey>,
    now: Timestamp,
) -> Result<Option<Timestamp>, db::Error> {
    let Some(key) = key else {
        return Ok(None);
    };
    let find = async move |conn: &mut db::Conn| store::find_attempt_by_key(conn, &key).await;
    let found = db.read(find).await?;
    Ok(found
        .filter(|attempt| holds_key(attempt, now))
        .map(|attempt| attempt.created_at))
}

async fn acquire(tx: &mut Tx, found: Attempt, run: &NewRun) -> Result<Claim, db::Error> {
    if found.fingerprint != run.fingerprint {
        return Ok(Claim::Mismatch);
    }
    if found.step.is_answered() {
        return Ok(Claim::Ended(Box::new(found)));
    }
    let needs_token = match &found.instruction {
        Instruction::Payment(instruction) => {
            instruction.intent.card.is_some() && instruction.card_token.is_none()
        }
        Instruction::Refund(_) => false,
    };
    // A card's first call makes a token and moves no money yet.
    let step = if needs_token && found.step != AttemptStep::Sending {
        AttemptStep::Started
    } else {
        AttemptStep::Sending
    };
    if !store::take_attempt(tx, found.id, step, &run.lease, run.now).await? {
        return Ok(Claim::Busy);
    }
    // A closed attempt was sent once, too. The provider's state is read again.
    let was_sent = matches!(found.step, AttemptStep::Sending | AttemptStep::Closed);
    Ok(Claim::Run(Box::new(Run {
        sent_at: found.sent_at.filter(|_| was_sent),
        attempt: found,
        lease: run.lease.clone(),
        is_fresh: false,
    })))
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
