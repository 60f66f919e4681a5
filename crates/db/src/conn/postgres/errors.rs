//! PostgreSQL's failures as [`Error`]s. The server's detail lines contain stored values, so they
//! are left out.

use tokio_postgres::error::{DbError, SqlState};

use crate::{Error, ErrorKind};

/// Translates a failure.
pub(crate) fn translate(error: &tokio_postgres::Error) -> Error {
    if let Some(server) = error.as_db_error() {
        let text = format!("{} ({})", server.message(), server.code().code());
        return Error::new(kind(server), text);
    }
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    if is_lost(error) {
        Error::unavailable(text)
    } else {
        Error::other(text)
    }
}

fn kind(server: &DbError) -> ErrorKind {
    let constraint = || server.constraint().unwrap_or_default().to_owned();
    let code = server.code();
    let class = code.code().get(..2).unwrap_or_default();
    match *code {
        SqlState::UNIQUE_VIOLATION => ErrorKind::Unique(constraint()),
        SqlState::FOREIGN_KEY_VIOLATION => ErrorKind::ForeignKey(constraint()),
        SqlState::CHECK_VIOLATION => ErrorKind::Check(constraint()),
        // The last of them: the statement was prepared by another server behind the same address.
        SqlState::T_R_SERIALIZATION_FAILURE
        | SqlState::T_R_DEADLOCK_DETECTED
        | SqlState::INVALID_SQL_STATEMENT_NAME => ErrorKind::Retry,
        // The statement was prepared before the schema changed.
        SqlState::FEATURE_NOT_SUPPORTED if server.message().contains("cached plan") => {
            ErrorKind::Retry
        }
        SqlState::LOCK_NOT_AVAILABLE => ErrorKind::Locked,
        SqlState::QUERY_CANCELED => ErrorKind::Unavailable,
        // 08 connection exception, 53 insufficient resources, 57 operator intervention, 58 system
        // error.
        _ if matches!(class, "08" | "53" | "57" | "58") => ErrorKind::Unavailable,
        _ => ErrorKind::Other,
    }
}

/// Whether the statements that a connection has prepared are of no use any more.
pub(super) fn is_stale(error: &tokio_postgres::Error) -> bool {
    error.as_db_error().is_some_and(|server| {
        matches!(
            *server.code(),
            SqlState::INVALID_SQL_STATEMENT_NAME | SqlState::FEATURE_NOT_SUPPORTED
        )
    })
}

/// Whether the connection is gone: closed, broken, or ended by the server (57P01 to 57P05).
pub(super) fn is_lost(error: &tokio_postgres::Error) -> bool {
    match error.as_db_error() {
        Some(server) => server.code().code().starts_with("57P"),
        None => {
            error.is_closed()
                || std::error::Error::source(error)
                    .is_some_and(<dyn std::error::Error>::is::<std::io::Error>)
        }
    }
}
