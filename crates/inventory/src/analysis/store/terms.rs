//! SQL for the supply terms of products.

use db::{Error, Money, Row, Tx};

use super::super::restock_terms::RestockTerms;

/// Reads the terms from a row, starting at column `first`. Decimals are stored as hundredths.
pub(super) fn of_row(row: &Row<'_>, first: usize) -> Result<RestockTerms, Error> {
    let decimal = |column| {
        let hundredths: Option<i64> = row.get(column)?;
        Ok::<_, Error>(hundredths.map(|hundredths| Money::from_cents(hundredths.into())))
    };
    Ok(RestockTerms {
        lead_time_days: row.get(first)?,
        lead_time_deviation_days: decimal(first + 1)?,
        service_level: decimal(first + 2)?,
        review_interval_days: row.get(first + 3)?,
        pack_multiple: row.get(first + 4)?,
    })
}

/// Writes a product's own terms. A product without any has no row.
pub(crate) async fn write(tx: &mut Tx, product: i64, terms: RestockTerms) -> Result<(), Error> {
    // `RestockTerms::read` has limited both decimals, so they fit.
    let hundredths = |value: Money| i64::try_from(value.cents()).unwrap_or(0);
    if terms == RestockTerms::default() {
        tx.execute(
            "DELETE FROM restock_terms WHERE product_id = $1",
            &[&product],
        )
        .await?;
        return Ok(());
    }
    let sql = "INSERT INTO restock_terms (product_id, lead_time, lead_time_deviation, service_level, review_interval, pack_multiple)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (product_id) DO UPDATE SET
             lead_time = excluded.lead_time, lead_time_deviation = excluded.lead_time_deviation,
             service_level = excluded.service_level, review_interval = excluded.review_interval,
             pack_multiple = excluded.pack_multiple";
    tx.execute(
        sql,
        &[
            &product,
            &terms.lead_time_days,
            &terms.lead_time_deviation_days.map(hundredths),
            &terms.service_level.map(hundredths),
            &terms.review_interval_days,
            &terms.pack_multiple,
        ],
    )
    .await
    .map(drop)
}
