//! How a run that made nothing leaves its attempt: ended, forgotten, or open to a repetition and to the reconciler.

use super::claim::Run;
use super::finality::{Stage, Verdict, verdict};
use crate::app::State;
use crate::payments::store::{self, AttemptStep, Release};
use crate::provider::Failure;

/// What a caller is told of a run that failed.
#[derive(Debug)]
pub(crate) struct End {
    /// The failure, as unknown as what came of the attempt.
    pub(crate) failure: Failure,
    /// May money have moved?
    pub(crate) is_unknown: bool,
}

/// Leaves an attempt as its failure asks for. When another run has taken it up, that one tells what comes of it: to this one it is unknown.
pub(crate) async fn give_up(
    state: &State,
    run: &Run,
    stopped_at: Stage,
    failure: Failure,
) -> Result<End, db::Error> {
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
    Ok(End {
        // Who reads "refused" takes it for the end that is stored.
        failure: if !is_left || (failure.is_refusal() && !is_refused) {
            Failure::Unknown(Box::new(failure))
        } else {
            failure
        },
        is_unknown: !is_left || verdict == Verdict::Unknown,
    })
}

/// Leaves an attempt open whose payment or refund was made and cannot be recorded as it was answered.
pub(crate) async fn give_up_unread(
    state: &State,
    run: &Run,
    reason: &str,
) -> Result<(), db::Error> {
    let step = AttemptStep::Sending;
    let release = Release {
        has_sent: true,
        is_token_spent: false,
        ..leave(state, run, step, reason.to_owned())
    };
    put_back(state, release).await.map(drop)
}

/// A refusal that no repetition can change ends the attempt. As the others here: false when it is ours no more.
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

/// Nothing was sent, and the caller was not told anything that a repetition must hear again.
async fn forget(state: &State, run: &Run) -> Result<bool, db::Error> {
    let (id, lease) = (run.attempt.id, run.lease.id.clone());
    state
        .db
        .write(async move |tx| store::forget_attempt(tx, id, &lease).await)
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
    let release = Release {
        has_sent: stopped_at == Stage::Moving && !was_kept_back,
        is_token_spent: stopped_at == Stage::Moving && failure.is_spent_card_token(),
        ..leave(state, run, step, failure.to_string())
    };
    put_back(state, release).await
}

fn leave(state: &State, run: &Run, step: AttemptStep, answer: String) -> Release {
    let is_unknown = step == AttemptStep::Sending;
    Release {
        id: run.attempt.id,
        lease: run.lease.id.clone(),
        step,
        check_at: is_unknown.then(|| state.clock.now() + crate::reconcile::FIRST_WAIT),
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
