//! The limits and the errors of saved views.

use crate::rest::{
    Message,
    fields::{FieldErrors, Members, Mode, Reader},
};

/// The most views of one user.
pub(super) const MAX_VIEWS: i64 = 30;
/// The most characters of a name.
pub(super) const MAX_NAME: usize = 60;
/// The most bytes of an address. One with the longest search fits.
pub(super) const MAX_ADDRESS: usize = 4000;
/// The error if another view of the user has the name.
pub(super) const NAME_TAKEN: Message = Message::fixed(
    "Você já tem uma visão com este nome.",
    "You already have a view with this name.",
);

/// Parses the name in a form.
pub(super) fn read_name(members: &Members) -> Result<String, FieldErrors> {
    let mut reader = Reader::new(members, Mode::Whole);
    let name = reader.text("name", MAX_NAME);
    let errors = reader.finish();
    match name {
        Some(name) if errors.is_empty() => Ok(name.replace(char::is_control, " ")),
        _ => Err(errors),
    }
}

/// The error if the user has too many views.
pub(super) fn too_many() -> Message {
    Message::new(
        format!("Você já tem {MAX_VIEWS} visões salvas. Remova uma antes de salvar outra."),
        format!("You already have {MAX_VIEWS} saved views. Remove one before you save another."),
    )
}
