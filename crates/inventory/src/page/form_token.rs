//! Once-only tokens of forms. A form that creates something gets a new token each time it is shown.
//! The token serves as the idempotency key of the creation and is committed with it. The same
//! values sent again get the first response. Other values are refused, and the form is shown with a
//! new token.

use super::Form;
use crate::{digest::digest, idempotency::IdempotencyKey};

/// The name of the form field.
pub(crate) const TOKEN: &str = "form_token";

/// A posted form's token and a fingerprint of its values.
#[derive(Debug, Clone)]
pub(crate) struct FormToken {
    token: String,
    fingerprint: String,
}

impl FormToken {
    /// The token of a form. `None` if it has none, which is allowed for users' own scripts.
    pub(crate) fn of(form: &Form) -> Option<Self> {
        Self::with(form.value(TOKEN), &form.fingerprint())
    }

    /// The token, and all values as one text. The fingerprint includes the raw token, which is not
    /// stored. So a password among the values cannot be found by hashing guesses.
    pub(crate) fn with(token: &str, values: &str) -> Option<Self> {
        (!token.is_empty()).then(|| Self {
            token: digest(token),
            fingerprint: digest(format!("{token}\n{values}")),
        })
    }

    /// The idempotency key for a request to another service. It does not reveal the token.
    pub(crate) fn key(form: &Form, user: i64, path: &str) -> Option<String> {
        let token = form.value(TOKEN);
        (!token.is_empty()).then(|| digest(format!("{path}\n{user}\n{token}")))
    }

    /// The token for the part of a form that concerns one of several records.
    pub(crate) fn for_record(mut self, id: i64) -> Self {
        self.token = format!("{} {id}", self.token);
        self
    }

    /// The token as the idempotency key of a user at a path. The prefix keeps it apart from the
    /// keys of API requests.
    pub(crate) fn by(self, user: i64, path: &'static str) -> IdempotencyKey {
        IdempotencyKey {
            user,
            path,
            key: format!("form {}", self.token),
            fingerprint: self.fingerprint,
        }
    }
}
