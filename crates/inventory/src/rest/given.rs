//! What only an import may set on a new record: its id and its times, so that an exported file makes the same records again.
//! The API does not accept them.

use db::Timestamp;

use super::{
    fields::{FieldErrors, Members, Mode, Reader, Setting},
    message::Message,
};

/// What is given; nothing for what the API creates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Given {
    /// The id, not taken yet.
    pub id: Option<i64>,
    /// When it was created.
    pub created_at: Option<Timestamp>,
    /// When it was last changed.
    pub updated_at: Option<Timestamp>,
}

/// The greatest id that can be given: every client reads it exactly, and there is room behind it.
const MAX_ID: i64 = 9_007_199_254_740_991;
/// Longest text that is looked at as a time.
const MAX_TIME: usize = 40;
const NOT_A_TIME: Message = Message::fixed(
    "O horário deve ser escrito assim: AAAA-MM-DDThh:mm:ssZ.",
    "Datetime has wrong format. Use this format instead: YYYY-MM-DDThh:mm:ssZ.",
);
const FUTURE: Message = Message::fixed(
    "Este horário está no futuro.",
    "This time is in the future.",
);
const TOO_EARLY: Message = Message::fixed(
    "Este horário é anterior a 1970.",
    "This time is before 1970.",
);

impl Given {
    /// Reads `id`, `created_at` and `updated_at`; absent ones are not given.
    pub fn read(members: &Members, now: Timestamp) -> (Self, FieldErrors) {
        let mut reader = Reader::new(members, Mode::Whole);
        let id = reader.optional_integer("id", 1, MAX_ID).into_new();
        let created_at = reader.optional_text("created_at", MAX_TIME);
        let updated_at = reader.optional_text("updated_at", MAX_TIME);
        let mut errors = reader.finish();
        let given = Self {
            id,
            created_at: time("created_at", created_at, now, &mut errors),
            updated_at: time("updated_at", updated_at, now, &mut errors),
        };
        (given, errors)
    }
}

fn time(
    field: &'static str,
    text: Setting<Option<String>>,
    now: Timestamp,
    errors: &mut FieldErrors,
) -> Option<Timestamp> {
    let text = text.into_new()?;
    let error = match Timestamp::parse(&text) {
        Err(_) => NOT_A_TIME,
        Ok(time) if time > now => FUTURE,
        Ok(time) if time.micros() < 0 => TOO_EARLY,
        Ok(time) => return Some(time),
    };
    errors.add(field, error);
    None
}
