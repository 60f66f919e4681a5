//! The money moved, by external reference. Tests use it to check that nobody paid twice.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::state::State;
use crate::values::Amount;

/// The total of one external reference.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Charge {
    external_reference: Option<Box<str>>,
    /// The number of payments that were ever approved.
    charges: usize,
    /// The sum of those payments.
    amount: Amount,
    /// The sum of the refunds.
    refunded: Amount,
    /// The number of all payments, approved or not.
    payments: usize,
}

/// The totals of every reference, or of the given one.
pub(crate) fn all(state: &State, reference: Option<&str>) -> Vec<Charge> {
    let mut charges: BTreeMap<Option<Box<str>>, Charge> = BTreeMap::new();
    let store = state.store();
    for payment in store.payments() {
        if reference.is_some() && payment.external_reference.as_deref() != reference {
            continue;
        }
        let charge = charges
            .entry(payment.external_reference.clone())
            .or_default();
        charge
            .external_reference
            .clone_from(&payment.external_reference);
        charge.payments += 1;
        if payment.approved.is_some() {
            charge.charges += 1;
            charge.amount = charge.amount.plus(payment.amount);
            charge.refunded = charge.refunded.plus(payment.refunded());
        }
    }
    charges.into_values().collect()
}
