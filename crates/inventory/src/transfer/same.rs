//! Whether a cell of a file says what a record has, however a spreadsheet wrote it. Pure.

use db::{Money, Timestamp};
use resource::Kind;

/// Microseconds of a second.
const SECOND: i64 = 1_000_000;

/// Whether two texts are the same value of a field.
pub(super) fn is_same_value(kind: Kind, said: &str, stored: &str) -> bool {
    let said = said.trim();
    match kind {
        Kind::Price | Kind::Decimal => is_same_read(Money::parse, said, stored),
        Kind::Time => is_same_time(said, stored),
        Kind::Id | Kind::Integer { .. } | Kind::Reference => {
            is_same_read(str::parse::<i64>, said, stored)
        }
        // Spreadsheets end lines in their own way.
        _ => said.replace("\r\n", "\n") == stored.replace("\r\n", "\n"),
    }
}

/// Files for readers have whole seconds, and spreadsheets may show and keep whole minutes.
fn is_same_time(said: &str, stored: &str) -> bool {
    let (Ok(said), Ok(stored)) = (Timestamp::parse(said), Timestamp::parse(stored)) else {
        return false;
    };
    let is_cut = |unit: i64| stored.micros() - stored.micros().rem_euclid(unit) == said.micros();
    said == stored || is_cut(SECOND) || is_cut(60 * SECOND)
}

fn is_same_read<T: PartialEq, E>(
    read: impl Fn(&str) -> Result<T, E>,
    said: &str,
    stored: &str,
) -> bool {
    match (read(said), read(stored)) {
        (Ok(said), Ok(stored)) => said == stored,
        _ => false,
    }
}
