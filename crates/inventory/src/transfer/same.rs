//! Compares a cell with a stored value, whatever notation a spreadsheet used. Pure functions.

use db::{Money, Timestamp};
use resource::Kind;

const SECOND: i64 = 1_000_000;

/// Whether two texts are the same value of a field.
pub(super) fn is_same_value(kind: Kind, imported: &str, stored: &str) -> bool {
    let imported = imported.trim();
    match kind {
        Kind::Price | Kind::Decimal => is_same_parsed(Money::parse, imported, stored),
        Kind::Time => is_same_time(imported, stored),
        Kind::Id | Kind::Integer { .. } | Kind::Reference => {
            is_same_parsed(str::parse::<i64>, imported, stored)
        }
        // Spreadsheets may change line endings.
        _ => imported.replace("\r\n", "\n") == stored.replace("\r\n", "\n"),
    }
}

/// Files for users have whole seconds, and spreadsheets may store whole minutes.
fn is_same_time(imported: &str, stored: &str) -> bool {
    let (Ok(imported), Ok(stored)) = (Timestamp::parse(imported), Timestamp::parse(stored)) else {
        return false;
    };
    let is_cut =
        |unit: i64| stored.micros() - stored.micros().rem_euclid(unit) == imported.micros();
    imported == stored || is_cut(SECOND) || is_cut(60 * SECOND)
}

fn is_same_parsed<T: PartialEq, E>(
    read: impl Fn(&str) -> Result<T, E>,
    imported: &str,
    stored: &str,
) -> bool {
    match (read(imported), read(stored)) {
        (Ok(imported), Ok(stored)) => imported == stored,
        _ => false,
    }
}
