//! Parses the provider's error messages in every known format, and sanitises them so that they can
//! be shown.

use crate::json::{Object, Value, elements};

/// The longest message that is passed on, in characters.
const MAX_CHARACTERS: usize = 200;

/// The shortest run of digits that is masked everywhere. A card number has 13 or more, but a part
/// of one must not leak either, and a CPF has 11.
pub(super) const LONG_RUN: usize = 8;
/// The shortest run of digits that is masked in words about a card. Its security code has three or
/// four, its expiry begins with two.
pub(super) const SHORT_RUN: usize = 2;

/// The code of the first cause (or else of the response) and the short message of an error
/// response.
///
/// Known formats: `{message, error, status, cause: [{code, description}]}` with codes as numbers or
/// strings and `cause` empty or a nested array; and `{code, message}` from the provider's gateway.
/// Anything else gives no code and no message. In the message, runs of `masked` digits are masked.
pub(super) fn of_error(body: &[u8], masked: usize) -> (Option<String>, String) {
    let Some(answer) = std::str::from_utf8(body)
        .ok()
        .and_then(|text| Object::parse(text).ok())
    else {
        return (None, String::new());
    };
    let cause = first_cause(answer.get("cause"));
    let cause_text = |name| cause.as_ref().and_then(|cause| text(cause.get(name)));
    let code = cause_text("code").or_else(|| text(answer.get("code")));
    let message = text(answer.get("message"))
        .or_else(|| cause_text("description"))
        .or_else(|| text(answer.get("error")))
        .unwrap_or_default();
    (
        code.map(|code| clean(&code, LONG_RUN)),
        clean(&message, masked),
    )
}

fn first_cause(value: Value<'_>) -> Option<Object<'_>> {
    let first = elements(value).into_iter().next()?;
    let first = elements(first).into_iter().next().unwrap_or(first);
    first.object()
}

/// A string or a number as text. `None` if it is blank or of another type.
fn text(value: Value<'_>) -> Option<String> {
    let text = value.scalar()?.trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// Sanitises a text: runs of at least `masked` digits are masked, also with spaces, points or
/// hyphens between them; control characters become spaces; at most [`MAX_CHARACTERS`] remain.
pub(super) fn clean(text: &str, masked: usize) -> String {
    let characters: Vec<char> = text
        .chars()
        .map(|character| {
            if character.is_control() {
                ' '
            } else {
                character
            }
        })
        .collect();
    let mut cleaned = String::new();
    let mut rest = characters.as_slice();
    while let Some((first, behind)) = rest.split_first() {
        let (length, digits) = digit_run(rest);
        if digits >= masked {
            cleaned.push_str("****");
            rest = rest.get(length..).unwrap_or_default();
        } else if length > 0 {
            cleaned.extend(rest.iter().take(length));
            rest = rest.get(length..).unwrap_or_default();
        } else {
            cleaned.push(*first);
            rest = behind;
        }
    }
    cleaned.chars().take(MAX_CHARACTERS).collect()
}

/// The length of the run of digits and separators at the start, up to its last digit, and the
/// number of its digits.
fn digit_run(characters: &[char]) -> (usize, usize) {
    let (mut length, mut digits, mut separators) = (0, 0, 0);
    for (index, character) in characters.iter().enumerate() {
        if character.is_numeric() {
            (length, digits, separators) = (index + 1, digits + 1, 0);
        } else if digits > 0 && separators < 2 && !character.is_alphabetic() {
            separators += 1;
        } else {
            break;
        }
    }
    (length, digits)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(body: &str) -> (Option<String>, String) {
        of_error(body.as_bytes(), LONG_RUN)
    }

    fn clean(text: &str) -> String {
        super::clean(text, LONG_RUN)
    }

    #[test]
    fn every_known_shape_of_error_is_read() {
        let some = |code: &str, message: &str| (Some(code.to_owned()), message.to_owned());
        assert_eq!(
            read(
                r#"{"message":"Invalid amount","error":"bad_request","status":400,"cause":[{"code":4037,"description":"x"}]}"#
            ),
            some("4037", "Invalid amount")
        );
        assert_eq!(
            read(r#"{"message":"m","cause":[{"code":"E301","description":"x"}]}"#),
            some("E301", "m")
        );
        assert_eq!(
            read(r#"{"message":"m","cause":[[{"code":2001}]]}"#),
            some("2001", "m")
        );
        assert_eq!(
            read(r#"{"message":"m","cause":[]}"#),
            (None, "m".to_owned())
        );
        assert_eq!(
            read(r#"{"code":"unauthorized","message":"invalid access token"}"#),
            some("unauthorized", "invalid access token")
        );
        assert_eq!(
            read(
                r#"{"status":403,"code":"PA_UNAUTHORIZED_RESULT_FROM_POLICIES","blocked_by":"PolicyAgent","message":"no"}"#
            ),
            some("PA_UNAUTHORIZED_RESULT_FROM_POLICIES", "no")
        );
        assert_eq!(
            read(r#"{"message":null,"cause":[{"description":"why"}]}"#),
            (None, "why".to_owned())
        );
        assert_eq!(
            read(r#"{"error":"internal_error"}"#),
            (None, "internal_error".to_owned())
        );
    }

    #[test]
    fn what_is_no_error_object_gives_no_message() {
        for body in [
            "",
            "<html>",
            "[]",
            "\"text\"",
            "{\"message\":{}}",
            "{\"cause\":{\"code\":1}}",
            "{\"message\":\"\\ud800\"}",
        ] {
            assert_eq!(read(body), (None, String::new()), "{body}");
        }
        assert_eq!(of_error(b"\xff{", LONG_RUN), (None, String::new()));
    }

    #[test]
    fn digits_that_could_be_a_card_number_are_masked() {
        for number in [
            "5031433215406351",
            "5031 4332 1540 6351",
            "5031-4332-1540-6351",
            "5031.4332.1540.6351",
            "５０３１４３３２１５４０６３５１",
            "5031  4332  1540  6351",
        ] {
            assert_eq!(
                clean(&format!("card {number} refused")),
                "card **** refused",
                "{number}"
            );
        }
        assert_eq!(clean("code 3034, status 400"), "code 3034, status 400");
        assert_eq!(clean("payer 123.456.789-09"), "payer ****");
        let body = br#"{"code":"3034","message":"code 907, card of 11/30"}"#;
        let expected = (
            Some("3034".to_owned()),
            "code ****, card of ****".to_owned(),
        );
        assert_eq!(of_error(body, SHORT_RUN), expected);
    }

    #[test]
    fn control_characters_and_length_are_bounded() {
        assert_eq!(clean("a\r\nb\u{0}c\u{1b}[31m"), "a  b c [31m");
        assert_eq!(clean(&"ã".repeat(500)).chars().count(), 200);
    }

    proptest! {
        #[test]
        fn no_text_keeps_a_long_run_of_digits(before in "\\PC{0,40}", number in "[0-9]{13,19}", after in "\\PC{0,40}") {
            let cleaned = clean(&format!("{before}{number}{after}"));
            prop_assert!(!cleaned.contains(&number));
        }
    }
}
