//! Acts of payers, banks and reviewers on a payment, and of the seller on the provider's own pages.

use std::sync::Arc;

use http::StatusCode;

use crate::model::{ChangeError, Payment};
use crate::refusal::Refusal;
use crate::state::State;

/// Something that happens to a payment outside the provider's interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// The payer pays a pix or boleto.
    Pay,
    /// The time to pay is over.
    Expire,
    /// A review ends well.
    Approve,
    /// A review ends badly.
    Reject,
    /// The buyer disputes the payment at their bank.
    ChargeBack,
    /// The seller gives back what is left.
    Refund,
    /// The seller cancels.
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

    /// The act of an address.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|act| act.name() == name)
    }

    /// Its name in addresses.
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

    /// Does it.
    ///
    /// # Errors
    /// 404 for an unknown payment, 409 when its status does not allow the act.
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
