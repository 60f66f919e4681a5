//! JSON as the answers of APIs are written: compact, with U+2028 and U+2029 escaped. JavaScript once
//! took these two for line ends, so the conventions escape them.

use http::{HeaderValue, StatusCode, header::CONTENT_TYPE};

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use memchr::memmem;
use serde::Serialize;

use crate::Error;

/// The capacity for the JSON of a record; most fit.
pub const RECORD_BYTES: usize = 512;

/// The two characters, and their escapes.
const LINE_ENDS: [(&str, &str); 2] = [("\u{2028}", "\\u2028"), ("\u{2029}", "\\u2029")];

/// Writes a value. `bytes` is the initial capacity: growing a buffer copies it and wipes the old
/// one.
///
/// # Errors
///
/// A value that cannot be written as JSON.
pub fn write(bytes: usize, value: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut json = Vec::with_capacity(bytes);
    serde_json::to_writer(&mut json, value)?;
    // In JSON, the two only occur within strings, and hardly ever.
    for (line_end, escape) in LINE_ENDS {
        if memmem::find(&json, line_end.as_bytes()).is_some() {
            let text = String::from_utf8_lossy(&json);
            json = text.replace(line_end, escape).into_bytes();
        }
    }
    Ok(json)
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
