//! The state machine of the specification ("States and transitions") as a type. Pure.
//!
//! The provider decides a payment's state. The state machine decides which reported states are
//! accepted, through which intermediate states, and which are refused.

use db::stored_enum;
use serde::Serialize;

stored_enum! {
    /// A payment's state: the seven status values of the specification.
    #[derive(Hash, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum PaymentState {
        /// Awaiting payment or bank processing.
        Pending = "pending";
        /// Successful and accredited; may still be refunded or charged back.
        Approved = "approved";
        /// Refused by the provider or the bank. Final.
        Rejected = "rejected";
        /// Manual review or fraud check.
        InProcess = "in_process";
        /// Given up before it was paid. Final.
        Cancelled = "cancelled";
        /// Paid back in full. Final.
        Refunded = "refunded";
        /// Taken back by the payer's bank. Final.
        ChargedBack = "charged_back";
    }
}

/// The transitions of the specification's table. `None` is "no payment yet".
const MOVES: [(Option<PaymentState>, PaymentState); 9] = {
    use PaymentState::{Approved, Cancelled, ChargedBack, InProcess, Pending, Refunded, Rejected};
    [
        (None, Pending),
        (Some(Pending), Approved),
        (Some(Pending), Rejected),
        (Some(Pending), InProcess),
        (Some(Pending), Cancelled),
        (Some(InProcess), Approved),
        (Some(InProcess), Rejected),
        (Some(Approved), Refunded),
        (Some(Approved), ChargedBack),
    ]
};

stored_enum! {
    /// The kind of a transition, as the history stores it.
    pub(crate) enum TransitionKind {
        /// A transition of the table that the provider reported.
        Reported = "reported";
        /// A transition through a state that was not reported but lies between the stored and the
        /// reported one.
        Passed = "passed";
        /// The cancellation of a payment under review: reported by the provider, but not in the table.
        Exceptional = "exceptional";
    }
}

/// A transition from a state to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Transition {
    /// The state before. `None` for the payment's first state.
    pub(crate) from: Option<PaymentState>,
    pub(crate) to: PaymentState,
    /// Reported, passed through, or outside the table.
    pub(crate) kind: TransitionKind,
}

/// The transitions that one report causes. Empty if the state is the same.
pub(crate) type Transitions = Vec<Transition>;

/// Why a report of the provider is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TransitionError {
    /// The transition would lead backwards, or out of a final state.
    #[error("a payment that is {} cannot become {}", from.name(), to.name())]
    Backwards {
        /// The stored state, which stays.
        from: PaymentState,
        /// The reported state.
        to: PaymentState,
    },
    /// A status that neither the specification nor the provider's documents list.
    #[error("the provider's status is not a known one")]
    UnknownStatus,
}

impl PaymentState {
    /// The state for a status of the provider. Two of the provider's statuses are not in the
    /// specification.
    pub(crate) fn from_provider(status: &str) -> Option<Self> {
        match status {
            "authorized" => Some(Self::InProcess),
            "in_mediation" => Some(Self::Approved),
            other => Self::of(other),
        }
    }

    /// Whether the outcome of the payment is still open.
    pub(crate) const fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::InProcess)
    }

    /// Whether the state can no longer change.
    pub(crate) const fn is_final(self) -> bool {
        matches!(
            self,
            Self::Rejected | Self::Cancelled | Self::Refunded | Self::ChargedBack
        )
    }

    /// The transitions from this state to the one of the provider's `status`.
    pub(crate) fn apply(self, status: &str) -> Result<Transitions, TransitionError> {
        let to = Self::from_provider(status).ok_or(TransitionError::UnknownStatus)?;
        Self::between(Some(self), to)
    }

    /// The transitions of a new payment with the provider's `status`. They begin with `pending`, as
    /// the table requires.
    pub(crate) fn first(status: &str) -> Result<Transitions, TransitionError> {
        let to = Self::from_provider(status).ok_or(TransitionError::UnknownStatus)?;
        Self::between(None, to)
    }

    fn between(from: Option<Self>, to: Self) -> Result<Transitions, TransitionError> {
        let Some(known) = from else {
            return path(None, to).ok_or(TransitionError::UnknownStatus);
        };
        if known == to {
            return Ok(Vec::new());
        }
        if (known, to) == (Self::InProcess, Self::Cancelled) {
            let kind = TransitionKind::Exceptional;
            return Ok(vec![Transition { from, to, kind }]);
        }
        path(from, to).ok_or(TransitionError::Backwards { from: known, to })
    }
}

/// The shortest path through the table. The table has no cycles, so the search ends.
fn path(from: Option<PaymentState>, to: PaymentState) -> Option<Transitions> {
    if MOVES.contains(&(from, to)) {
        let kind = TransitionKind::Reported;
        return Some(vec![Transition { from, to, kind }]);
    }
    MOVES
        .iter()
        .filter(|(start, _)| *start == from)
        .filter_map(|(_, between)| {
            let first = Transition {
                from,
                to: *between,
                kind: TransitionKind::Passed,
            };
            let rest = path(Some(*between), to)?;
            Some(std::iter::once(first).chain(rest).collect::<Transitions>())
        })
        .min_by_key(Vec::len)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::PaymentState::{
        Approved, Cancelled, ChargedBack, InProcess, Pending, Refunded, Rejected,
    };
    use super::*;

    fn states(transitions: &Transitions) -> Vec<PaymentState> {
        transitions.iter().map(|transition| transition.to).collect()
    }

    #[test]
    fn every_row_of_the_table_is_one_reported_transition() {
        assert_eq!(states(&PaymentState::first("pending").unwrap()), [Pending]);
        for (from, status, to) in [
            (Pending, "approved", Approved),
            (Pending, "rejected", Rejected),
            (Pending, "in_process", InProcess),
            (Pending, "cancelled", Cancelled),
            (InProcess, "approved", Approved),
            (InProcess, "rejected", Rejected),
            (Approved, "refunded", Refunded),
            (Approved, "charged_back", ChargedBack),
        ] {
            let transition = Transition {
                from: Some(from),
                to,
                kind: TransitionKind::Reported,
            };
            assert_eq!(
                from.apply(status),
                Ok(vec![transition]),
                "{from:?} to {status}"
            );
        }
    }

    #[test]
    fn a_payment_that_starts_approved_passed_through_pending() {
        let transitions = PaymentState::first("approved").unwrap();
        assert_eq!(states(&transitions), [Pending, Approved]);
        assert_eq!(transitions[0].kind, TransitionKind::Passed);
        assert_eq!(transitions[1].kind, TransitionKind::Reported);
    }

    #[test]
    fn a_jump_goes_through_the_states_between() {
        assert_eq!(
            states(&Pending.apply("refunded").unwrap()),
            [Approved, Refunded]
        );
        assert_eq!(
            states(&Pending.apply("charged_back").unwrap()),
            [Approved, ChargedBack]
        );
        assert_eq!(
            states(&InProcess.apply("refunded").unwrap()),
            [Approved, Refunded]
        );
        assert_eq!(
            states(&PaymentState::first("refunded").unwrap()),
            [Pending, Approved, Refunded]
        );
    }

    #[test]
    fn the_same_state_again_is_no_transition() {
        for state in PaymentState::ALL {
            assert_eq!(state.apply(state.name()), Ok(Vec::new()));
        }
    }

    #[test]
    fn moves_backwards_and_out_of_final_states_are_refused() {
        for (from, status) in [
            (InProcess, "pending"),
            (Approved, "pending"),
            (Approved, "in_process"),
            (Approved, "rejected"),
            (Approved, "cancelled"),
            (Rejected, "approved"),
            (Cancelled, "approved"),
            (Refunded, "approved"),
            (Refunded, "charged_back"),
            (ChargedBack, "approved"),
            (ChargedBack, "refunded"),
        ] {
            let to = PaymentState::of(status).unwrap();
            assert_eq!(
                from.apply(status),
                Err(TransitionError::Backwards { from, to })
            );
        }
    }

    #[test]
    fn a_status_that_nobody_knows_is_refused() {
        assert_eq!(Pending.apply("paid"), Err(TransitionError::UnknownStatus));
        assert_eq!(PaymentState::first(""), Err(TransitionError::UnknownStatus));
    }

    const STATUSES: [&str; 10] = [
        "pending",
        "approved",
        "rejected",
        "in_process",
        "cancelled",
        "refunded",
        "charged_back",
        "authorized",
        "in_mediation",
        "gibberish",
    ];

    proptest! {
        /// For any reports in any order: each transition starts where the last one ended, is in the
        /// table or is the marked exception, and a final state stays.
        #[test]
        fn any_sequence_of_statuses_walks_the_table(statuses in prop::collection::vec(prop::sample::select(&STATUSES), 1..20)) {
            let mut state: Option<PaymentState> = None;
            for status in statuses {
                let transitions = match state {
                    None => PaymentState::first(status),
                    Some(known) => known.apply(status),
                };
                let Ok(transitions) = transitions else { continue };
                for transition in transitions {
                    prop_assert_eq!(transition.from, state);
                    let exception = (transition.from, transition.to) == (Some(InProcess), Cancelled);
                    prop_assert!(exception || MOVES.contains(&(transition.from, transition.to)));
                    prop_assert_eq!(exception, transition.kind == TransitionKind::Exceptional);
                    prop_assert!(!matches!(transition.from, Some(Rejected | Cancelled | Refunded | ChargedBack)));
                    state = Some(transition.to);
                }
                prop_assert_eq!(state, PaymentState::from_provider(status));
            }
        }

        /// The order in which two true reports arrive does not change the final state.
        #[test]
        fn late_reports_change_nothing(first in 0..3usize, second in 0..3usize) {
            let line = ["pending", "approved", "refunded"];
            let (early, late) = (first.min(second), first.max(second));
            let end = |statuses: [&str; 2]| {
                let mut state = PaymentState::first(statuses[0]).unwrap().last().unwrap().to;
                if let Ok(transitions) = state.apply(statuses[1]) {
                    state = transitions.last().map_or(state, |transition| transition.to);
                }
                state
            };
            prop_assert_eq!(end([line[early], line[late]]), end([line[late], line[early]]));
        }
    }
}
