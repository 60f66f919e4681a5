//! The faults of a run. Each seed switches some faults off and chooses the frequency of the others.
//! So a fault that hides another one is absent from many runs ("swarm testing", Groce and others,
//! 2012).

use std::time::Duration;

use crate::dice::Dice;

const HOUR: u64 = 3600;
/// Longer than the merchant retries.
pub(crate) const LONG_LAG: Duration = Duration::from_secs(100 * HOUR);
/// A quota that is used up for the rest of a run.
pub(crate) const DAILY_QUOTA: &str = "12/day";

/// The most replicas of a run.
pub(crate) const REPLICAS_MAX: usize = 3;

/// The faults of a run. Rates are per thousand.
#[derive(Debug, Clone)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fault that a seed has or has not"
)]
pub(crate) struct Faults {
    /// The number of processes on one database. A single one owns the database, as on SQLite.
    pub(crate) replicas: usize,
    /// Whether replicas send heartbeats. They take so many jobs that not every seed can have them.
    pub(crate) has_heartbeats: bool,
    /// By how many seconds each replica's clock is ahead.
    pub(crate) skew: [u64; REPLICAS_MAX],
    /// The replicas' quota of calls to the provider.
    pub(crate) quota: &'static str,
    /// A process dies at a call of the database or the provider.
    pub(crate) crashes: u64,
    /// A process, or one of its tasks, stalls at such a call for up to three minutes.
    pub(crate) freezes: u64,
    /// A database job is refused before it begins.
    pub(crate) lost_jobs: u64,
    /// A database job is committed, but its caller gets the error "unavailable".
    pub(crate) lost_commits: u64,
    /// No connection to the provider can be made.
    pub(crate) unreachable: u64,
    /// A call never reaches the provider, and its caller times out.
    pub(crate) lost_calls: u64,
    /// A response is lost.
    pub(crate) lost_answers: u64,
    /// A call reaches the provider after its caller has timed out.
    pub(crate) late_calls: u64,
    /// The provider responds 5xx, with or without an effect.
    pub(crate) server_errors: u64,
    /// The provider responds 429.
    pub(crate) throttled: u64,
    /// The provider responds 401: the operator's token was invalid for a moment.
    pub(crate) unauthorised: u64,
    /// The provider responds 400 and judges the request's data: a final refusal.
    pub(crate) refusals: u64,
    /// The provider refuses a repeated call whose first one had an effect: 400 with or without a
    /// code, 409, 423.
    pub(crate) refused_repetitions: u64,
    /// The same, reported as a used card token.
    pub(crate) spent_tokens: u64,
    /// The provider's gateway fails with 400, with or without an effect.
    pub(crate) gateway_failures: u64,
    /// How long the provider's search does not show a payment or its change.
    pub(crate) search_lag: Duration,
    /// The provider's date search omits changes after a payment's creation. Only notifications
    /// report them.
    pub(crate) misses_changes: bool,
    /// How long the list of refunds omits a refund that the payment itself shows.
    pub(crate) list_lag: Duration,
    /// How long the provider stores idempotency keys.
    pub(crate) key_memory: Duration,
    /// The provider is down for some hours.
    pub(crate) has_outage: bool,
    /// A response does not reach the buyer or the merchant.
    pub(crate) lost_replies: u64,
    /// A notification is sent twice, or a few minutes late.
    pub(crate) doubled_notifications: u64,
    pub(crate) late_notifications: u64,
    /// The provider sends no notifications.
    pub(crate) is_silent: bool,
    /// The service is down for this many hours.
    pub(crate) absence_hours: u64,
}

impl Faults {
    pub(crate) fn draw(dice: &Dice) -> Self {
        let rate = |choices: &[u64]| {
            if dice.happens(400) {
                dice.one_of(choices)
            } else {
                0
            }
        };
        let replicas = usize::try_from(dice.below(REPLICAS_MAX as u64)).unwrap_or(0) + 1;
        let is_skewed = dice.happens(300);
        let fast = || if is_skewed { dice.below(120) } else { 0 };
        let key_memory = Duration::from_secs(dice.one_of(&[2, 24, 720, 720]) * HOUR);
        let is_silent = dice.happens(150);
        let misses_changes = !is_silent && dice.happens(200);
        // A provider that drops keys and lists refunds late would refund twice.
        let may_list_late = !misses_changes && key_memory > LONG_LAG && dice.happens(300);
        Self {
            replicas,
            has_heartbeats: replicas > 1 && dice.happens(200),
            skew: [0, fast(), fast()],
            quota: dice.one_of(&[
                "off",
                "off",
                "off",
                "off",
                "off",
                "30/minute",
                "15/hour",
                DAILY_QUOTA,
            ]),
            crashes: rate(&[3, 10, 30]),
            freezes: rate(&[2, 10]),
            lost_jobs: rate(&[3, 20]),
            lost_commits: rate(&[3, 20]),
            unreachable: rate(&[20, 100, 300]),
            lost_calls: rate(&[20, 100, 300]),
            lost_answers: rate(&[30, 200, 500]),
            late_calls: rate(&[30, 200]),
            server_errors: rate(&[30, 200, 400]),
            throttled: rate(&[30, 200]),
            unauthorised: rate(&[20, 100]),
            refusals: rate(&[30, 200]),
            refused_repetitions: rate(&[300, 1000]),
            spent_tokens: rate(&[300, 1000]),
            gateway_failures: rate(&[30, 200]),
            search_lag: Duration::from_secs(dice.one_of(&[0, 5, 60, 600, 2400])),
            misses_changes,
            list_lag: if may_list_late {
                LONG_LAG
            } else {
                Duration::from_secs(dice.one_of(&[0, 0, 0, 60, 600, 2400]))
            },
            key_memory,
            has_outage: dice.happens(150),
            lost_replies: rate(&[30, 200]),
            doubled_notifications: rate(&[100, 500]),
            late_notifications: rate(&[100, 500]),
            is_silent,
            absence_hours: if dice.happens(350) {
                dice.one_of(&[1, 30, 73, 73, 73, 130])
            } else {
                0
            },
        }
    }
}
