//! Statements that find attempts.

use db::{Conn, Error, Money, Row, Timestamp};

use super::{Attempt, AttemptStep};
use crate::payments::model::{CardFacts, Intent, Payer};
use crate::request::MethodKind;

macro_rules! attempt_columns {
    ($rest:literal) => {
        concat!(
            "SELECT id, reference, fingerprint, step, method, amount, description,
                 email, identification_type, identification_number,
                 first_six_digits, last_four_digits, cardholder_name, installments,
                 token_key, create_key, card_token, leased_until, check_at, checks, sent_at,
                 response_status, response, payment_id, created_at
             FROM attempts ",
            $rest
        )
    };
}

/// The attempt of a caller's key.
pub(crate) async fn find_attempt_by_key(
    conn: &mut Conn,
    key: &str,
) -> Result<Option<Attempt>, Error> {
    conn.optional(
        attempt_columns!("WHERE idempotency_key = $1"),
        &[&key],
        attempt,
    )
    .await
}

/// The attempt of one of our `external_reference`s.
pub(crate) async fn find_attempt_by_reference(
    conn: &mut Conn,
    reference: &str,
) -> Result<Option<Attempt>, Error> {
    conn.optional(
        attempt_columns!("WHERE reference = $1"),
        &[&reference],
        attempt,
    )
    .await
}

/// Attempts on which nobody works and whose check is due by `until`, the longest due first, after a place in that order.
pub(crate) async fn due_attempts(
    conn: &mut Conn,
    now: Timestamp,
    due: &Due,
) -> Result<Vec<Attempt>, Error> {
    conn.all(
        attempt_columns!(
            "WHERE check_at <= $1 AND (check_at > $2 OR (check_at = $2 AND id > $3))
               AND (leased_until IS NULL OR leased_until <= $4)
             ORDER BY check_at, id LIMIT $5"
        ),
        &[&due.until, &due.after.0, &due.after.1, &now, &due.limit],
        attempt,
    )
    .await
}

/// Which checks to look at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Due {
    /// Due by this time.
    pub(crate) until: Timestamp,
    /// Behind this place in the order of time and row.
    pub(crate) after: (Timestamp, i64),
    pub(crate) limit: i64,
}

/// When the next check of an attempt is due.
pub(crate) async fn next_attempt_due(conn: &mut Conn) -> Result<Option<Timestamp>, Error> {
    let sql =
        "SELECT check_at FROM attempts WHERE check_at IS NOT NULL ORDER BY check_at, id LIMIT 1";
    conn.optional(sql, &[], |row| row.get(0)).await
}

/// How many attempts wait for the provider's word, nobody working on them.
pub(crate) async fn unknown_attempts(conn: &mut Conn, now: Timestamp) -> Result<i64, Error> {
    conn.one(
        "SELECT count(*) FROM attempts
         WHERE check_at IS NOT NULL AND step = 'sending' AND (leased_until IS NULL OR leased_until <= $1)",
        &[&now],
        |row| row.get(0),
    )
    .await
}

fn attempt(row: &Row<'_>) -> Result<Attempt, Error> {
    Ok(Attempt {
        id: row.get(0)?,
        reference: row.get(1)?,
        fingerprint: row.get(2)?,
        step: AttemptStep::parse(&row.get::<String>(3)?)?,
        intent: intent(row)?,
        token_key: row.get(14)?,
        create_key: row.get(15)?,
        card_token: row.get(16)?,
        leased_until: row.get(17)?,
        check_at: row.get(18)?,
        checks: row.get(19)?,
        sent_at: row.get(20)?,
        response_status: row.get(21)?,
        response: row.get(22)?,
        payment_id: row.get(23)?,
        created_at: row.get(24)?,
    })
}

fn intent(row: &Row<'_>) -> Result<Intent, Error> {
    let text = |index| {
        row.get::<Option<String>>(index)
            .map(Option::unwrap_or_default)
    };
    let method = MethodKind::parse(&row.get::<String>(4)?);
    Ok(Intent {
        method: method.ok_or_else(|| Error::other("attempts.method holds no method"))?,
        amount: row.get::<Money>(5)?,
        description: row.get(6)?,
        payer: Payer {
            email: text(7)?,
            identification_type: text(8)?,
            identification_number: text(9)?,
        },
        card: card(row)?,
    })
}

fn card(row: &Row<'_>) -> Result<Option<CardFacts>, Error> {
    let (Some(first_six_digits), Some(last_four_digits), Some(installments)) =
        (row.get::<Option<String>>(10)?, row.get(11)?, row.get(13)?)
    else {
        return Ok(None);
    };
    let cardholder_name = row.get::<Option<String>>(12)?.unwrap_or_default();
    Ok(Some(CardFacts {
        first_six_digits,
        last_four_digits,
        cardholder_name,
        installments,
    }))
}
