//! An error message in both languages. The rule that refuses a value also words its message.

use std::{borrow::Cow, fmt};

use serde::{Deserialize, Serialize};
use web::locale::Locale;

/// One sentence in both languages. Pages show [`text`](Self::text); `Display`, which is used
/// everywhere else, is English.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    portuguese: Cow<'static, str>,
    english: Cow<'static, str>,
    /// The wording that the API's conventions prescribe, where it differs from the English text.
    #[serde(skip)]
    api: Option<&'static str>,
}

impl Message {
    /// A required member is absent.
    pub const REQUIRED: Self = Self::fixed("Este campo é obrigatório.", "This field is required.");
    /// A required member is `null`.
    pub const NULL: Self = Self::fixed("Este campo é obrigatório.", "This field may not be null.");
    /// A text without visible characters.
    pub const BLANK: Self = Self::fixed(
        "Este campo não pode ficar em branco.",
        "This field may not be blank.",
    );
    /// A text with a null character, which PostgreSQL cannot store.
    pub const NULL_CHARACTERS: Self = Self::fixed(
        "Há um caractere que não é permitido.",
        "Null characters are not allowed.",
    );
    /// A value that is not an integer.
    pub const NOT_AN_INTEGER: Self =
        Self::fixed("Digite um número inteiro.", "A valid integer is required.");
    /// A value that is not a boolean.
    pub const NOT_A_TRUTH: Self = Self::fixed("Digite true ou false.", "Must be a valid boolean.");
    /// A value that is not a number.
    pub const NOT_A_NUMBER: Self = Self::fixed("Digite um número.", "A valid number is required.");
    /// A number with too many characters.
    pub const TOO_LONG_A_NUMBER: Self =
        Self::fixed("O valor é longo demais.", "String value too large.");

    /// A constant sentence.
    pub const fn fixed(portuguese: &'static str, english: &'static str) -> Self {
        Self {
            portuguese: Cow::Borrowed(portuguese),
            english: Cow::Borrowed(english),
            api: None,
        }
    }

    /// A sentence that contains values.
    pub fn new(portuguese: impl Into<String>, english: impl Into<String>) -> Self {
        Self {
            portuguese: Cow::Owned(portuguese.into()),
            english: Cow::Owned(english.into()),
            api: None,
        }
    }

    /// The same message with another English wording in the API.
    #[must_use]
    pub fn in_api(mut self, english: &'static str) -> Self {
        self.api = Some(english);
        self
    }

    /// A text of more than `most` characters.
    pub fn too_long(most: usize) -> Self {
        Self::new(
            format!(
                "Este campo pode ter no máximo {} caracteres.",
                Locale::PtBr.number(most)
            ),
            format!("Ensure this field has no more than {most} characters."),
        )
    }

    /// A number below `least`.
    pub fn at_least(least: i64) -> Self {
        Self::new(
            format!("O valor deve ser {} ou mais.", Locale::PtBr.number(least)),
            format!("Ensure this value is greater than or equal to {least}."),
        )
    }

    /// A number above `most`.
    pub fn at_most(most: i64) -> Self {
        Self::new(
            format!("O valor deve ser no máximo {}.", Locale::PtBr.number(most)),
            format!("Ensure this value is less than or equal to {most}."),
        )
    }

    /// A reference to a record that does not exist, with the id as sent.
    pub fn unknown_record(id: &str) -> Self {
        Self::new(
            format!("Não existe registro com o ID {id}."),
            format!("Invalid pk \"{id}\" - object does not exist."),
        )
    }

    /// The sentence in the user's language.
    pub fn text(&self, locale: Locale) -> &str {
        locale.text(&self.portuguese, &self.english)
    }
}

impl fmt::Display for Message {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.api.unwrap_or(&self.english))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_told_in_their_language_and_programs_in_the_words_of_the_conventions() {
        let message = Message::at_most(1200);
        let english = "Ensure this value is less than or equal to 1200.";
        assert_eq!(message.to_string(), english);
        assert_eq!(message.text(Locale::En), english);
        assert_eq!(
            message.text(Locale::PtBr),
            "O valor deve ser no máximo 1.200."
        );
        let message = Message::fixed("Não.", "No.").in_api("not so");
        assert_eq!(
            (message.text(Locale::En), message.to_string()),
            ("No.", "not so".to_owned())
        );
    }
}
