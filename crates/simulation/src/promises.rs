//! What the service told its callers: by this it is judged at the end.

use std::collections::BTreeSet;

use db::Timestamp;

/// What callers were told in a run.
#[derive(Debug, Default)]
pub(crate) struct Promises {
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) refunds: Vec<RefundRequest>,
    /// Orders that were told to be paid, or canceled: for good.
    pub(crate) ends: BTreeSet<(String, &'static str)>,
}

/// One attempt to pay for a purchase: under one key, or a single request without.
#[derive(Debug, Clone)]
pub(crate) struct Attempt {
    /// What is bought.
    pub(crate) purchase: usize,
    /// Does the shop have an order for it?
    pub(crate) has_order: bool,
    /// The payer's e-mail address, which no other attempt has.
    pub(crate) payer: String,
    pub(crate) told: Told,
}

/// The last that was told of an attempt or a refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Told {
    /// Nothing, or nothing certain.
    Unknown,
    /// It was made, and has this id.
    Made(String),
    /// It was not made, and never will be.
    NotMade,
}

/// One wish to give money back, in however many requests.
#[derive(Debug, Clone)]
pub(crate) struct RefundRequest {
    pub(crate) payment: String,
    /// None: all that is left.
    pub(crate) cents: Option<i64>,
    pub(crate) told: Told,
    /// The key by which it can be asked for again, and since when that is used.
    pub(crate) repeats: Option<(String, Timestamp)>,
}

impl Promises {
    pub(crate) fn begin_attempt(
        &mut self,
        purchase: usize,
        has_order: bool,
        payer: String,
    ) -> usize {
        self.attempts.push(Attempt {
            purchase,
            has_order,
            payer,
            told: Told::Unknown,
        });
        self.attempts.len() - 1
    }

    /// Records what was told of an attempt; the id that was told before, if it was another.
    pub(crate) fn told_attempt(&mut self, attempt: usize, told: Told) -> Option<Told> {
        let known = self.attempts.get_mut(attempt)?;
        tell(&mut known.told, told)
    }

    /// Records that an order was told to be `paid` or `canceled`.
    pub(crate) fn told_end(&mut self, order: &str, status: &'static str) {
        self.ends.insert((order.to_owned(), status));
    }

    pub(crate) fn begin_refund(&mut self, payment: String, cents: Option<i64>) -> usize {
        self.refunds.push(RefundRequest {
            payment,
            cents,
            told: Told::Unknown,
            repeats: None,
        });
        self.refunds.len() - 1
    }

    /// A refund is asked for, by another key than before.
    pub(crate) fn repeat_refund(&mut self, refund: usize, by: Option<(String, Timestamp)>) {
        if let Some(known) = self.refunds.get_mut(refund) {
            known.repeats = by;
        }
    }

    /// As [`Promises::told_attempt`], of a refund.
    pub(crate) fn told_refund(&mut self, refund: usize, told: Told) -> Option<Told> {
        let known = self.refunds.get_mut(refund)?;
        tell(&mut known.told, told)
    }
}

fn tell(known: &mut Told, told: Told) -> Option<Told> {
    let before = std::mem::replace(known, told);
    let is_contradicted = matches!(before, Told::Made(_)) && before != *known;
    is_contradicted.then_some(before)
}
