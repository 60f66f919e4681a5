//! Statements about payments with their payer, method and transaction.

use db::{Conn, Error, Money, Query, Row, Timestamp, Tx};
use web::locale::Locale;

use crate::lists::{ListRequest, PagePosition};
use crate::payments::model::{CardFacts, Payer, Payment, StatusSnapshot};
use crate::provider::Artefacts;
use crate::request::MethodKind;

/// Which due checks to read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DueQuery {
    /// Due by this time.
    pub(crate) until: Timestamp,
    /// Begin after this position in the order of due time and row id.
    pub(crate) after: (Timestamp, i64),
    pub(crate) limit: i64,
}

/// The changeable part of a stored payment.
#[derive(Debug, Clone)]
pub(crate) struct StoredPayment {
    /// The row's id.
    pub(crate) row: i64,
    /// The provider's id.
    pub(crate) id: String,
    /// Our `external_reference`.
    pub(crate) reference: String,
    /// The row's version. A change is written only over the version it was computed from.
    pub(crate) version: i64,
    pub(crate) amount: Money,
    pub(crate) snapshot: StatusSnapshot,
    pub(crate) check_at: Option<Timestamp>,
    pub(crate) checks: i64,
}

/// Inserts a payment with its payer, method and transaction. Returns `None` if its id or its
/// reference is stored already.
pub(crate) async fn insert_payment(
    tx: &mut Tx,
    payment: &Payment,
    now: Timestamp,
    check_at: Option<Timestamp>,
) -> Result<Option<i64>, Error> {
    let row = tx
        .optional(
            "INSERT INTO payments (provider_id, reference, method, provider_method, state, status_detail, amount, refunded,
                 description, date_created, date_approved, version, created_at, changed_at, check_at, checks)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 1, $12, $12, $13, 0)
             ON CONFLICT DO NOTHING
             RETURNING id",
            &[
                &payment.id,
                &payment.reference,
                &payment.method,
                &payment.provider_method,
                &payment.state,
                &payment.status_detail,
                &payment.amount,
                &payment.refunded,
                &payment.description,
                &payment.date_created,
                &payment.date_approved,
                &now,
                &check_at,
            ],
            |row| row.get::<i64>(0),
        )
        .await?;
    if let Some(row) = row {
        insert_payer(tx, row, &payment.payer).await?;
        insert_method(tx, row, payment.method, payment.card.as_ref()).await?;
        insert_transaction(tx, row, &payment.artefacts).await?;
    }
    Ok(row)
}

async fn insert_payer(tx: &mut Tx, payment: i64, payer: &Payer) -> Result<u64, Error> {
    tx.execute(
        "INSERT INTO payers (payment_id, email, identification_type, identification_number) VALUES ($1, $2, $3, $4)",
        &[&payment, &payer.email, &payer.identification_type, &payer.identification_number],
    )
    .await
}

async fn insert_method(
    tx: &mut Tx,
    payment: i64,
    method: MethodKind,
    card: Option<&CardFacts>,
) -> Result<u64, Error> {
    tx.execute(
        "INSERT INTO payment_methods (payment_id, type, first_six_digits, last_four_digits, cardholder_name, installments)
         VALUES ($1, $2, $3, $4, $5, $6)",
        &[
            &payment,
            &method,
            &card.map(|card| card.first_six_digits.as_str()),
            &card.map(|card| card.last_four_digits.as_str()),
            &card.map(|card| card.cardholder_name.as_str()),
            &card.map(|card| card.installments),
        ],
    )
    .await
}

async fn insert_transaction(
    tx: &mut Tx,
    payment: i64,
    artefacts: &Artefacts,
) -> Result<u64, Error> {
    tx.execute(
        "INSERT INTO transactions (payment_id, external_resource_url, qr_code, qr_code_base64, ticket_url,
             digitable_line, barcode, date_of_expiration)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        &[
            &payment,
            &artefacts.external_resource_url,
            &artefacts.qr_code,
            &artefacts.qr_code_base64,
            &artefacts.ticket_url,
            &artefacts.digitable_line,
            &artefacts.barcode,
            &artefacts.date_of_expiration,
        ],
    )
    .await
}

macro_rules! stored_columns {
    ($rest:literal) => {
        concat!(
            "SELECT id, provider_id, version, state, status_detail, date_approved, refunded, check_at, checks, amount,
                 reference
             FROM payments ",
            $rest
        )
    };
}

/// The changeable part of the payment with the provider's id.
pub(crate) async fn find_stored(conn: &mut Conn, id: &str) -> Result<Option<StoredPayment>, Error> {
    conn.optional(
        stored_columns!("WHERE provider_id = $1"),
        &[&id],
        stored_payment,
    )
    .await
}

/// Same as [`find_stored`], with the row locked until the transaction ends.
pub(crate) async fn lock_stored(tx: &mut Tx, id: &str) -> Result<Option<StoredPayment>, Error> {
    tx.optional(
        "UPDATE payments SET version = version WHERE provider_id = $1
         RETURNING id, provider_id, version, state, status_detail, date_approved, refunded, check_at, checks, amount,
             reference",
        &[&id],
        stored_payment,
    )
    .await
}

/// Payments whose check is due by `until`, the longest overdue first, after a position in that
/// order.
pub(crate) async fn due_payments(
    conn: &mut Conn,
    due: &DueQuery,
) -> Result<Vec<StoredPayment>, Error> {
    conn.all(
        stored_columns!(
            "WHERE check_at <= $1 AND (check_at > $2 OR (check_at = $2 AND id > $3)) ORDER BY check_at, id LIMIT $4"
        ),
        &[&due.until, &due.after.0, &due.after.1, &due.limit],
        stored_payment,
    )
    .await
}

/// When the next check of a payment is due.
pub(crate) async fn next_payment_due(conn: &mut Conn) -> Result<Option<Timestamp>, Error> {
    let sql =
        "SELECT check_at FROM payments WHERE check_at IS NOT NULL ORDER BY check_at, id LIMIT 1";
    conn.optional(sql, &[], |row| row.get(0)).await
}

/// Claims a payment's due check by setting the next due time. Returns false if another process did.
pub(crate) async fn postpone_payment(
    tx: &mut Tx,
    row: i64,
    seen: Option<Timestamp>,
    check_at: Option<Timestamp>,
) -> Result<bool, Error> {
    tx.execute_one(
        "UPDATE payments SET check_at = $3, checks = checks + 1 WHERE id = $1 AND check_at = $2",
        &[&row, &seen, &check_at],
    )
    .await
}

/// Writes a new snapshot of a payment if the stored version is the one it was computed from.
/// Returns false otherwise.
pub(crate) async fn update_snapshot(
    tx: &mut Tx,
    known: &StoredPayment,
    snapshot: &StatusSnapshot,
    check_at: Option<Timestamp>,
    now: Timestamp,
) -> Result<bool, Error> {
    tx.execute_one(
        "UPDATE payments
         SET state = $3, status_detail = $4, date_approved = $5, refunded = $6, check_at = $7, changed_at = $8,
             version = version + 1
         WHERE id = $1 AND version = $2",
        &[
            &known.row,
            &known.version,
            &snapshot.state,
            &snapshot.status_detail,
            &snapshot.date_approved,
            &snapshot.refunded,
            &check_at,
            &now,
        ],
    )
    .await
}

/// The `SELECT` of complete payments, to be followed by a condition and an order.
macro_rules! payment_columns {
    ($rest:expr) => {
        concat!(
            "SELECT p.provider_id, p.reference, p.method, p.provider_method, p.state, p.status_detail, p.amount, p.refunded,
                 p.description, p.date_created, p.date_approved,
                 y.email, y.identification_type, y.identification_number,
                 m.first_six_digits, m.last_four_digits, m.cardholder_name, m.installments,
                 t.external_resource_url, t.qr_code, t.qr_code_base64, t.ticket_url, t.digitable_line, t.barcode,
                 t.date_of_expiration
             FROM payments p
             JOIN payers y ON y.payment_id = p.id
             JOIN payment_methods m ON m.payment_id = p.id
             JOIN transactions t ON t.payment_id = p.id ",
            $rest
        )
    };
}

/// A page of payments, newest first.
pub(crate) async fn list_payments(
    conn: &mut Conn,
    request: &ListRequest,
    position: &PagePosition,
) -> Result<Vec<Payment>, Error> {
    let mut query = Query::new(payment_columns!(
        "WHERE p.id IN (SELECT id FROM payments WHERE TRUE"
    ));
    position.push_page(&mut query, request);
    query.push(") ORDER BY p.created_at DESC, p.id DESC");
    conn.all_of(&query, payment).await
}

/// The language of the request that created the payment.
pub(crate) async fn find_language(conn: &mut Conn, payment: i64) -> Result<Locale, Error> {
    let sql = "SELECT language FROM attempts WHERE payment_id = $1 AND kind = 'payment' LIMIT 1";
    let found = conn
        .optional(sql, &[&payment], |row| row.get::<Option<String>>(0))
        .await?;
    let tag = found.flatten();
    Ok(tag.as_deref().and_then(Locale::parse).unwrap_or_default())
}

/// The payment with the provider's id.
pub(crate) async fn find_payment(conn: &mut Conn, id: &str) -> Result<Option<Payment>, Error> {
    conn.optional(
        payment_columns!("WHERE p.provider_id = $1"),
        &[&id],
        payment,
    )
    .await
}

/// The payment in a row.
pub(crate) async fn find_by_row(conn: &mut Conn, row: i64) -> Result<Option<Payment>, Error> {
    conn.optional(payment_columns!("WHERE p.id = $1"), &[&row], payment)
        .await
}

fn stored_payment(row: &Row<'_>) -> Result<StoredPayment, Error> {
    let snapshot = StatusSnapshot {
        state: row.get(3)?,
        status_detail: row.get(4)?,
        date_approved: row.get(5)?,
        refunded: row.get(6)?,
    };
    Ok(StoredPayment {
        row: row.get(0)?,
        id: row.get(1)?,
        version: row.get(2)?,
        snapshot,
        check_at: row.get(7)?,
        checks: row.get(8)?,
        amount: row.get(9)?,
        reference: row.get(10)?,
    })
}

pub(super) fn payment(row: &Row<'_>) -> Result<Payment, Error> {
    Ok(Payment {
        id: row.get(0)?,
        reference: row.get(1)?,
        method: row.get(2)?,
        provider_method: row.get(3)?,
        state: row.get(4)?,
        status_detail: row.get(5)?,
        amount: row.get(6)?,
        refunded: row.get(7)?,
        description: row.get(8)?,
        date_created: row.get(9)?,
        date_approved: row.get(10)?,
        payer: Payer {
            email: row.get(11)?,
            identification_type: row.get(12)?,
            identification_number: row.get(13)?,
        },
        card: card_facts(row, 14)?,
        artefacts: Artefacts {
            external_resource_url: row.get(18)?,
            qr_code: row.get(19)?,
            qr_code_base64: row.get(20)?,
            ticket_url: row.get(21)?,
            digitable_line: row.get(22)?,
            barcode: row.get(23)?,
            date_of_expiration: row.get(24)?,
        },
    })
}

/// The card in four columns from `at` on. The name is blank once it is erased.
pub(crate) fn card_facts(row: &Row<'_>, at: usize) -> Result<Option<CardFacts>, Error> {
    let (Some(first_six_digits), Some(last_four_digits), Some(installments)) = (
        row.get::<Option<String>>(at)?,
        row.get(at + 1)?,
        row.get(at + 3)?,
    ) else {
        return Ok(None);
    };
    Ok(Some(CardFacts {
        first_six_digits,
        last_four_digits,
        cardholder_name: row.get::<Option<String>>(at + 2)?.unwrap_or_default(),
        installments,
    }))
}
