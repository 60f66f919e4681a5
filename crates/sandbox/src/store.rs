//! The sandbox's data: payments, tokens and idempotency keys. Only this module changes them. Each
//! change of a payment is journalled and queued for notification here, in order, without waiting
//! for either.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use crate::announcements::Notifier;
use crate::journal::Journal;
use crate::model::{CardToken, Change, Payment};
use crate::refusal::Refusal;
use crate::values::Moment;

/// How long the idempotency key of a created payment is stored.
const KEY_LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);
/// The most stored tokens and keys. The oldest are dropped first.
const TOKENS_MAX: usize = 100_000;
const KEYS_MAX: usize = 1_000_000;
/// 2020-01-01 in seconds since 1970. Ids count from there, so that a sandbox without a journal does
/// not reuse the ids of its last run.
const EPOCH: i64 = 1_577_836_800;

pub(crate) struct Store {
    payments: BTreeMap<u64, Arc<Payment>>,
    /// Payment ids by external reference, oldest first.
    references: HashMap<Box<str>, Vec<u64>>,
    /// The expiry times of open payments, soonest first. Entries of payments that ended earlier
    /// stay until their time.
    ends: BinaryHeap<Reverse<(Moment, u64)>>,
    /// Payments as of their creation, by idempotency key.
    keys: HashMap<Box<str>, Arc<Payment>>,
    key_order: VecDeque<Box<str>>,
    tokens: HashMap<Box<str>, CardToken>,
    token_order: VecDeque<Box<str>>,
    next_id: u64,
    journal: Option<Journal>,
    notifier: Notifier,
}

impl Store {
    /// A store with the payments of a journal.
    pub(crate) fn new(
        journalled: Vec<Payment>,
        journal: Option<Journal>,
        notifier: Notifier,
        now: Moment,
    ) -> Self {
        let seconds = now.timestamp().micros() / 1_000_000 - EPOCH;
        let mut store = Self {
            payments: BTreeMap::new(),
            references: HashMap::new(),
            ends: BinaryHeap::new(),
            keys: HashMap::new(),
            key_order: VecDeque::new(),
            tokens: HashMap::new(),
            token_order: VecDeque::new(),
            next_id: u64::try_from(seconds).unwrap_or(1) * 1000,
            journal,
            notifier,
        };
        for payment in journalled {
            store.next_id = store.next_id.max(payment.id + 1 + refunds_of(&payment));
            store.remember(Arc::new(payment), Change::Created);
        }
        store
    }

    pub(crate) const fn next_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    pub(crate) fn payment(&self, id: u64) -> Option<Arc<Payment>> {
        self.payments.get(&id).cloned()
    }

    /// All payments, newest first.
    pub(crate) fn payments(&self) -> impl Iterator<Item = &Arc<Payment>> {
        self.payments.values().rev()
    }

    /// The payments with an external reference, newest first.
    pub(crate) fn with_reference(&self, reference: &str) -> impl Iterator<Item = &Arc<Payment>> {
        let ids = self
            .references
            .get(reference)
            .map_or(&[][..], Vec::as_slice);
        ids.iter().rev().filter_map(|id| self.payments.get(id))
    }

    /// The payment that was created with a key, as of its creation.
    pub(crate) fn payment_of_key(&self, key: &str) -> Option<Arc<Payment>> {
        self.keys.get(key).cloned()
    }

    pub(crate) fn token(&mut self, id: &str) -> Option<&mut CardToken> {
        self.tokens.get_mut(id)
    }

    pub(crate) fn insert_token(&mut self, token: CardToken, now: Moment) {
        while let Some(oldest) = self.token_order.front() {
            let ended = self
                .tokens
                .get(oldest)
                .is_none_or(|token| token.due() <= now);
            if !ended && self.token_order.len() < TOKENS_MAX {
                break;
            }
            self.tokens.remove(oldest);
            self.token_order.pop_front();
        }
        self.token_order.push_back(token.id.clone());
        self.tokens.insert(token.id.clone(), token);
    }

    /// Stores a payment, journals it and queues its notification.
    pub(crate) fn put(&mut self, payment: Payment, change: Change) -> Arc<Payment> {
        let payment = Arc::new(payment);
        self.remember(Arc::clone(&payment), change);
        if let Some(journal) = &self.journal {
            journal.write(Arc::clone(&payment));
        }
        self.notifier.announce(&payment, change);
        payment
    }

    /// Completes when every change up to now is in the journal, or at once without a journal.
    pub(crate) fn journalled(&self) -> impl Future<Output = ()> + use<> {
        let flushed = self.journal.as_ref().map(Journal::flushed);
        async move {
            if let Some(flushed) = flushed {
                // An error means that the journal failed, which it has logged.
                let _ = flushed.await;
            }
        }
    }

    /// Changes a payment. A refused change leaves it as it is.
    ///
    /// # Errors
    /// 404 for an unknown payment, or the error of the change.
    pub(crate) fn change(
        &mut self,
        id: u64,
        act: impl FnOnce(&mut Payment) -> Result<(), Refusal>,
    ) -> Result<Arc<Payment>, Refusal> {
        let current = self
            .payments
            .get(&id)
            .ok_or_else(Refusal::payment_not_found)?;
        let mut payment = Payment::clone(current);
        act(&mut payment)?;
        Ok(self.put(payment, Change::Updated))
    }

    /// Expires the payments whose expiry time has passed.
    pub(crate) fn expire(&mut self, now: Moment) {
        while let Some(Reverse((end, id))) = self.ends.peek().copied() {
            if end > now {
                return;
            }
            self.ends.pop();
            let overdue = self
                .payments
                .get(&id)
                .filter(|payment| payment.is_overdue(now));
            if let Some(mut payment) = overdue.map(|payment| Payment::clone(payment))
                && payment.expire(now).is_ok()
            {
                self.put(payment, Change::Updated);
            }
        }
    }

    fn remember(&mut self, payment: Arc<Payment>, change: Change) {
        if let (Some(reference), Change::Created) = (&payment.external_reference, change) {
            let ids = self.references.entry(reference.clone()).or_default();
            ids.push(payment.id);
        }
        if let Some(end) = payment.expires.filter(|_| payment.is_open()) {
            self.ends.push(Reverse((end, payment.id)));
        }
        if change == Change::Created {
            self.remember_key(&payment);
        }
        self.payments.insert(payment.id, payment);
    }

    fn remember_key(&mut self, payment: &Arc<Payment>) {
        while let Some(oldest) = self.key_order.front() {
            let made = self.keys.get(oldest).map(|payment| payment.created);
            let ended = made.is_none_or(|made| made.plus(KEY_LIFETIME) <= payment.created);
            if !ended && self.key_order.len() < KEYS_MAX {
                break;
            }
            self.keys.remove(oldest);
            self.key_order.pop_front();
        }
        let key = &payment.idempotency.key;
        self.key_order.push_back(key.clone());
        self.keys.insert(key.clone(), Arc::clone(payment));
    }
}

/// How many ids the refunds of a payment have used after the payment's own.
fn refunds_of(payment: &Payment) -> u64 {
    let last = payment.refunds.iter().map(|refund| refund.id).max();
    last.unwrap_or_default().saturating_sub(payment.id)
}
