//! A model of the provider: its data, its changes, and its responses to calls. Unlike the sandbox,
//! which is a server for people and client libraries, its faults are random, and thousands of shops
//! run in a second.

mod answer;
mod api;

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use db::Timestamp;

use crate::dice::Dice;
use crate::faults::Faults;

pub(crate) use api::{ReceivedCall, Reply, member};

/// The provider's data.
#[derive(Debug, Default)]
pub(crate) struct Provider {
    payments: Vec<Payment>,
    keys: HashMap<String, Memory>,
    /// Card tokens, and whether they are used.
    tokens: HashMap<String, bool>,
    /// Payments with a finally refused refund.
    refused_refunds: HashSet<u64>,
    /// Whether no call is answered.
    pub(crate) is_down: bool,
    changed: Vec<Change>,
}

/// A change to be notified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) payment: u64,
    pub(crate) is_new: bool,
}

/// A payment at the provider.
#[derive(Debug, Clone)]
pub(crate) struct Payment {
    pub(crate) id: u64,
    pub(crate) reference: String,
    /// What is paid: the order's description, or the text that the buyer's client sent.
    pub(crate) description: String,
    /// The payer's e-mail address, which identifies the attempt regardless of what the service
    /// stored.
    pub(crate) payer: String,
    /// When an unpaid payment expires, if the service has set it.
    pub(crate) lapses: Option<Timestamp>,
    pub(crate) method: String,
    pub(crate) cents: i64,
    pub(crate) created: Timestamp,
    pub(crate) view: View,
    /// Whether money was ever taken.
    pub(crate) was_charged: bool,
    /// Whether it was paid at a bank and cancelled before the bank reported it.
    pub(crate) is_paid_all_the_same: bool,
    /// Another payment of the same purchase that was live or paid when this one was created.
    pub(crate) beside: Option<u64>,
    /// Whether any response about it reached the service.
    pub(crate) is_told: bool,
    /// All states with the time from which the search shows them.
    history: Vec<(Timestamp, View)>,
}

/// The changeable part of a payment.
#[derive(Debug, Clone)]
pub(crate) struct View {
    pub(crate) status: &'static str,
    pub(crate) detail: &'static str,
    pub(crate) approved: Option<Timestamp>,
    pub(crate) updated: Timestamp,
    pub(crate) refunds: Vec<Refund>,
}

/// A refund.
#[derive(Debug, Clone)]
pub(crate) struct Refund {
    pub(crate) id: u64,
    pub(crate) cents: i64,
    pub(crate) status: &'static str,
    pub(crate) created: Timestamp,
    /// Whether the service requested it, and not a person on the provider's own pages.
    pub(crate) is_ours: bool,
}

/// The stored result of an idempotency key.
#[derive(Debug, Clone)]
struct Memory {
    at: Timestamp,
    result: StoredAnswer,
}

#[derive(Debug, Clone)]
enum StoredAnswer {
    Payment(u64),
    Refund,
    Refusal(u16, &'static str),
}

/// The time of an event, with its random source and faults. Without faults in the calm phase.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment<'a> {
    pub(crate) now: Timestamp,
    pub(crate) dice: &'a Dice,
    pub(crate) faults: Option<&'a Faults>,
    pub(crate) search_lag: Duration,
    pub(crate) misses_changes: bool,
    pub(crate) list_lag: Duration,
    /// How long the search does not show a new payment at all.
    pub(crate) hidden: Duration,
}

impl Moment<'_> {
    /// When the search shows a change made now to a payment created at `created`.
    fn seen(&self, created: Timestamp) -> Timestamp {
        let lag = u64::try_from(self.search_lag.as_millis()).unwrap_or(0);
        (self.now + self.dice.millis(0, lag)).max(created + self.hidden)
    }

    /// Whether a fault with this rate happens.
    fn happens(&self, rate: impl FnOnce(&Faults) -> u64) -> bool {
        self.faults
            .is_some_and(|faults| self.dice.happens(rate(faults)))
    }
}

impl View {
    /// The refunded amount, including unfinished refunds.
    pub(crate) fn refunded(&self) -> i64 {
        let counted = self
            .refunds
            .iter()
            .filter(|refund| refund.status != "rejected");
        counted.map(|refund| refund.cents).sum()
    }

    /// The amount of completed refunds.
    fn returned(&self) -> i64 {
        let counted = self
            .refunds
            .iter()
            .filter(|refund| refund.status == "approved");
        counted.map(|refund| refund.cents).sum()
    }
}

impl Provider {
    pub(crate) fn payments(&self) -> &[Payment] {
        &self.payments
    }

    pub(crate) fn find(&self, id: u64) -> Option<&Payment> {
        self.payments.iter().find(|payment| payment.id == id)
    }

    /// Records that a response has reached the service.
    pub(crate) fn note_reported(&mut self, answer: &[u8]) {
        let Ok(answer) = std::str::from_utf8(answer) else {
            return;
        };
        for payment in self.payments.iter_mut().filter(|payment| !payment.is_told) {
            payment.is_told = answer.contains(&payment.reference);
        }
    }

    /// Whether a refund of the payment was finally refused.
    pub(crate) fn has_refused_refund(&self, id: u64) -> bool {
        self.refused_refunds.contains(&id)
    }

    /// The changes since the last call.
    pub(crate) fn take_changes(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.changed)
    }

    /// Changes a payment and records the change, unless `change` returns false.
    fn change(
        &mut self,
        id: u64,
        at: Moment<'_>,
        change: impl FnOnce(&mut Payment) -> bool,
    ) -> bool {
        let Some(payment) = self.payments.iter_mut().find(|payment| payment.id == id) else {
            return false;
        };
        if !change(payment) {
            return false;
        }
        payment.view.updated = at.now;
        payment.was_charged |= payment.view.status == "approved";
        let seen = at.seen(payment.created);
        payment.history.push((seen, payment.view.clone()));
        let is_new = false;
        self.changed.push(Change {
            payment: id,
            is_new,
        });
        true
    }

    fn make(&mut self, mut payment: Payment, at: Moment<'_>) -> u64 {
        payment.id = 217_000_000 + self.payments.len() as u64;
        let beside =
            |other: &&Payment| other.description == payment.description && other.is_alive_or_paid();
        payment.beside = self.payments.iter().find(beside).map(|other| other.id);
        payment.was_charged = payment.view.status == "approved";
        let seen = at.seen(payment.created);
        payment.history.push((seen, payment.view.clone()));
        let id = payment.id;
        self.payments.push(payment);
        self.changed.push(Change {
            payment: id,
            is_new: true,
        });
        id
    }

    /// The bank or the buyer decides an open payment.
    pub(crate) fn decide(
        &mut self,
        id: u64,
        status: &'static str,
        detail: &'static str,
        at: Moment<'_>,
    ) -> bool {
        self.change(id, at, |payment| {
            if !matches!(payment.view.status, "pending" | "in_process") {
                return false;
            }
            (payment.view.status, payment.view.detail) = (status, detail);
            if status == "approved" {
                payment.view.approved = Some(at.now);
            }
            true
        })
    }

    /// The bank reports that a boleto was paid, whatever its state is now.
    pub(crate) fn credit(&mut self, id: u64, at: Moment<'_>) -> bool {
        self.change(id, at, |payment| {
            let is_cancelled = payment.view.status == "cancelled";
            if !is_cancelled && payment.view.status != "pending" {
                return false;
            }
            (payment.view.status, payment.view.detail) = ("approved", "accredited");
            payment.view.approved = Some(at.now);
            payment.is_paid_all_the_same = is_cancelled;
            true
        })
    }

    /// The buyer's bank charges the payment back.
    pub(crate) fn charge_back(&mut self, id: u64, at: Moment<'_>) -> bool {
        self.change(id, at, |payment| {
            let is_possible = payment.view.status == "approved" && payment.view.refunded() == 0;
            if is_possible {
                (payment.view.status, payment.view.detail) = ("charged_back", "settled");
            }
            is_possible
        })
    }

    /// Somebody refunds on the provider's own pages, in full or `cents`.
    pub(crate) fn give_back_by_hand(
        &mut self,
        id: u64,
        cents: Option<i64>,
        at: Moment<'_>,
    ) -> bool {
        let refund = self.next_refund(at, false);
        self.change(id, at, |payment| payment.add(refund, cents))
    }

    /// The provider finishes a pending refund.
    pub(crate) fn end_refunds(&mut self, id: u64, is_made: bool, at: Moment<'_>) -> bool {
        let has_ended = self.change(id, at, |payment| {
            let mut has_changed = false;
            for refund in &mut payment.view.refunds {
                if refund.status == "in_process" {
                    refund.status = if is_made { "approved" } else { "rejected" };
                    has_changed = true;
                }
            }
            payment.settle_refunds();
            has_changed
        });
        if has_ended && !is_made {
            self.refused_refunds.insert(id);
        }
        has_ended
    }

    fn next_refund(&self, at: Moment<'_>, is_ours: bool) -> Refund {
        let made: usize = self
            .payments
            .iter()
            .map(|payment| payment.view.refunds.len())
            .sum();
        Refund {
            id: 9_000_000 + made as u64,
            cents: 0,
            status: "approved",
            created: at.now,
            is_ours,
        }
    }
}

impl Payment {
    /// Whether no other payment of the same purchase may be created. A payment that was paid
    /// although it was cancelled does not count.
    fn is_alive_or_paid(&self) -> bool {
        let is_open = matches!(self.view.status, "pending" | "in_process");
        is_open || (self.was_charged && !self.is_paid_all_the_same)
    }

    /// Adds a refund of `cents`, or of the remaining amount. Returns false if that is not possible.
    fn add(&mut self, mut refund: Refund, cents: Option<i64>) -> bool {
        let left = self.cents - self.view.refunded();
        refund.cents = cents.unwrap_or(left);
        if self.view.status != "approved" || refund.cents <= 0 || refund.cents > left {
            return false;
        }
        self.view.refunds.push(refund);
        self.settle_refunds();
        true
    }

    fn settle_refunds(&mut self) {
        let returned = self.view.returned();
        if self.view.status == "approved" && returned == self.cents {
            (self.view.status, self.view.detail) = ("refunded", "refunded");
        } else if self.view.status == "approved" && returned > 0 {
            self.view.detail = "partially_refunded";
        }
    }

    /// The state that the search shows at this time.
    fn searched(&self, now: Timestamp) -> Option<&View> {
        let known = self.history.iter().rev().find(|(seen, _)| *seen <= now);
        known.map(|(_, view)| view)
    }
}
