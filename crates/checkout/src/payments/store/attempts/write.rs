//! Statements that write attempts: stored, claimed, released, ended.

use db::{Error, Timestamp, Tx};

use super::{AttemptStep, Lease, NewAttempt};

/// Stores an attempt; none when its key is another attempt's.
pub(crate) async fn insert_attempt(tx: &mut Tx, new: &NewAttempt) -> Result<Option<i64>, Error> {
    let (payer, card) = (&new.intent.payer, new.intent.card.as_ref());
    let sent_at = (new.step == AttemptStep::Sending).then_some(new.now);
    tx.optional(
        "INSERT INTO attempts (reference, idempotency_key, fingerprint, step, method, amount, description,
             email, identification_type, identification_number,
             first_six_digits, last_four_digits, cardholder_name, installments,
             token_key, create_key, lease, leased_until, check_at, checks, sent_at, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, 0, $20, $21)
         ON CONFLICT (idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
         RETURNING id",
        &[
            &new.reference,
            &new.idempotency_key,
            &new.fingerprint,
            &new.step.as_str(),
            &new.intent.method.as_str(),
            &new.intent.amount,
            &new.intent.description,
            &payer.email,
            &payer.identification_type,
            &payer.identification_number,
            &card.map(|card| card.first_six_digits.as_str()),
            &card.map(|card| card.last_four_digits.as_str()),
            &card.map(|card| card.cardholder_name.as_str()),
            &card.map(|card| card.installments),
            &new.token_key,
            &new.create_key,
            &new.lease.id,
            &new.lease.until,
            &new.check_at,
            &sent_at,
            &new.now,
        ],
        |row| row.get(0),
    )
    .await
}

/// Takes an unfinished attempt that nobody works on; false when another run has it or it has ended.
pub(crate) async fn take_attempt(
    tx: &mut Tx,
    id: i64,
    step: AttemptStep,
    lease: &Lease,
    now: Timestamp,
) -> Result<bool, Error> {
    let changed = tx
        .execute(
            "UPDATE attempts
             SET step = $2, lease = $3, leased_until = $4, check_at = $4,
                 sent_at = CASE WHEN $2 = 'sending' THEN $5 ELSE sent_at END
             WHERE id = $1 AND step IN ('started', 'sending', 'closed') AND (leased_until IS NULL OR leased_until <= $5)
               AND (lease IS NULL OR substr(lease, 1, 36) NOT IN (SELECT id FROM replicas WHERE id <> substr($3, 1, 36)))",
            &[&id, &step.as_str(), &lease.id, &lease.until, &now],
        )
        .await?;
    Ok(changed == 1)
}

/// Keeps the card token and marks that the payment's call is about to be sent; false when the lease was lost.
///
/// The keys are given again because a token that replaces a used-up one belongs to new calls.
pub(crate) async fn keep_card_token(
    tx: &mut Tx,
    id: i64,
    lease: &Lease,
    token: &str,
    keys: (&str, &str),
    now: Timestamp,
) -> Result<bool, Error> {
    let changed = tx
        .execute(
            "UPDATE attempts
             SET step = 'sending', card_token = $3, token_key = $4, create_key = $5,
                 leased_until = $6, check_at = $6, sent_at = $7
             WHERE id = $1 AND lease = $2 AND step IN ('started', 'sending', 'closed')",
            &[&id, &lease.id, &token, &keys.0, &keys.1, &lease.until, &now],
        )
        .await?;
    Ok(changed == 1)
}

/// How a run that did not finish its attempt leaves it.
#[derive(Debug, Clone)]
pub(crate) struct Release {
    pub(crate) id: i64,
    pub(crate) lease: String,
    pub(crate) step: AttemptStep,
    pub(crate) check_at: Option<Timestamp>,
}

/// Gives an attempt back for a later run; nothing happens when the lease was lost.
pub(crate) async fn release_attempt(tx: &mut Tx, release: &Release) -> Result<u64, Error> {
    tx.execute(
        "UPDATE attempts SET step = $3, lease = NULL, leased_until = NULL, check_at = $4
         WHERE id = $1 AND lease = $2 AND step IN ('started', 'sending', 'closed')",
        &[
            &release.id,
            &release.lease,
            &release.step.as_str(),
            &release.check_at,
        ],
    )
    .await
}

/// Removes an attempt of which nothing was ever sent.
pub(crate) async fn forget_attempt(tx: &mut Tx, id: i64, lease: &str) -> Result<u64, Error> {
    tx.execute(
        "DELETE FROM attempts WHERE id = $1 AND lease = $2 AND payment_id IS NULL",
        &[&id, &lease],
    )
    .await
}

/// When the reconciler looks at an attempt again, or that it never will.
pub(crate) async fn postpone_attempt(
    tx: &mut Tx,
    id: i64,
    step: AttemptStep,
    seen: Timestamp,
    check_at: Option<Timestamp>,
) -> Result<bool, Error> {
    let changed = tx
        .execute(
            "UPDATE attempts SET step = $2, check_at = $4, checks = checks + 1
             WHERE id = $1 AND check_at = $3 AND step IN ('started', 'sending')",
            &[&id, &step.as_str(), &seen, &check_at],
        )
        .await?;
    Ok(changed == 1)
}

/// How an attempt ended.
#[derive(Debug, Clone)]
pub(crate) struct Finish {
    pub(crate) id: i64,
    pub(crate) step: AttemptStep,
    pub(crate) payment_id: Option<i64>,
    pub(crate) response_status: i64,
    pub(crate) response: Option<String>,
    pub(crate) now: Timestamp,
}

/// Ends an attempt: keeps its answer, erases the card token and the payer's data; false when it has ended already.
pub(crate) async fn finish_attempt(tx: &mut Tx, finish: &Finish) -> Result<bool, Error> {
    let changed = tx
        .execute(
            "UPDATE attempts
             SET step = $2, payment_id = $3, response_status = $4,
                 response = CASE WHEN idempotency_key IS NULL THEN NULL ELSE $5 END,
                 card_token = NULL, lease = NULL, leased_until = NULL, check_at = NULL, finished_at = $6,
                 email = NULL, identification_type = NULL, identification_number = NULL, cardholder_name = NULL
             WHERE id = $1 AND step IN ('started', 'sending', 'closed')",
            &[
                &finish.id,
                &finish.step.as_str(),
                &finish.payment_id,
                &finish.response_status,
                &finish.response,
                &finish.now,
            ],
        )
        .await?;
    Ok(changed == 1)
}

/// Takes a caller's key from an attempt that has held it long enough.
pub(crate) async fn free_key(tx: &mut Tx, key: &str, kept_since: Timestamp) -> Result<bool, Error> {
    let changed = tx
        .execute(
            "UPDATE attempts SET idempotency_key = NULL, fingerprint = NULL, response = NULL
             WHERE idempotency_key = $1 AND created_at <= $2",
            &[&key, &kept_since],
        )
        .await?;
    Ok(changed == 1)
}

/// Erases keys and answers that have been kept long enough, and the payer's data of attempts that never ended.
pub(crate) async fn erase_old_answers(tx: &mut Tx, kept_since: Timestamp) -> Result<u64, Error> {
    tx.execute(
        "UPDATE attempts
         SET idempotency_key = NULL, fingerprint = NULL, response = NULL, card_token = NULL,
             email = NULL, identification_type = NULL, identification_number = NULL, cardholder_name = NULL,
             lease = NULL, leased_until = NULL, check_at = NULL,
             step = CASE WHEN step IN ('started', 'sending') THEN 'closed' ELSE step END
         WHERE id IN (SELECT id FROM attempts
                      WHERE (idempotency_key IS NOT NULL OR email IS NOT NULL) AND created_at <= $1
                      ORDER BY created_at LIMIT 1000)",
        &[&kept_since],
    )
    .await
}

/// Frees the attempts that no registered replica works on.
pub(crate) async fn release_dead_attempts(tx: &mut Tx) -> Result<u64, Error> {
    tx.execute(
        "UPDATE attempts SET lease = NULL, leased_until = NULL
         WHERE check_at IS NOT NULL AND lease IS NOT NULL AND substr(lease, 1, 36) NOT IN (SELECT id FROM replicas)",
        &[],
    )
    .await
}
