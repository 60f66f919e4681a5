//! What was sent of a record, read into its fields.

use db::Timestamp;
use resource::{Field, Input as _, Record};

use super::{FieldErrors, Members, Mode, Reader};

/// What was sent of a record, and what is wrong with it as far as its fields can tell. The store
/// may know of more.
#[derive(Debug, Clone)]
pub struct Draft<R: Record> {
    /// What could be read.
    pub input: R::Input,
    /// What is wrong with the rest.
    pub errors: FieldErrors,
    /// Whether it is a row of an import, which is one entry of the audit log as a whole.
    pub is_imported: bool,
}

impl<R: Record> Draft<R> {
    /// Reads a body or a form.
    pub fn read(members: &Members, mode: Mode) -> Self {
        Self::read_fields(R::FIELDS, members, mode)
    }

    /// Reads these fields of a body or a form.
    pub fn read_fields(fields: &[&'static Field], members: &Members, mode: Mode) -> Self {
        Self::of(Reader::of_fields(fields, members, mode))
    }

    /// Reads a row of a file, which gives an id and times too: so an exported file makes the same
    /// records again.
    pub(crate) fn import(fields: &[&'static Field], members: &Members, now: Timestamp) -> Self {
        let mut reader = Reader::of_fields(fields, members, Mode::Whole);
        reader.imported_at = Some(now);
        Self {
            is_imported: true,
            ..Self::of(reader)
        }
    }

    fn of(mut reader: Reader<'_>) -> Self {
        Self {
            input: R::Input::read(&mut reader),
            errors: reader.finish(),
            is_imported: false,
        }
    }

    /// What the program itself writes, which is valid.
    pub(crate) fn of_input(input: R::Input) -> Self {
        Self {
            input,
            errors: FieldErrors::default(),
            is_imported: false,
        }
    }

    /// The input, when nothing is wrong with its fields.
    ///
    /// # Errors
    ///
    /// The messages of all fields.
    pub fn valid(&self) -> Result<R::Input, FieldErrors> {
        self.errors.clone().into_result()?;
        Ok(self.input.clone())
    }
}
