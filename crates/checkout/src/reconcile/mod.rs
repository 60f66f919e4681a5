//! Reconciliation, in case a response or a notification was lost: reads from the provider the
//! payments and refunds of unknown outcome, open payments, and changes of all others. It creates no
//! payment and no refund.

mod checks;
mod store;
mod sweep;
mod worker;

use std::fmt;

use db::{Db, Money, Timestamp};

use crate::lists::LATEST;
use crate::state::State;
use crate::{attempts, notifications, orders};

pub use crate::attempts::Finding;
pub(crate) use worker::run;

/// Which checks to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Those that are due.
    Due,
    /// All of them, at an operator's request.
    All,
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportLine {
    /// The provider's payment id, or our reference where there is none yet.
    pub payment: String,
    /// The finding.
    pub finding: Finding,
}

/// The result of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// One line for each check.
    pub lines: Vec<ReportLine>,
    /// Outcomes that are still unknown.
    pub unknown: i64,
}

/// Checks at the provider every payment whose state is open or unknown, within the scope.
///
/// # Errors
/// When the database fails. Failures of the provider are in the report.
pub async fn run_once(state: &State, scope: Scope) -> Result<Report, db::Error> {
    let until = match scope {
        Scope::Due => state.clock.now(),
        Scope::All => LATEST,
    };
    let mut report = Report::default();
    let is_done = checks::check_due(state, until, &mut report).await?
        && sweep::sweep(state, scope, &mut report).await?;
    if !is_done {
        tracing::info!(
            "reconciler: the quota of calls for background work is used up, the remaining checks are made later"
        );
    }
    report.unknown = attempts::unknown_count(&state.db, state.clock.now()).await?;
    for line in &report.lines {
        state.metrics.reconciled(line.finding.as_str());
    }
    Ok(report)
}

/// Deletes what has expired: responses with their idempotency keys, personal data of attempts, and
/// notifications.
pub async fn purge_expired(state: &State) -> Result<(), db::Error> {
    let (db, now) = (&state.db, state.clock.now());
    attempts::erase_expired(db, now).await?;
    orders::delete_expired_keys(db, now).await?;
    notifications::delete_expired(db, now).await
}

/// A payment or a refund of unknown outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownOutcome {
    /// `payment` or `refund`.
    pub kind: &'static str,
    /// Our reference at the provider. For a refund, the provider's id of its payment.
    pub reference: String,
    /// The amount that may have moved.
    pub amount: Money,
    /// When it was requested.
    pub since: Timestamp,
    /// The provider's last answer. `None` while the first run works, or if that run died.
    pub last_answer: Option<String>,
}

/// Everything whose outcome is unknown, the oldest first.
pub async fn unknown_outcomes(db: &Db) -> Result<Vec<UnknownOutcome>, db::Error> {
    let open = db.read(attempts::store::open_attempts).await?;
    let outcomes = open.into_iter().map(|attempt| UnknownOutcome {
        kind: attempt.instruction.kind(),
        reference: attempt.instruction.name().to_owned(),
        amount: attempt.instruction.amount(),
        since: attempt.created_at,
        last_answer: attempt.last_answer,
    });
    Ok(outcomes.collect())
}

impl Report {
    fn push(&mut self, payment: &str, finding: Finding) {
        self.lines.push(ReportLine {
            payment: payment.to_owned(),
            finding,
        });
    }
}

impl fmt::Display for ReportLine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: ", self.payment)?;
        match &self.finding {
            Finding::Found => formatter.write_str("made; its answer was lost, it is recorded now"),
            Finding::NotFound => formatter.write_str("not known to the provider yet"),
            Finding::Closed => formatter.write_str("never reached the provider; closed"),
            Finding::Moved(state) => write!(formatter, "now {}", state.name()),
            Finding::Same(state) => write!(formatter, "still {}", state.name()),
            Finding::Refused(state) => write!(
                formatter,
                "stays {}; the provider reported a move backwards",
                state.name()
            ),
            Finding::Refunded => {
                formatter.write_str("refund made; its answer was lost, it is recorded now")
            }
            Finding::RefundClosed => {
                formatter.write_str("refund never reached the provider; closed")
            }
            Finding::RefundOpen => formatter.write_str("refund still in process"),
            Finding::RefundRefused => {
                formatter.write_str("refund refused in the end; its amount is free again")
            }
            Finding::Failed(cause) => write!(formatter, "not answered: {cause}"),
            Finding::Quota(wait) => write!(
                formatter,
                "not asked: quota used up for {} seconds",
                wait.as_secs() + 1
            ),
        }
    }
}
