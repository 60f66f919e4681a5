//! Statements about the attempts and payments of an order. An attempt has the order's row id; a
//! payment is found through its attempt.

use db::{Conn, Error, Query, Row, Timestamp, Tx};

use crate::orders::model::OrderPayment;
use crate::payments::{AttemptStep, PaymentState};
use crate::request::MethodKind;

/// An attempt to pay an order, with what decides whether another may begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OrderAttempt {
    pub(crate) id: i64,
    pub(crate) step: AttemptStep,
    pub(crate) method: MethodKind,
    /// Whether a run holds a lease that has not expired.
    pub(crate) is_leased: bool,
    /// The provider's id and the state of the payment that was made.
    pub(crate) payment: Option<(String, PaymentState)>,
}

/// Attempts of an order that may have moved money, newest first.
pub(crate) async fn attempts_of(
    conn: &mut Conn,
    order: i64,
    now: Timestamp,
) -> Result<Vec<OrderAttempt>, Error> {
    conn.all(
        "SELECT a.id, a.step, a.method, a.leased_until, p.provider_id, p.state
         FROM attempts a LEFT JOIN payments p ON p.id = a.payment_id
         WHERE a.order_id = $1 AND a.step NOT IN ('refused', 'closed') ORDER BY a.id DESC",
        &[&order],
        |row| {
            let leased_until = row.get::<Option<Timestamp>>(3)?;
            Ok(OrderAttempt {
                id: row.get(0)?,
                step: row.get(1)?,
                method: row.get(2)?,
                is_leased: leased_until.is_some_and(|until| until > now),
                payment: row.get::<Option<String>>(4)?.zip(row.get(5)?),
            })
        },
    )
    .await
}

/// Removes the expired lease of a run that sent nothing. Returns false if that run has gone on.
pub(crate) async fn revoke_lease(tx: &mut Tx, attempt: i64, now: Timestamp) -> Result<bool, Error> {
    tx.execute_one(
        "UPDATE attempts SET lease = NULL, leased_until = NULL, check_at = NULL
         WHERE id = $1 AND step = 'started' AND (leased_until IS NULL OR leased_until <= $2)",
        &[&attempt, &now],
    )
    .await
}

/// The payments of these orders, each with the row of its order, newest first.
pub(crate) async fn payments_of(
    conn: &mut Conn,
    orders: impl Iterator<Item = i64>,
) -> Result<Vec<(i64, OrderPayment)>, Error> {
    let mut query = Query::new(
        "SELECT p.provider_id, p.state, p.provider_method, p.date_created, a.order_id
         FROM attempts a JOIN payments p ON p.id = a.payment_id WHERE a.order_id",
    );
    query.any_of(orders).push(" ORDER BY a.id DESC");
    let payment = |row: &Row<'_>| {
        let payment = OrderPayment {
            id: row.get(0)?,
            status: row.get(1)?,
            payment_method_id: row.get(2)?,
            date_created: row.get(3)?,
        };
        Ok((row.get(4)?, payment))
    };
    conn.all_of(&query, payment).await
}

/// The provider's ids and the methods of an order's pending payments.
pub(crate) async fn pending_of(
    conn: &mut Conn,
    order: i64,
) -> Result<Vec<(String, MethodKind)>, Error> {
    conn.all(
        "SELECT p.provider_id, p.method FROM attempts a JOIN payments p ON p.id = a.payment_id
         WHERE a.order_id = $1 AND p.state = 'pending' ORDER BY p.id",
        &[&order],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
    .await
}
