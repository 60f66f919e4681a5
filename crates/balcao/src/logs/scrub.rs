//! Masks digits in log lines that look like a card number.
//!
//! Our code logs no card numbers, but a library or an error text of the provider might. Security
//! codes cannot be recognised by their form, so they have types that do not print.

use std::borrow::Cow;
use std::io::{self, Write};
use std::ops::Range;

use brazil::{Network, is_luhn_valid};

/// The number of digits of the shortest and the longest card number.
const DIGITS: std::ops::RangeInclusive<usize> = 13..=19;

/// The most separators between two groups of a card number.
const SEPARATORS_MAX: usize = 3;

/// A writer that masks card numbers. Each log line must be written in a single call.
pub(super) struct ScrubbingWriter<W>(pub(super) W);

impl<W: Write> Write for ScrubbingWriter<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.write_all(&scrubbed(line))?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// A line with its card numbers masked.
fn scrubbed(line: &[u8]) -> Cow<'_, [u8]> {
    if !has_enough_digits(line) {
        return Cow::Borrowed(line);
    }
    let groups = groups_of_digits(line);
    let mut masked = Cow::Borrowed(line);
    for (start, first) in groups.iter().enumerate() {
        let mut digits = String::new();
        let mut end = first.start;
        for group in groups.iter().skip(start) {
            let joined = end == first.start || are_joined(line, end..group.start);
            if !joined || digits.len() + group.len() > *DIGITS.end() {
                break;
            }
            digits.extend(
                line.get(group.clone())
                    .unwrap_or_default()
                    .iter()
                    .map(|digit| char::from(*digit)),
            );
            end = group.end;
            if DIGITS.contains(&digits.len())
                && is_luhn_valid(&digits)
                && Network::of(&digits).is_some()
            {
                mask(masked.to_mut(), first.start..end);
            }
        }
    }
    masked
}

/// Whether a line has enough consecutive digits for a card number, grouped or not. Few lines do, so
/// this check is fast: it reads one byte in thirteen. A number of thirteen digits cannot lie
/// between two of them.
fn has_enough_digits(line: &[u8]) -> bool {
    let step = *DIGITS.start();
    let mut place = step - 1;
    while let Some((before, after)) = line.split_at_checked(place) {
        let from = before.iter().rposition(|byte| !is_of_number(*byte));
        let length = after.iter().position(|byte| !is_of_number(*byte));
        let row = from.map_or(0, |from| from + 1)..place + length.unwrap_or(after.len());
        place = row.end + step;
        if row.len() >= step && has_number(line.get(row).unwrap_or_default()) {
            return true;
        }
    }
    false
}

/// Whether a byte can occur in a number, including the separators of groups.
const fn is_of_number(byte: u8) -> bool {
    byte.is_ascii_digit() || is_separator(byte)
}

const fn is_separator(byte: u8) -> bool {
    matches!(byte, b' ' | b'-' | b'.' | b'_')
}

/// Whether there are enough digits with only short separators between them.
fn has_number(row: &[u8]) -> bool {
    let (mut digits, mut separators) = (0, 0);
    row.iter().any(|byte| {
        if byte.is_ascii_digit() {
            (digits, separators) = (digits + 1, 0);
        } else {
            separators += 1;
            if separators > SEPARATORS_MAX {
                digits = 0;
            }
        }
        digits >= *DIGITS.start()
    })
}

/// The ranges of adjacent digits.
fn groups_of_digits(line: &[u8]) -> Vec<Range<usize>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    for (place, _) in line
        .iter()
        .enumerate()
        .filter(|(_, byte)| byte.is_ascii_digit())
    {
        match groups.last_mut() {
            Some(group) if group.end == place => group.end += 1,
            _ => groups.push(place..place + 1),
        }
    }
    groups
}

/// Whether two groups may belong to one card number.
fn are_joined(line: &[u8], between: Range<usize>) -> bool {
    let between = line.get(between).unwrap_or_default();
    between.len() <= SEPARATORS_MAX && between.iter().all(|byte| is_separator(*byte))
}

fn mask(line: &mut [u8], place: Range<usize>) {
    for byte in line.get_mut(place).unwrap_or_default() {
        *byte = b'*';
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scrub(line: &str) -> String {
        String::from_utf8(scrubbed(line.as_bytes()).into_owned()).unwrap()
    }

    #[test]
    fn card_numbers_are_masked_however_they_are_grouped() {
        for number in [
            "4235647728025682",
            "5031 4332 1540 6351",
            "3753-651535-56885",
            "4235.6477.2802.5682",
            "4235_6477 - 2802--5682",
        ] {
            let line = scrub(&format!("2026-11-20 00:00:01 refused {number}, 3 left"));
            assert_eq!(
                line,
                format!(
                    "2026-11-20 00:00:01 refused {}, 3 left",
                    "*".repeat(number.len())
                )
            );
        }
    }

    #[test]
    fn only_lines_with_enough_digits_are_searched_for_numbers() {
        assert!(!has_enough_digits(
            b"2026-11-20T00:18:12.123456Z  INFO 127.0.0.1: 4235 6477 2802"
        ));
        assert!(has_enough_digits(b"x4235 6477-2802 5x"));
        for place in 0..40 {
            let line = format!("{:place$}.4235647728025.", ".".repeat(place));
            assert!(has_enough_digits(line.as_bytes()), "{line}");
        }
        assert!(has_enough_digits(b"4235   6477 2802 5"));
        assert!(!has_enough_digits(b"4235    6477 2802 5"));
    }

    #[test]
    fn other_long_numbers_stay() {
        for line in [
            "payment 1234567890 at 1742505638683 micros 1763640000000000",
            "34195844100000020005000001233203186422147000",
            "4235647728025683",
            "",
        ] {
            assert_eq!(scrub(line), line);
        }
    }
}
