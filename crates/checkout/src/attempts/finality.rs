//! The rules that decide when an attempt has ended. They exclude a double charge. Pure.

use std::time::Duration;

use db::Timestamp;

use crate::provider::Failure;

/// A call that the provider's lists do not show this long after its last sending had no effect. The
/// lists lag behind by minutes.
const CERTAIN_AFTER: Duration = Duration::from_secs(60 * 60);

/// The call at which a run stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Before any call, or while the outcome of an earlier call was read from the provider.
    Asking,
    /// The creation of the card token, which moves no money.
    Token,
    /// The creation of the payment or of the refund.
    Moving,
}

/// The state after a failed run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The provider refused for good. The attempt has ended.
    Refused,
    /// Money may have moved.
    Unknown,
    /// No money can have moved. A retry starts from the beginning.
    NothingSent,
}

/// The state after a failed run. `was_sent` says whether this run or an earlier one sent the call
/// that moves the money before the call that failed.
///
/// The provider refuses a retry for reasons that say nothing about the first call, such as code
/// 2001, "same request in the last minute". So a refusal is final only when nothing was sent
/// before.
pub(super) fn verdict(was_sent: bool, stage: Stage, failure: &Failure) -> Verdict {
    match stage {
        _ if was_sent => Verdict::Unknown,
        Stage::Token | Stage::Moving if failure.is_final() => Verdict::Refused,
        Stage::Moving if failure.is_unknown() => Verdict::Unknown,
        Stage::Asking | Stage::Token | Stage::Moving => Verdict::NothingSent,
    }
}

/// Whether the provider's lists must show at `now` the effect of a call last sent at `sent_at`.
pub(crate) fn is_certain(sent_at: Timestamp, now: Timestamp) -> bool {
    sent_at + CERTAIN_AFTER <= now
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(status: u16, code: Option<&str>) -> Failure {
        Failure::Refused {
            status,
            code: code.map(str::to_owned),
            message: String::new(),
            retry_after: None,
        }
    }

    fn failures() -> Vec<(Failure, [Verdict; 3])> {
        use Verdict::{NothingSent, Refused, Unknown};
        let end = [NothingSent, Refused, Refused];
        let passing = [NothingSent, NothingSent, NothingSent];
        let open = [NothingSent, NothingSent, Unknown];
        let unreadable = |status| Failure::Unreadable {
            status,
            reason: "".into(),
        };
        let quota = Failure::Quota {
            retry_after: Duration::ZERO,
        };
        let paused = Failure::Paused {
            retry_after: Duration::ZERO,
        };
        let mut table = vec![
            (Failure::NotSent("".into()), passing),
            (quota, passing),
            (paused, passing),
            (Failure::Unknown("".into()), open),
            (unreadable(None), open),
            (unreadable(Some(201)), open),
            (refused(400, None), end),
            (refused(400, Some("3034")), end),
        ];
        for code in ["2001", "2004", "2007"] {
            table.push((refused(400, Some(code)), open));
        }
        for status in [402, 422] {
            table.push((refused(status, None), end));
        }
        for status in [401, 403, 404, 429] {
            table.push((refused(status, None), passing));
        }
        for status in [408, 409, 423, 424, 500, 502, 503, 504] {
            table.push((refused(status, None), open));
        }
        table
    }

    #[test]
    fn the_first_call_of_all_ends_as_the_table_says() {
        let stages = [Stage::Asking, Stage::Token, Stage::Moving];
        for (failure, verdicts) in failures() {
            for (stage, expected) in stages.into_iter().zip(verdicts) {
                let found = verdict(false, stage, &failure);
                assert_eq!(found, expected, "{stage:?} {failure:?}");
            }
        }
    }

    #[test]
    fn nothing_is_an_end_once_something_was_sent() {
        for (failure, _) in failures() {
            for stage in [Stage::Asking, Stage::Token, Stage::Moving] {
                let found = verdict(true, stage, &failure);
                assert_eq!(found, Verdict::Unknown, "{stage:?} {failure:?}");
            }
        }
    }

    #[test]
    fn certainty_comes_an_hour_after_the_last_call() {
        let sent_at = Timestamp::from_micros(1_800_000_000_000_000);
        let hour = Duration::from_hours(1);
        assert!(!is_certain(
            sent_at,
            sent_at + hour - Duration::from_micros(1)
        ));
        assert!(is_certain(sent_at, sent_at + hour));
    }
}
