//! SQLite's failures as [`Error`]s, with constraints named as PostgreSQL would name them.

use rusqlite::{Connection, ErrorCode, ffi};

use crate::{Error, ErrorKind};

/// Translates a failure. The name of a unique constraint is read from `connection`.
pub(crate) fn translate(connection: &Connection, error: rusqlite::Error) -> Error {
    let (code, message) = match error {
        rusqlite::Error::SqliteFailure(code, message) => (code, message.unwrap_or_default()),
        other => return Error::other(other.to_string()),
    };
    let kind = match code.code {
        ErrorCode::ConstraintViolation => constraint(connection, code, &message),
        ErrorCode::DatabaseBusy
        | ErrorCode::DatabaseLocked
        | ErrorCode::OperationInterrupted
        | ErrorCode::SystemIoFailure
        | ErrorCode::DiskFull
        | ErrorCode::OutOfMemory
        | ErrorCode::CannotOpen => ErrorKind::Unavailable,
        _ => ErrorKind::Other,
    };
    Error::new(kind, format!("{message} ({})", code.extended_code))
}

fn constraint(connection: &Connection, code: ffi::Error, message: &str) -> ErrorKind {
    let subject = message.split_once(": ").map_or("", |(_, subject)| subject);
    match code.extended_code {
        ffi::SQLITE_CONSTRAINT_UNIQUE
        | ffi::SQLITE_CONSTRAINT_PRIMARYKEY
        | ffi::SQLITE_CONSTRAINT_ROWID => ErrorKind::Unique(unique_name(connection, subject)),
        ffi::SQLITE_CONSTRAINT_FOREIGNKEY => ErrorKind::ForeignKey(String::new()),
        ffi::SQLITE_CONSTRAINT_CHECK => ErrorKind::Check(subject.to_owned()),
        _ => ErrorKind::Other,
    }
}

/// From `table.first, table.second` (or `index 'name'` for an index over an expression) to the
/// constraint's name.
fn unique_name(connection: &Connection, subject: &str) -> String {
    if let Some(index) = subject.strip_prefix("index '") {
        return index.trim_end_matches('\'').to_owned();
    }
    let table = subject.split_once('.').map_or("", |(table, _)| table);
    let columns: Vec<&str> = subject
        .split(", ")
        .filter_map(|column| column.split_once('.'))
        .map(|(_, column)| column)
        .collect();
    let index = unique_index(connection, table, &columns.join(","));
    match index {
        Some((name, origin)) if origin == "c" => name,
        Some((_, origin)) if origin == "u" => format!("{table}_{}_key", columns.join("_")),
        _ => format!("{table}_pkey"),
    }
}

/// The name of the unique index over exactly these columns and what made it: `c` for CREATE INDEX,
/// `u` for UNIQUE in a table, `pk` for a primary key. A table's rowid has no index.
fn unique_index(connection: &Connection, table: &str, columns: &str) -> Option<(String, String)> {
    connection
        .prepare_cached(
            r#"SELECT list.name, list.origin FROM pragma_index_list(?1) AS list
               WHERE list."unique" AND ?2 = (SELECT group_concat(info.name, ',' ORDER BY info.seqno)
                                             FROM pragma_index_info(list.name) AS info)
               ORDER BY list.seq"#,
        )
        .ok()?
        .query_row((table, columns), |row| Ok((row.get(0)?, row.get(1)?)))
        .ok()
}
