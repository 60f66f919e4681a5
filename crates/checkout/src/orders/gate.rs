//! Decides whether an order may be paid now: at most one of its payments is live.
//!
//! Every attempt begins or resumes in a transaction that locks the order's row. So of any number of
//! tabs, retries and replicas one passes, and the others see its attempt.

use db::{Timestamp, Tx};

use super::model::OrderStatus;
use super::store::{self, LockedOrder, OrderAttempt};
use crate::payments::{AttemptStep, PaymentState};
use crate::request::MethodKind;

/// Why an order cannot be paid or canceled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Obstacle {
    Paid,
    Canceled,
    Expired,
    /// The outcome of another attempt is unknown, or its payment is under review.
    Confirming,
    /// A payment is pending. It must be cancelled at the provider first.
    Pending {
        /// The provider's id.
        payment: String,
        method: MethodKind,
    },
}

/// The live payment of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LivePayment {
    Nothing,
    /// The provider's id and the method of a pending payment.
    Pending(String, MethodKind),
    /// The provider's id of a payment under review.
    Review(String),
    /// A call is running, or its response was lost.
    Unknown,
}

/// Locks an order for the rest of the transaction.
pub(crate) async fn lock(tx: &mut Tx, order: i64) -> Result<LockedOrder, db::Error> {
    let order = store::lock(tx, order).await?;
    order.ok_or_else(|| db::Error::other("an order is missing"))
}

/// Why a new attempt must not begin, or the attempt in the row `own` must not resume. The caller must
/// have locked the order.
pub(crate) async fn obstacle(
    tx: &mut Tx,
    order: &LockedOrder,
    own: Option<i64>,
    now: Timestamp,
) -> Result<Option<Obstacle>, db::Error> {
    let is_over = match order.status {
        OrderStatus::Open => (order.expires_at <= now).then_some(Obstacle::Expired),
        OrderStatus::Paid => Some(Obstacle::Paid),
        OrderStatus::Canceled => Some(Obstacle::Canceled),
        OrderStatus::Expired => Some(Obstacle::Expired),
    };
    let attempts = store::attempts_of(tx, order.row, now).await?;
    let is_own = |attempt: &&OrderAttempt| own == Some(attempt.id);
    if let Some(end) = is_over {
        // While the retried attempt may still be charged, its caller must not be told that the
        // order has simply ended.
        let is_unknown = match attempts.iter().find(is_own) {
            Some(own) if end != Obstacle::Paid => may_be_charged(tx, own, now).await?,
            _ => false,
        };
        return Ok(Some(if is_unknown {
            Obstacle::Confirming
        } else {
            end
        }));
    }
    let others = attempts.iter().filter(|attempt| !is_own(attempt));
    for other in others.clone().filter(|other| other.is_abandoned()) {
        if !store::revoke_lease(tx, other.id, now).await? {
            return Ok(Some(Obstacle::Confirming));
        }
    }
    Ok(match LivePayment::of(others) {
        LivePayment::Nothing => None,
        LivePayment::Pending(payment, method) => Some(Obstacle::Pending { payment, method }),
        LivePayment::Review(_) | LivePayment::Unknown => Some(Obstacle::Confirming),
    })
}

/// Whether an attempt of an ended order may still be charged. A run that sent nothing and whose
/// lease has expired is stopped here for good.
async fn may_be_charged(
    tx: &mut Tx,
    own: &OrderAttempt,
    now: Timestamp,
) -> Result<bool, db::Error> {
    Ok(match own.step {
        AttemptStep::Sending => true,
        AttemptStep::Started => !store::revoke_lease(tx, own.id, now).await?,
        AttemptStep::Finished | AttemptStep::Refused | AttemptStep::Closed => false,
    })
}

impl Obstacle {
    /// The `detail` of the response.
    pub(crate) const fn detail(&self) -> &'static str {
        match self {
            Self::Paid => "Order already paid",
            Self::Canceled => "Order canceled",
            Self::Expired => "Order expired",
            Self::Confirming | Self::Pending { .. } => {
                "A payment of this order is still being confirmed"
            }
        }
    }
}

impl LivePayment {
    /// The live payment among these attempts.
    pub(super) fn of<'a>(attempts: impl IntoIterator<Item = &'a OrderAttempt>) -> Self {
        let mut live = Self::Nothing;
        for attempt in attempts {
            let found = attempt.live_payment();
            if found.rank() > live.rank() {
                live = found;
            }
        }
        live
    }

    /// The less certain the outcome, the higher the rank.
    const fn rank(&self) -> u8 {
        match self {
            Self::Nothing => 0,
            Self::Pending(..) => 1,
            Self::Review(_) => 2,
            Self::Unknown => 3,
        }
    }
}

impl OrderAttempt {
    fn live_payment(&self) -> LivePayment {
        match (self.step, &self.payment) {
            (AttemptStep::Started, _) if self.is_leased => LivePayment::Unknown,
            (AttemptStep::Started | AttemptStep::Refused | AttemptStep::Closed, _) => {
                LivePayment::Nothing
            }
            (AttemptStep::Sending, _) | (AttemptStep::Finished, None) => LivePayment::Unknown,
            (AttemptStep::Finished, Some((id, state))) => match state {
                PaymentState::Pending => LivePayment::Pending(id.clone(), self.method),
                // Not expected for an approved payment, since it has paid the order.
                PaymentState::InProcess | PaymentState::Approved => LivePayment::Review(id.clone()),
                _ => LivePayment::Nothing,
            },
        }
    }

    /// Whether a run acquired the attempt, sent nothing, and let its lease expire.
    const fn is_abandoned(&self) -> bool {
        matches!(self.step, AttemptStep::Started) && !self.is_leased
    }
}
