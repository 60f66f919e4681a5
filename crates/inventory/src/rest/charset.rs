//! Decodes a body by the charset of its content type. Parsing is in `body`.

use std::{borrow::Cow, str::Utf8Error};

/// Decodes a body as UTF-8, unless its content type names Latin-1 or UTF-16. An unknown charset is
/// read as UTF-8. The error is a message about the first invalid bytes, worded as Python's codecs
/// word it, because clients of the conventions know that text.
pub(super) fn decode<'body>(
    content_type: Option<&str>,
    body: &'body [u8],
) -> Result<Cow<'body, str>, String> {
    match charset_name(content_type).as_deref() {
        Some("latin-1" | "latin1" | "iso-8859-1" | "iso8859-1") => {
            Ok(body.iter().map(|byte| char::from(*byte)).collect())
        }
        Some("utf-16-le" | "utf-16le") => utf_16("utf-16-le", u16::from_le_bytes, body),
        Some("utf-16-be" | "utf-16be") => utf_16("utf-16-be", u16::from_be_bytes, body),
        Some("utf-16" | "utf16") => match body {
            [0xfe, 0xff, rest @ ..] => utf_16("utf-16-be", u16::from_be_bytes, rest),
            [0xff, 0xfe, rest @ ..] => utf_16("utf-16-le", u16::from_le_bytes, rest),
            _ => utf_16("utf-16-le", u16::from_le_bytes, body),
        },
        _ => std::str::from_utf8(body)
            .map(Cow::Borrowed)
            .map_err(|error| not_utf_8(body, error)),
    }
}

/// The normalized value of the `charset` parameter.
fn charset_name(content_type: Option<&str>) -> Option<String> {
    content_type?.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim()
            .eq_ignore_ascii_case("charset")
            .then(|| value.trim().trim_matches('"').to_ascii_lowercase())
            .map(|value| value.replace('_', "-"))
    })
}

fn utf_16(codec: &str, unit: fn([u8; 2]) -> u16, body: &[u8]) -> Result<Cow<'static, str>, String> {
    let (pairs, rest) = body.as_chunks();
    if let [byte] = rest {
        let position = body.len() - 1;
        return Err(decode_error(codec, &[*byte], position, "truncated data"));
    }
    let mut position = 0;
    let mut text = String::with_capacity(pairs.len());
    for decoded in char::decode_utf16(pairs.iter().map(|pair| unit(*pair))) {
        let Ok(character) = decoded else {
            let pair = body.get(position..position + 2).unwrap_or_default();
            return Err(decode_error(
                codec,
                pair,
                position,
                "illegal UTF-16 surrogate",
            ));
        };
        position += character.len_utf16() * 2;
        text.push(character);
    }
    Ok(Cow::Owned(text))
}

fn not_utf_8(body: &[u8], error: Utf8Error) -> String {
    let position = error.valid_up_to();
    let rest = body.get(position..).unwrap_or_default();
    let wrong = rest.get(..error.error_len().unwrap_or(rest.len()));
    let why = match (error.error_len(), rest.first()) {
        (None, _) => "unexpected end of data",
        (Some(_), Some(0xc2..=0xf4)) => "invalid continuation byte",
        _ => "invalid start byte",
    };
    decode_error("utf-8", wrong.unwrap_or_default(), position, why)
}

fn decode_error(codec: &str, wrong: &[u8], position: usize, why: &str) -> String {
    let what = match wrong {
        [byte] => format!("byte 0x{byte:02x} in position {position}"),
        bytes => format!(
            "bytes in position {position}-{}",
            position + bytes.len().saturating_sub(1)
        ),
    };
    format!("'{codec}' codec can't decode {what}: {why}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(charset: &str, body: &[u8]) -> Result<String, String> {
        let content_type = format!("application/json; charset={charset}");
        decode(Some(&content_type), body).map(Cow::into_owned)
    }

    #[test]
    fn a_body_is_read_in_the_encoding_that_its_content_type_names() {
        for (charset, body) in [
            ("utf-8", &b"caf\xc3\xa9"[..]),
            ("zzz", b"caf\xc3\xa9"),
            ("latin-1", b"caf\xe9"),
            ("ISO-8859-1", b"caf\xe9"),
            ("\"iso_8859_1\"", b"caf\xe9"),
            ("utf-16-le", b"c\0a\0f\0\xe9\0"),
            ("UTF-16BE", b"\0c\0a\0f\0\xe9"),
            ("utf-16", b"\xff\xfec\0a\0f\0\xe9\0"),
            ("utf-16", b"\xfe\xff\0c\0a\0f\0\xe9"),
        ] {
            assert_eq!(read(charset, body).as_deref(), Ok("café"), "{charset}");
        }
        assert_eq!(decode(None, b"caf\xc3\xa9").as_deref(), Ok("café"));
        assert_eq!(read("utf-16-le", b"\x3d\xd8\x00\xde").as_deref(), Ok("😀"));
    }

    #[test]
    fn bytes_that_are_no_text_are_told_with_their_place() {
        for (charset, body, message) in [
            (
                "utf-8",
                &b"a\xe2\x82\""[..],
                "'utf-8' codec can't decode bytes in position 1-2: invalid continuation byte",
            ),
            (
                "utf-8",
                b"a\xf0\x9f\x98",
                "'utf-8' codec can't decode bytes in position 1-3: unexpected end of data",
            ),
            (
                "utf-16-le",
                b"a\0b",
                "'utf-16-le' codec can't decode byte 0x62 in position 2: truncated data",
            ),
            (
                "utf-16-be",
                b"\0a\xdc\0",
                "'utf-16-be' codec can't decode bytes in position 2-3: illegal UTF-16 surrogate",
            ),
        ] {
            assert_eq!(read(charset, body), Err(message.to_owned()), "{charset}");
        }
    }
}
