//! Finds our refund in the provider's list after its response was lost. Pure.

use std::time::Duration;

use db::Timestamp;

use super::is_refused;
use crate::attempts::finality::is_certain;
use crate::attempts::model::Attempt;
use crate::payments::AttemptStep;
use crate::provider::ProviderRefund;

/// The largest assumed lag of the provider's clock behind ours.
const CLOCK_SKEW: Duration = Duration::from_secs(120);

/// The result of searching the provider's list for a refund of unknown outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Match {
    /// This refund of the list is ours.
    Ours(ProviderRefund),
    /// The refund is not in the list.
    Absent,
    /// Several refunds of the same amount have an unknown outcome, and the list does not have one
    /// for each.
    Undecided,
}

/// Finds the refund of `attempt` in the provider's list, which was requested at `requested_at`.
/// `refunds` are all our refunds of the payment.
///
/// A listed refund is a candidate when it has our amount, is recorded for no other attempt, and was
/// made between our request and one hour after the last sending. A candidate that fits no other
/// open attempt is ours at once. When several open attempts fit, nothing at the provider tells them
/// apart. They are then decided together: once the list has enough candidates for all of them, or
/// once the list must show all of them.
pub(super) fn find(
    attempt: &Attempt,
    refunds: &[Attempt],
    listed: &[ProviderRefund],
    requested_at: Timestamp,
) -> Match {
    let amount = attempt.instruction.amount();
    let (ours, others): (Vec<&Attempt>, Vec<&Attempt>) = refunds
        .iter()
        .filter(|other| other.id == attempt.id || other.step == AttemptStep::Sending)
        .filter(|other| other.instruction.amount() == amount)
        .partition(|other| other.id == attempt.id);
    let mut candidates: Vec<_> = listed
        .iter()
        .filter(|made| made.amount.is_none_or(|made| made == amount))
        .filter(|made| is_free(&made.id, attempt, refunds))
        .collect();
    candidates.sort_by_key(|made| made_at(made));
    let is_of = |attempts: &[&Attempt], made: &ProviderRefund| {
        attempts.iter().any(|attempt| is_candidate(made, attempt))
    };
    let mut own = candidates.iter().filter(|made| is_of(&ours, made));
    if own.clone().next().is_none() {
        return Match::Absent;
    }
    if let Some(made) = own.find(|made| !is_of(&others, made)) {
        return Match::Ours((*made).clone());
    }
    let open = [ours.as_slice(), others.as_slice()].concat();
    let shares = assign(&open, &candidates);
    let is_settled = shares.len() == open.len() || {
        let sent = open.iter().filter_map(|other| other.sent_at);
        sent.into_iter().all(|sent| is_certain(sent, requested_at))
    };
    match shares.iter().find(|(id, _)| *id == attempt.id) {
        _ if !is_settled => Match::Undecided,
        Some((_, made)) => Match::Ours((*made).clone()),
        None => Match::Absent,
    }
}

/// Whether a listed refund can belong to the attempt: it was made after the request, and at most an
/// hour after the last sending.
fn is_candidate(made: &ProviderRefund, attempt: &Attempt) -> bool {
    made_at(made).is_none_or(|at| {
        let is_too_late = attempt.sent_at.is_some_and(|sent| is_certain(sent, at));
        at + CLOCK_SKEW >= attempt.created_at && !is_too_late
    })
}

/// Assigns each candidate, oldest first, to the fitting attempt that was sent first. This gives a
/// refund to as many attempts as possible.
fn assign<'a>(
    open: &[&Attempt],
    candidates: &[&'a ProviderRefund],
) -> Vec<(i64, &'a ProviderRefund)> {
    let mut without = open.to_vec();
    without.sort_by_key(|attempt| (attempt.sent_at, attempt.id));
    let give = |made: &&'a ProviderRefund| {
        let place = without
            .iter()
            .position(|attempt| is_candidate(made, attempt))?;
        Some((without.remove(place).id, *made))
    };
    candidates.iter().filter_map(give).collect()
}

/// Finds the refund of `attempt` among those that the provider lists with the payment. The attempt
/// has ended without a refund, or its outcome is unknown and it is not leased.
///
/// Refunds carry no reference of ours. So the match is by amount and time: made between the request
/// and one hour after the last sending. A later manual refund is thus not matched. Open attempts of
/// the same amount take precedence.
pub(super) fn find_late(
    attempt: &Attempt,
    refunds: &[Attempt],
    listed: &[ProviderRefund],
    now: Timestamp,
) -> Option<ProviderRefund> {
    let amount = attempt.instruction.amount();
    match attempt.step {
        AttemptStep::Sending if !attempt.is_leased(now) => {
            match find(attempt, refunds, listed, now) {
                Match::Ours(made) => Some(made),
                Match::Absent | Match::Undecided => None,
            }
        }
        AttemptStep::Refused | AttemptStep::Closed => {
            let is_open = |other: &Attempt| {
                other.step == AttemptStep::Sending && other.instruction.amount() == amount
            };
            if refunds.iter().any(is_open) {
                return None;
            }
            attempt.sent_at?;
            listed
                .iter()
                .filter(|made| made.amount == Some(amount) && !is_refused(&made.status))
                .filter(|made| made_at(made).is_some() && is_candidate(made, attempt))
                .filter(|made| is_free(&made.id, attempt, refunds))
                .min_by_key(|made| made_at(made))
                .cloned()
        }
        AttemptStep::Started | AttemptStep::Sending | AttemptStep::Finished => None,
    }
}

/// Whether no other attempt has recorded the refund with this id.
pub(super) fn is_free(id: &str, attempt: &Attempt, refunds: &[Attempt]) -> bool {
    refunds
        .iter()
        .filter(|other| other.id != attempt.id)
        .filter_map(Attempt::refund_made)
        .all(|known| known.id != id)
}

fn made_at(made: &ProviderRefund) -> Option<Timestamp> {
    Timestamp::parse(made.date_created.as_deref()?).ok()
}

#[cfg(test)]
mod tests {
    use db::Money;
    use uuid::Uuid;

    use super::*;
    use crate::attempts::model::{Instruction, RefundInstruction, RefundRecord};

    const AMOUNT: Money = Money::from_cents(1_000);

    fn now() -> Timestamp {
        Timestamp::parse("2026-11-20T12:00:00Z").unwrap()
    }

    fn attempt(id: i64, step: AttemptStep, made: Option<&str>) -> Attempt {
        Attempt {
            id,
            fingerprint: None,
            step,
            instruction: Instruction::Refund(RefundInstruction {
                payment: 1,
                payment_id: "7".to_owned(),
                amount: AMOUNT,
                made: made.map(|id| RefundRecord {
                    id: id.to_owned(),
                    status: "approved".to_owned(),
                    date_created: now().to_string(),
                }),
            }),
            upstream_key: Uuid::nil(),
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

    /// The id of the match, or `absent`, or `undecided`.
    fn found(ours: &Attempt, all: &[Attempt], listed: &[ProviderRefund], at: Timestamp) -> String {
        match find(ours, all, listed, at) {
            Match::Ours(made) => made.id,
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

    /// An attempt that was requested and sent `seconds` after the others.
    fn open_later(id: i64, seconds: i64) -> Attempt {
        let at = Timestamp::from_micros(now().micros() + seconds * 1_000_000);
        Attempt {
            created_at: at,
            sent_at: Some(at),
            ..open(id)
        }
    }

    #[test]
    fn a_refund_made_before_the_second_was_asked_for_is_the_firsts_at_once() {
        let all = [open(1), open_later(2, 300)];
        let later = now() + Duration::from_secs(301);
        let find =
            |index: usize, listed: &[ProviderRefund]| found(&all[index], &all, listed, later);
        let early = [made("a", 1_000, 179)];
        assert_eq!([find(0, &early), find(1, &early)], ["a", "absent"]);
        let either = [made("a", 1_000, 181)];
        assert_eq!([find(0, &either), find(1, &either)], ["undecided"; 2]);
    }

    #[test]
    fn a_refund_made_an_hour_after_the_first_was_last_sent_is_the_seconds_at_once() {
        let all = [open(1), open_later(2, 3_500)];
        let later = now() + Duration::from_secs(3_700);
        let find =
            |index: usize, listed: &[ProviderRefund]| found(&all[index], &all, listed, later);
        let late = [made("b", 1_000, 3_600)];
        assert_eq!([find(0, &late), find(1, &late)], ["absent", "b"]);
        let either = [made("b", 1_000, 3_599)];
        assert_eq!([find(0, &either), find(1, &either)], ["undecided"; 2]);
    }

    #[test]
    fn one_that_was_sent_again_much_later_leaves_the_early_refund_to_the_other() {
        let again = Attempt {
            created_at: now(),
            ..open_later(1, 7_000)
        };
        let all = [again, open_later(2, 10)];
        let listed = [made("b", 1_000, 20), made("a", 1_000, 7_001)];
        let later = now() + Duration::from_secs(7_002);
        let find = |index: usize| found(&all[index], &all, &listed, later);
        assert_eq!([find(0), find(1)], ["a", "b"]);
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
