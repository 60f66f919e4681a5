//! Actions of payers, banks and reviewers on a payment, and of the seller on the provider's own
//! pages.

use std::sync::Arc;

use http::StatusCode;

use crate::model::{ChangeError, Payment};
use crate::refusal::Refusal;
use crate::state::State;

/// A change of a payment that does not come through the provider's API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// The payer pays a pix or boleto.
    Pay,
    /// The payment expires.
    Expire,
    /// A review approves the payment.
    Approve,
    /// A review rejects the payment.
    Reject,
    /// The buyer disputes the payment at their bank.
    ChargeBack,
    /// The seller refunds the remaining amount.
    Refund,
    /// The seller cancels the payment.
    Cancel,
}

impl Act {
    const ALL: [Self; 7] = [
        Self::Pay,
        Self::Expire,
        Self::Approve,
        Self::Reject,
        Self::ChargeBack,
        Self::Refund,
        Self::Cancel,
    ];

    /// The action with this name.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|act| act.name() == name)
    }

    /// The name in addresses.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Pay => "pay",
            Self::Expire => "expire",
            Self::Approve => "approve",
            Self::Reject => "reject",
            Self::ChargeBack => "charge_back",
            Self::Refund => "refund",
            Self::Cancel => "cancel",
        }
    }

    /// Performs the action.
    ///
    /// # Errors
    /// 404 for an unknown payment, 409 when its status does not allow the action.
    pub(crate) fn perform(self, state: &State, id: u64) -> Result<Arc<Payment>, Refusal> {
        let now = state.now();
        let mut store = state.store();
        let refund_id = store.next_id();
        store.change(id, |payment| {
            let done = match self {
                Self::Pay | Self::Approve => payment.approve(now),
                Self::Expire => payment.expire(now),
                Self::Reject => payment.reject(now),
                Self::ChargeBack => payment.charge_back(now),
                Self::Refund => payment.refund(refund_id, None, None, now),
                Self::Cancel => payment.cancel(now),
            };
            done.map_err(refusal)
        })
    }
}

fn refusal(_refused: ChangeError) -> Refusal {
    let message = "The payment's status does not allow this";
    Refusal::new(StatusCode::CONFLICT, None, message)
}
