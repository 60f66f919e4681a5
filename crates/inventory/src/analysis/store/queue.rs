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
