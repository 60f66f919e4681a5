//! A saved view, and the bounds of it.

use crate::rest::{
    Message,
    fields::{FieldErrors, Members, Mode, Reader},
};

/// Views that one user may have.
pub(super) const MAX_VIEWS: i64 = 30;
/// Characters of a name, which stands in the navigation.
pub(super) const MAX_NAME: usize = 60;
/// Bytes of an address. The longest search fits.
pub(super) const MAX_ADDRESS: usize = 4000;
/// The error of a name that another view of the user has.
pub(super) const NAME_TAKEN: Message = Message::fixed(
    "Você já tem uma visão com este nome.",
    "You already have a view with this name.",
);

/// The name that a form brings.
pub(super) fn read_name(members: &Members) -> Result<String, FieldErrors> {
    let mut reader = Reader::new(members, Mode::Whole);
    let name = reader.text("name", MAX_NAME);
    let errors = reader.finish();
    match name {
        Some(name) if errors.is_empty() => Ok(name.replace(char::is_control, " ")),
        _ => Err(errors),
    }
}

/// The error of one view more than a user may have.
pub(super) fn too_many() -> Message {
    Message::new(
        format!("Você já tem {MAX_VIEWS} visões salvas. Remova uma antes de salvar outra."),
        format!("You already have {MAX_VIEWS} saved views. Remove one before you save another."),
    )
}
