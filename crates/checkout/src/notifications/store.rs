//! Statements about the inbox of notifications.

use db::{Conn, Error, Row, Timestamp, Tx, stored_enum};

/// A notification whose payment must still be read.
#[derive(Debug, Clone)]
pub(super) struct WaitingNotification {
    pub(super) id: i64,
    pub(super) payment: String,
    pub(super) tries: i64,
    pub(super) try_at: Timestamp,
    pub(super) received_at: Timestamp,
}

stored_enum! {
    /// The outcome of a notification.
    pub(super) enum NotificationOutcome {
        /// The payment was read and recorded.
        Applied = "applied";
        /// The payment was not created by this service.
        Foreign = "foreign";
        /// The payment could not be read within the retry period.
        GivenUp = "given_up";
    }
}

/// Stores a notification, due at once.
pub(super) async fn insert_notification(
    tx: &mut Tx,
    payment: &str,
    is_signed: bool,
    now: Timestamp,
) -> Result<u64, Error> {
    tx.execute(
        "INSERT INTO notifications (provider_payment_id, signed, received_at, outcome, tries, try_at)
         VALUES ($1, $2, $3, 'waiting', 0, $3)",
        &[&payment, &is_signed, &now],
    )
    .await
}

/// Notifications that are due, the longest overdue first.
pub(super) async fn due_notifications(
    conn: &mut Conn,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<WaitingNotification>, Error> {
    conn.all(
        "SELECT id, provider_payment_id, tries, try_at, received_at FROM notifications
         WHERE try_at <= $1 ORDER BY try_at, id LIMIT $2",
        &[&now, &limit],
        waiting,
    )
    .await
}

/// When the next notification is due.
pub(super) async fn next_due(conn: &mut Conn) -> Result<Option<Timestamp>, Error> {
    conn.optional(
        "SELECT try_at FROM notifications WHERE try_at IS NOT NULL ORDER BY try_at, id LIMIT 1",
        &[],
        |row| row.get(0),
    )
    .await
}

/// Claims a due notification, and all others of the same payment, by setting their next retry.
/// `None` if another worker has claimed it. Returns the id of the newest one: a read after the
/// claim is newer than all of them.
pub(super) async fn claim_notification(
    tx: &mut Tx,
    seen: &WaitingNotification,
    next_try: Timestamp,
) -> Result<Option<i64>, Error> {
    let changed = tx
        .execute(
            "UPDATE notifications SET tries = tries + 1, try_at = $3 WHERE id = $1 AND try_at = $2",
            &[&seen.id, &seen.try_at, &next_try],
        )
        .await?;
    if changed == 0 {
        return Ok(None);
    }
    tx.execute(
        "UPDATE notifications SET tries = tries + 1, try_at = $2
         WHERE provider_payment_id = $1 AND try_at IS NOT NULL AND try_at < $2",
        &[&seen.payment, &next_try],
    )
    .await?;
    let sql =
        "SELECT max(id) FROM notifications WHERE provider_payment_id = $1 AND try_at IS NOT NULL";
    tx.one(sql, &[&seen.payment], |row| row.get(0)).await
}

/// Postpones everything that is due before `until` to then, without counting a retry.
pub(super) async fn postpone_notifications(tx: &mut Tx, until: Timestamp) -> Result<u64, Error> {
    tx.execute(
        "UPDATE notifications SET try_at = $1 WHERE try_at < $1",
        &[&until],
    )
    .await
}

/// Ends the notifications of a payment up to the newest one that was stored before the payment was
/// read. Ids decide that, not times, since the clocks of replicas differ. A notification that
/// arrives after the read needs another read.
pub(super) async fn end_notifications(
    tx: &mut Tx,
    payment: &str,
    newest: i64,
    outcome: NotificationOutcome,
    now: Timestamp,
) -> Result<u64, Error> {
    tx.execute(
        "UPDATE notifications SET outcome = $3, try_at = NULL, done_at = $4
         WHERE provider_payment_id = $1 AND try_at IS NOT NULL AND id <= $2",
        &[&payment, &newest, &outcome, &now],
    )
    .await
}

/// The number of waiting notifications.
pub(super) async fn inbox_length(conn: &mut Conn) -> Result<i64, Error> {
    conn.one(
        "SELECT count(*) FROM notifications WHERE try_at IS NOT NULL",
        &[],
        |row| row.get(0),
    )
    .await
}

/// Deletes notifications that ended before `before`.
pub(super) async fn delete_old_notifications(tx: &mut Tx, before: Timestamp) -> Result<u64, Error> {
    tx.execute(
        "DELETE FROM notifications
         WHERE id IN (SELECT id FROM notifications WHERE received_at < $1 AND try_at IS NULL
                      ORDER BY received_at LIMIT 1000)",
        &[&before],
    )
    .await
}

fn waiting(row: &Row<'_>) -> Result<WaitingNotification, Error> {
    Ok(WaitingNotification {
        id: row.get(0)?,
        payment: row.get(1)?,
        tries: row.get(2)?,
        try_at: row.get(3)?,
        received_at: row.get(4)?,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use db::{Address, Db, Options};
    use test_kit::on_both_engines;

    use super::*;

    const PAYMENT: &str = "217339200001";

    on_both_engines!(
        a_notification_that_comes_while_the_payment_is_read_is_not_ended_with_it,
        async |address| {
            let address: Address = address.parse().unwrap();
            let db = Db::open(&address, &Options::default()).await.unwrap();
            db.migrate(&crate::MIGRATIONS).await.unwrap();
            let now = Timestamp::from_micros(1_800_000_000_000_000);
            let next_try = now + Duration::from_secs(2);
            let left: Result<i64, Error> = db
                .write(async move |tx| {
                    insert_notification(tx, PAYMENT, true, now).await?;
                    insert_notification(tx, PAYMENT, true, now).await?;
                    let due = due_notifications(tx, now, 10).await?;
                    let taken = claim_notification(tx, &due[0], next_try).await?;
                    let again = claim_notification(tx, &due[1], next_try).await?;
                    assert_eq!((taken, again), (Some(due[1].id), None));
                    insert_notification(tx, PAYMENT, true, now).await?;
                    let (newest, applied) = (due[1].id, NotificationOutcome::Applied);
                    end_notifications(tx, PAYMENT, newest, applied, now).await?;
                    inbox_length(tx).await
                })
                .await;
            assert_eq!(left.unwrap(), 1);
        }
    );
}
