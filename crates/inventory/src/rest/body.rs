//! From the bytes of a request body to the members of one JSON object, with the conventional words for what is wrong.

use serde_json::value::RawValue;

use super::{fields::Members, query::Parameters, value::Value};

/// Why a body holds no object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// The content type is not JSON: 415.
    #[error("unsupported media type")]
    MediaType(String),
    /// Not JSON at all: 400 with this `detail`.
    #[error("malformed JSON")]
    Malformed(String),
    /// JSON, but not an object: 400 with this message under `non_field_errors`.
    #[error("not an object")]
    NotAnObject(String),
}

/// Reads a body as one JSON object. No body is an object without members; of a member that comes twice the last counts.
///
/// # Errors
///
/// [`BodyError`], in this order: content type, JSON, object.
pub fn parse(content_type: Option<&str>, body: &[u8]) -> Result<Members, BodyError> {
    if body.is_empty() {
        return Ok(Members::new());
    }
    if !is_json(content_type) {
        return Err(BodyError::MediaType(
            content_type.unwrap_or_default().chars().take(200).collect(),
        ));
    }
    let text =
        std::str::from_utf8(body).map_err(|error| BodyError::Malformed(not_utf8(body, error)))?;
    if text.starts_with('\u{feff}') {
        return Err(BodyError::Malformed(located(
            "Unexpected UTF-8 BOM (decode using utf-8-sig)",
            text,
            0,
        )));
    }
    let raw: &RawValue =
        serde_json::from_str(text).map_err(|error| BodyError::Malformed(reason(text, &error)))?;
    match Value::of(raw) {
        Value::Object => {
            serde_json::from_str(text).map_err(|error| BodyError::Malformed(reason(text, &error)))
        }
        Value::Null => Err(BodyError::NotAnObject("No data provided".to_owned())),
        value => Err(BodyError::NotAnObject(format!(
            "Invalid data. Expected a dictionary, but got {}.",
            value.kind()
        ))),
    }
}

/// Reads a form's body as the members of an object of texts, so that one reader checks forms and JSON alike. Browsers send a line's end as
/// two characters, whatever it was: it is one again, so that a text that was not changed stays as it is, and as long.
pub fn parse_form(body: &[u8]) -> Members {
    let form = Parameters::parse(&String::from_utf8_lossy(body));
    form.iter()
        .filter_map(|(name, value)| {
            let value = serde_json::value::to_raw_value(&value.replace("\r\n", "\n")).ok()?;
            Some((name.to_owned(), value))
        })
        .collect()
}

/// Whether a content type is that of forms.
pub fn is_form(content_type: Option<&str>) -> bool {
    essence(content_type).eq_ignore_ascii_case("application/x-www-form-urlencoded")
}

fn essence(content_type: Option<&str>) -> &str {
    content_type
        .and_then(|value| value.split(';').next())
        .unwrap_or_default()
        .trim()
}

/// `application/json`, in any case and with any parameters; the wildcards that some clients send count too.
fn is_json(content_type: Option<&str>) -> bool {
    let essence = essence(content_type);
    ["application/json", "application/*", "*/*"]
        .iter()
        .any(|accepted| essence.eq_ignore_ascii_case(accepted))
}

fn not_utf8(body: &[u8], error: std::str::Utf8Error) -> String {
    let position = error.valid_up_to();
    let byte = body.get(position).copied().unwrap_or_default();
    let why = match (error.error_len(), byte) {
        (None, _) => "unexpected end of data",
        (Some(_), 0xc2..=0xf4) => "invalid continuation byte",
        _ => "invalid start byte",
    };
    format!(
        "JSON parse error - 'utf-8' codec can't decode byte 0x{byte:02x} in position {position}: {why}"
    )
}

/// The parser's complaint in the words that clients of the conventions know.
fn reason(text: &str, error: &serde_json::Error) -> String {
    let at = offset(text, error.line(), error.column());
    let rest = text.get(at..).unwrap_or_default();
    // The parser stops after the sign.
    let signed = text.get(at.saturating_sub(1)..).unwrap_or_default();
    if let Some(name) = ["-Infinity", "NaN", "Infinity"]
        .into_iter()
        .find(|name| rest.starts_with(name) || (name.starts_with('-') && signed.starts_with(name)))
    {
        return format!(
            "JSON parse error - Out of range float values are not JSON compliant: '{name}'"
        );
    }
    if error.is_eof() {
        let (words, at) = ended(text, &error.to_string());
        return located(words, text, at);
    }
    let complaint = error.to_string();
    let known = [
        ("trailing characters", "Extra data"),
        (
            "key must be a string",
            "Expecting property name enclosed in double quotes",
        ),
        ("expected `,` or", "Expecting ',' delimiter"),
        ("expected `:`", "Expecting ':' delimiter"),
        ("control character", "Invalid control character at"),
        ("invalid escape", "Invalid \\escape"),
        ("invalid unicode", "Invalid \\escape"),
        ("surrogate", "Invalid \\escape"),
    ];
    let words = known
        .iter()
        .find(|(parser, _)| complaint.contains(parser))
        .map_or("Expecting value", |(_, words)| words);
    let at = noted_at(words, &complaint, text, at);
    let before = text.get(..at).unwrap_or_default().trim_end();
    if rest.starts_with('}') && before.ends_with(',') {
        return located(
            "Illegal trailing comma before end of object",
            text,
            before.len() - 1,
        );
    }
    located(words, text, at)
}

/// Where clients are told that a complaint lies: the parser stops before a control character, and after an escape or a word.
fn noted_at(words: &str, complaint: &str, text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    match words {
        "Invalid control character at" => rest
            .find(|character: char| character.is_ascii_control())
            .map_or(at, |more| at + more),
        "Invalid \\escape" => text
            .get(..=at)
            .and_then(|before| before.rfind('\\'))
            .unwrap_or(at),
        // A word that is none of JSON's is noted where it begins.
        _ if complaint.contains("expected ident") => text
            .get(..at)
            .unwrap_or_default()
            .trim_end_matches(|character: char| character.is_ascii_alphabetic())
            .len(),
        _ => at,
    }
}

/// What was expected where a text ends too early, and where that is noted: a string at its beginning, all else at the end.
fn ended(text: &str, complaint: &str) -> (&'static str, usize) {
    if complaint.contains("string") {
        return ("Unterminated string starting at", last_quote(text));
    }
    let words = match text.trim_end().as_bytes().last() {
        _ if complaint.contains("value") => "Expecting value",
        Some(b'[') => "Expecting value",
        Some(b'{' | b',') if complaint.contains("object") => {
            "Expecting property name enclosed in double quotes"
        }
        // After a name a colon leads on to a value, after a value it does not.
        Some(b'"') if wants_colon(text) => "Expecting ':' delimiter",
        _ => "Expecting ',' delimiter",
    };
    (words, text.len())
}

fn wants_colon(text: &str) -> bool {
    serde_json::from_str::<&RawValue>(&format!("{text}:"))
        .is_err_and(|error| error.is_eof() && error.to_string().contains("value"))
}

/// Where the last quotation mark stands that no backslash escapes.
fn last_quote(text: &str) -> usize {
    let is_escaped = |at: usize| {
        let before = text.as_bytes().get(..at).unwrap_or_default();
        before
            .iter()
            .rev()
            .take_while(|byte| **byte == b'\\')
            .count()
            % 2
            == 1
    };
    text.rmatch_indices('"')
        .map(|(at, _)| at)
        .find(|at| !is_escaped(*at))
        .unwrap_or_default()
}

/// Where the parser stopped, as an offset into the text. Its lines and columns count from one, columns in bytes.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text
        .split_inclusive('\n')
        .take(line.saturating_sub(1))
        .map(str::len)
        .sum();
    let mut at = (start + column.saturating_sub(1)).min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn located(words: &str, text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before
        .rsplit('\n')
        .next()
        .unwrap_or_default()
        .chars()
        .count()
        + 1;
    format!(
        "JSON parse error - {words}: line {line} column {column} (char {})",
        before.chars().count()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: Option<&str> = Some("application/json");

    fn detail(body: &[u8]) -> String {
        match parse(JSON, body) {
            Err(BodyError::Malformed(detail) | BodyError::NotAnObject(detail)) => detail,
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn no_body_is_an_object_without_members() {
        assert!(parse(None, b"").is_ok_and(|members| members.is_empty()));
    }

    #[test]
    fn only_json_is_taken() {
        for accepted in [
            "application/json",
            "APPLICATION/JSON",
            "application/json; charset=utf-8",
            "application/*",
            "*/*",
        ] {
            assert!(parse(Some(accepted), b"{}").is_ok(), "{accepted}");
        }
        for refused in [
            "text/plain",
            "application/vnd.api+json",
            "application/x-www-form-urlencoded",
        ] {
            assert_eq!(
                parse(Some(refused), b"{}").err(),
                Some(BodyError::MediaType(refused.to_owned()))
            );
        }
        assert_eq!(
            parse(None, b"{}").err(),
            Some(BodyError::MediaType(String::new()))
        );
    }

    #[test]
    fn of_a_member_that_comes_twice_the_last_counts() {
        let members = parse(JSON, br#"{"a":1,"a":2}"#).expect("an object");
        assert_eq!(members.get("a").map(|raw| raw.get()), Some("2"));
    }

    #[test]
    fn what_is_no_object_is_named() {
        for (body, kind) in [
            ("[]", "list"),
            ("\"a\"", "str"),
            ("1", "int"),
            ("1.5", "float"),
            ("true", "bool"),
        ] {
            assert_eq!(
                detail(body.as_bytes()),
                format!("Invalid data. Expected a dictionary, but got {kind}.")
            );
        }
        assert_eq!(detail(b"null"), "No data provided");
    }

    #[test]
    fn malformed_json_is_located() {
        assert_eq!(
            detail(b"{\"a\": }"),
            "JSON parse error - Expecting value: line 1 column 7 (char 6)"
        );
        assert_eq!(
            detail(b"{\"a\":1} x"),
            "JSON parse error - Extra data: line 1 column 9 (char 8)"
        );
        assert_eq!(
            detail(b"{a:1}"),
            "JSON parse error - Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"
        );
        assert!(
            detail(b"{\n\"a\" 1}")
                .starts_with("JSON parse error - Expecting ':' delimiter: line 2 column 5")
        );
        assert_eq!(
            detail(b"{\"a\":NaN}"),
            "JSON parse error - Out of range float values are not JSON compliant: 'NaN'"
        );
        assert!(detail("\u{feff}{}".as_bytes()).contains("Unexpected UTF-8 BOM"));
        assert_eq!(
            detail(b"{\"name\": \"\xff\"}"),
            "JSON parse error - 'utf-8' codec can't decode byte 0xff in position 10: invalid start byte"
        );
    }

    #[test]
    fn depth_costs_nothing() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(parse(JSON, deep.as_bytes()).is_ok());
    }
}
