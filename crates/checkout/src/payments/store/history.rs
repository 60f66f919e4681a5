//! Statements about the history of payment states.

use db::{Conn, Error, Timestamp, Tx, stored_enum};

use crate::payments::attempt_step::AttemptStep;
use crate::payments::model::StatusReport;
use crate::payments::state::{PaymentState, Transition};

stored_enum! {
    /// How the provider's report reached the service.
    pub(crate) enum Source {
        /// The response to the payment's creation.
        Creation = "creation";
        /// The read after a notification.
        Notification = "notification";
        /// The reconciler.
        Reconciler = "reconciler";
        /// The response to a cancellation.
        Cancellation = "cancellation";
        /// The response to a cancellation with which the payment's order is canceled.
        OrderCancellation = "order_cancellation";
        /// The response to a refund.
        Refund = "refund";
    }
}

/// Records the transitions that a report caused.
pub(crate) async fn insert_steps(
    tx: &mut Tx,
    payment: i64,
    steps: &[Transition],
    report: &StatusReport,
    source: Source,
    now: Timestamp,
) -> Result<(), Error> {
    for step in steps {
        tx.execute(
            "INSERT INTO state_history (payment_id, from_state, to_state, kind, provider_status, status_detail, source, at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            &[
                &payment,
                &step.from,
                &step.to,
                &step.kind,
                &report.status,
                &report.status_detail,
                &source,
                &now,
            ],
        )
        .await?;
    }
    Ok(())
}

/// Records a report that was refused. The state stays.
pub(crate) async fn insert_refusal(
    tx: &mut Tx,
    payment: i64,
    state: PaymentState,
    report: &StatusReport,
    source: Source,
    now: Timestamp,
) -> Result<u64, Error> {
    tx.execute(
        "INSERT INTO state_history (payment_id, from_state, to_state, kind, provider_status, status_detail, source, at)
         VALUES ($1, $2, NULL, 'refused', $3, $4, $5, $6)",
        &[&payment, &state, &report.status, &report.status_detail, &source, &now],
    )
    .await
}

/// Records that a payment or refund, now in `status`, was found for an attempt that was recorded as
/// ended with `thought`.
pub(crate) async fn insert_correction(
    tx: &mut Tx,
    payment: i64,
    thought: AttemptStep,
    status: &str,
    source: Source,
    now: Timestamp,
) -> Result<u64, Error> {
    tx.execute(
        "INSERT INTO state_history (payment_id, from_state, to_state, kind, provider_status, status_detail, source, at)
         VALUES ($1, NULL, NULL, 'corrected', $2, $3, $4, $5)",
        &[&payment, &status, &thought, &source, &now],
    )
    .await
}

/// The kind and the provider's status of the last entry.
pub(crate) async fn last_entry(
    conn: &mut Conn,
    payment: i64,
) -> Result<Option<(String, String)>, Error> {
    conn.optional(
        "SELECT kind, provider_status FROM state_history WHERE payment_id = $1 ORDER BY id DESC LIMIT 1",
        &[&payment],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
    .await
}
