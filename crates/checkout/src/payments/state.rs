//! The state machine of the specification ("States and transitions") as a type. Pure.
//!
//! The provider decides a payment's state; this decides which of the reported states we may follow, through which states between, and
//! which we must refuse.

/// A payment's state: the seven status values of the specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PaymentState {
    /// Awaiting payment or bank processing.
    Pending,
    /// Successful and accredited; may still be refunded or charged back.
    Approved,
    /// Refused by the provider or the bank. Final.
    Rejected,
    /// Manual review or fraud check.
    InProcess,
    /// Given up before it was paid. Final.
    Cancelled,
    /// Paid back in full. Final.
    Refunded,
    /// Taken back by the payer's bank. Final.
    ChargedBack,
}

/// The moves of the specification's table, from left to right. `None` is "no payment yet".
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

/// How one step of a move came about; kept in the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepKind {
    /// A move of the table that the provider reported.
    Reported,
    /// A state that was never seen but lies between the last known one and the reported one.
    Passed,
    /// Not a move of the table, yet the provider's word: the cancellation of a payment under review.
    Exceptional,
}

impl StepKind {
    /// The word kept in the history.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Reported => "reported",
            Self::Passed => "passed",
            Self::Exceptional => "exceptional",
        }
    }
}

/// One step from a state to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Where it starts; `None` for the payment's first state.
    pub from: Option<PaymentState>,
    /// Where it leads.
    pub to: PaymentState,
    /// Seen, passed through, or outside the table.
    pub kind: StepKind,
}

/// The steps that one word of the provider leads through: empty when it says what is known already.
pub type Transitions = Vec<Step>;

/// Why a word of the provider is not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The move would lead backwards, or out of a final state.
    #[error("a payment that is {} cannot become {}", from.as_str(), to.as_str())]
    Backwards {
        /// The state that stays.
        from: PaymentState,
        /// The state that was reported.
        to: PaymentState,
    },
    /// A status that neither the specification nor the provider's documents list.
    #[error("the provider's status is not a known one")]
    UnknownWord,
}

impl PaymentState {
    /// Every state, in the specification's order.
    pub const ALL: [Self; 7] = [
        Self::Pending,
        Self::Approved,
        Self::Rejected,
        Self::InProcess,
        Self::Cancelled,
        Self::Refunded,
        Self::ChargedBack,
    ];

    /// The specification's word for the state.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::InProcess => "in_process",
            Self::Cancelled => "cancelled",
            Self::Refunded => "refunded",
            Self::ChargedBack => "charged_back",
        }
    }

    /// The state that one of the specification's seven words names.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }

    /// The state that a word of the provider stands for: its two words outside the specification's list included.
    pub fn from_provider(word: &str) -> Option<Self> {
        match word {
            "authorized" => Some(Self::InProcess),
            "in_mediation" => Some(Self::Approved),
            other => Self::parse(other),
        }
    }

    /// Is the payment's outcome still to come?
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::InProcess)
    }

    /// Can nothing follow any more?
    pub const fn is_final(self) -> bool {
        matches!(
            self,
            Self::Rejected | Self::Cancelled | Self::Refunded | Self::ChargedBack
        )
    }

    /// The steps from this state to the one that the provider's `word` names.
    ///
    /// # Errors
    /// `Refusal` when the word is unknown or would lead backwards; the state stays as it is.
    pub fn apply(self, word: &str) -> Result<Transitions, Refusal> {
        let to = Self::from_provider(word).ok_or(Refusal::UnknownWord)?;
        Self::steps(Some(self), to)
    }

    /// The steps of a payment that starts with the provider's `word`: through `pending` first, as the table has it.
    ///
    /// # Errors
    /// `Refusal::UnknownWord` when the word is none of the provider's.
    pub fn first(word: &str) -> Result<Transitions, Refusal> {
        let to = Self::from_provider(word).ok_or(Refusal::UnknownWord)?;
        Self::steps(None, to)
    }

    fn steps(from: Option<Self>, to: Self) -> Result<Transitions, Refusal> {
        let Some(known) = from else {
            return path(None, to).ok_or(Refusal::UnknownWord);
        };
        if known == to {
            return Ok(Vec::new());
        }
        if (known, to) == (Self::InProcess, Self::Cancelled) {
            let kind = StepKind::Exceptional;
            return Ok(vec![Step { from, to, kind }]);
        }
        path(from, to).ok_or(Refusal::Backwards { from: known, to })
    }
}

/// The shortest way through the table. It has no cycles, so the search ends.
fn path(from: Option<PaymentState>, to: PaymentState) -> Option<Transitions> {
    if MOVES.contains(&(from, to)) {
        let kind = StepKind::Reported;
        return Some(vec![Step { from, to, kind }]);
    }
    MOVES
        .iter()
        .filter(|(start, _)| *start == from)
        .filter_map(|(_, between)| {
            let first = Step {
                from,
                to: *between,
                kind: StepKind::Passed,
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
        transitions.iter().map(|step| step.to).collect()
    }

    #[test]
    fn every_row_of_the_table_is_one_reported_step() {
        assert_eq!(states(&PaymentState::first("pending").unwrap()), [Pending]);
        for (from, word, to) in [
            (Pending, "approved", Approved),
            (Pending, "rejected", Rejected),
            (Pending, "in_process", InProcess),
            (Pending, "cancelled", Cancelled),
            (InProcess, "approved", Approved),
            (InProcess, "rejected", Rejected),
            (Approved, "refunded", Refunded),
            (Approved, "charged_back", ChargedBack),
        ] {
            let step = Step {
                from: Some(from),
                to,
                kind: StepKind::Reported,
            };
            assert_eq!(from.apply(word), Ok(vec![step]), "{from:?} to {word}");
        }
    }

    #[test]
    fn a_payment_that_starts_approved_passed_through_pending() {
        let steps = PaymentState::first("approved").unwrap();
        assert_eq!(states(&steps), [Pending, Approved]);
        assert_eq!(steps[0].kind, StepKind::Passed);
        assert_eq!(steps[1].kind, StepKind::Reported);
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
    fn the_same_state_again_is_no_step() {
        for state in PaymentState::ALL {
            assert_eq!(state.apply(state.as_str()), Ok(Vec::new()));
        }
    }

    #[test]
    fn moves_backwards_and_out_of_final_states_are_refused() {
        for (from, word) in [
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
            let to = PaymentState::parse(word).unwrap();
            assert_eq!(from.apply(word), Err(Refusal::Backwards { from, to }));
        }
    }

    #[test]
    fn a_cancellation_under_review_is_applied_and_marked() {
        let steps = InProcess.apply("cancelled").unwrap();
        assert_eq!(states(&steps), [Cancelled]);
        assert_eq!(steps[0].kind, StepKind::Exceptional);
    }

    #[test]
    fn the_two_words_outside_the_list_are_mapped() {
        assert_eq!(states(&Pending.apply("authorized").unwrap()), [InProcess]);
        assert_eq!(states(&Pending.apply("in_mediation").unwrap()), [Approved]);
        assert_eq!(Approved.apply("in_mediation"), Ok(Vec::new()));
    }

    #[test]
    fn a_word_that_nobody_knows_is_refused() {
        assert_eq!(Pending.apply("paid"), Err(Refusal::UnknownWord));
        assert_eq!(PaymentState::first(""), Err(Refusal::UnknownWord));
    }

    const WORDS: [&str; 10] = [
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
        /// Whatever the provider says, in whatever order: each step starts where the last one ended, is in the table
        /// or is the marked exception, and what is final stays.
        #[test]
        fn any_sequence_of_words_walks_the_table(words in prop::collection::vec(prop::sample::select(&WORDS), 1..20)) {
            let mut state: Option<PaymentState> = None;
            for word in words {
                let steps = match state {
                    None => PaymentState::first(word),
                    Some(known) => known.apply(word),
                };
                let Ok(steps) = steps else { continue };
                for step in steps {
                    prop_assert_eq!(step.from, state);
                    let exception = (step.from, step.to) == (Some(InProcess), Cancelled);
                    prop_assert!(exception || MOVES.contains(&(step.from, step.to)));
                    prop_assert_eq!(exception, step.kind == StepKind::Exceptional);
                    prop_assert!(!matches!(step.from, Some(Rejected | Cancelled | Refunded | ChargedBack)));
                    state = Some(step.to);
                }
                prop_assert_eq!(state, PaymentState::from_provider(word));
            }
        }

        /// The order in which two true reports arrive does not change where the payment ends.
        #[test]
        fn late_reports_change_nothing(first in 0..3usize, second in 0..3usize) {
            let line = ["pending", "approved", "refunded"];
            let (early, late) = (first.min(second), first.max(second));
            let end = |words: [&str; 2]| {
                let mut state = PaymentState::first(words[0]).unwrap().last().unwrap().to;
                if let Ok(steps) = state.apply(words[1]) {
                    state = steps.last().map_or(state, |step| step.to);
                }
                state
            };
            prop_assert_eq!(end([line[early], line[late]]), end([line[late], line[early]]));
        }
    }
}
