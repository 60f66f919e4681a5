//! SQL for the queue of analysis requests, one row per product. A claimed row is due again when its
//! lease ends or its replica is dead. The first 36 characters of a lease are the replica's id.

use db::{Conn, Error, Timestamp, Tx};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClaimedRequest {
    pub(crate) product: i64,
    pub(crate) requested_at: Timestamp,
    /// The number of failed calls to the model.
    pub(crate) tries: i64,
    /// The user who requested the analysis.
    pub(crate) asked_by: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QueuedRequest {
    pub(crate) requested_at: Timestamp,
    pub(crate) due_at: Timestamp,
    pub(crate) is_claimed: bool,
}

/// Requests an analysis of a product, in the transaction that made its stock low. Does nothing if
/// the product is already in the queue.
pub(crate) async fn insert(tx: &mut Tx, product: i64, now: Timestamp) -> Result<(), Error> {
    let sql = "INSERT INTO analysis_requests (product_id, requested_at, due_at) VALUES ($1, $2, $2) ON CONFLICT (product_id) DO NOTHING";
    tx.execute(sql, &[&product, &now]).await.map(drop)
}

/// Adds a product to the queue for a user. A waiting request becomes due now.
pub(crate) async fn insert_for_person(
    tx: &mut Tx,
    product: i64,
    asked_by: &str,
    now: Timestamp,
) -> Result<(), Error> {
    let sql = "INSERT INTO analysis_requests (product_id, requested_at, due_at, asked_by) VALUES ($1, $2, $2, $3)
         ON CONFLICT (product_id) DO UPDATE SET
             asked_by = excluded.asked_by,
             due_at = CASE WHEN analysis_requests.lease IS NULL THEN excluded.due_at ELSE analysis_requests.due_at END";
    tx.execute(sql, &[&product, &now, &asked_by])
        .await
        .map(drop)
}

/// Products whose requests are due, those of users first.
pub(crate) async fn due(conn: &mut Conn, now: Timestamp, limit: i64) -> Result<Vec<i64>, Error> {
    conn.all(
        "SELECT product_id FROM analysis_requests WHERE due_at <= $1
         ORDER BY CASE WHEN asked_by IS NULL THEN 1 ELSE 0 END, due_at, product_id LIMIT $2",
        &[&now, &limit],
        |row| row.get(0),
    )
    .await
}

/// Claims a request that is due. `None` if another replica has claimed it.
pub(crate) async fn claim(
    tx: &mut Tx,
    product: i64,
    lease: &str,
    until: Timestamp,
    now: Timestamp,
) -> Result<Option<ClaimedRequest>, Error> {
    tx.optional(
        "UPDATE analysis_requests SET lease = $2, due_at = $3
         WHERE product_id = $1 AND due_at <= $4
           AND (lease IS NULL OR substr(lease, 1, 36) NOT IN (SELECT id FROM replicas WHERE id <> substr($2, 1, 36)))
         RETURNING requested_at, tries, asked_by",
        &[&product, &lease, &until, &now],
        |row| {
            Ok(ClaimedRequest {
                product,
                requested_at: row.get(0)?,
                tries: row.get(1)?,
                asked_by: row.get(2)?,
            })
        },
    )
    .await
}

/// Releases a request, due again at `due_at`. Returns false if the lease was lost.
pub(crate) async fn put_back(
    tx: &mut Tx,
    product: i64,
    lease: &str,
    due_at: Timestamp,
    tries: i64,
) -> Result<bool, Error> {
    let sql = "UPDATE analysis_requests SET lease = NULL, due_at = $3, tries = $4 WHERE product_id = $1 AND lease = $2";
    tx.execute_one(sql, &[&product, &lease, &due_at, &tries])
        .await
}

/// Ends the claim of an automatic request that needs no analysis before `due_at`, or none at all. If
/// a user has asked meanwhile, the request is due now. Returns false if the lease was lost.
pub(crate) async fn postpone(
    tx: &mut Tx,
    product: i64,
    lease: &str,
    due_at: Option<Timestamp>,
    now: Timestamp,
) -> Result<bool, Error> {
    if due_at.is_none() {
        let sql = "DELETE FROM analysis_requests WHERE product_id = $1 AND lease = $2 AND asked_by IS NULL";
        if tx.execute_one(sql, &[&product, &lease]).await? {
            return Ok(true);
        }
    }
    let sql = "UPDATE analysis_requests
         SET lease = NULL, due_at = CASE WHEN asked_by IS NULL THEN $3 ELSE $4 END
         WHERE product_id = $1 AND lease = $2";
    let due_at = due_at.unwrap_or(now);
    tx.execute_one(sql, &[&product, &lease, &due_at, &now])
        .await
}

/// Queues a product again whose stock changed during its analysis, unless it was deleted.
pub(crate) async fn requeue(
    tx: &mut Tx,
    product: i64,
    due_at: Timestamp,
    now: Timestamp,
) -> Result<(), Error> {
    let sql = "INSERT INTO analysis_requests (product_id, requested_at, due_at)
         SELECT product_id, $3, $2 FROM product_stock WHERE product_id = $1
         ON CONFLICT (product_id) DO NOTHING";
    tx.execute(sql, &[&product, &due_at, &now]).await.map(drop)
}

/// Deletes a claimed request. Returns false if the lease was lost.
pub(crate) async fn remove(tx: &mut Tx, product: i64, lease: &str) -> Result<bool, Error> {
    let sql = "DELETE FROM analysis_requests WHERE product_id = $1 AND lease = $2";
    tx.execute_one(sql, &[&product, &lease]).await
}

/// Deletes the request for a product's analysis, unless a worker has claimed it.
pub(crate) async fn withdraw(tx: &mut Tx, product: i64) -> Result<(), Error> {
    let sql = "DELETE FROM analysis_requests WHERE product_id = $1 AND lease IS NULL";
    tx.execute(sql, &[&product]).await.map(drop)
}

/// Makes the requests due that dead replicas had claimed. Returns how many.
pub(crate) async fn release_dead(tx: &mut Tx, now: Timestamp) -> Result<u64, Error> {
    let sql = "UPDATE analysis_requests SET lease = NULL, due_at = $1
         WHERE lease IS NOT NULL AND substr(lease, 1, 36) NOT IN (SELECT id FROM replicas)";
    tx.execute(sql, &[&now]).await
}

pub(crate) async fn find(conn: &mut Conn, product: i64) -> Result<Option<QueuedRequest>, Error> {
    conn.optional(
        "SELECT requested_at, due_at, lease FROM analysis_requests WHERE product_id = $1",
        &[&product],
        |row| {
            Ok(QueuedRequest {
                requested_at: row.get(0)?,
                due_at: row.get(1)?,
                is_claimed: row.get::<Option<String>>(2)?.is_some(),
            })
        },
    )
    .await
}

/// The number of requests, when the oldest was made, and when the next one is due.
pub(crate) async fn backlog(
    conn: &mut Conn,
) -> Result<(i64, Option<Timestamp>, Option<Timestamp>), Error> {
    conn.one(
        "SELECT count(*), min(requested_at), min(due_at) FROM analysis_requests",
        &[],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )
    .await
}

/// The number of requests that are due or claimed.
pub(crate) async fn due_soon(conn: &mut Conn, now: Timestamp) -> Result<i64, Error> {
    let sql = "SELECT count(*) FROM analysis_requests WHERE due_at <= $1 OR lease IS NOT NULL";
    conn.one(sql, &[&now], |row| row.get(0)).await
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use test_kit::on_both_engines;

    use super::*;
    use crate::plans;

    on_both_engines!(
        what_a_user_asks_for_while_an_automatic_request_is_put_off_is_due_at_once,
        async |address| {
            let db = plans::shop(&address, (20, 20), 30).await;
            let now = Timestamp::from_micros(1_800_000_000_000_000);
            let later = now + Duration::from_hours(1);
            for (postponed, is_asked, due) in [
                (Some(later), false, Some(later)),
                (Some(later), true, Some(now)),
                (None, false, None),
                (None, true, Some(now)),
            ] {
                let left = db.write::<_, Error, _>(async move |tx| {
                    tx.execute("DELETE FROM analysis_requests", &[]).await?;
                    insert(tx, 1, now).await?;
                    claim(tx, 1, "lease", later, now).await?;
                    if is_asked {
                        insert_for_person(tx, 1, "manager", now).await?;
                    }
                    postpone(tx, 1, "lease", postponed, now).await?;
                    find(tx, 1).await
                });
                let left = left.await.unwrap().map(|request| request.due_at);
                assert_eq!(left, due, "{postponed:?} {is_asked}");
            }
        }
    );
}
