//! The service's responses to its callers, which are checked at the end.

use std::collections::BTreeSet;

use db::Timestamp;

/// What callers were told during a run.
#[derive(Debug, Default)]
pub(crate) struct Promises {
    pub(crate) attempts: Vec<AttemptRecord>,
    pub(crate) refunds: Vec<RefundRequest>,
    /// Orders that were reported as paid or canceled, which is final.
    pub(crate) ends: BTreeSet<(String, &'static str)>,
}

/// One attempt to pay for a purchase: all requests with one key, or a single request without a key.
#[derive(Debug, Clone)]
pub(crate) struct AttemptRecord {
    /// The number of the purchase.
    pub(crate) purchase: usize,
    /// Whether the purchase is an order of the shop.
    pub(crate) has_order: bool,
    /// The payer's e-mail address, which is unique to the attempt.
    pub(crate) payer: String,
    pub(crate) reported: ReportedOutcome,
}

/// The last reported outcome of an attempt or a refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ReportedOutcome {
    /// No outcome was reported, or an uncertain one.
    Unknown,
    /// It was made with this id.
    Made(String),
    /// It was not made and never will be.
    NotMade,
}

/// One refund that the merchant wants, in any number of requests.
#[derive(Debug, Clone)]
pub(crate) struct RefundRequest {
    pub(crate) payment: String,
    /// The amount. `None` for the remaining amount.
    pub(crate) cents: Option<i64>,
    pub(crate) reported: ReportedOutcome,
    /// The key with which it can be retried, and since when that key is used.
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

    /// Records the reported outcome of an attempt. Returns the earlier outcome if it contradicts
    /// this one.
    pub(crate) fn record_attempt(
        &mut self,
        attempt: usize,
        reported: ReportedOutcome,
    ) -> Option<ReportedOutcome> {
        let known = self.attempts.get_mut(attempt)?;
        replace(&mut known.reported, reported)
    }

    /// Records that an order was reported as `paid` or `canceled`.
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

    /// Records that a refund is requested with another key than before.
    pub(crate) fn repeat_refund(&mut self, refund: usize, by: Option<(String, Timestamp)>) {
        if let Some(known) = self.refunds.get_mut(refund) {
            known.repeats = by;
        }
    }

    /// Same as [`Promises::record_attempt`] for a refund.
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
