//! Checks refunds against the provider's list: those of unknown outcome, and those that the
//! provider has not finished.

use db::{Timestamp, Tx};

use super::RefundError;
use super::calls::{find, read_payment};
use super::completed::CompletedRefund;
use super::matching::Match;
use super::status::{is_open, is_refused};
use crate::attempts::model::{Attempt, RefundInstruction};
use crate::attempts::store;
use crate::provider::ProviderRefund;
use crate::state::State;

/// The result of checking a refund.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RefundCheck {
    /// The money went back.
    Made,
    /// The provider has not finished the refund.
    Open,
    /// The provider accepted the refund and refused it later.
    Refused,
    /// The refund is not in the provider's list.
    Absent,
    /// It is not certain yet which refund in the list is ours.
    Undecided,
}

/// Records what the provider's list says of a refund of unknown outcome, or of one that was not
/// finished. The list was requested at `requested_at`. `next` is the due time that was set when the
/// check was claimed.
pub(crate) async fn check_refund(
    state: &State,
    attempt: &Attempt,
    listed: &[ProviderRefund],
    requested_at: Timestamp,
    next: Timestamp,
) -> Result<RefundCheck, RefundError> {
    let instruction = attempt.refund_instruction()?;
    if let Some(made) = &instruction.made {
        return follow(state, attempt.id, instruction, &made.id, listed, next).await;
    }
    let made = match find(&state.db, attempt, instruction, listed, requested_at).await? {
        Match::Ours(made) => made,
        Match::Absent => return Ok(RefundCheck::Absent),
        Match::Undecided => return Ok(RefundCheck::Undecided),
    };
    let completed = CompletedRefund::new(instruction, &made, state.clock.now())?;
    if completed.store(state, attempt, None).await?.is_none() {
        return Ok(RefundCheck::Undecided);
    }
    read_payment(state, &instruction.payment_id).await?;
    Ok(RefundCheck::Made)
}

async fn follow(
    state: &State,
    attempt: i64,
    instruction: &RefundInstruction,
    id: &str,
    listed: &[ProviderRefund],
    next: Timestamp,
) -> Result<RefundCheck, RefundError> {
    let status = listed
        .iter()
        .find(|made| made.id == id)
        .map(|made| made.status.clone());
    let Some(status) = status.filter(|status| !is_open(status)) else {
        return Ok(RefundCheck::Open);
    };
    let is_refused = is_refused(&status);
    let write = async move |tx: &mut Tx| store::follow_refund(tx, attempt, next, &status).await;
    state.db.write::<_, db::Error, _>(write).await?;
    read_payment(state, &instruction.payment_id).await?;
    Ok(if is_refused {
        RefundCheck::Refused
    } else {
        RefundCheck::Made
    })
}
