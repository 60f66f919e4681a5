//! The faults of a run. Each seed switches some faults off and chooses the frequency of the others,
//! so that runs differ in kind: a fault that hides another one is absent from many of them ("swarm
//! testing", Groce and others, 2012).

use std::time::Duration;

use crate::dice::Dice;

const HOUR: u64 = 3600;
/// Longer than the merchant has patience.
pub(crate) const LONG_LAG: Duration = Duration::from_secs(100 * HOUR);
/// The quota that is used up for the rest of a run.
pub(crate) const DAILY_QUOTA: &str = "12/day";

/// The most replicas of a run.
pub(crate) const REPLICAS_MAX: usize = 3;

/// Rates are times in a thousand.
#[derive(Debug, Clone)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fault that a seed has or has not"
)]
pub(crate) struct Faults {
    /// Processes over one database. A single one has the database for itself, as on SQLite.
    pub(crate) replicas: usize,
    /// Do the replicas show each other that they live? It takes so many jobs that not every seed
    /// can have it.
    pub(crate) has_heartbeats: bool,
    /// How many seconds each replica's clock is fast.
    pub(crate) skew: [u64; REPLICAS_MAX],
    /// The replicas' quota of calls to the provider.
    pub(crate) quota: &'static str,
    /// A seam of a process (database, provider) ends it.
    pub(crate) crashes: u64,
    /// A seam of a process stops it, or the one task, for up to three minutes.
    pub(crate) freezes: u64,
    /// A job is refused before it has begun.
    pub(crate) lost_jobs: u64,
    /// A job is committed, and its caller hears that the database is unavailable.
    pub(crate) lost_commits: u64,
    /// No connection to the provider.
    pub(crate) unreachable: u64,
    /// A call that never reaches the provider, and is waited for in vain.
    pub(crate) lost_calls: u64,
    /// An answer that never comes.
    pub(crate) lost_answers: u64,
    /// A call that reaches the provider after its caller has given it up.
    pub(crate) late_calls: u64,
    /// 5xx without an effect, or with one.
    pub(crate) server_errors: u64,
    /// 429.
    pub(crate) throttled: u64,
    /// 401: the operator's token lapsed for a moment.
    pub(crate) unauthorised: u64,
    /// 400 that judges the request's data: a refusal for good.
    pub(crate) refusals: u64,
    /// A call whose key was used before, and had its effect, is refused: 400 with or without a
    /// code, 409, 423.
    pub(crate) refused_repetitions: u64,
    /// The same, told as a card token that was used.
    pub(crate) spent_tokens: u64,
    /// 400 that is a failure of the provider's gateway, without an effect or with one.
    pub(crate) gateway_failures: u64,
    /// How long the provider's search knows nothing of a payment or of its change.
    pub(crate) search_lag: Duration,
    /// The provider's search over dates leaves out what has changed since it was made:
    /// notifications alone tell of it.
    pub(crate) misses_changes: bool,
    /// How long a payment's list of refunds lacks a refund, though the payment itself shows it.
    pub(crate) list_lag: Duration,
    /// How long the provider remembers keys.
    pub(crate) key_memory: Duration,
    /// The provider does not answer for some hours.
    pub(crate) has_outage: bool,
    /// An answer that does not reach the buyer or the merchant.
    pub(crate) lost_replies: u64,
    /// A notification comes twice, or a few minutes late.
    pub(crate) doubled_notifications: u64,
    pub(crate) late_notifications: u64,
    /// The provider tells of nothing.
    pub(crate) is_silent: bool,
    /// Nobody runs the service for so many hours.
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
        // Who forgets its keys, and lists nothing by them, would give back twice.
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
