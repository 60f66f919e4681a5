//! Reads the fields that only an import may set: a new record's id and times. The API refuses them.

use db::{OwnedValue, Timestamp};

use super::{
    Reader,
    kinds::{integer, text},
};
use crate::rest::Message;

/// The greatest id that an import may set. New records get larger ids, and JavaScript reads those
/// exactly up to 2⁵³ - 1.
const MAX_ID: i64 = 1_000_000_000_000_000;
/// The longest text that is parsed as a time.
const MAX_TIME: usize = 40;
const NOT_A_TIME: Message = Message::fixed(
    "Escreva a data com o horário: 28/11/2026 14:30 ou 2026-11-28T14:30:00Z.",
    "Datetime has wrong format. Use one of these formats instead: DD/MM/YYYY hh:mm, YYYY-MM-DDThh:mm:ssZ.",
);
const FUTURE: Message = Message::fixed(
    "Este horário está no futuro.",
    "This time is in the future.",
);
const TOO_EARLY: Message = Message::fixed(
    "Este horário é anterior a 1970.",
    "This time is before 1970.",
);

impl Reader<'_> {
    /// Reads the id of an imported row.
    pub(super) fn imported_id(&mut self, field: &'static str) -> Option<OwnedValue> {
        let id = self.optional(field, |value| integer(value, 1, MAX_ID));
        id.flatten().map(Into::into)
    }

    /// Reads a time of an imported row. A time after `now` is an error.
    pub(super) fn imported_time(
        &mut self,
        field: &'static str,
        now: Timestamp,
    ) -> Option<OwnedValue> {
        let text = self.optional(field, |value| text(value, Some(MAX_TIME)));
        let text = text.flatten()?;
        let error = match Timestamp::parse(&text) {
            Err(_) => NOT_A_TIME,
            Ok(time) if time > now => FUTURE,
            Ok(time) if time.micros() < 0 => TOO_EARLY,
            Ok(time) => return Some(time.into()),
        };
        self.errors.add(field, error);
        None
    }
}
