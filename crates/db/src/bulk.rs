//! Bulk loads: many rows at once, and indexes that are built after the tables are full. Statement
//! by statement, the data sets of benchmarks would take hours.

use crate::{Engine, Error, Rows, Tx};

/// Indexes, and on PostgreSQL foreign keys, that were dropped and must be created again before the
/// transaction ends.
#[derive(Debug)]
#[must_use = "dropped indexes must be rebuilt"]
pub struct DroppedIndexes(Vec<String>);

/// Statements that select, for each index or foreign key of a table, one statement that drops it
/// and one that creates it.
const POSTGRES_FOREIGN_KEYS: &str =
    "SELECT 'ALTER TABLE ' || $1 || ' DROP CONSTRAINT ' || quote_ident(conname),
            'ALTER TABLE ' || $1 || ' ADD CONSTRAINT ' || quote_ident(conname) || ' ' || pg_get_constraintdef(oid)
     FROM pg_constraint WHERE contype = 'f' AND conrelid = CAST($1 AS regclass) ORDER BY conname";
const POSTGRES_INDEXES: &str =
    "SELECT 'DROP INDEX ' || CAST(CAST(i.indexrelid AS regclass) AS TEXT), pg_get_indexdef(i.indexrelid)
     FROM pg_index AS i
     WHERE i.indrelid = CAST($1 AS regclass)
       AND NOT EXISTS (SELECT 1 FROM pg_constraint AS c WHERE c.conindid = i.indexrelid)
     ORDER BY i.indexrelid";
const SQLITE_INDEXES: &str = "SELECT 'DROP INDEX \"' || name || '\"', sql FROM sqlite_master
     WHERE type = 'index' AND tbl_name = $1 AND sql IS NOT NULL ORDER BY name";

impl Tx {
    /// Inserts all `rows` and empties the buffer: by one prepared statement on SQLite, by `COPY` on
    /// PostgreSQL.
    ///
    /// # Errors
    /// What the database refuses; nothing of the transaction stays then.
    pub async fn insert_rows(&mut self, rows: &mut Rows) -> Result<(), Error> {
        let inserted = self.insert_values(rows).await;
        rows.values.clear();
        inserted
    }

    /// Moves the sequence of a table's ids beyond the greatest id, and never back, after rows were
    /// inserted with explicit ids. SQLite does so by itself.
    pub async fn move_ids_on(&mut self, table: &'static str) -> Result<(), Error> {
        if self.engine() == Engine::Postgres {
            let highest = format!("(SELECT max(id) FROM {table})");
            self.move_sequence(table, &highest).await?;
        }
        Ok(())
    }

    /// Reserves all ids up to `highest`: rows of `table` without an explicit id get a greater one.
    pub async fn reserve_ids(&mut self, table: &'static str, highest: i64) -> Result<(), Error> {
        if self.engine() == Engine::Postgres {
            return self.move_sequence(table, &highest.to_string()).await;
        }
        let raised =
            format!("UPDATE sqlite_sequence SET seq = max(seq, {highest}) WHERE name = '{table}'");
        let begun = format!(
            "INSERT INTO sqlite_sequence (name, seq) SELECT '{table}', {highest}
             WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = '{table}')"
        );
        self.execute_text(&raised).await?;
        self.execute_text(&begun).await.map(drop)
    }

    /// Moves a sequence of PostgreSQL beyond a number, given as SQL, and never back.
    async fn move_sequence(&mut self, table: &str, highest: &str) -> Result<(), Error> {
        let sequence = format!("pg_get_serial_sequence('{table}', 'id')");
        let moved = format!("SELECT setval({sequence}, GREATEST({highest}, nextval({sequence})))");
        self.number_of_text(&moved).await.map(drop)
    }

    /// Drops the indexes of these tables, save those of primary keys and unique constraints, and on
    /// PostgreSQL their foreign keys. Building an index once on a full table is many times faster
    /// than updating it row by row. The drop is part of the transaction, so neither a failure nor a
    /// crash leaves a table without indexes.
    pub async fn drop_indexes(&mut self, tables: &[&'static str]) -> Result<DroppedIndexes, Error> {
        let queries: &[&'static str] = match self.engine() {
            Engine::Sqlite => &[SQLITE_INDEXES],
            Engine::Postgres => &[POSTGRES_INDEXES, POSTGRES_FOREIGN_KEYS],
        };
        let mut definitions = Vec::new();
        for query in queries {
            for table in tables {
                let found: Vec<(String, String)> = self
                    .all(query, &[table], |row| Ok((row.get(0)?, row.get(1)?)))
                    .await?;
                for (drop, create) in found {
                    self.execute_text(&drop).await?;
                    definitions.push(create);
                }
            }
        }
        Ok(DroppedIndexes(definitions))
    }

    /// Creates dropped indexes and foreign keys again; existing rows are checked against them.
    ///
    /// # Errors
    /// What the database refuses: a row that breaks a foreign key, a full disk.
    pub async fn rebuild_indexes(&mut self, dropped: DroppedIndexes) -> Result<(), Error> {
        for definition in dropped.0 {
            self.execute_text(&definition).await?;
        }
        Ok(())
    }
}
