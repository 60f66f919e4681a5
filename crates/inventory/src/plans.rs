//! Query plans, for tests: how the engines are asked for the plan of a statement. The tests that no
//! list scans a whole table are beside the statements of each list.

use std::sync::Arc;

use db::{Conn, Db, Engine, Error, Query, Row, Timestamp};
use generator::{Plan, generate};

/// A database with a synthetic shop whose history ends at noon of 20 November 2026.
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

/// The steps that an engine plans for the statement that `finish` puts behind what it is given.
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

/// Asserts that `look` finds no step that reads a table whole.
pub(crate) async fn nothing_is_scanned<F>(db: Db, look: F)
where
    F: AsyncFn(&mut Conn) -> Result<Vec<String>, Error> + Send + 'static,
{
    let looked = db
        .read(async move |conn: &mut Conn| {
            forbid_scans(conn).await?;
            let looked = look(conn).await?;
            allow_scans(conn).await?;
            Ok::<_, Error>(looked)
        })
        .await
        .unwrap();
    assert!(looked.is_empty(), "{}", looked.join("\n"));
    db.close().await;
}

/// Forbids PostgreSQL to read a table whole, which it prefers while a table is small; where there
/// is no other way, it still does.
async fn forbid_scans(conn: &mut Conn) -> Result<(), Error> {
    if conn.engine() == Engine::Postgres {
        conn.execute("SET enable_seqscan = off", &[]).await?;
    }
    Ok(())
}

/// Gives the connection back as it was.
async fn allow_scans(conn: &mut Conn) -> Result<(), Error> {
    if conn.engine() == Engine::Postgres {
        conn.execute("RESET enable_seqscan", &[]).await?;
    }
    Ok(())
}
