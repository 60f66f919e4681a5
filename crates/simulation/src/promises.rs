//! The service's answers to its callers, which are checked at the end.

use std::collections::BTreeSet;

use db::Timestamp;

/// What callers were told in a run.
#[derive(Debug, Default)]
pub(crate) struct Promises {
    pub(crate) attempts: Vec<AttemptRecord>,
    pub(crate) refunds: Vec<RefundRequest>,
    /// Orders that were told to be paid, or canceled: for good.
    pub(crate) ends: BTreeSet<(String, &'static str)>,
}

/// One attempt to pay for a purchase: under one key, or a single request without.
#[derive(Debug, Clone)]
pub(crate) struct AttemptRecord {
    /// What is bought.
    pub(crate) purchase: usize,
    /// Does the shop have an order for it?
    pub(crate) has_order: bool,
    /// The payer's e-mail address, which no other attempt has.
    pub(crate) payer: String,
    pub(crate) reported: ReportedOutcome,
}

/// The last that was told of an attempt or a refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ReportedOutcome {
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
    pub(crate) reported: ReportedOutcome,
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
        self.attempts.push(AttemptRecord {
            purchase,
            has_order,
            payer,
            reported: ReportedOutcome::Unknown,
        });
        self.attempts.len() - 1
    }

    /// Records what a caller was told of an attempt. Returns the outcome of before if it was
    /// another payment: a contradiction.
    pub(crate) fn record_attempt(
        &mut self,
        attempt: usize,
        reported: ReportedOutcome,
    ) -> Option<ReportedOutcome> {
        let known = self.attempts.get_mut(attempt)?;
        replace(&mut known.reported, reported)
    }

    /// Records that an order was told to be `paid` or `canceled`.
    pub(crate) fn record_order_end(&mut self, order: &str, status: &'static str) {
        self.ends.insert((order.to_owned(), status));
    }

    pub(crate) fn begin_refund(&mut self, payment: String, cents: Option<i64>) -> usize {
        self.refunds.push(RefundRequest {
            payment,
            cents,
            reported: ReportedOutcome::Unknown,
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

    /// As [`Promises::record_attempt`], of a refund.
    pub(crate) fn record_refund(
        &mut self,
        refund: usize,
        reported: ReportedOutcome,
    ) -> Option<ReportedOutcome> {
        let known = self.refunds.get_mut(refund)?;
        replace(&mut known.reported, reported)
    }
}

fn replace(known: &mut ReportedOutcome, reported: ReportedOutcome) -> Option<ReportedOutcome> {
    let before = std::mem::replace(known, reported);
    let is_contradicted = matches!(before, ReportedOutcome::Made(_)) && before != *known;
    is_contradicted.then_some(before)
}
