//! A model of the provider: its data, their changes, and its answers to calls. The sandbox is a
//! server for people and client libraries. Here every fault of a provider is random, and thousands
//! of shops run in a second.

mod answer;
mod api;

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use db::Timestamp;

use crate::dice::Dice;
use crate::faults::Faults;

pub(crate) use api::{ReceivedCall, Reply, member};

/// What the provider keeps.
#[derive(Debug, Default)]
pub(crate) struct Provider {
    payments: Vec<Payment>,
    keys: HashMap<String, Memory>,
    /// Card tokens, and whether they are used.
    tokens: HashMap<String, bool>,
    /// Payments of which it refused a refund for good.
    refused_refunds: HashSet<u64>,
    /// Answers no call.
    pub(crate) is_down: bool,
    changed: Vec<Change>,
}

/// What somebody must be told of.
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
    /// What is paid: an order, or what the buyer's client named.
    pub(crate) description: String,
    /// The payer's e-mail address: by this the world knows whose attempt it is, whatever the
    /// service stored.
    pub(crate) payer: String,
    /// When it lapses unless it is paid, if the service has said so.
    pub(crate) lapses: Option<Timestamp>,
    pub(crate) method: String,
    pub(crate) cents: i64,
    pub(crate) created: Timestamp,
    pub(crate) view: View,
    /// Was money ever taken?
    pub(crate) was_charged: bool,
    /// Was it paid at a bank, and cancelled before the bank told of it?
    pub(crate) is_paid_all_the_same: bool,
    /// Another payment of the same that was alive, or had been paid, when this one was made.
    pub(crate) beside: Option<u64>,
    /// Did any answer about it reach the service?
    pub(crate) is_told: bool,
    /// Every view with the time from which the search knows it.
    history: Vec<(Timestamp, View)>,
}

/// The part of a payment that changes.
#[derive(Debug, Clone)]
pub(crate) struct View {
    pub(crate) status: &'static str,
    pub(crate) detail: &'static str,
    pub(crate) approved: Option<Timestamp>,
    pub(crate) updated: Timestamp,
    pub(crate) refunds: Vec<Refund>,
}

/// Money given back.
#[derive(Debug, Clone)]
pub(crate) struct Refund {
    pub(crate) id: u64,
    pub(crate) cents: i64,
    pub(crate) status: &'static str,
    pub(crate) created: Timestamp,
    /// Asked for by the service, and not by a person on the provider's own pages.
    pub(crate) is_ours: bool,
}

/// What an idempotency key stands for.
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

/// When something happens, and by which dice and faults. No faults: the world has calmed down.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment<'a> {
    pub(crate) now: Timestamp,
    pub(crate) dice: &'a Dice,
    pub(crate) faults: Option<&'a Faults>,
    pub(crate) search_lag: Duration,
    pub(crate) misses_changes: bool,
    pub(crate) list_lag: Duration,
    /// How long the search does not know a new payment at all.
    pub(crate) hidden: Duration,
}

impl Moment<'_> {
    /// When the search knows of a change to a payment that was made at this time.
    fn seen(&self, created: Timestamp) -> Timestamp {
        let lag = u64::try_from(self.search_lag.as_millis()).unwrap_or(0);
        (self.now + self.dice.millis(0, lag)).max(created + self.hidden)
    }

    /// Does a fault of this rate happen?
    fn happens(&self, rate: impl FnOnce(&Faults) -> u64) -> bool {
        self.faults
            .is_some_and(|faults| self.dice.happens(rate(faults)))
    }
}

impl View {
    /// What was given back, or is about to be.
    pub(crate) fn refunded(&self) -> i64 {
        let counted = self
            .refunds
            .iter()
            .filter(|refund| refund.status != "rejected");
        counted.map(|refund| refund.cents).sum()
    }

    /// What was given back for good.
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

    /// An answer has reached the service.
    pub(crate) fn note_reported(&mut self, answer: &[u8]) {
        let Ok(answer) = std::str::from_utf8(answer) else {
            return;
        };
        for payment in self.payments.iter_mut().filter(|payment| !payment.is_told) {
            payment.is_told = answer.contains(&payment.reference);
        }
    }

    /// Did it refuse to give money of a payment back?
    pub(crate) fn has_refused_refund(&self, id: u64) -> bool {
        self.refused_refunds.contains(&id)
    }

    /// What has changed since it was last asked.
    pub(crate) fn take_changes(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.changed)
    }

    /// Changes a payment, unless `change` has nothing to do, and has everybody told.
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

    /// The bank tells that a boleto was paid there, whatever became of it here since.
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

    /// The buyer's bank takes the money back.
    pub(crate) fn charge_back(&mut self, id: u64, at: Moment<'_>) -> bool {
        self.change(id, at, |payment| {
            let is_possible = payment.view.status == "approved" && payment.view.refunded() == 0;
            if is_possible {
                (payment.view.status, payment.view.detail) = ("charged_back", "settled");
            }
            is_possible
        })
    }

    /// Somebody gives money back on the provider's own pages: all of it, or as much as asked.
    pub(crate) fn give_back_by_hand(
        &mut self,
        id: u64,
        cents: Option<i64>,
        at: Moment<'_>,
    ) -> bool {
        let refund = self.next_refund(at, false);
        self.change(id, at, |payment| payment.add(refund, cents))
    }

    /// The provider ends a refund that it was still at work on.
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
    /// May another payment of the same not be made beside it? What was paid although it was
    /// cancelled pays for nothing.
    fn is_alive_or_paid(&self) -> bool {
        let is_open = matches!(self.view.status, "pending" | "in_process");
        is_open || (self.was_charged && !self.is_paid_all_the_same)
    }

    /// Adds a refund of so much, or of what is left; false where that is not possible.
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

    /// What the search knows of it by now.
    fn searched(&self, now: Timestamp) -> Option<&View> {
        let known = self.history.iter().rev().find(|(seen, _)| *seen <= now);
        known.map(|(_, view)| view)
    }
}
