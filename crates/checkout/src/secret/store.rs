//! Statements about the stored check value of the service's secret.

use db::{Error, Tx};

/// Stores the check value if there is none yet, and returns the stored one.
pub(super) async fn find_or_insert_proof(tx: &mut Tx, proof: &str) -> Result<String, Error> {
    tx.execute(
        "INSERT INTO secret_check (id, digest) VALUES (1, $1) ON CONFLICT (id) DO NOTHING",
        &[&proof],
    )
    .await?;
    tx.one("SELECT digest FROM secret_check WHERE id = 1", &[], |row| {
        row.get(0)
    })
    .await
}
