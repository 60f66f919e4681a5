//! Money that moved, by external reference. Tests check by it that nobody paid twice.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::state::State;
use crate::values::Amount;

/// What was charged under one external reference.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Charge {
    external_reference: Option<Box<str>>,
    /// Payments that were ever approved.
    charges: usize,
    /// Sum of those payments.
    amount: Amount,
    /// Sum of what was given back.
    refunded: Amount,
    /// All payments, approved or not.
    payments: usize,
}

/// Every reference, or the one that is asked for.
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
