//! Whether an order may be paid now: at most one payment of it is alive.
//!
//! Every attempt begins, or goes on, in a transaction that locks the order's row. So of any number
//! of tabs, retries and replicas one passes, and the others see its attempt.

use db::{Timestamp, Tx};

use super::model::OrderStatus;
use super::store::{self, LockedOrder, OrderAttempt};
use crate::payments::{AttemptStep, PaymentState};
use crate::request::MethodKind;

/// Why an order cannot be paid, or canceled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// It is paid.
    Paid,
    /// The shop gave it up.
    Canceled,
    /// Its time is over.
    Expired,
    /// The outcome of another attempt is not known, or its payment is under review.
    Confirming,
    /// A pix or a boleto waits for its payer: it must be cancelled at the provider first.
    Pending {
        /// The provider's id.
        payment: String,
    },
}

/// The payment of an order that is alive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LivePayment {
    /// None.
    Nothing,
    /// A pix or a boleto that waits for its payer: the provider's id.
    Pending(String),
    /// A payment that the provider looks at: its id.
    Review(String),
    /// A call is running, or its answer was lost.
    Unknown,
}

/// The attempt that a repetition goes on with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OwnAttempt {
    pub(crate) id: i64,
    pub(crate) step: AttemptStep,
}

/// Holds an order for the rest of the transaction.
pub(crate) async fn lock(tx: &mut Tx, order: i64) -> Result<LockedOrder, db::Error> {
    let order = store::lock(tx, order).await?;
    order.ok_or_else(|| db::Error::other("an order is missing"))
}

/// As [`lock`], the order that a payment is of; none for a payment without one.
pub(crate) async fn lock_of_payment(
    tx: &mut Tx,
    payment: i64,
) -> Result<Option<LockedOrder>, db::Error> {
    store::lock_of_payment(tx, payment).await
}

/// What keeps a new attempt from beginning, or `own` from going on. The order must be locked.
pub(crate) async fn obstacle(
    tx: &mut Tx,
    order: &LockedOrder,
    own: Option<OwnAttempt>,
    now: Timestamp,
) -> Result<Option<Obstacle>, db::Error> {
    let is_over = match order.status {
        OrderStatus::Open => (order.expires_at <= now).then_some(Obstacle::Expired),
        OrderStatus::Paid => Some(Obstacle::Paid),
        OrderStatus::Canceled => Some(Obstacle::Canceled),
        OrderStatus::Expired => Some(Obstacle::Expired),
    };
    if let Some(end) = is_over {
        // A repetition must not be answered that there is nothing while its attempt may still be
        // charged.
        let is_unknown = match own {
            Some(own) if end != Obstacle::Paid => may_be_charged(tx, own, now).await?,
            _ => false,
        };
        return Ok(Some(if is_unknown {
            Obstacle::Confirming
        } else {
            end
        }));
    }
    let attempts = store::attempts_of(tx, order.row, now).await?;
    let others = attempts
        .iter()
        .filter(|attempt| own.is_none_or(|own| own.id != attempt.id));
    for other in others.clone().filter(|other| other.is_abandoned()) {
        if !store::revoke_lease(tx, other.id, now).await? {
            return Ok(Some(Obstacle::Confirming));
        }
    }
    Ok(match LivePayment::of(others) {
        LivePayment::Nothing => None,
        LivePayment::Pending(payment) => Some(Obstacle::Pending { payment }),
        LivePayment::Review(_) | LivePayment::Unknown => Some(Obstacle::Confirming),
    })
}

/// May an attempt of an order that has ended still be charged? A run that sent nothing and whose
/// time is over is kept from going on.
async fn may_be_charged(tx: &mut Tx, own: OwnAttempt, now: Timestamp) -> Result<bool, db::Error> {
    Ok(match own.step {
        AttemptStep::Sending => true,
        AttemptStep::Started => !store::revoke_lease(tx, own.id, now).await?,
        AttemptStep::Finished | AttemptStep::Refused | AttemptStep::Closed => false,
    })
}

impl Obstacle {
    /// The detail of the answer.
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
    /// The live attempts of an order.
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

    /// The less certain it is, the higher.
    const fn rank(&self) -> u8 {
        match self {
            Self::Nothing => 0,
            Self::Pending(_) => 1,
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
            (AttemptStep::Finished, Some((id, state))) => match (state, self.method) {
                (PaymentState::Pending, MethodKind::Pix | MethodKind::Boleto) => {
                    LivePayment::Pending(id.clone())
                }
                // An approved one has made the order paid.
                (PaymentState::Pending | PaymentState::InProcess | PaymentState::Approved, _) => {
                    LivePayment::Review(id.clone())
                }
                _ => LivePayment::Nothing,
            },
        }
    }

    /// A run acquired it, sent nothing, and did not come back in time.
    const fn is_abandoned(&self) -> bool {
        matches!(self.step, AttemptStep::Started) && !self.is_leased
    }
}
