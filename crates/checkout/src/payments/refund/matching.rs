//! Which of the refunds that the provider lists is ours, after its answer was lost. Pure.

use std::time::Duration;

use db::Timestamp;

use super::answer::is_refused;
use crate::payments::attempt::is_certain;
use crate::payments::store::{Attempt, AttemptStep, RefundOrder};
use crate::provider::ProviderRefund;

/// How far the provider's clock may be behind ours.
const CLOCK_SKEW: Duration = Duration::from_secs(120);

/// What the provider's list says of a refund of unknown outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Match<'a> {
    /// It is this one.
    Ours(&'a ProviderRefund),
    /// It is not in the list.
    Absent,
    /// Another refund of the same amount is of unknown outcome too, and the list has one for both.
    Undecided,
}

/// Looks for the refund of `attempt` among those that the provider lists. `refunds` are all of ours for the payment.
///
/// A refund is ours when it has our amount, was made after we asked for it, and is known to be no other refund of ours. Where several of
/// ours with one amount are open, they are taken in the order in which they were asked for: once the list has enough for all of them, or
/// once it must have caught up with all of them.
pub(crate) fn find<'a>(
    attempt: &Attempt,
    order: &RefundOrder,
    refunds: &[Attempt],
    listed: &'a [ProviderRefund],
    now: Timestamp,
) -> Match<'a> {
    let mut candidates: Vec<_> = listed
        .iter()
        .filter(|made| made.amount.is_none_or(|amount| amount == order.amount))
        .filter(|made| made_at(made).is_none_or(|at| at + CLOCK_SKEW >= attempt.created_at))
        .filter(|made| is_free(made, attempt, refunds))
        .collect();
    candidates.sort_by_key(|made| made_at(made));
    let open: Vec<_> = refunds
        .iter()
        .filter(|other| other.id == attempt.id || other.step == AttemptStep::Sending)
        .filter(|other| other.order.amount() == order.amount)
        .collect();
    let rank = open.iter().filter(|other| other.id < attempt.id).count();
    let is_settled = candidates.len() >= open.len() || {
        let sent = open.iter().filter_map(|other| other.sent_at);
        sent.into_iter().all(|sent| is_certain(sent, now))
    };
    match candidates.get(rank) {
        _ if candidates.is_empty() => Match::Absent,
        _ if !is_settled => Match::Undecided,
        Some(made) => Match::Ours(made),
        None => Match::Absent,
    }
}

/// Looks for the refund of `attempt` among those that the provider tells of with the payment, when the attempt has ended without it, or
/// its outcome is unknown and nobody works on it.
///
/// No name of ours is on a refund. So one that was thought not to have been made is known by its amount, and by having been made between
/// the request for it and the hour after it was last sent: what is given back later by hand is not taken for it. Refunds of the same
/// amount whose outcome is unknown come first.
pub(super) fn find_late<'a>(
    attempt: &Attempt,
    refunds: &[Attempt],
    listed: &'a [ProviderRefund],
    now: Timestamp,
) -> Option<&'a ProviderRefund> {
    let order = attempt.refund_order().ok()?;
    match attempt.step {
        AttemptStep::Sending if attempt.leased_until.is_none_or(|until| until <= now) => {
            match find(attempt, order, refunds, listed, now) {
                Match::Ours(made) => Some(made),
                Match::Absent | Match::Undecided => None,
            }
        }
        AttemptStep::Refused | AttemptStep::Closed => {
            let is_open = |other: &Attempt| {
                other.step == AttemptStep::Sending && other.order.amount() == order.amount
            };
            if refunds.iter().any(is_open) {
                return None;
            }
            let sent_at = attempt.sent_at?;
            let is_in_time =
                |at: Timestamp| at + CLOCK_SKEW >= attempt.created_at && !is_certain(sent_at, at);
            listed
                .iter()
                .filter(|made| made.amount == Some(order.amount) && !is_refused(&made.status))
                .filter(|made| made_at(made).is_some_and(is_in_time))
                .filter(|made| is_free(made, attempt, refunds))
                .min_by_key(|made| made_at(made))
        }
        AttemptStep::Started | AttemptStep::Sending | AttemptStep::Finished => None,
    }
}

/// Is it none that another refund of ours has?
pub(super) fn is_free(made: &ProviderRefund, attempt: &Attempt, refunds: &[Attempt]) -> bool {
    refunds
        .iter()
        .filter(|other| other.id != attempt.id)
        .filter_map(|other| other.refund_order().ok())
        .all(|order| order.id.as_ref() != Some(&made.id))
}

fn made_at(made: &ProviderRefund) -> Option<Timestamp> {
    Timestamp::parse(made.date_created.as_deref()?).ok()
}

#[cfg(test)]
mod tests {
    use db::Money;
    use uuid::Uuid;

    use super::*;
    use crate::payments::store::Order;
    use crate::provider::UpstreamKey;

    const AMOUNT: Money = Money::from_cents(1_000);

    fn now() -> Timestamp {
        Timestamp::parse("2026-11-20T12:00:00Z").unwrap()
    }

    fn attempt(id: i64, step: AttemptStep, made: Option<&str>) -> Attempt {
        Attempt {
            id,
            fingerprint: None,
            step,
            order: Order::Refund(order(made)),
            upstream_key: UpstreamKey(Uuid::nil()),
            payment: Some(1),
            leased_until: None,
            check_at: None,
            checks: 0,
            sent_at: Some(now()),
            last_answer: None,
            response_status: None,
            response: None,
            created_at: now(),
            finished_at: None,
        }
    }

    fn order(made: Option<&str>) -> RefundOrder {
        RefundOrder {
            payment: 1,
            payment_id: "7".to_owned(),
            amount: AMOUNT,
            whole: false,
            id: made.map(str::to_owned),
            status: None,
        }
    }

    fn open(id: i64) -> Attempt {
        attempt(id, AttemptStep::Sending, None)
    }

    fn made(id: &str, cents: i128, seconds: i64) -> ProviderRefund {
        let at = Timestamp::from_micros(now().micros() + seconds * 1_000_000);
        ProviderRefund {
            id: id.to_owned(),
            amount: Some(Money::from_cents(cents)),
            status: "approved".to_owned(),
            date_created: Some(at.to_string()),
        }
    }

    /// The id that is found, `absent` or `undecided`.
    fn found(ours: &Attempt, all: &[Attempt], listed: &[ProviderRefund], at: Timestamp) -> String {
        match find(ours, &order(None), all, listed, at) {
            Match::Ours(made) => made.id.clone(),
            Match::Absent => "absent".to_owned(),
            Match::Undecided => "undecided".to_owned(),
        }
    }

    #[test]
    fn a_refund_of_our_amount_that_was_made_after_we_asked_is_ours() {
        let ours = [open(1)];
        let find = |listed: &[ProviderRefund]| found(&ours[0], &ours, listed, now());
        assert_eq!(find(&[]), "absent");
        assert_eq!(find(&[made("a", 1_000, 1)]), "a");
        assert_eq!(find(&[made("a", 1_000, -119)]), "a", "its clock is behind");
        assert_eq!(find(&[made("a", 1_000, -121)]), "absent", "an older one");
        assert_eq!(find(&[made("a", 999, 1)]), "absent", "another amount");
        assert_eq!(find(&[made("b", 1_000, 2), made("a", 1_000, 1)]), "a");
    }

    #[test]
    fn a_refund_that_another_of_ours_has_is_not_taken() {
        let all = [
            attempt(1, AttemptStep::Finished, Some("a")),
            open(2),
            attempt(3, AttemptStep::Finished, Some("c")),
        ];
        let listed = [made("a", 1_000, 1), made("c", 1_000, 2)];
        assert_eq!(found(&all[1], &all, &listed, now()), "absent");
        let listed = [made("a", 1_000, 1), made("b", 1_000, 2)];
        assert_eq!(found(&all[1], &all, &listed, now()), "b");
    }

    #[test]
    fn two_open_refunds_share_no_refund_and_take_them_in_order() {
        let all = [open(1), open(2)];
        let one = [made("a", 1_000, 1)];
        let both = [made("a", 1_000, 1), made("b", 1_000, 2)];
        let later = now() + Duration::from_hours(1);
        let find =
            |index: usize, listed: &[ProviderRefund], at| found(&all[index], &all, listed, at);
        assert_eq!(find(0, &one, now()), "undecided");
        assert_eq!(find(1, &one, now()), "undecided");
        assert_eq!([find(0, &both, now()), find(1, &both, now())], ["a", "b"]);
        assert_eq!(
            [find(0, &one, later), find(1, &one, later)],
            ["a", "absent"]
        );
    }
}
