//! Secret text, which is masked wherever it is printed.

use std::fmt;

/// What is printed in place of a secret in `config check`, logs and errors.
pub(crate) const MASK: &str = "********";

/// A secret of at least `MIN` bytes. `Debug` and `Display` print a mask.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret<const MIN: usize = 1>(String);

impl<const MIN: usize> Secret<MIN> {
    /// Validates a secret. `None` when it is too short or contains a control character (usually a
    /// pasted line end).
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let usable =
            text.len() >= MIN && !text.trim().is_empty() && !text.chars().any(char::is_control);
        usable.then(|| Self(text.to_owned()))
    }

    /// The secret text. Call this only where the secret is used.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl<const MIN: usize> fmt::Debug for Secret<MIN> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(MASK)
    }
}

impl<const MIN: usize> fmt::Display for Secret<MIN> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(MASK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_prints_as_a_mask() {
        let secret = Secret::<1>::parse("TEST-12345").unwrap();
        assert_eq!(format!("{secret} {secret:?}"), format!("{MASK} {MASK}"));
        assert_eq!(secret.expose(), "TEST-12345");
    }

    #[test]
    fn short_blank_and_broken_secrets_are_refused() {
        assert!(Secret::<32>::parse("short").is_none());
        assert!(Secret::<1>::parse("  ").is_none());
        assert!(Secret::<1>::parse("two\nlines").is_none());
    }
}
