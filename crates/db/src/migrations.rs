//! Migrations in pairs, forward only: numbered SQL files with the same names for both engines, and
//! a table of the applied ones. `sqlite::migrate` and `postgres::migrate` run them.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::{Engine, Error};

/// The migrations of one service, made by [`migrations!`](crate::migrations!).
#[derive(Clone, Copy, Debug)]
pub struct Migrations {
    /// The service that they belong to; two services may share a PostgreSQL database.
    pub name: &'static str,
    /// Tables of others that the service uses, applied before its own. Services that share a
    /// database share these too.
    pub on: &'static [Self],
    /// Name and SQL of each, in order, for SQLite.
    pub sqlite: &'static [Migration],
    /// The same names with the SQL for PostgreSQL.
    pub postgres: &'static [Migration],
}

/// Name and SQL.
pub type Migration = (&'static str, &'static str);

/// Includes the files `migrations/sqlite/NAME.sql` and `migrations/postgres/NAME.sql` of the
/// calling crate, in the order given. Names begin with their number and never change; a file that
/// has been released is never edited.
///
/// ```text
/// pub const MIGRATIONS: db::Migrations = db::migrations!(name: "checkout", "0001_checkout", "0002_refunds");
/// ```
///
/// `on` names tables of another crate, which are made first:
/// `db::migrations!(name: "shop", on: [till::MIGRATIONS], "0001_shop")`.
#[macro_export]
macro_rules! migrations {
    (name: $service:literal, $($name:literal),+ $(,)?) => {
        $crate::migrations!(name: $service, on: [], $($name),+)
    };
    (name: $service:literal, on: [$($on:expr),*], $($name:literal),+ $(,)?) => {
        $crate::Migrations {
            name: $service,
            on: &[$($on),*],
            sqlite: &[$((
                $name,
                include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/sqlite/", $name, ".sql")),
            )),+],
            postgres: &[$((
                $name,
                include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/postgres/", $name, ".sql")),
            )),+],
        }
    };
}

/// The migrations of every database, before a service's own: `money_sum` and `money_times`, and the
/// table of replicas.
pub(crate) const BASE: Migrations = crate::migrations!(name: "db", "0001_db");

/// Selects the applied migrations of a service: the name and the checksum of each.
pub(crate) const APPLIED: &str =
    "SELECT name, checksum FROM schema_migrations WHERE service = $1 ORDER BY name";

/// Selects whether migrations were ever applied.
pub(crate) const fn has_migrations(engine: Engine) -> &'static str {
    match engine {
        Engine::Sqlite => {
            "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'schema_migrations')"
        }
        Engine::Postgres => "SELECT to_regclass('schema_migrations') IS NOT NULL",
    }
}

impl Migrations {
    /// All that a database needs, in the order in which it is applied.
    pub(crate) fn sets(self) -> impl Iterator<Item = Self> {
        [BASE]
            .into_iter()
            .chain(self.on.iter().copied())
            .chain([self])
    }

    pub(crate) fn of(&self, engine: Engine) -> &'static [Migration] {
        match engine {
            Engine::Sqlite => self.sqlite,
            Engine::Postgres => self.postgres,
        }
    }

    /// The migrations that are not applied yet, by name and checksum of those that are.
    ///
    /// An error when the database has seen a migration that this program does not know (a newer
    /// version made it), when the text of an applied one has changed, and when one before an
    /// applied one is missing.
    pub(crate) fn pending(
        &self,
        engine: Engine,
        applied: &[(String, String)],
    ) -> Result<&'static [Migration], Error> {
        let known = self.of(engine);
        let service = self.name;
        if let Some((newer, _)) = applied
            .iter()
            .find(|(seen, _)| known.iter().all(|(name, _)| name != seen))
        {
            return Err(Error::other(format!(
                "the database has the migration {newer} of {service}, which this program does not know: it was made by a newer \
                 version; use that one, or a backup from before"
            )));
        }
        for ((seen, of_seen), (name, sql)) in applied.iter().zip(known) {
            if seen != name {
                return Err(Error::other(format!(
                    "the migration {name} of {service} was not applied but the later {seen} was: migrations are only added at the end"
                )));
            }
            if *of_seen != checksum(sql) {
                return Err(Error::other(format!(
                    "the migration {name} of {service} was edited after this database had applied it: undo the edit and add a \
                     new migration"
                )));
            }
        }
        Ok(known.get(applied.len()..).unwrap_or_default())
    }
}

/// SHA-256 of the text, line ends as on Unix.
pub(crate) fn checksum(sql: &str) -> String {
    let digest = Sha256::digest(sql.replace("\r\n", "\n").as_bytes());
    digest.iter().fold(String::new(), |mut hex, byte| {
        // Writing to a String cannot fail.
        let _infallible = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SET: Migrations = Migrations {
        name: "shop",
        on: &[],
        sqlite: &[("0001_a", "A"), ("0002_b", "B"), ("0003_c", "C")],
        postgres: &[],
    };

    fn pending(applied: &[(&str, &str)]) -> Result<Vec<&'static str>, String> {
        let applied: Vec<_> = applied
            .iter()
            .map(|(name, sql)| ((*name).to_owned(), checksum(sql)))
            .collect();
        SET.pending(Engine::Sqlite, &applied)
            .map(|pending| pending.iter().map(|(name, _)| *name).collect())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_not_applied_is_pending_in_order() {
        assert_eq!(pending(&[]), Ok(vec!["0001_a", "0002_b", "0003_c"]));
        assert_eq!(pending(&[("0001_a", "A")]), Ok(vec!["0002_b", "0003_c"]));
        assert_eq!(
            pending(&[("0001_a", "A"), ("0002_b", "B"), ("0003_c", "C")]),
            Ok(vec![])
        );
    }

    #[test]
    fn newer_edited_and_missing_ones_are_refused() {
        let refusal = |applied: &[(&str, &str)]| pending(applied).unwrap_err();
        assert!(refusal(&[("0001_a", "A"), ("0009_z", "Z")]).contains("newer version"));
        assert!(refusal(&[("0001_a", "A "), ("0002_b", "B")]).contains("was edited"));
        assert!(refusal(&[("0002_b", "B")]).contains("was not applied"));
    }

    #[test]
    fn line_ends_of_a_checkout_do_not_count_as_an_edit() {
        assert_eq!(checksum("a\r\nb"), checksum("a\nb"));
        assert_ne!(checksum("a\nb"), checksum("a b"));
    }
}
