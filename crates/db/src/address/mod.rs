//! Where a database is. The scheme selects the engine. An unknown scheme is an error; there is no
//! default.

pub(crate) mod postgres;

use std::{fmt, path::PathBuf, str::FromStr};

use postgres::PostgresAddress;

/// Which database engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// A file of this machine.
    Sqlite,
    /// A server, or a distributed database that speaks its protocol.
    Postgres,
}

impl Engine {
    /// The join of a subquery with a limit on the left and a table on the right. SQLite does not
    /// know the limit when it plans, so `CROSS JOIN` fixes the order of the join. PostgreSQL finds
    /// the order by itself, and has no `CROSS JOIN … ON`.
    pub const fn join_in_order(self) -> &'static str {
        match self {
            Self::Sqlite => " CROSS JOIN ",
            Self::Postgres => " JOIN ",
        }
    }
}

/// Where a database is: `sqlite:PATH` or
/// `postgres://user:password@host:port/database?sslmode=require`.
#[derive(Clone)]
pub enum Address {
    /// The file, which need not exist yet.
    Sqlite(PathBuf),
    /// The server and the database on it.
    Postgres(PostgresAddress),
}

/// Why a text is no address of a database. Never repeats the text: a password may be in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAddress {
    /// The scheme is another, or missing.
    #[error("a database address is sqlite:PATH or postgres://user:password@host:port/database")]
    Scheme,
    /// `sqlite:` without a usable path.
    #[error(
        "sqlite: needs the path of a file (sqlite:PATH); databases in memory are not supported"
    )]
    Path,
    /// `postgres:` with something the driver cannot use.
    #[error("the PostgreSQL address cannot be used: {0}")]
    Postgres(String),
}

impl Address {
    /// The engine that the scheme chose.
    pub fn engine(&self) -> Engine {
        match self {
            Self::Sqlite(_) => Engine::Sqlite,
            Self::Postgres(_) => Engine::Postgres,
        }
    }
}

impl FromStr for Address {
    type Err = InvalidAddress;

    fn from_str(text: &str) -> Result<Self, InvalidAddress> {
        let (scheme, rest) = text.split_once(':').ok_or(InvalidAddress::Scheme)?;
        match scheme {
            "sqlite" => {
                let path = rest.strip_prefix("//").unwrap_or(rest);
                if path.is_empty() || path.contains(['?', '\0']) || path.starts_with(':') {
                    return Err(InvalidAddress::Path);
                }
                Ok(Self::Sqlite(PathBuf::from(path)))
            }
            "postgres" | "postgresql" => text
                .parse()
                .map(Self::Postgres)
                .map_err(InvalidAddress::Postgres),
            _ => Err(InvalidAddress::Scheme),
        }
    }
}

impl fmt::Display for Address {
    /// The address with the password masked.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(formatter, "sqlite:{}", path.display()),
            Self::Postgres(address) => address.fmt(formatter),
        }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Address({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheme_chooses_the_engine() {
        let engine = |text: &str| text.parse::<Address>().map(|address| address.engine());
        assert_eq!(engine("sqlite:balcao-data/x.db"), Ok(Engine::Sqlite));
        assert_eq!(engine("sqlite:/var/lib/x.db"), Ok(Engine::Sqlite));
        assert_eq!(engine("postgres://shop@db/shop"), Ok(Engine::Postgres));
        assert_eq!(engine("postgresql://shop@db/shop"), Ok(Engine::Postgres));
    }

    #[test]
    fn slashes_of_a_url_do_not_change_the_path() {
        for text in ["sqlite:a/b.db", "sqlite://a/b.db"] {
            assert_eq!(
                text.parse::<Address>().unwrap().to_string(),
                "sqlite:a/b.db"
            );
        }
        assert_eq!(
            "sqlite:///a/b.db".parse::<Address>().unwrap().to_string(),
            "sqlite:/a/b.db"
        );
    }

    #[test]
    fn anything_else_is_refused_and_not_repeated() {
        for text in [
            "",
            "mysql://u:secret@h/d",
            "file.db",
            "/var/x.db",
            "SQLITE:x",
            "sqlite:",
            "sqlite::memory:",
            "sqlite:x?mode=ro",
            "postgres://u:secret@host:port/d",
            "postgres://u:secret@h/d?sslmode=maybe",
            "postgres://u:secret@h/d?unknown=1",
            "postgres:",
        ] {
            let error = text.parse::<Address>().unwrap_err();
            assert!(!error.to_string().contains("secret"), "{text}");
        }
    }

    #[test]
    fn a_password_is_never_shown() {
        let text =
            "postgresql://shop:s%40cret@db.example:5433/shop?sslmode=require&password=hidden";
        let address: Address = text.parse().unwrap();
        assert_eq!(
            address.to_string(),
            "postgres://shop:***@db.example:5433/shop?sslmode=require"
        );
        assert_eq!(format!("{address:?}"), format!("Address({address})"));
    }
}
