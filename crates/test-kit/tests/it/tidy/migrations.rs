//! Migrations come in pairs: the same names on both engines, and the same tables, columns, keys and
//! indexes once they have run. The files are run as they are, without the crate that runs them in
//! the product.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use test_kit::database::{Database, Engine};
use tokio_postgres::NoTls;

use super::{none, root};

/// A SQLite column type and what may stand for it on PostgreSQL. A number of 22 digits is money, a
/// text on SQLite; times and booleans are integers there.
const SAME_TYPES: [(&str, &[&str]); 3] = [
    (
        "INTEGER",
        &["bigint", "boolean", "timestamp with time zone"],
    ),
    ("TEXT", &["text", "numeric(22,2)"]),
    ("BLOB", &["bytea"]),
];

/// What a migrated database holds.
#[derive(Debug, Default)]
struct Schema {
    /// By table and column: the type, and whether NULL is refused.
    columns: BTreeMap<(String, String), (String, bool)>,
    /// Table, column, the table referred to, what happens on delete.
    foreign_keys: BTreeSet<(String, String, String, String)>,
    /// Table and name of each index that was made by name.
    indexes: BTreeSet<(String, String)>,
}

/// The crates that have migrations.
fn services() -> Vec<PathBuf> {
    let crates = fs::read_dir(root().join("crates")).unwrap();
    let mut services: Vec<_> = crates
        .map(|entry| entry.unwrap().path())
        .filter(|folder| folder.join("migrations").is_dir())
        .collect();
    services.sort();
    services
}

/// Name and text of each migration, in order.
fn migrations(service: &Path, engine: &str) -> BTreeMap<String, String> {
    let folder = service.join("migrations").join(engine);
    let files =
        fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    files
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, fs::read_to_string(path).unwrap())
        })
        .collect()
}

#[test]
fn every_migration_stands_for_both_engines_under_the_same_name() {
    for service in services() {
        let names = |engine| migrations(&service, engine).into_keys().collect::<Vec<_>>();
        assert_eq!(names("sqlite"), names("postgres"), "{}", service.display());
        for name in names("sqlite") {
            let (number, rest) = name.split_once('_').unwrap_or_default();
            let is_numbered = number.len() == 4 && number.bytes().all(|byte| byte.is_ascii_digit());
            let is_named = rest.strip_suffix(".sql").is_some();
            assert!(is_numbered && is_named, "{name}: NNNN_name.sql is expected");
        }
    }
}

#[tokio::test]
async fn migrated_databases_are_the_same_on_both_engines() {
    for service in services() {
        let sqlite = on_sqlite(&migrations(&service, "sqlite"));
        let postgres = on_postgres(&migrations(&service, "postgres")).await;
        let name = service.display();
        let keys = |schema: &Schema| schema.columns.keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&sqlite), keys(&postgres), "{name}: columns");
        assert_eq!(
            sqlite.foreign_keys, postgres.foreign_keys,
            "{name}: foreign keys"
        );
        assert_eq!(sqlite.indexes, postgres.indexes, "{name}: indexes");
        let mut wrong = Vec::new();
        for (column, (type_name, required)) in &sqlite.columns {
            let (postgres_type, postgres_required) = &postgres.columns[column];
            let is_same = SAME_TYPES.iter().any(|(ours, theirs)| {
                ours == type_name && theirs.contains(&postgres_type.as_str())
            });
            if !is_same || required != postgres_required {
                wrong.push(format!(
                    "{column:?}: {type_name}, required: {required}; {postgres_type}, required: {postgres_required}"
                ));
            }
        }
        none(
            &wrong,
            &format!("{name}: types differ (SQLite; PostgreSQL):"),
        );
    }
}

fn on_sqlite(migrations: &BTreeMap<String, String>) -> Schema {
    let connection = rusqlite::Connection::open_in_memory().unwrap();
    for (name, sql) in migrations {
        connection
            .execute_batch(sql)
            .unwrap_or_else(|error| panic!("sqlite/{name}: {error}"));
    }
    let rows = |sql: &str| -> Vec<Vec<String>> {
        let mut statement = connection.prepare(sql).unwrap();
        let count = statement.column_count();
        let rows = statement.query_map([], |row| (0..count).map(|index| row.get(index)).collect());
        rows.unwrap().map(Result::unwrap).collect()
    };
    let not_strict = rows(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND NOT strict AND name NOT LIKE 'sqlite%'",
    );
    assert!(
        not_strict.is_empty(),
        "tables that are not STRICT: {not_strict:?}"
    );
    schema(
        // A primary key refuses NULL without being declared so.
        rows(
            "SELECT t.name, c.name, c.type, CAST(c.\"notnull\" OR c.pk > 0 AS TEXT)
              FROM pragma_table_list t JOIN pragma_table_xinfo(t.name) c
              WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite%'",
        ),
        rows(
            "SELECT t.name, k.\"from\", k.\"table\", k.on_delete
              FROM pragma_table_list t JOIN pragma_foreign_key_list(t.name) k
              WHERE t.schema = 'main' AND t.type = 'table'",
        ),
        rows("SELECT tbl_name, name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL"),
    )
}

async fn on_postgres(migrations: &BTreeMap<String, String>) -> Schema {
    let database = Database::new(Engine::Postgres);
    let (client, connection) = tokio_postgres::connect(database.address(), NoTls)
        .await
        .unwrap();
    let connection = tokio::spawn(connection);
    for (name, sql) in migrations {
        let done = client.batch_execute(sql).await;
        done.unwrap_or_else(|error| panic!("postgres/{name}: {error:?}"));
    }
    let rows = async |sql: &str| -> Vec<Vec<String>> {
        let rows = client.query(sql, &[]).await.unwrap();
        let texts =
            |row: &tokio_postgres::Row| (0..row.len()).map(|index| row.get(index)).collect();
        rows.iter().map(texts).collect()
    };
    let schema = schema(
        rows("SELECT c.relname::text, a.attname::text, format_type(a.atttypid, a.atttypmod),
                     CASE WHEN a.attnotnull THEN '1' ELSE '0' END
              FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
              WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped")
            .await,
        rows("SELECT c.conrelid::regclass::text, a.attname::text, c.confrelid::regclass::text,
                     CASE c.confdeltype WHEN 'a' THEN 'NO ACTION' WHEN 'r' THEN 'RESTRICT'
                                        WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' ELSE 'SET DEFAULT' END
              FROM pg_constraint c JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = ANY(c.conkey)
              WHERE c.contype = 'f'")
            .await,
        rows("SELECT t.relname::text, i.relname::text
              FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid
              WHERE t.relnamespace = 'public'::regnamespace
                AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = x.indexrelid AND k.contype IN ('p', 'u'))")
            .await,
    );
    drop(client);
    connection.await.unwrap().unwrap();
    schema
}

fn schema(
    columns: Vec<Vec<String>>,
    foreign_keys: Vec<Vec<String>>,
    indexes: Vec<Vec<String>>,
) -> Schema {
    let columns = columns.into_iter().map(|row| {
        let [table, column, type_name, required] = row.try_into().expect("four values");
        ((table, column), (type_name, required == "1"))
    });
    let foreign_keys = foreign_keys.into_iter().map(|row| {
        let [table, column, to, on_delete] = row.try_into().expect("four values");
        (table, column, to, on_delete)
    });
    let indexes = indexes.into_iter().map(|row| {
        let [table, name] = row.try_into().expect("two values");
        (table, name)
    });
    Schema {
        columns: columns.collect(),
        foreign_keys: foreign_keys.collect(),
        indexes: indexes.collect(),
    }
}
