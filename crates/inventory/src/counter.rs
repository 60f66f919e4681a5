//! The counters that give records their ids, when imports and made-up data give some themselves.

use db::{Engine, Error, Tx};

/// The statement that moves a table's counter on PostgreSQL behind its greatest id, and never back.
macro_rules! sequence {
    ($table:literal) => {
        concat!(
            "SELECT setval(pg_get_serial_sequence('",
            $table,
            "', 'id'), GREATEST((SELECT max(id) FROM ",
            $table,
            "), nextval(pg_get_serial_sequence('",
            $table,
            "', 'id'))))"
        )
    };
}
pub(crate) use sequence;

/// Runs such a statement; SQLite keeps count of given ids by itself.
pub(crate) async fn move_on(tx: &mut Tx, statement: &'static str) -> Result<(), Error> {
    if tx.engine() == Engine::Postgres {
        tx.one(statement, &[], |row| row.get::<Option<i64>>(0))
            .await?;
    }
    Ok(())
}
