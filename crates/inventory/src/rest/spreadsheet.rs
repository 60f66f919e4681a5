//! Texts as cells of spreadsheets, escaped so that none is run as a formula.

use std::borrow::Cow;

/// Where a spreadsheet may end a cell. It may read a comma-separated file as semicolon-separated;
/// quotation marks within a cell then protect neither separators nor line breaks.
const ENDS: [char; 5] = [',', ';', '\t', '\n', '\r'];

/// Whether a cell that begins with this character is run as a formula.
fn is_formula(first: char) -> bool {
    matches!(first, '=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠')
}

/// Whether a text that begins with this character is escaped. Besides formulas: whitespace that a
/// spreadsheet may skip, and the apostrophe itself, so that unescaping is unambiguous.
fn is_escaped(first: char) -> bool {
    is_formula(first) || matches!(first, '\t' | '\r' | '\'')
}

/// Whether a segment is escaped: a formula, possibly after apostrophes or quotation marks.
fn is_escaped_within(rest: &str) -> bool {
    let rest = rest.trim_start_matches('\'').trim_start_matches('"');
    rest.starts_with(is_formula)
}

/// The segments of a text with their positions. Each but the last includes its separator.
fn segments(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_inclusive(ENDS).scan(0, |at, segment| {
        let start = *at;
        *at += segment.len();
        Some((start, segment))
    })
}

/// A text as a cell of a file.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    let needs_escape = |at: usize| match at {
        0 => text.starts_with(is_escaped),
        at => text.get(at..).is_some_and(is_escaped_within),
    };
    if !segments(text).any(|(at, _)| needs_escape(at)) {
        return Cow::Borrowed(text);
    }
    let mut cell = String::with_capacity(text.len() + 8);
    for (at, segment) in segments(text) {
        if needs_escape(at) {
            cell.push('\'');
        }
        cell.push_str(segment);
    }
    Cow::Owned(cell)
}

/// The text of a cell.
pub(crate) fn unescape(cell: &str) -> Cow<'_, str> {
    let is_escaped_at = |at: usize| {
        let rest = cell.get(at..).and_then(|rest| rest.strip_prefix('\''));
        rest.is_some_and(|rest| match at {
            0 => rest.starts_with(is_escaped),
            _ => is_escaped_within(rest),
        })
    };
    if !segments(cell).any(|(at, _)| is_escaped_at(at)) {
        return Cow::Borrowed(cell);
    }
    let unescaped = segments(cell).map(|(at, segment)| match segment.strip_prefix('\'') {
        Some(rest) if is_escaped_at(at) => rest,
        _ => segment,
    });
    Cow::Owned(unescaped.collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn formulas_are_escaped() {
        for (text, cell) in [
            ("=1+1", "'=1+1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("-5 °C", "'-5 °C"),
            ("'=x", "''=x"),
            ("'s-Hertogenbosch", "''s-Hertogenbosch"),
            ("Café", "Café"),
            ("a=b", "a=b"),
            ("a;=1+1", "a;'=1+1"),
            ("a,@b;-1", "a,'@b;'-1"),
            ("a;\"=1+1\"", "a;'\"=1+1\""),
            ("a;'=1", "a;''=1"),
            ("a;'b'", "a;'b'"),
            ("a\r\n+1\n\t=2", "a\r\n'+1\n\t'=2"),
            ("10, -5 ou 3; tudo", "10, -5 ou 3; tudo"),
        ] {
            assert_eq!(escape(text), cell);
            assert_eq!(unescape(cell), text);
        }
    }

    #[test]
    fn an_apostrophe_of_a_person_stays() {
        assert_eq!(unescape("'Ana'"), "'Ana'");
    }

    proptest! {
        #[test]
        fn every_text_reads_back(text in "['=+@\\-\t\r]{0,4}.{0,10}[;,\t\r\n'\"=+a ]{0,12}") {
            let cell = escape(&text);
            prop_assert_eq!(unescape(&cell), text.as_str());
            // However a spreadsheet splits the cell, no part runs as a formula. The file's own
            // quotation marks protect the first part.
            let runs = |(place, piece): (usize, &str)| match place {
                0 => piece.starts_with(is_formula),
                _ => piece.trim_start_matches('"').starts_with(is_formula),
            };
            prop_assert!(!cell.split(ENDS).enumerate().any(runs));
        }
    }
}
