//! Once-only tokens of forms. Every form that adds something carries a fresh token whenever it is
//! shown. The token is the idempotency key of what the form adds, so it commits with it: the same
//! values sent again are answered as the first time, other values are refused, and the form comes
//! back with a new token.

use super::Form;
use crate::{digest::digest, idempotency::IdempotencyKey};

/// The field of the token.
pub(crate) const TOKEN: &str = "form_token";

/// The token of a form that was posted, and a digest of its values.
#[derive(Debug, Clone)]
pub(crate) struct FormToken {
    token: String,
    fingerprint: String,
}

impl FormToken {
    /// None of a form without a token: a script of somebody's own may do without.
    pub(crate) fn of(form: &Form) -> Option<Self> {
        Self::with(form.value(TOKEN), &form.fingerprint())
    }

    /// Of the token, and all values in one text. The token, which is not stored, is part of the
    /// fingerprint: nobody can guess a password that was among the values by trying digests.
    pub(crate) fn with(token: &str, values: &str) -> Option<Self> {
        (!token.is_empty()).then(|| Self {
            token: digest(token),
            fingerprint: digest(format!("{token}\n{values}")),
        })
    }

    /// The form of a user as a request to another service, which sees nothing of the token.
    pub(crate) fn key(form: &Form, user: i64, path: &str) -> Option<String> {
        let token = form.value(TOKEN);
        (!token.is_empty()).then(|| digest(format!("{path}\n{user}\n{token}")))
    }

    /// The part of a form that is about one of several records.
    pub(crate) fn for_record(mut self, id: i64) -> Self {
        self.token = format!("{} {id}", self.token);
        self
    }

    /// The token as the key of a user at an address. Keys of API calls begin otherwise, so they
    /// never meet.
    pub(crate) fn by(self, user: i64, path: &'static str) -> IdempotencyKey {
        IdempotencyKey {
            user,
            path,
            key: format!("form {}", self.token),
            fingerprint: self.fingerprint,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(values: &[(&str, &str)]) -> IdempotencyKey {
        let form = values
            .iter()
            .fold(Form::new(), |form, (name, value)| form.with(name, *value));
        FormToken::of(&form).unwrap().by(1, "inflows")
    }

    #[test]
    fn the_token_is_the_key_and_the_values_are_the_fingerprint() {
        let first = key(&[(TOKEN, "a"), ("quantity", "1"), ("_save", "")]);
        assert_eq!(
            first,
            key(&[("quantity", "1"), (TOKEN, "a"), ("_addanother", "")])
        );
        let other = key(&[(TOKEN, "a"), ("quantity", "2")]);
        assert_eq!(first.key, other.key);
        assert_ne!(first.fingerprint, other.fingerprint);
        assert_ne!(first.key, key(&[(TOKEN, "b"), ("quantity", "1")]).key);
        assert!(FormToken::of(&Form::new()).is_none());
    }
}
