//! Texts of a request: their lengths, and the format of an e-mail address.

use std::borrow::Cow;

use brazil::holds_card_number;

use super::Refusal;

/// The longest text of each free field, in characters. The e-mail's limit is the provider's (its
/// error 4051). The others are generous for a person's name or address, and well within the
/// provider's limits.
pub const TEXT_LIMITS: &[(&str, usize)] = &[
    ("description", 256),
    ("email", 254),
    ("cardholder_name", 128),
    ("first_name", 128),
    ("last_name", 128),
    ("street_name", 256),
    ("street_number", 32),
    ("neighborhood", 128),
    ("city", 128),
];

/// Why a text with a card number is refused. Texts are stored and shown, card numbers never, and
/// buyers may type or paste one into the wrong field.
pub(crate) const HOLDS_CARD_NUMBER: &str = "must not contain a card number";

/// Validates a text against its limit in [`TEXT_LIMITS`]. Control characters are refused:
/// PostgreSQL cannot store NUL, and the others have no meaning in a name or an address.
pub(crate) fn checked(field: &'static str, text: &str) -> Result<String, Refusal> {
    checked_to(field, text, limit(field))
}

/// The limit of a field in [`TEXT_LIMITS`].
pub(crate) fn limit(field: &str) -> usize {
    let row = TEXT_LIMITS.iter().find(|(name, _)| *name == field);
    row.map_or(0, |(_, limit)| *limit)
}

/// Same as [`checked`] with a limit of `limit` characters.
pub(crate) fn checked_to(
    field: impl Into<Cow<'static, str>>,
    text: &str,
    limit: usize,
) -> Result<String, Refusal> {
    let trimmed = text.trim();
    if trimmed.chars().any(char::is_control) {
        return Err(Refusal::invalid(
            field,
            "must not contain control characters",
        ));
    }
    if trimmed.chars().nth(limit).is_some() {
        return Err(Refusal::invalid(
            field,
            &format!("must have at most {limit} characters"),
        ));
    }
    if holds_card_number(trimmed) {
        return Err(Refusal::invalid(field, HOLDS_CARD_NUMBER));
    }
    Ok(trimmed.to_owned())
}

/// Validates an e-mail address.
pub(super) fn email(text: &str) -> Result<String, Refusal> {
    let email = checked("email", text)?;
    if is_email(&email) {
        Ok(email)
    } else {
        Err(Refusal::invalid("email", "must be a valid e-mail address"))
    }
}

/// Follows HTML's `<input type="email">` (WHATWG), so that page and service agree. The domain must
/// also contain a point, since the provider delivers to no bare host.
pub(crate) fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else {
        return false;
    };
    let is_local =
        |byte: u8| byte.is_ascii_alphanumeric() || b".!#$%&'*+/=?^_`{|}~-".contains(&byte);
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    (1..=64).contains(&local.len())
        && local.bytes().all(is_local)
        && domain.contains('.')
        && domain.split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_browsers_take_are_taken() {
        for good in [
            "a@b.co",
            "maria.silva+loja@exemplo.com.br",
            "o'neill@x-y.example",
            "1@2.3",
        ] {
            assert!(is_email(good), "{good}");
        }
        for bad in [
            "", "a", "a@", "@b.co", "a@b", "a b@c.de", "a@b..co", "a@-b.co", "a@b-.co", "a@b.co.",
            "a@b@c.de", "é@b.co", "a@é.co",
        ] {
            assert!(!is_email(bad), "{bad}");
        }
        assert!(!is_email(&format!("{}@b.co", "a".repeat(65))));
    }

    #[test]
    fn a_text_is_trimmed_and_counted_in_characters() {
        let text = |text: &str| checked("street_number", text);
        assert_eq!(text("  12 A ").unwrap(), "12 A");
        assert_eq!(text(&"é".repeat(32)).unwrap().chars().count(), 32);
        assert_eq!(
            text(&"é".repeat(33)).unwrap_err().detail,
            "Validation error: street_number: must have at most 32 characters"
        );
        assert_eq!(
            text("a\u{0}b").unwrap_err().detail,
            "Validation error: street_number: must not contain control characters"
        );
    }
}
