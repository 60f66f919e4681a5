//! Claims an attempt: stores the intent and takes its lease before the provider is called, or
//! acquires the existing attempt of the same idempotency key. A unique index on the key decides
//! races, also between processes.

use std::time::Duration;

use db::{Conn, Db, Timestamp, Tx};
use web::Clock;

use super::end::RunError;
use super::finality::is_certain;
use super::model::{Attempt, Instruction, Lease, NewRun};
use super::store;
use crate::idempotency::{IdempotencyKey, RETENTION};
use crate::payments::AttemptStep;
use crate::provider::Failure;
use crate::state::State;

/// How many times the lookup is tried again when the attempt is deleted between two statements.
const LOOKUPS_MAX: usize = 5;

/// The result of claiming an attempt for a request, before any call to the provider.
pub(super) enum Claim {
    /// The caller holds the lease and must run the attempt.
    Run(Box<Run>),
    /// The attempt has ended. Its stored response is returned again.
    Ended(Box<Attempt>),
    /// Another request with the same idempotency key is running.
    Busy,
    /// The idempotency key was used for a different request.
    Mismatch,
}

/// One run of an attempt under its lease.
#[derive(Debug, Clone)]
pub(super) struct Run {
    pub(crate) attempt: Attempt,
    pub(crate) lease: Lease,
    /// Whether this request stored the attempt.
    pub(crate) is_fresh: bool,
    /// When the call that moves the money was last sent before this run. `None` if it was never
    /// sent, or is certain to have had no effect. Otherwise the provider's state is read before
    /// that call is sent again.
    pub(crate) sent_at: Option<Timestamp>,
}

impl Run {
    /// Handles that the provider's list, read at `requested_at`, does not show the earlier call. If
    /// that call must be in the list by then, it had no effect, and the next call counts as the
    /// first.
    pub(super) fn rule_out_earlier_call(&mut self, requested_at: Timestamp) {
        self.sent_at = self.sent_at.filter(|sent| !is_certain(*sent, requested_at));
    }

    /// Fails when the lease has ended; the call that moves the money is then not sent. An earlier
    /// call is ruled out an hour after its stored sending time, so a run that stalled must not send
    /// it later.
    pub(super) fn check_lease(&self, clock: &Clock) -> Result<(), Failure> {
        if clock.now() < self.lease.until {
            Ok(())
        } else {
            Err(Failure::NotSent("the run stalled for too long".into()))
        }
    }
}

impl NewRun {
    /// A run for a caller who has waited since `requested_at`. A caller who waited longer than its
    /// patience has been answered `unknown`. A run that exists goes on then, but no new one begins.
    pub(super) fn new(
        state: &State,
        key: Option<IdempotencyKey>,
        fingerprint: Option<String>,
        requested_at: Timestamp,
    ) -> Result<Self, RunError> {
        let now = state.clock.now();
        if now > requested_at + patience(state.config.provider.timeout) {
            let failure = Failure::NotSent("the request stalled for too long".into());
            return Err(RunError::unknown(failure));
        }
        Ok(Self {
            key,
            fingerprint,
            upstream_key: state.random.uuid(),
            lease: Lease {
                id: state.replica.lease(&state.random.uuid().to_string()),
                until: now + lease_length(state.config.provider.timeout),
            },
            now,
        })
    }
}

/// The longest time that a caller waits: a creation makes at most four calls one after the other.
pub(crate) fn patience(timeout: Duration) -> Duration {
    timeout * 4 + Duration::from_secs(10)
}

/// The length of a lease: two calls one after the other, and a margin of 5 s.
pub(super) fn lease_length(timeout: Duration) -> Duration {
    timeout * 2 + Duration::from_secs(5)
}

/// Stores a new attempt, or acquires the existing one of the same idempotency key.
pub(super) async fn begin(
    tx: &mut Tx,
    run: &NewRun,
    instruction: &Instruction,
) -> Result<Claim, db::Error> {
    for _ in 0..LOOKUPS_MAX {
        if let Some(id) = store::insert_attempt(tx, run, instruction).await? {
            return Ok(Claim::Run(Box::new(Run {
                attempt: Attempt::fresh(id, run, instruction),
                lease: run.lease.clone(),
                is_fresh: true,
                sent_at: None,
            })));
        }
        // `None` if the other attempt was deleted in the meantime: the key is free now.
        if let Some(claim) = resume(tx, run).await? {
            return Ok(claim);
        }
    }
    Err(db::Error::retry(
        "an idempotency key vanished whenever it was looked up",
    ))
}

/// Acquires the attempt of the idempotency key. `None` if there is none, or if it has expired.
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

/// Whether an attempt still reserves its idempotency key. It does so while it runs, while its outcome
/// is unknown, and for 72 hours after its end, so that a caller who got `unknown` can retry.
fn holds_key(attempt: &Attempt, now: Timestamp) -> bool {
    let since = attempt.finished_at.unwrap_or(attempt.created_at);
    attempt.step == AttemptStep::Sending || attempt.is_leased(now) || since > now - RETENTION
}

/// The attempt that reserves this idempotency key.
pub(super) async fn find_by_key(
    conn: &mut Conn,
    key: &IdempotencyKey,
    now: Timestamp,
) -> Result<Option<Attempt>, db::Error> {
    let found = store::find_attempt_by_key(conn, key).await?;
    Ok(found.filter(|attempt| holds_key(attempt, now)))
}

/// When the attempt of the caller's idempotency key began. `None` if there is none.
pub(crate) async fn begun_at(
    db: &Db,
    key: Option<IdempotencyKey>,
    now: Timestamp,
) -> Result<Option<Timestamp>, db::Error> {
    let Some(key) = key else {
        return Ok(None);
    };
    let find = async move |conn: &mut Conn| find_by_key(conn, &key, now).await;
    let found = db.read(find).await?;
    Ok(found.map(|attempt| attempt.created_at))
}

async fn acquire(tx: &mut Tx, found: Attempt, run: &NewRun) -> Result<Claim, db::Error> {
    if found.fingerprint != run.fingerprint {
        return Ok(Claim::Mismatch);
    }
    if found.step.is_answered() {
        return Ok(Claim::Ended(Box::new(found)));
    }
    let step = match found.step {
        AttemptStep::Sending => AttemptStep::Sending,
        _ => found.instruction.first_step(),
    };
    if !store::take_attempt(tx, found.id, step, &run.lease, run.now).await? {
        return Ok(Claim::Busy);
    }
    // A closed attempt was sent once, too, so the provider's state is read again.
    let was_sent = matches!(found.step, AttemptStep::Sending | AttemptStep::Closed);
    Ok(Claim::Run(Box::new(Run {
        sent_at: found.sent_at.filter(|_| was_sent),
        attempt: Attempt { step, ..found },
        lease: run.lease.clone(),
        is_fresh: false,
    })))
}
