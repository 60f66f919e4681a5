//! Migrating a SQLite file: everything pending in one transaction, after a copy of the file.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use super::backup;
use crate::{
    Engine, Error, Migrations, Options,
    conn::sqlite::{Connection, Role, folder_of},
    migrations::{APPLIED, BASE, checksum},
};

/// How long another process that migrates the same file is waited for.
const PATIENCE: Duration = Duration::from_secs(60);
/// Copies kept beside the database; older ones are removed.
const COPIES_KEPT: usize = 5;
const COPY_MARK: &str = "-before-";

/// Applies what is pending and names it. Blocks on the disk.
pub(crate) fn migrate(
    path: &Path,
    options: &Options,
    migrations: &Migrations,
) -> Result<Vec<&'static str>, Error> {
    let options = Options {
        wait: PATIENCE,
        ..options.clone()
    };
    let connection = Connection::open(path, Role::Maintenance, &options)?;
    // A table can only be rebuilt with its references unchecked; they are checked before the commit
    // instead.
    connection.control("PRAGMA foreign_keys = OFF")?;
    connection.control("BEGIN IMMEDIATE")?;
    let applied = apply(&connection, path, &options, migrations);
    match applied {
        Ok(applied) => connection.control("COMMIT").map(|()| applied),
        Err(error) => {
            connection.roll_back();
            Err(error)
        }
    }
}

/// Applies what is pending inside the transaction that is open.
pub(crate) fn apply(
    connection: &Connection,
    path: &Path,
    options: &Options,
    migrations: &Migrations,
) -> Result<Vec<&'static str>, Error> {
    let was_empty = is_empty(connection)?;
    connection.control(
        "CREATE TABLE IF NOT EXISTS schema_migrations (
             service TEXT NOT NULL, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at INTEGER NOT NULL,
             PRIMARY KEY (service, name)
         ) STRICT",
    )?;
    let mut pending = Vec::new();
    for set in migrations.sets() {
        let list = set.pending(Engine::Sqlite, &applied(connection, &set)?)?;
        pending.extend(list.iter().map(|one| (set.name, one)));
    }
    // What every database has is renewed without a copy.
    let first = pending.iter().find(|(set, _)| *set != BASE.name);
    if let (Some((set, (first, _))), false) = (first, was_empty) {
        keep_copy(connection, path, options, &format!("{set}-{first}"))?;
    }
    for (set, (name, sql)) in &pending {
        run(connection, set, name, sql)?;
    }
    check_references(connection)?;
    let own = pending.iter().filter(|(set, _)| *set == migrations.name);
    Ok(own.map(|(_, (name, _))| *name).collect())
}

fn is_empty(connection: &Connection) -> Result<bool, Error> {
    connection
        .raw()
        .query_row(
            "SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)",
            [],
            |row| row.get(0),
        )
        .map_err(|error| connection.translate(error, "schema"))
}

fn applied(connection: &Connection, set: &Migrations) -> Result<Vec<(String, String)>, Error> {
    let read = || {
        let mut statement = connection.raw().prepare(APPLIED)?;
        let rows = statement.query_map([set.name], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.collect::<rusqlite::Result<_>>()
    };
    read().map_err(|error| connection.translate(error, "applied migrations"))
}

fn run(connection: &Connection, service: &str, name: &str, sql: &str) -> Result<(), Error> {
    let doing = format!("migration {name} of {service}");
    let raw = connection.raw();
    raw.execute_batch(sql)
        .map_err(|error| connection.translate(error, &doing))?;
    if connection.is_idle() {
        return Err(Error::other(format!(
            "{doing} ended the transaction around it"
        )));
    }
    let insert = "INSERT INTO schema_migrations (service, name, checksum, applied_at)
                  VALUES (?1, ?2, ?3, CAST(unixepoch('subsec') * 1000000 AS INTEGER))";
    raw.execute(insert, (service, name, checksum(sql)))
        .map(drop)
        .map_err(|error| connection.translate(error, &doing))
}

fn check_references(connection: &Connection) -> Result<(), Error> {
    let broken: i64 = connection
        .raw()
        .query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| {
            row.get(0)
        })
        .map_err(|error| connection.translate(error, "foreign keys"))?;
    if broken > 0 {
        return Err(Error::other(format!(
            "after the migrations {broken} rows would refer to rows that do not exist; nothing was changed"
        )));
    }
    Ok(())
}

/// Copies the database as it was before this transaction to `FILE.TIME-before-MIGRATION.backup`.
fn keep_copy(
    connection: &Connection,
    path: &Path,
    options: &Options,
    before: &str,
) -> Result<(), Error> {
    let target = free_name(connection, path, before)?;
    backup::copy(path, &target, options)?;
    tracing::info!(backup = %target.display(), "copied the database before migrating it");
    remove_old_copies(path).map_err(|error| Error::other(format!("old copies: {error}")))
}

/// A name that no copy has. Two migrations within a millisecond would share one, and a backup never
/// replaces a file.
fn free_name(connection: &Connection, path: &Path, before: &str) -> Result<PathBuf, Error> {
    loop {
        let time: String = connection
            .raw()
            .query_row("SELECT strftime('%Y%m%dT%H%M%f', 'now')", [], |row| {
                row.get(0)
            })
            .map_err(|error| connection.translate(error, "time"))?;
        let mut target = path.as_os_str().to_owned();
        target.push(format!(".{time}{COPY_MARK}{before}.backup"));
        let target = PathBuf::from(target);
        if !target.exists() {
            return Ok(target);
        }
    }
}

fn remove_old_copies(path: &Path) -> std::io::Result<()> {
    let Some(own) = path.file_name().and_then(|name| name.to_str()) else {
        return Ok(());
    };
    let mut copies = Vec::new();
    for entry in fs::read_dir(folder_of(path))? {
        let path = entry?.path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        if name.strip_prefix(own).is_some_and(|rest| {
            rest.starts_with('.') && rest.contains(COPY_MARK) && rest.ends_with(".backup")
        }) {
            copies.push(path);
        }
    }
    // Names begin with the time, so the oldest come first.
    copies.sort();
    let surplus = copies.len().saturating_sub(COPIES_KEPT);
    copies.iter().take(surplus).try_for_each(fs::remove_file)
}
