//! Releases an attempt whose run made no payment: ended, deleted, or open for a retry and for the
//! reconciler.

use std::time::Duration;

use super::claim::Run;
use super::finality::{Stage, Verdict, verdict};
use super::store::{self, Release};
use crate::payments::AttemptStep;
use crate::provider::Failure;
use crate::state::State;

/// How soon an unknown outcome is checked at the provider.
pub(super) const FIRST_CHECK_AFTER: Duration = Duration::from_secs(5);

/// Why a run stopped.
pub(super) enum Stop {
    /// A call failed, at this stage.
    Failed {
        failure: Failure,
        stage: Stage,
    },
    /// Another run holds the attempt now.
    LeaseLost,
    Database(db::Error),
}

impl Stop {
    /// A failure at a stage, for `map_err`.
    pub(super) fn at(stage: Stage) -> impl FnOnce(Failure) -> Self {
        move |failure| Self::Failed { failure, stage }
    }
}

/// The error for the caller of a failed run.
#[derive(Debug)]
pub(super) struct RunFailure {
    /// The failure, as unknown as the outcome of the attempt.
    pub(super) failure: Failure,
    /// May money have moved?
    pub(super) is_unknown: bool,
}

/// Leaves an attempt as its failure asks for. When another run has acquired it, the outcome is
/// unknown to this one.
pub(super) async fn give_up(
    state: &State,
    run: &Run,
    stopped_at: Stage,
    failure: Failure,
) -> Result<RunFailure, db::Error> {
    let verdict = verdict(run.sent_at.is_some(), stopped_at, &failure);
    let is_left = match verdict {
        Verdict::Refused => refuse(state, run, &failure).await?,
        Verdict::NothingSent if run.is_fresh && failure.is_held_back() => {
            forget(state, run).await?
        }
        Verdict::NothingSent => {
            release(state, run, AttemptStep::Started, stopped_at, &failure).await?
        }
        Verdict::Unknown => release(state, run, AttemptStep::Sending, stopped_at, &failure).await?,
    };
    let is_refused = is_left && verdict == Verdict::Refused;
    Ok(RunFailure {
        // A caller who reads "refused" takes it for the end that is stored.
        failure: if !is_left || (failure.is_refusal() && !is_refused) {
            Failure::Unknown(Box::new(failure))
        } else {
            failure
        },
        is_unknown: !is_left || verdict == Verdict::Unknown,
    })
}

/// Leaves an attempt open whose payment or refund was made but could not be recorded from the
/// answer.
pub(super) async fn give_up_unread(
    state: &State,
    run: &Run,
    reason: &str,
) -> Result<(), db::Error> {
    let released = Release {
        has_sent: true,
        ..unsent(state, run, AttemptStep::Sending, reason.to_owned())
    };
    put_back(state, released).await.map(drop)
}

/// Ends the attempt by a refusal that no repetition can change. As the others here: false when it
/// is no longer ours.
async fn refuse(state: &State, run: &Run, failure: &Failure) -> Result<bool, db::Error> {
    let (status, detail) = failure.answer();
    let status = i64::from(status.as_u16());
    let (id, lease, now) = (run.attempt.id, run.lease.id.clone(), state.clock.now());
    state
        .db
        .write(async move |tx| store::refuse_attempt(tx, id, &lease, (status, &detail), now).await)
        .await
        .map(|rows| rows == 1)
}

/// Deletes an attempt of which nothing was sent and whose caller got no answer that a repetition
/// must get again.
async fn forget(state: &State, run: &Run) -> Result<bool, db::Error> {
    let (id, lease) = (run.attempt.id, run.lease.id.clone());
    state
        .db
        .write(async move |tx| store::delete_attempt(tx, id, &lease).await)
        .await
        .map(|rows| rows == 1)
}

async fn release(
    state: &State,
    run: &Run,
    step: AttemptStep,
    stopped_at: Stage,
    failure: &Failure,
) -> Result<bool, db::Error> {
    let was_kept_back = failure.is_held_back() || matches!(failure, Failure::NotSent(_));
    let released = Release {
        has_sent: stopped_at == Stage::Moving && !was_kept_back,
        is_token_spent: stopped_at == Stage::Moving && failure.is_spent_card_token(),
        ..unsent(state, run, step, failure.to_string())
    };
    put_back(state, released).await
}

/// The release of a run that sent nothing. An unknown outcome is checked soon.
fn unsent(state: &State, run: &Run, step: AttemptStep, answer: String) -> Release {
    let is_unknown = step == AttemptStep::Sending;
    Release {
        id: run.attempt.id,
        lease: run.lease.id.clone(),
        step,
        check_at: is_unknown.then(|| state.clock.now() + FIRST_CHECK_AFTER),
        answer,
        has_sent: false,
        sent_before: run.sent_at,
        is_token_spent: false,
    }
}

async fn put_back(state: &State, release: Release) -> Result<bool, db::Error> {
    let is_unknown = release.check_at.is_some();
    let rows = state
        .db
        .write(async move |tx| store::release_attempt(tx, &release).await)
        .await?;
    if is_unknown {
        state.wake_reconciler();
    }
    Ok(rows == 1)
}
