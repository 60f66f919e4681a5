//! Actions of payers, banks and reviewers on a payment, and of the seller on the provider's own
//! pages.

use std::sync::Arc;

use http::StatusCode;

use crate::model::{ChangeError, Payment};
use crate::refusal::Refusal;
use crate::state::State;

db::stored_enum! {
    /// A change of a payment that does not come through the provider's API. Its name stands in
    /// addresses.
    pub(crate) enum Act {
        /// The payer pays a pix or boleto.
        Pay = "pay";
        /// The payment expires.
        Expire = "expire";
        /// A review approves the payment.
        Approve = "approve";
        /// A review rejects the payment.
        Reject = "reject";
        /// The buyer disputes the payment at their bank.
        ChargeBack = "charge_back";
        /// The seller refunds the remaining amount.
        Refund = "refund";
        /// The seller cancels the payment.
        Cancel = "cancel";
    }
}

impl Act {
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
