//! Test helpers for query plans, for the tests that no list scans a whole table.

use std::sync::Arc;

use db::{Conn, Db, Engine, Error, Query, Row, Timestamp};
use generator::{Plan, generate};

/// A database with a synthetic shop whose history ends at noon of 20 November 2026 (UTC).
pub(crate) async fn shop(address: &str, (products, movements): (u64, u64), days: u32) -> Db {
    let options = db::Options::default();
    let db = Db::open(&address.parse().unwrap(), &options).await.unwrap();
    db.migrate(&crate::MIGRATIONS).await.unwrap();
    let plan = Plan {
        products,
        movements,
        seed: 1,
        days,
        until: Timestamp::parse("2026-11-20T12:00:00Z").unwrap(),
    };
    generate(&db, plan, Arc::new(|_| ())).await.unwrap();
    db
}

/// The steps of the query plan of the statement that `finish` appends to `EXPLAIN`.
pub(crate) async fn steps(
    conn: &mut Conn,
    finish: impl FnOnce(Query) -> Query,
) -> Result<Vec<String>, Error> {
    let (begin, column) = match conn.engine() {
        Engine::Sqlite => ("EXPLAIN QUERY PLAN ", 3),
        Engine::Postgres => ("EXPLAIN ", 0),
    };
    let query = finish(Query::new(begin));
    let steps = conn.all_of(&query, |row: &Row<'_>| row.get(column)).await?;
    assert!(!steps.is_empty());
    Ok(steps)
}

/// Whether a step of a query plan scans one of these tables, named as SQLite and PostgreSQL do.
pub(crate) fn is_full_scan(step: &str, aliases: &[&str], tables: &[&str]) -> bool {
    let step = step.trim().trim_start_matches("->").trim();
    aliases.iter().any(|name| step == format!("SCAN {name}"))
        || tables
            .iter()
            .any(|table| step.contains(&format!("Seq Scan on {table} ")))
}

/// Fails if `look` returns any step that scans a whole table.
pub(crate) async fn nothing_is_scanned<F>(db: Db, look: F)
where
    F: AsyncFn(&mut Conn) -> Result<Vec<String>, Error> + Send + 'static,
{
    let scans = db
        .read(async move |conn: &mut Conn| {
            // PostgreSQL prefers to scan small tables.
            on_postgres(conn, "SET enable_seqscan = off").await?;
            let scans = look(conn).await?;
            on_postgres(conn, "RESET enable_seqscan").await?;
            Ok::<_, Error>(scans)
        })
        .await
        .unwrap();
    assert!(scans.is_empty(), "{}", scans.join("\n"));
    db.close().await;
}

async fn on_postgres(conn: &mut Conn, sql: &'static str) -> Result<(), Error> {
    if conn.engine() == Engine::Postgres {
        conn.execute(sql, &[]).await?;
    }
    Ok(())
}
