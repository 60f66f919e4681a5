//! Bulk inserts of orders.

use db::{Kind, Money, Rows, Timestamp};

pub(super) const fn rows() -> Rows {
    Rows::new(
        "orders",
        &[
            ("public_id", Kind::Text),
            ("token_digest", Kind::Text),
            ("reference", Kind::Text),
            ("status", Kind::Text),
            ("amount", Kind::Money),
            ("description", Kind::Text),
            ("items", Kind::Text),
            ("payment_methods", Kind::Text),
            ("metadata", Kind::Text),
            ("expires_at", Kind::Timestamp),
            ("created_at", Kind::Timestamp),
            ("updated_at", Kind::Timestamp),
            ("is_late", Kind::Boolean),
        ],
    )
}

/// Adds the order with this number.
pub(super) fn push(rows: &mut Rows, number: i64, status: &str, made_at: Timestamp) {
    rows.push([
        format!("ord_{number}").into(),
        format!("token of {number}").into(),
        format!("r{number}").into(),
        status.into(),
        Money::from_cents(1999).into(),
        "Bench".into(),
        r#"[{"title":"Bench","quantity":1,"unit_price":19.99,"sku":null}]"#.into(),
        "card,pix,boleto".into(),
        "{}".into(),
        made_at.into(),
        made_at.into(),
        made_at.into(),
        false.into(),
    ]);
}
