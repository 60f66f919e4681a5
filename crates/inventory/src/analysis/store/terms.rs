//! Statements about the supply terms of products.

use db::{Error, Tx};

use super::history::OwnTerms;

/// Writes what is known of a product; nothing known leaves no row.
pub(crate) async fn write(tx: &mut Tx, product: i64, terms: OwnTerms) -> Result<(), Error> {
    if terms == OwnTerms::default() {
        tx.execute(
            "DELETE FROM restock_terms WHERE product_id = $1",
            &[&product],
        )
        .await?;
        return Ok(());
    }
    tx.execute(
        "INSERT INTO restock_terms (product_id, lead_time, lead_time_deviation, service_level, review_interval, pack_multiple)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (product_id) DO UPDATE SET
             lead_time = excluded.lead_time, lead_time_deviation = excluded.lead_time_deviation,
             service_level = excluded.service_level, review_interval = excluded.review_interval,
             pack_multiple = excluded.pack_multiple",
        &[
            &product,
            &terms.lead_time,
            &terms.lead_time_deviation,
            &terms.service_level,
            &terms.review_interval,
            &terms.pack_multiple,
        ],
    )
    .await?;
    Ok(())
}
