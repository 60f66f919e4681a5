//! Statements that find attempts, and the mapping of their rows.

use db::{Conn, Error, Money, Row};
use uuid::Uuid;
use web::locale::Locale;

use crate::attempts::model::{
    Attempt, Instruction, PaymentInstruction, RefundInstruction, RefundRecord, Terms,
};
use crate::idempotency::IdempotencyKey;
use crate::payments::store::card_facts;
use crate::payments::{Intent, Payer};
use crate::provider::CardToken;

macro_rules! attempt_columns {
    ($rest:literal) => {
        concat!(
            "SELECT a.id, a.fingerprint, a.step, a.kind, a.amount, a.upstream_key, a.payment_id,
                 a.leased_until, a.check_at, a.checks, a.sent_at, a.last_answer, a.response_status, a.response, a.created_at,
                 a.reference, a.method, a.description, a.email, a.identification_type, a.identification_number,
                 a.first_six_digits, a.last_four_digits, a.cardholder_name, a.installments,
                 a.notification_url, a.boleto_method, a.token_key, a.card_token,
                 p.provider_id, a.refund_id, a.refund_status, a.refund_date, a.finished_at, a.order_id, a.date_of_expiration,
                 a.language
             FROM attempts a LEFT JOIN payments p ON p.id = a.payment_id ",
            $rest
        )
    };
}
pub(super) use attempt_columns;

/// The attempt with a caller's idempotency key.
pub(crate) async fn find_attempt_by_key(
    conn: &mut Conn,
    key: &IdempotencyKey,
) -> Result<Option<Attempt>, Error> {
    let sql = attempt_columns!("WHERE a.key_digest = $1");
    conn.optional(sql, &[&key.as_str()], attempt).await
}

/// The attempt with one of our `external_reference`s.
pub(crate) async fn find_attempt_by_reference(
    conn: &mut Conn,
    reference: &str,
) -> Result<Option<Attempt>, Error> {
    let sql = attempt_columns!("WHERE a.reference = $1");
    conn.optional(sql, &[&reference], attempt).await
}

/// Every refund of a payment, oldest first.
pub(crate) async fn refunds_of(conn: &mut Conn, payment: i64) -> Result<Vec<Attempt>, Error> {
    let sql = attempt_columns!("WHERE a.payment_id = $1 AND a.kind = 'refund' ORDER BY a.id");
    conn.all(sql, &[&payment], attempt).await
}

pub(super) fn attempt(row: &Row<'_>) -> Result<Attempt, Error> {
    let amount = row.get::<Money>(4)?;
    let instruction = match row.get::<String>(3)?.as_str() {
        "refund" => Instruction::Refund(refund(row, amount)?),
        _ => Instruction::Payment(Box::new(payment(row, amount)?)),
    };
    Ok(Attempt {
        id: row.get(0)?,
        fingerprint: row.get(1)?,
        step: row.get(2)?,
        instruction,
        upstream_key: upstream_key(&row.get::<String>(5)?)?,
        payment: row.get(6)?,
        leased_until: row.get(7)?,
        check_at: row.get(8)?,
        checks: row.get(9)?,
        sent_at: row.get(10)?,
        last_answer: row.get(11)?,
        response_status: row.get(12)?,
        response: row.get(13)?,
        created_at: row.get(14)?,
        finished_at: row.get(33)?,
    })
}

fn payment(row: &Row<'_>, amount: Money) -> Result<PaymentInstruction, Error> {
    let text = |index| {
        row.get::<Option<String>>(index)
            .map(Option::unwrap_or_default)
    };
    let token_key = row.get::<Option<String>>(27)?;
    let language = row.get::<Option<String>>(36)?;
    Ok(PaymentInstruction {
        reference: text(15)?,
        order_id: row.get(34)?,
        intent: Intent {
            method: row.get(16)?,
            amount,
            description: text(17)?,
            language: language
                .as_deref()
                .and_then(Locale::parse)
                .unwrap_or_default(),
            payer: Payer {
                email: text(18)?,
                identification_type: text(19)?,
                identification_number: text(20)?,
            },
            card: card_facts(row, 21)?,
        },
        terms: Terms {
            notification_url: row.get(25)?,
            boleto_method: row.get(26)?,
            date_of_expiration: row.get(35)?,
        },
        token_key: token_key.as_deref().map(upstream_key).transpose()?,
        card_token: row.get::<Option<String>>(28)?.map(CardToken::new),
    })
}

fn refund(row: &Row<'_>, amount: Money) -> Result<RefundInstruction, Error> {
    let id = row.get::<Option<String>>(30)?;
    let made = id.map(|id| {
        Ok::<_, Error>(RefundRecord {
            id,
            status: row.get(31)?,
            date_created: row.get(32)?,
        })
    });
    Ok(RefundInstruction {
        payment: row.get(6)?,
        payment_id: row.get(29)?,
        amount,
        made: made.transpose()?,
    })
}

fn upstream_key(text: &str) -> Result<Uuid, Error> {
    text.parse()
        .map_err(|_| Error::other("a stored upstream key is no UUID"))
}
