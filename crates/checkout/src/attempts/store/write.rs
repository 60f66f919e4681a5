//! Statements that insert, lease, release, end and erase attempts.

use db::{Error, Timestamp, Tx};

use crate::attempts::model::{
    Instruction, Lease, NewRun, PaymentInstruction, RefundInstruction, RefundRecord,
};
use crate::idempotency::IdempotencyKey;
use crate::payments::AttemptStep;

/// Sets personal data of an attempt, and data that could charge a card, to null.
macro_rules! erase_person {
    () => {
        "card_token = NULL, email = NULL, identification_type = NULL, identification_number = NULL, cardholder_name = NULL"
    };
}

/// Inserts an attempt. Returns `None` if another attempt has its idempotency key.
pub(crate) async fn insert_attempt(
    tx: &mut Tx,
    run: &NewRun,
    instruction: &Instruction,
) -> Result<Option<i64>, Error> {
    let (payment, refund): (Option<&PaymentInstruction>, Option<&RefundInstruction>) =
        match instruction {
            Instruction::Payment(payment) => (Some(payment), None),
            Instruction::Refund(refund) => (None, Some(refund)),
        };
    let step = instruction.first_step();
    let intent = payment.map(|instruction| &instruction.intent);
    let payer = intent.map(|intent| &intent.payer);
    let card = intent.and_then(|intent| intent.card.as_ref());
    let terms = payment.map(|instruction| &instruction.terms);
    let token_key = payment.and_then(|instruction| instruction.token_key);
    tx.optional(
        "INSERT INTO attempts (kind, key_digest, fingerprint, step, amount, upstream_key, payment_id,
             reference, method, description, email, identification_type, identification_number,
             first_six_digits, last_four_digits, cardholder_name, installments,
             notification_url, boleto_method, token_key, lease, leased_until, check_at, checks, sent_at, created_at,
             order_id, date_of_expiration, language)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21,
             $22, $22, 0, $23, $24, $25, $26, $27)
         ON CONFLICT (key_digest) WHERE key_digest IS NOT NULL DO NOTHING
         RETURNING id",
        &[
            &instruction.kind(),
            &run.key.as_ref().map(IdempotencyKey::as_str),
            &run.fingerprint,
            &step,
            &instruction.amount(),
            &run.upstream_key.to_string(),
            &refund.map(|instruction| instruction.payment),
            &payment.map(|instruction| instruction.reference.as_str()),
            &intent.map(|intent| intent.method),
            &intent.map(|intent| intent.description.as_str()),
            &payer.map(|payer| payer.email.as_str()),
            &payer.map(|payer| payer.identification_type.as_str()),
            &payer.map(|payer| payer.identification_number.as_str()),
            &card.map(|card| card.first_six_digits.as_str()),
            &card.map(|card| card.last_four_digits.as_str()),
            &card.map(|card| card.cardholder_name.as_str()),
            &card.map(|card| card.installments),
            &terms.and_then(|terms| terms.notification_url.as_deref()),
            &terms.and_then(|terms| terms.boleto_method.as_deref()),
            &token_key.map(|key| key.to_string()),
            &run.lease.id,
            &run.lease.until,
            &(step == AttemptStep::Sending).then_some(run.now),
            &run.now,
            &payment.and_then(|instruction| instruction.order_id),
            &terms.and_then(|terms| terms.date_of_expiration),
            &intent.map(|intent| intent.language.tag()),
        ],
        |row| row.get(0),
    )
    .await
}

/// Leases an attempt that is not leased and has not ended. Returns false otherwise.
pub(crate) async fn take_attempt(
    tx: &mut Tx,
    id: i64,
    step: AttemptStep,
    lease: &Lease,
    now: Timestamp,
) -> Result<bool, Error> {
    tx.execute_one(
        "UPDATE attempts
         SET step = $2, lease = $3, leased_until = $4, check_at = $4,
             sent_at = CASE WHEN $2 = 'sending' THEN $5 ELSE sent_at END
         WHERE id = $1 AND step IN ('started', 'sending', 'closed') AND (leased_until IS NULL OR leased_until <= $5)
           AND (lease IS NULL OR substr(lease, 1, 36) NOT IN (SELECT id FROM replicas WHERE id <> substr($3, 1, 36)))",
        &[&id, &step, &lease.id, &lease.until, &now],
    )
    .await
}

/// Stores the card token and the step that the payment's call comes next. Returns false if the
/// lease was lost.
///
/// The idempotency keys are written again because a new token needs new calls.
pub(crate) async fn keep_card_token(
    tx: &mut Tx,
    id: i64,
    lease: &Lease,
    token: &str,
    keys: (&str, &str),
    now: Timestamp,
) -> Result<bool, Error> {
    tx.execute_one(
        "UPDATE attempts
         SET step = 'sending', card_token = $3, token_key = $4, upstream_key = $5,
             leased_until = $6, check_at = $6, sent_at = $7
         WHERE id = $1 AND lease = $2 AND step IN ('started', 'sending', 'closed')",
        &[&id, &lease.id, &token, &keys.0, &keys.1, &lease.until, &now],
    )
    .await
}

/// Stores the expiry and the key of the call that comes next. Returns false if the lease was lost.
pub(crate) async fn keep_expiry(
    tx: &mut Tx,
    id: i64,
    lease: &str,
    expiry: Option<Timestamp>,
    upstream_key: &str,
) -> Result<bool, Error> {
    tx.execute_one(
        "UPDATE attempts SET date_of_expiration = $3, upstream_key = $4
         WHERE id = $1 AND lease = $2 AND step = 'sending'",
        &[&id, &lease, &expiry, &upstream_key],
    )
    .await
}

/// How a run releases an attempt that it did not finish.
#[derive(Debug, Clone)]
pub(crate) struct Release {
    pub(crate) id: i64,
    pub(crate) lease: String,
    pub(crate) step: AttemptStep,
    pub(crate) check_at: Option<Timestamp>,
    /// The provider's last answer.
    pub(crate) answer: String,
    /// Whether this run sent the call that moves the money. If not, the earlier sending time is
    /// kept.
    pub(crate) has_sent: bool,
    pub(crate) sent_before: Option<Timestamp>,
    /// Whether the card token can no longer be used.
    pub(crate) is_token_spent: bool,
}

/// Releases an attempt for a later run. Returns false if the lease was lost.
pub(crate) async fn release_attempt(tx: &mut Tx, release: &Release) -> Result<bool, Error> {
    tx.execute_one(
        "UPDATE attempts SET step = $3, lease = NULL, leased_until = NULL, check_at = $4, last_answer = $5,
             sent_at = CASE WHEN $6 THEN sent_at ELSE $7 END, card_token = CASE WHEN $8 THEN NULL ELSE card_token END
         WHERE id = $1 AND lease = $2 AND step IN ('started', 'sending', 'closed')",
        &[
            &release.id,
            &release.lease,
            &release.step,
            &release.check_at,
            &release.answer,
            &release.has_sent,
            &release.sent_before,
            &release.is_token_spent,
        ],
    )
    .await
}

/// Deletes an attempt of which nothing was ever sent. Returns false if the lease was lost.
pub(crate) async fn delete_attempt(tx: &mut Tx, id: i64, lease: &str) -> Result<bool, Error> {
    tx.execute_one(
        "DELETE FROM attempts WHERE id = $1 AND lease = $2 AND step IN ('started', 'sending')",
        &[&id, &lease],
    )
    .await
}

/// Ends an attempt with a refusal. Returns false if the lease was lost.
pub(crate) async fn refuse_attempt(
    tx: &mut Tx,
    id: i64,
    lease: &str,
    answer: (i64, &str),
    now: Timestamp,
) -> Result<bool, Error> {
    tx.execute_one(
        concat!(
            "UPDATE attempts
             SET step = 'refused', response_status = $3,
                 response = CASE WHEN key_digest IS NULL THEN NULL ELSE $4 END,
                 lease = NULL, leased_until = NULL, check_at = NULL, finished_at = $5, ",
            erase_person!(),
            " WHERE id = $1 AND lease = $2 AND step IN ('started', 'sending', 'closed')"
        ),
        &[&id, &lease, &answer.0, &answer.1, &now],
    )
    .await
}

/// The end of an attempt whose payment or refund was made.
#[derive(Debug, Clone)]
pub(crate) struct Finish {
    pub(crate) id: i64,
    /// The row of the payment that was created or refunded.
    pub(crate) payment: i64,
    pub(crate) refund: Option<RefundRecord>,
    pub(crate) response: String,
    /// When to check a refund that the provider has not finished.
    pub(crate) check_at: Option<Timestamp>,
    pub(crate) now: Timestamp,
}

/// Ends an attempt with the payment or refund that was made, also if another end was recorded
/// before. Returns false if this end is recorded already.
pub(crate) async fn finish_attempt(tx: &mut Tx, finish: &Finish) -> Result<bool, Error> {
    let made = finish.refund.as_ref();
    tx.execute_one(
        concat!(
            "UPDATE attempts
             SET step = 'finished', payment_id = $2, refund_id = $3, refund_status = $4, refund_date = $5,
                 response_status = 200, response = CASE WHEN key_digest IS NULL THEN NULL ELSE $6 END,
                 lease = NULL, leased_until = NULL, check_at = $7, checks = 0, finished_at = $8, ",
            erase_person!(),
            " WHERE id = $1 AND step <> 'finished'"
        ),
        &[
            &finish.id,
            &finish.payment,
            &made.map(|made| made.id.as_str()),
            &made.map(|made| made.status.as_str()),
            &made.map(|made| made.date_created.as_str()),
            &finish.response,
            &finish.check_at,
            &finish.now,
        ],
    )
    .await
}

/// Stores the final status of a refund that the provider had not finished. The check was claimed
/// with `seen`.
pub(crate) async fn follow_refund(
    tx: &mut Tx,
    id: i64,
    seen: Timestamp,
    status: &str,
) -> Result<u64, Error> {
    tx.execute(
        "UPDATE attempts SET refund_status = $3, check_at = NULL WHERE id = $1 AND check_at = $2 AND step = 'finished'",
        &[&id, &seen, &status],
    )
    .await
}

/// Removes the caller's idempotency key from an attempt whose key has expired. Attempts of unknown
/// outcome keep their key.
pub(crate) async fn free_key(tx: &mut Tx, id: i64) -> Result<u64, Error> {
    tx.execute(
        "UPDATE attempts SET key_digest = NULL, fingerprint = NULL, response = NULL WHERE id = $1 AND step <> 'sending'",
        &[&id],
    )
    .await
}

/// Erases expired personal data and card tokens, and the idempotency keys and responses of attempts
/// that ended before the retention time.
///
/// An attempt of unknown outcome keeps the digest of its key, from which the key cannot be
/// recovered: a retry must find the attempt and not charge again.
pub(crate) async fn erase_expired(
    tx: &mut Tx,
    kept_since: Timestamp,
    now: Timestamp,
) -> Result<u64, Error> {
    tx.execute(
        concat!(
            "UPDATE attempts
             SET key_digest = CASE WHEN step = 'sending' OR finished_at > $1 THEN key_digest END,
                 fingerprint = CASE WHEN step = 'sending' OR finished_at > $1 THEN fingerprint END,
                 response = CASE WHEN finished_at > $1 THEN response END, step = CASE WHEN step = 'started' THEN 'closed' ELSE step END, ",
            erase_person!(),
            " WHERE id IN (SELECT id FROM attempts
                          WHERE ((key_digest IS NOT NULL AND step <> 'sending') OR email IS NOT NULL OR card_token IS NOT NULL)
                            AND (email IS NOT NULL OR card_token IS NOT NULL OR finished_at IS NULL OR finished_at <= $1)
                            AND created_at <= $1 AND (leased_until IS NULL OR leased_until <= $2)
                          ORDER BY created_at LIMIT 1000)"
        ),
        &[&kept_since, &now],
    )
    .await
}

/// Releases the attempts whose replica is no longer registered.
pub(crate) async fn release_dead_attempts(tx: &mut Tx) -> Result<u64, Error> {
    tx.execute(
        "UPDATE attempts SET lease = NULL, leased_until = NULL
         WHERE check_at IS NOT NULL AND lease IS NOT NULL AND substr(lease, 1, 36) NOT IN (SELECT id FROM replicas)",
        &[],
    )
    .await
}
