//! Lists of payments, newest first. One statement for each set of conditions, so that each has its index on both engines.

use db::{Conn, Error, Timestamp};

use super::payments::{payment, payment_columns};
use crate::payments::model::Payment;
use crate::payments::state::PaymentState;
use crate::request::MethodKind;

/// Which payments a list shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Filter {
    pub(crate) status: Option<PaymentState>,
    pub(crate) method: Option<MethodKind>,
    /// The earliest moment of creation.
    pub(crate) from: Timestamp,
    /// The moment before which a payment was created.
    pub(crate) before: Timestamp,
}

macro_rules! counted {
    ($condition:literal) => {
        concat!(
            "SELECT count(*) FROM payments WHERE created_at >= $1 AND created_at < $2",
            $condition
        )
    };
}

// The ids of a page are found in the index first; the rows are joined after (deep pages are several times faster so).
macro_rules! paged {
    ($condition:literal) => {
        payment_columns!(concat!(
            "WHERE p.id IN (SELECT id FROM payments WHERE created_at >= $1 AND created_at < $2",
            $condition,
            " ORDER BY created_at DESC, id DESC LIMIT $3 OFFSET $4) ORDER BY p.created_at DESC, p.id DESC"
        ))
    };
}

/// How many payments the filter lets through.
pub(crate) async fn count_payments(conn: &mut Conn, filter: &Filter) -> Result<i64, Error> {
    let Filter {
        status,
        method,
        from,
        before,
    } = *filter;
    let (status, method) = (
        status.map(PaymentState::as_str),
        method.map(MethodKind::as_str),
    );
    match (status, method) {
        (None, None) => {
            conn.one(counted!(""), &[&from, &before], |row| row.get(0))
                .await
        }
        (Some(status), None) => {
            conn.one(
                counted!(" AND state = $3"),
                &[&from, &before, &status],
                |row| row.get(0),
            )
            .await
        }
        (None, Some(method)) => {
            conn.one(
                counted!(" AND method = $3"),
                &[&from, &before, &method],
                |row| row.get(0),
            )
            .await
        }
        (Some(status), Some(method)) => {
            let sql = counted!(" AND state = $3 AND method = $4");
            conn.one(sql, &[&from, &before, &status, &method], |row| row.get(0))
                .await
        }
    }
}

/// `limit` payments that the filter lets through, newest first, after the first `offset`.
pub(crate) async fn list_payments(
    conn: &mut Conn,
    filter: &Filter,
    limit: i64,
    offset: i64,
) -> Result<Vec<Payment>, Error> {
    let Filter {
        status,
        method,
        from,
        before,
    } = *filter;
    let (status, method) = (
        status.map(PaymentState::as_str),
        method.map(MethodKind::as_str),
    );
    match (status, method) {
        (None, None) => {
            conn.all(paged!(""), &[&from, &before, &limit, &offset], payment)
                .await
        }
        (Some(status), None) => {
            let sql = paged!(" AND state = $5");
            conn.all(sql, &[&from, &before, &limit, &offset, &status], payment)
                .await
        }
        (None, Some(method)) => {
            let sql = paged!(" AND method = $5");
            conn.all(sql, &[&from, &before, &limit, &offset, &method], payment)
                .await
        }
        (Some(status), Some(method)) => {
            let sql = paged!(" AND state = $5 AND method = $6");
            conn.all(
                sql,
                &[&from, &before, &limit, &offset, &status, &method],
                payment,
            )
            .await
        }
    }
}
