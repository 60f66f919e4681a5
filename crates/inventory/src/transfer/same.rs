//! Whether a cell of a file says what a record has, however a spreadsheet wrote it. Pure.

use db::{Money, Timestamp};

use super::column::Content;

/// Microseconds of a second.
const SECOND: i64 = 1_000_000;

/// Whether two texts are the same value of a column.
pub(super) fn is_same_value(content: Content, said: &str, stored: &str) -> bool {
    let said = said.trim();
    match content {
        // Spreadsheets end lines in their own way.
        Content::Text => said.replace("\r\n", "\n") == stored.replace("\r\n", "\n"),
        Content::Price => is_same_read(Money::parse, said, stored),
        Content::Time => is_same_time(said, stored),
        Content::Number | Content::Reference(_) | Content::Name(..) => {
            is_same_read(str::parse::<i64>, said, stored)
        }
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
