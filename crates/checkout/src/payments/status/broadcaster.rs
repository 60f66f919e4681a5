//! The subscribers of payments in this process, and the status changes sent to them.
//!
//! A change by this process is sent at once. Changes by other processes are found by polling the
//! followed payments every [`POLL_EVERY`], all in one database job. Without subscribers nothing is
//! polled.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use db::lock_mutex;
use serde::Serialize;
use tokio::sync::{Notify, watch};
use utoipa::ToSchema;
use web::client::{ClientAddress, Origin};

use crate::payments::declines::coarse_detail;
use crate::payments::state::PaymentState;

/// The interval of polling the followed payments.
pub(crate) const POLL_EVERY: Duration = Duration::from_secs(2);
/// The most streams of one process.
pub(crate) const STREAMS_MAX: usize = 2_000;
/// The most streams of one payment: a buyer may open it in several tabs and devices.
const OF_A_PAYMENT: usize = 10;
/// The most streams of one remote client, an IPv4 address or an IPv6 /48. Several buyers may share
/// one.
const OF_A_CLIENT: usize = 100;

/// The status of a payment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StatusView {
    pub(crate) status: PaymentState,
    pub(crate) status_detail: String,
}

impl StatusView {
    pub(crate) fn new(state: PaymentState, status_detail: &str) -> Self {
        Self {
            status: state,
            status_detail: status_detail.to_owned(),
        }
    }

    /// The view for this caller. Remote clients get coarse decline reasons.
    pub(crate) fn shown_to(self, origin: Origin) -> Self {
        if origin.is_local {
            return self;
        }
        let status_detail = coarse_detail(&self.status_detail).to_owned();
        Self {
            status_detail,
            ..self
        }
    }
}

/// Sends status changes to the subscribers of payments. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct StatusBroadcaster(Arc<BroadcasterState>);

#[derive(Default)]
struct BroadcasterState {
    followed: Mutex<Subscriptions>,
    /// Wakes the polling task, which sleeps while nothing is followed.
    begun: Notify,
}

#[derive(Default)]
struct Subscriptions {
    payments: HashMap<String, watch::Sender<StatusView>>,
    streams: usize,
    by_client: HashMap<String, usize>,
}

/// One subscription to one payment. Dropping it ends the subscription.
pub(crate) struct Follower {
    broadcaster: StatusBroadcaster,
    id: String,
    client: Option<String>,
    news: watch::Receiver<StatusView>,
}

impl StatusBroadcaster {
    /// Subscribes to a payment whose status is `now`. `None` if there are too many streams in
    /// total, of this payment or of this client.
    pub(crate) fn follow(&self, id: &str, now: StatusView, origin: Origin) -> Option<Follower> {
        let client = (!origin.is_local).then(|| ClientAddress(origin.address).network_key());
        let mut followed = lock_mutex(&self.0.followed);
        let of_payment = followed.payments.get(id);
        let of_payment = of_payment.map_or(0, watch::Sender::receiver_count);
        let of_client = client
            .as_ref()
            .and_then(|client| followed.by_client.get(client));
        let of_client = of_client.copied().unwrap_or(0);
        if followed.streams >= STREAMS_MAX || of_payment >= OF_A_PAYMENT || of_client >= OF_A_CLIENT
        {
            return None;
        }
        followed.streams += 1;
        if let Some(client) = &client {
            followed.by_client.insert(client.clone(), of_client + 1);
        }
        let sender = followed
            .payments
            .entry(id.to_owned())
            .or_insert_with(|| watch::Sender::new(now.clone()));
        let news = sender.subscribe();
        sender.send_if_modified(|view| replace(view, now));
        drop(followed);
        self.0.begun.notify_one();
        Some(Follower {
            broadcaster: self.clone(),
            id: id.to_owned(),
            client,
            news,
        })
    }

    /// Sends the status of a payment to its subscribers.
    pub(crate) fn publish(&self, id: &str, state: PaymentState, status_detail: &str) {
        if let Some(sender) = lock_mutex(&self.0.followed).payments.get(id) {
            sender.send_if_modified(|view| replace(view, StatusView::new(state, status_detail)));
        }
    }

    /// The ids of the followed payments.
    pub(crate) fn followed(&self) -> Vec<String> {
        lock_mutex(&self.0.followed)
            .payments
            .keys()
            .cloned()
            .collect()
    }

    /// Waits until any payment is followed. Only one task may wait at a time.
    pub(crate) async fn any(&self) {
        while lock_mutex(&self.0.followed).payments.is_empty() {
            self.0.begun.notified().await;
        }
    }

    /// The number of open streams.
    #[cfg(test)]
    pub(crate) fn streams(&self) -> usize {
        lock_mutex(&self.0.followed).streams
    }
}

/// Replaces the view. A view that the state machine does not allow after the current one is stale
/// and ignored. Returns whether it was replaced.
fn replace(view: &mut StatusView, new: StatusView) -> bool {
    let is_news = *view != new && view.status.apply(new.status.name()).is_ok();
    if is_news {
        *view = new;
    }
    is_news
}

impl Follower {
    /// The current status of the payment.
    pub(crate) fn current(&mut self) -> StatusView {
        self.news.borrow_and_update().clone()
    }

    /// Waits for a change. Never returns if there can be none.
    pub(crate) async fn changed(&mut self) {
        if self.news.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let mut followed = lock_mutex(&self.broadcaster.0.followed);
        followed.streams = followed.streams.saturating_sub(1);
        if let Some(client) = &self.client
            && let Some(count) = followed.by_client.get_mut(client)
        {
            *count -= 1;
            if *count == 0 {
                followed.by_client.remove(client);
            }
        }
        // This subscriber's own receiver is still counted.
        if followed
            .payments
            .get(&self.id)
            .is_some_and(|sender| sender.receiver_count() <= 1)
        {
            followed.payments.remove(&self.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;

    const HERE: Origin = Origin {
        address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        is_https: false,
        is_silent_proxy: false,
        is_untrusted_proxy: false,
        is_local: true,
    };

    fn view(state: PaymentState) -> StatusView {
        StatusView::new(state, "")
    }

    #[tokio::test]
    async fn a_follower_hears_of_a_change_and_of_nothing_else() {
        let broadcaster = StatusBroadcaster::default();
        let mut follower = broadcaster
            .follow("1", view(PaymentState::Pending), HERE)
            .unwrap();
        broadcaster.publish("2", PaymentState::Approved, "");
        broadcaster.publish("1", PaymentState::Pending, "");
        assert_eq!(follower.current(), view(PaymentState::Pending));
        broadcaster.publish("1", PaymentState::Approved, "");
        follower.changed().await;
        assert_eq!(follower.current(), view(PaymentState::Approved));
    }

    #[test]
    fn old_news_are_not_told() {
        let broadcaster = StatusBroadcaster::default();
        let mut follower = broadcaster
            .follow("1", view(PaymentState::Approved), HERE)
            .unwrap();
        broadcaster.publish("1", PaymentState::Pending, "");
        assert_eq!(follower.current(), view(PaymentState::Approved));
    }

    #[tokio::test]
    async fn the_last_follower_takes_the_payment_along_and_the_next_one_wakes_the_look_out() {
        let broadcaster = StatusBroadcaster::default();
        let first = broadcaster
            .follow("1", view(PaymentState::Pending), HERE)
            .unwrap();
        let second = broadcaster
            .follow("1", view(PaymentState::Pending), HERE)
            .unwrap();
        drop(first);
        assert_eq!(broadcaster.followed(), ["1"]);
        broadcaster.any().await;
        drop(second);
        assert_eq!(
            (broadcaster.followed(), broadcaster.streams()),
            (Vec::new(), 0)
        );
        let waiting = tokio::spawn({
            let broadcaster = broadcaster.clone();
            async move { broadcaster.any().await }
        });
        let _follower = broadcaster
            .follow("2", view(PaymentState::Pending), HERE)
            .unwrap();
        waiting.await.unwrap();
    }

    #[test]
    fn there_is_a_most_of_streams() {
        let broadcaster = StatusBroadcaster::default();
        let pending = || view(PaymentState::Pending);
        let ids = (0..STREAMS_MAX).map(|number| (number / OF_A_PAYMENT).to_string());
        let open: Vec<_> = ids
            .map(|id| broadcaster.follow(&id, pending(), HERE).unwrap())
            .collect();
        assert!(broadcaster.follow("new", pending(), HERE).is_none());
        drop(open);
        assert!(broadcaster.follow("new", pending(), HERE).is_some());
    }

    #[test]
    fn neither_one_token_nor_one_client_takes_every_stream() {
        let broadcaster = StatusBroadcaster::default();
        let from = |address: &str| Origin {
            address: address.parse().unwrap(),
            is_local: false,
            ..HERE
        };
        let follow = |id: &str, address: &str| {
            broadcaster.follow(id, view(PaymentState::Pending), from(address))
        };
        let of_payment: Vec<_> = (0..OF_A_PAYMENT)
            .map(|number| follow("1", &format!("203.0.113.{number}")).unwrap())
            .collect();
        assert!(follow("1", "203.0.113.99").is_none());
        drop(of_payment);
        assert!(follow("1", "203.0.113.99").is_some());
        let of_client: Vec<_> = (0..OF_A_CLIENT)
            .map(|number| follow(&number.to_string(), "2001:db8::1").unwrap())
            .collect();
        assert!(follow("another", "2001:db8:0:1::1").is_none());
        assert!(follow("another", "2001:db8:1::1").is_some());
        drop(of_client);
        assert!(follow("another", "2001:db8::2").is_some());
        assert_eq!(broadcaster.streams(), 0);
    }
}
