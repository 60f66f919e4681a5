//! Migrating a PostgreSQL database: each migration in a transaction of its own, under a lock, so
//! that replicas which start together migrate one after the other.

use tokio_postgres::{Client, Transaction};

use crate::{
    Engine, Error, Migrations,
    conn::postgres::{Connector, errors},
    migrations::{APPLIED, Migration, checksum},
};

/// An advisory lock is a number that all who use it agree on: the letters of "balcao" in ASCII.
const LOCK: i64 = 0x6261_6C63_616F;

/// How the transaction of a migration begins: it may take long, but does not wait for ever for a
/// lock.
const BEGIN: &str =
    "SET TRANSACTION READ WRITE; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '60s'";

/// Applies what is pending and names it.
pub(crate) async fn migrate(
    connector: &Connector,
    migrations: &Migrations,
) -> Result<Vec<&'static str>, Error> {
    let mut client = connector.connect().await?;
    let mut names = Vec::new();
    for set in migrations.sets() {
        while let Some(name) = apply_next(&mut client, &set).await? {
            if set.name == migrations.name {
                names.push(name);
            }
        }
    }
    Ok(names)
}

/// Applies the first pending one; `None` when none is pending.
async fn apply_next(client: &mut Client, set: &Migrations) -> Result<Option<&'static str>, Error> {
    let failed = |error: tokio_postgres::Error| errors::translate(&error).context("migrations");
    let transaction = client.transaction().await.map_err(failed)?;
    transaction.batch_execute(BEGIN).await.map_err(failed)?;
    transaction
        .execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK])
        .await
        .map_err(failed)?;
    let applied = applied(&transaction, set).await.map_err(failed)?;
    let Some(next) = set.pending(Engine::Postgres, &applied)?.first() else {
        transaction.commit().await.map_err(failed)?;
        return Ok(None);
    };
    run(&transaction, set.name, next).await.map_err(|error| {
        errors::translate(&error).context(&format!("migration {} of {}", next.0, set.name))
    })?;
    transaction.commit().await.map_err(failed)?;
    Ok(Some(next.0))
}

async fn applied(
    transaction: &Transaction<'_>,
    set: &Migrations,
) -> Result<Vec<(String, String)>, tokio_postgres::Error> {
    transaction
        .batch_execute(
            r#"CREATE TABLE IF NOT EXISTS schema_migrations (
                   service TEXT NOT NULL, name TEXT COLLATE "C" NOT NULL, checksum TEXT NOT NULL,
                   applied_at TIMESTAMPTZ NOT NULL DEFAULT now(), PRIMARY KEY (service, name)
               )"#,
        )
        .await?;
    let rows = transaction.query(APPLIED, &[&set.name]).await?;
    rows.iter()
        .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
        .collect()
}

async fn run(
    transaction: &Transaction<'_>,
    service: &str,
    (name, sql): &Migration,
) -> Result<(), tokio_postgres::Error> {
    transaction.batch_execute(sql).await?;
    let insert = "INSERT INTO schema_migrations (service, name, checksum) VALUES ($1, $2, $3)";
    transaction
        .execute(insert, &[&service, name, &checksum(sql)])
        .await
        .map(drop)
}
