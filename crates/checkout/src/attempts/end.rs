//! Releases an attempt whose run made no payment or refund. The attempt is ended, deleted, or left
//! open for a retry and for the reconciler.

use std::time::Duration;

use super::claim::Run;
use super::finality::{Stage, Verdict, verdict};
use super::model::Attempt;
use super::store::{self, Release};
use crate::payments::AttemptStep;
use crate::provider::Failure;
use crate::state::State;

/// The delay before the first check of an unknown outcome.
pub(super) const FIRST_CHECK_AFTER: Duration = Duration::from_secs(5);

/// Why a run stopped.
pub(super) enum Stop {
    /// A call failed, at this stage.
    Failed {
        failure: Failure,
        stage: Stage,
    },
    /// Another run holds the attempt's lease now.
    LeaseLost,
    Database(db::Error),
}

impl Stop {
    /// A failure at a stage, for `map_err`.
    pub(super) fn at(stage: Stage) -> impl FnOnce(Failure) -> Self {
        move |failure| Self::Failed { failure, stage }
    }
}

/// Why a run has no payment or refund to return.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunError {
    #[error("a request with this idempotency key is still running")]
    Busy,
    #[error("the idempotency key was used for another request")]
    Mismatch,
    /// The provider failed or refused. The certainty of the failure is that of the stored attempt.
    #[error("{}{failure}", if *.is_unknown { "the outcome is unknown: " } else { "" })]
    Provider {
        #[source]
        failure: Failure,
        /// Whether money may have moved, by this request or by an earlier one with its key.
        is_unknown: bool,
    },
    /// The stored refusal of an earlier request with the same idempotency key.
    #[error("refused before with {status}: {detail}")]
    Repeated { status: u16, detail: String },
}

impl RunError {
    /// A failure while money may have moved.
    pub(super) const fn unknown(failure: Failure) -> Self {
        Self::Provider {
            failure,
            is_unknown: true,
        }
    }

    /// Whether it is certain that no money has moved.
    pub(crate) const fn has_moved_nothing(&self) -> bool {
        matches!(
            self,
            Self::Provider {
                is_unknown: false,
                ..
            } | Self::Repeated { .. }
        )
    }

    /// The refusal that ended the attempt.
    pub(super) fn repeated(attempt: Attempt) -> Self {
        let status = attempt
            .response_status
            .and_then(|status| u16::try_from(status).ok());
        Self::Repeated {
            status: status.unwrap_or(502),
            detail: attempt.response.unwrap_or_default(),
        }
    }
}

/// Ends, deletes or releases the attempt of a run that has stopped. Returns the caller's error.
pub(super) async fn end_stopped(
    state: &State,
    run: &Run,
    stop: Stop,
) -> Result<RunError, db::Error> {
    match stop {
        Stop::Failed { failure, stage } => give_up(state, run, stage, failure).await,
        Stop::LeaseLost => Ok(RunError::Busy),
        Stop::Database(error) => Err(error),
    }
}

/// Ends, deletes or releases an attempt after a failure. If another run has acquired the attempt,
/// the outcome counts as unknown.
async fn give_up(
    state: &State,
    run: &Run,
    stopped_at: Stage,
    failure: Failure,
) -> Result<RunError, db::Error> {
    let verdict = verdict(run.sent_at.is_some(), stopped_at, &failure);
    let is_left = match verdict {
        Verdict::Refused => refuse(state, run, &failure).await?,
        Verdict::NothingSent if run.is_fresh && failure.is_held_back() => {
            delete(state, run).await?
        }
        Verdict::NothingSent | Verdict::Unknown => {
            let step = match verdict {
                Verdict::Unknown => AttemptStep::Sending,
                _ => AttemptStep::Started,
            };
            let is_moving = stopped_at == Stage::Moving;
            let was_kept_back = failure.is_held_back() || matches!(failure, Failure::NotSent(_));
            let released = Release {
                has_sent: is_moving && !was_kept_back,
                is_token_spent: is_moving && failure.is_spent_card_token(),
                ..unsent(state, run, step, failure.to_string())
            };
            release(state, released).await?
        }
    };
    let is_refused = is_left && verdict == Verdict::Refused;
    Ok(RunError::Provider {
        // The caller takes a refusal for the final result, so it is returned only if it was stored
        // as such.
        failure: if !is_left || (failure.is_refusal() && !is_refused) {
            Failure::Unknown(Box::new(failure))
        } else {
            failure
        },
        is_unknown: !is_left || verdict == Verdict::Unknown,
    })
}

/// Leaves an attempt open whose payment or refund was made but could not be recorded from the
/// response.
pub(super) async fn give_up_unread(
    state: &State,
    run: &Run,
    reason: &str,
) -> Result<(), db::Error> {
    let released = Release {
        has_sent: true,
        ..unsent(state, run, AttemptStep::Sending, reason.to_owned())
    };
    release(state, released).await.map(drop)
}

/// Ends the attempt with a refusal that no retry can change. Like the functions below, it returns
/// false if this run has lost the lease.
async fn refuse(state: &State, run: &Run, failure: &Failure) -> Result<bool, db::Error> {
    let (status, detail) = failure.answer();
    let status = i64::from(status.as_u16());
    let (id, lease, now) = (run.attempt.id, run.lease.id.clone(), state.clock.now());
    state
        .db
        .write(async move |tx| store::refuse_attempt(tx, id, &lease, (status, &detail), now).await)
        .await
}

/// Deletes an attempt of which nothing was sent. Its caller got no response that a retry must
/// repeat.
async fn delete(state: &State, run: &Run) -> Result<bool, db::Error> {
    let (id, lease) = (run.attempt.id, run.lease.id.clone());
    state
        .db
        .write(async move |tx| store::delete_attempt(tx, id, &lease).await)
        .await
}

/// The release of a run that sent nothing. An attempt of unknown outcome is checked soon.
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

async fn release(state: &State, release: Release) -> Result<bool, db::Error> {
    let is_unknown = release.check_at.is_some();
    let is_released = state
        .db
        .write(async move |tx| store::release_attempt(tx, &release).await)
        .await?;
    if is_unknown {
        state.wake_reconciler();
    }
    Ok(is_released)
}
