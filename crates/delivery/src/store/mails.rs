//! Statements about mail.

use db::{Conn, Error, Timestamp, Tx};

/// A mail to queue.
#[derive(Debug, Clone)]
pub struct NewMail {
    /// The unique key: a mail that is queued twice under one key is sent once.
    pub key: String,
    /// What the mail is about, for the table and the log.
    pub kind: &'static str,
    /// The recipient's address.
    pub recipient: String,
    /// Its subject.
    pub subject: String,
    /// The plain text.
    pub plain: String,
    /// The same text as HTML.
    pub html: String,
}

/// A due mail.
#[derive(Debug, Clone)]
pub(crate) struct DueMail {
    pub(crate) id: i64,
    pub(crate) kind: String,
    pub(crate) recipient: String,
    pub(crate) subject: String,
    pub(crate) plain: String,
    pub(crate) html: String,
    pub(crate) attempts: i64,
    pub(crate) waiting_since: Timestamp,
    pub(crate) created_at: Timestamp,
}

/// Queues a mail. Returns whether it was not queued before.
pub(crate) async fn insert(
    tx: &mut Tx,
    service: &str,
    mail: &NewMail,
    now: Timestamp,
) -> Result<bool, Error> {
    tx.execute_one(
        "INSERT INTO mails (service, key, kind, recipient, subject, plain, html, state, attempts, due_at, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, 'waiting', 0, $8, $8) ON CONFLICT (service, key) DO NOTHING",
        &[&service, &mail.key, &mail.kind, &mail.recipient, &mail.subject, &mail.plain, &mail.html, &now],
    )
    .await
}

/// Due mails, the longest overdue first.
pub(crate) async fn due(
    conn: &mut Conn,
    service: &str,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<DueMail>, Error> {
    conn.all(
        "SELECT id, kind, recipient, subject, plain, html, attempts, due_at, created_at FROM mails
         WHERE service = $1 AND state = 'waiting' AND due_at <= $2 ORDER BY due_at, id LIMIT $3",
        &[&service, &now, &limit],
        |row| {
            Ok(DueMail {
                id: row.get(0)?,
                kind: row.get(1)?,
                recipient: row.get(2)?,
                subject: row.get(3)?,
                plain: row.get(4)?,
                html: row.get(5)?,
                attempts: row.get(6)?,
                waiting_since: row.get(7)?,
                created_at: row.get(8)?,
            })
        },
    )
    .await
}

/// When the next mail is due.
pub(crate) async fn next_due(conn: &mut Conn, service: &str) -> Result<Option<Timestamp>, Error> {
    conn.optional(
        "SELECT due_at FROM mails WHERE service = $1 AND state = 'waiting' ORDER BY due_at, id LIMIT 1",
        &[&service],
        |row| row.get(0),
    )
    .await
}

/// Claims a mail by setting the time of its retry. Returns false if another process claimed it.
pub(crate) async fn claim(tx: &mut Tx, mail: &DueMail, next_try: Timestamp) -> Result<bool, Error> {
    tx.execute_one(
        "UPDATE mails SET due_at = $3, attempts = attempts + 1 WHERE id = $1 AND due_at = $2 AND state = 'waiting'",
        &[&mail.id, &mail.waiting_since, &next_try],
    )
    .await
}

/// Ends a mail that the server accepted.
pub(crate) async fn end_sent(tx: &mut Tx, id: i64, now: Timestamp) -> Result<(), Error> {
    tx.execute(
        "UPDATE mails SET state = 'sent', due_at = NULL, sent_at = $2, last_error = NULL WHERE id = $1",
        &[&id, &now],
    )
    .await
    .map(drop)
}

/// Stores a failed attempt. With `given_up`, the mail is not retried.
pub(crate) async fn record_failure(
    tx: &mut Tx,
    id: i64,
    error: &str,
    given_up: bool,
) -> Result<(), Error> {
    tx.execute(
        "UPDATE mails SET last_error = $2, state = CASE WHEN $3 THEN 'failed' ELSE state END,
                due_at = CASE WHEN $3 THEN NULL ELSE due_at END WHERE id = $1",
        &[&id, &error, &given_up],
    )
    .await
    .map(drop)
}

/// Deletes old mails that do not wait.
pub(crate) async fn remove_old(
    tx: &mut Tx,
    service: &str,
    before: Timestamp,
) -> Result<u64, Error> {
    tx.execute(
        "DELETE FROM mails
         WHERE id IN (SELECT id FROM mails WHERE service = $1 AND created_at < $2 AND state <> 'waiting' ORDER BY created_at, id LIMIT 500)",
        &[&service, &before],
    )
    .await
}
