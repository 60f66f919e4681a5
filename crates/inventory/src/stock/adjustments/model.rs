//! The reason and the note of an adjustment.

use resource::{Field, FieldOf, choice, integer};
use web::locale::Locale;

use crate::rest::Message;

/// The largest quantity that can be counted. A barcode in the quantity field exceeds it.
pub(crate) const MAX_COUNTED: i64 = 9_999_999;
/// The maximum length of a note, in characters.
pub(crate) const MAX_NOTE: usize = 200;

choice! {
    /// The reason why the stock differs from the ledger.
    pub enum Reason {
        /// A count showed another quantity.
        Counted = "counted", ("Contagem", "Count");
        /// Goods broke or spoiled.
        Broken = "broken", ("Quebra ou avaria", "Broken or damaged");
        /// Goods are missing for an unknown reason.
        Lost = "lost", ("Perda ou furto", "Lost or stolen");
        /// Missing goods were found.
        Found = "found", ("Encontrado", "Found");
        /// Another reason.
        Other = "other", ("Outro", "Other");
    }
}

impl Reason {
    /// The field that the audit log shows as changed.
    pub(crate) const fn field(self) -> &'static Field {
        const fn quantity(portuguese: &'static str, english: &'static str) -> FieldOf<i64> {
            integer(portuguese, english, 0, MAX_COUNTED)
        }
        const COUNTED: &Field =
            &quantity("Quantidade (contagem)", "Quantity (count)").named("quantity_counted");
        const BROKEN: &Field = &quantity(
            "Quantidade (quebra ou avaria)",
            "Quantity (broken or damaged)",
        )
        .named("quantity_broken");
        const LOST: &Field = &quantity("Quantidade (perda ou furto)", "Quantity (lost or stolen)")
            .named("quantity_lost");
        const FOUND: &Field =
            &quantity("Quantidade (encontrado)", "Quantity (found)").named("quantity_found");
        const OTHER: &Field = &quantity("Quantidade (outro motivo)", "Quantity (other reason)")
            .named("quantity_other");
        match self {
            Self::Counted => COUNTED,
            Self::Broken => BROKEN,
            Self::Lost => LOST,
            Self::Found => FOUND,
            Self::Other => OTHER,
        }
    }
}

/// The reason for an adjustment, as stored in the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The reason.
    pub reason: Reason,
    /// A note by the user who adjusted the quantity.
    pub note: Option<String>,
}

impl Explanation {
    /// The explanation as text: `Quebra ou avaria: caiu da prateleira`.
    pub(crate) fn text(reason: Reason, note: Option<&str>, locale: Locale) -> String {
        let (portuguese, english) = reason.words();
        let reason = locale.text(portuguese, english);
        note.map_or_else(|| reason.to_owned(), |note| format!("{reason}: {note}"))
    }
}

/// A request to adjust a quantity.
#[derive(Debug, Clone)]
pub(crate) struct Adjustment {
    pub(crate) quantity: i64,
    /// The quantity that the page showed. `None` if the client showed none.
    pub(crate) shown: Option<i64>,
    pub(crate) explanation: Explanation,
}

impl Adjustment {
    /// Fails if the stock changed since the page was shown, because a sale in between must not be
    /// undone. Succeeds if the current quantity is the requested one.
    pub(super) fn check(&self, current: i64) -> Result<(), Message> {
        match self.shown {
            Some(shown) if shown != current && self.quantity != current => {
                Err(changed_meanwhile(shown, current))
            }
            _ => Ok(()),
        }
    }
}

fn changed_meanwhile(shown: i64, current: i64) -> Message {
    Message::new(
        format!(
            "O estoque mudou de {} para {} enquanto esta página estava aberta. Confira a contagem e salve de novo.",
            Locale::PtBr.number(shown),
            Locale::PtBr.number(current)
        ),
        format!(
            "The stock changed from {} to {} while this page was open. Check your count and save again.",
            Locale::En.number(shown),
            Locale::En.number(current)
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(quantity: i64, shown: Option<i64>) -> Adjustment {
        Adjustment {
            quantity,
            shown,
            explanation: Explanation {
                reason: Reason::Counted,
                note: None,
            },
        }
    }

    #[test]
    fn a_count_is_about_the_quantity_that_was_shown() {
        assert!(counted(12, Some(15)).check(15).is_ok());
        let message = counted(12, Some(15)).check(1300).unwrap_err();
        assert_eq!(
            message.text(Locale::PtBr),
            "O estoque mudou de 15 para 1.300 enquanto esta página estava aberta. Confira a contagem e salve de novo."
        );
        // A correct quantity is no conflict, and an API client need not show any quantity.
        assert!(counted(13, Some(15)).check(13).is_ok());
        assert!(counted(12, None).check(13).is_ok());
    }
}
