//! Statements about refunds: requested, sent, answered.

use db::{Conn, Error, Money, Row, Timestamp, Tx};

use super::{AttemptStep, Due, Lease};

/// A refund to be stored before the provider is called.
#[derive(Debug, Clone)]
pub(crate) struct NewRefund {
    pub(crate) payment: i64,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) fingerprint: Option<String>,
    pub(crate) upstream_key: String,
    /// Is it all of the payment, so that the call names no amount?
    pub(crate) whole: bool,
    pub(crate) amount: Money,
    pub(crate) lease: Lease,
    pub(crate) check_at: Timestamp,
    pub(crate) now: Timestamp,
}

/// A stored refund.
#[derive(Debug, Clone)]
pub(crate) struct Refund {
    pub(crate) id: i64,
    pub(crate) fingerprint: Option<String>,
    pub(crate) upstream_key: String,
    pub(crate) whole: bool,
    pub(crate) amount: Money,
    pub(crate) step: AttemptStep,
    pub(crate) provider_id: Option<String>,
    /// The provider's word on it.
    pub(crate) status: Option<String>,
    pub(crate) response_status: Option<i64>,
    pub(crate) response: Option<String>,
}

/// Stores a refund; none when its key is another refund's of the same payment.
pub(crate) async fn insert_refund(tx: &mut Tx, new: &NewRefund) -> Result<Option<i64>, Error> {
    tx.optional(
        "INSERT INTO refunds (payment_id, idempotency_key, fingerprint, upstream_key, whole, amount, step,
             lease, leased_until, check_at, checks, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, 'sending', $7, $8, $9, 0, $10)
         ON CONFLICT (payment_id, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
         RETURNING id",
        &[
            &new.payment,
            &new.idempotency_key,
            &new.fingerprint,
            &new.upstream_key,
            &new.whole,
            &new.amount,
            &new.lease.id,
            &new.lease.until,
            &new.check_at,
            &new.now,
        ],
        |row| row.get(0),
    )
    .await
}

macro_rules! refund_columns {
    ($rest:literal) => {
        concat!(
            "SELECT id, fingerprint, upstream_key, whole, amount, step, provider_id, response_status, response, status
             FROM refunds ",
            $rest
        )
    };
}

/// The refund of a caller's key.
pub(crate) async fn find_refund_by_key(
    conn: &mut Conn,
    payment: i64,
    key: &str,
) -> Result<Option<Refund>, Error> {
    let sql = refund_columns!("WHERE payment_id = $1 AND idempotency_key = $2");
    conn.optional(sql, &[&payment, &key], refund).await
}

/// Every refund of a payment, oldest first.
pub(crate) async fn refunds_of(conn: &mut Conn, payment: i64) -> Result<Vec<Refund>, Error> {
    conn.all(
        refund_columns!("WHERE payment_id = $1 ORDER BY id"),
        &[&payment],
        refund,
    )
    .await
}

/// Takes an unfinished refund that nobody works on; false when another run has it or it has ended.
pub(crate) async fn take_refund(
    tx: &mut Tx,
    id: i64,
    lease: &Lease,
    now: Timestamp,
) -> Result<bool, Error> {
    let changed = tx
        .execute(
            "UPDATE refunds SET step = 'sending', lease = $2, leased_until = $3, check_at = $3
             WHERE id = $1 AND step IN ('started', 'sending', 'closed') AND (leased_until IS NULL OR leased_until <= $4)
               AND (lease IS NULL OR substr(lease, 1, 36) NOT IN (SELECT id FROM replicas WHERE id <> substr($2, 1, 36)))",
            &[&id, &lease.id, &lease.until, &now],
        )
        .await?;
    Ok(changed == 1)
}

/// Frees the refunds that no registered replica works on.
pub(crate) async fn release_dead_refunds(tx: &mut Tx) -> Result<u64, Error> {
    tx.execute(
        "UPDATE refunds SET lease = NULL, leased_until = NULL
         WHERE check_at IS NOT NULL AND lease IS NOT NULL AND substr(lease, 1, 36) NOT IN (SELECT id FROM replicas)",
        &[],
    )
    .await
}

/// Gives a refund back for a later run.
pub(crate) async fn release_refund(
    tx: &mut Tx,
    id: i64,
    lease: &str,
    step: AttemptStep,
    check_at: Option<Timestamp>,
) -> Result<u64, Error> {
    tx.execute(
        "UPDATE refunds SET step = $3, lease = NULL, leased_until = NULL, check_at = $4
         WHERE id = $1 AND lease = $2 AND step IN ('started', 'sending')",
        &[&id, &lease, &step.as_str(), &check_at],
    )
    .await
}

/// A refund whose outcome is open, or that the provider still works on, and its payment.
#[derive(Debug, Clone)]
pub(crate) struct OpenRefund {
    pub(crate) id: i64,
    /// The payment's row.
    pub(crate) payment: i64,
    /// The provider's id of the payment.
    pub(crate) payment_id: String,
    pub(crate) amount: Money,
    /// The provider's id of the refund, once it was answered: then only its status is open.
    pub(crate) made: Option<String>,
    pub(crate) check_at: Timestamp,
    pub(crate) checks: i64,
    pub(crate) created_at: Timestamp,
}

/// Refunds on which nobody works and whose check is due by `until`, the longest due first.
pub(crate) async fn due_refunds(
    conn: &mut Conn,
    now: Timestamp,
    due: &Due,
) -> Result<Vec<OpenRefund>, Error> {
    conn.all(
        "SELECT r.id, r.payment_id, p.provider_id, r.amount, r.check_at, r.checks, r.created_at, r.provider_id
         FROM refunds r JOIN payments p ON p.id = r.payment_id
         WHERE r.check_at <= $1 AND (r.check_at > $2 OR (r.check_at = $2 AND r.id > $3))
           AND (r.leased_until IS NULL OR r.leased_until <= $4)
         ORDER BY r.check_at, r.id LIMIT $5",
        &[&due.until, &due.after.0, &due.after.1, &now, &due.limit],
        |row| {
            Ok(OpenRefund {
                id: row.get(0)?,
                payment: row.get(1)?,
                payment_id: row.get(2)?,
                amount: row.get(3)?,
                check_at: row.get(4)?,
                checks: row.get(5)?,
                created_at: row.get(6)?,
                made: row.get(7)?,
            })
        },
    )
    .await
}

/// When the next check of a refund is due.
pub(crate) async fn next_refund_due(conn: &mut Conn) -> Result<Option<Timestamp>, Error> {
    let sql =
        "SELECT check_at FROM refunds WHERE check_at IS NOT NULL ORDER BY check_at, id LIMIT 1";
    conn.optional(sql, &[], |row| row.get(0)).await
}

/// Claims a refund's due check by setting the next, or gives the refund up; false when another did.
pub(crate) async fn postpone_refund(
    tx: &mut Tx,
    id: i64,
    step: AttemptStep,
    seen: Timestamp,
    check_at: Option<Timestamp>,
) -> Result<bool, Error> {
    let changed = tx
        .execute(
            "UPDATE refunds SET step = $2, check_at = $4, checks = checks + 1
             WHERE id = $1 AND check_at = $3 AND step IN ('started', 'sending')",
            &[&id, &step.as_str(), &seen, &check_at],
        )
        .await?;
    Ok(changed == 1)
}

/// Claims the due check of a refund that the provider works on, by setting the next, or writes its status at the end;
/// false when another did.
pub(crate) async fn follow_refund(
    tx: &mut Tx,
    id: i64,
    seen: Timestamp,
    status: Option<&str>,
    check_at: Option<Timestamp>,
) -> Result<bool, Error> {
    let changed = tx
        .execute(
            "UPDATE refunds SET status = COALESCE($3, status), check_at = $4, checks = checks + 1
             WHERE id = $1 AND check_at = $2 AND step = 'finished'",
            &[&id, &seen, &status, &check_at],
        )
        .await?;
    Ok(changed == 1)
}

/// Ends a refund with the provider's word and the answer; false when it has ended already. A refund that the provider
/// still works on is asked about at `check_at`.
pub(crate) async fn finish_refund(
    tx: &mut Tx,
    id: i64,
    step: AttemptStep,
    provider: Option<(&str, &str, &str)>,
    answer: (i64, Option<&str>),
    check_at: Option<Timestamp>,
) -> Result<bool, Error> {
    let changed = tx
        .execute(
            "UPDATE refunds
             SET step = $2, provider_id = $3, status = $4, date_created = $5, response_status = $6, response = $7,
                 lease = NULL, leased_until = NULL, check_at = $8, checks = 0
             WHERE id = $1 AND step IN ('started', 'sending', 'closed')",
            &[
                &id,
                &step.as_str(),
                &provider.map(|(id, _, _)| id),
                &provider.map(|(_, status, _)| status),
                &provider.map(|(_, _, date)| date),
                &answer.0,
                &answer.1,
                &check_at,
            ],
        )
        .await?;
    Ok(changed == 1)
}

/// Takes a caller's key from a refund that has held it long enough.
pub(crate) async fn free_refund_key(
    tx: &mut Tx,
    payment: i64,
    key: &str,
    kept_since: Timestamp,
) -> Result<bool, Error> {
    let changed = tx
        .execute(
            "UPDATE refunds SET idempotency_key = NULL, fingerprint = NULL, response = NULL
             WHERE payment_id = $1 AND idempotency_key = $2 AND created_at <= $3",
            &[&payment, &key, &kept_since],
        )
        .await?;
    Ok(changed == 1)
}

/// Erases keys and answers that have been kept long enough.
pub(crate) async fn erase_old_refund_answers(
    tx: &mut Tx,
    kept_since: Timestamp,
) -> Result<u64, Error> {
    tx.execute(
        "UPDATE refunds SET idempotency_key = NULL, fingerprint = NULL, response = NULL
         WHERE id IN (SELECT id FROM refunds WHERE idempotency_key IS NOT NULL AND created_at <= $1
                      ORDER BY created_at LIMIT 1000)",
        &[&kept_since],
    )
    .await
}

impl Refund {
    /// Did the provider take it and not refuse it afterwards?
    pub(crate) fn is_made(&self) -> bool {
        self.step == AttemptStep::Finished && !self.status.as_deref().is_some_and(is_refused)
    }
}

/// Does the provider's word on a refund say that no money went back?
pub(crate) fn is_refused(status: &str) -> bool {
    matches!(status, "rejected" | "cancelled")
}

fn refund(row: &Row<'_>) -> Result<Refund, Error> {
    Ok(Refund {
        id: row.get(0)?,
        fingerprint: row.get(1)?,
        upstream_key: row.get(2)?,
        whole: row.get(3)?,
        amount: row.get(4)?,
        step: AttemptStep::parse(&row.get::<String>(5)?)?,
        provider_id: row.get(6)?,
        response_status: row.get(7)?,
        response: row.get(8)?,
        status: row.get(9)?,
    })
}
