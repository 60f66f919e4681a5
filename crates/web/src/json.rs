//! JSON as the answers of APIs are written: compact, with U+2028 and U+2029 escaped. JavaScript once
//! took these two for line ends, so the conventions escape them.

use std::io::{self, Write};

use http::{HeaderValue, StatusCode, header::CONTENT_TYPE};

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

use crate::Error;

/// The capacity for the JSON of a record; most fit.
pub const RECORD_BYTES: usize = 512;

struct EscapedLineEnds;

impl Formatter for EscapedLineEnds {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        write_escaped(writer, fragment)
    }

    /// In JSON, the two characters only occur within strings.
    fn write_raw_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        write_escaped(writer, fragment)
    }
}

fn write_escaped<W: ?Sized + Write>(writer: &mut W, text: &str) -> io::Result<()> {
    // Both begin with this byte in UTF-8, and most texts have none.
    if !text.as_bytes().contains(&0xE2) {
        return writer.write_all(text.as_bytes());
    }
    for part in text.split_inclusive(['\u{2028}', '\u{2029}']) {
        let plain = part.trim_end_matches(['\u{2028}', '\u{2029}']);
        writer.write_all(plain.as_bytes())?;
        match part.get(plain.len()..) {
            Some("\u{2028}") => writer.write_all(br"\u2028")?,
            Some("\u{2029}") => writer.write_all(br"\u2029")?,
            _ => {}
        }
    }
    Ok(())
}

/// Writes a value. `bytes` is the initial capacity: growing a buffer copies it and wipes the old
/// one.
///
/// # Errors
///
/// A value that cannot be written as JSON.
pub fn write(bytes: usize, value: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut written = Vec::with_capacity(bytes);
    value.serialize(&mut Serializer::with_formatter(
        &mut written,
        EscapedLineEnds,
    ))?;
    Ok(written)
}

/// An answer with a value, written as [`write()`] does.
pub fn answer(bytes: usize, status: StatusCode, value: &impl Serialize) -> Response {
    match write(bytes, value) {
        Ok(body) => (
            status,
            [(CONTENT_TYPE, HeaderValue::from_static("application/json"))],
            Body::from(body),
        )
            .into_response(),
        Err(error) => Error::internal(error).into_response(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::to_raw_value;

    use super::*;

    #[test]
    fn the_two_line_ends_of_old_scripts_are_escaped_wherever_they_come_from() {
        let text = "\u{2028}\u{2029}a\u{2028}b“\u{2027}é\u{85}\u{7f}\"";
        let escaped = "\\u2028\\u2029a\\u2028b“\u{2027}é\u{85}\u{7f}\\\"";
        let values = (text, to_raw_value(text).unwrap());
        let written = String::from_utf8(write(0, &values).unwrap()).unwrap();
        assert_eq!(written, format!("[\"{escaped}\",\"{escaped}\"]"));
    }
}
