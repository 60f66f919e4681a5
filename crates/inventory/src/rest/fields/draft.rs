//! The submitted fields of a record, parsed.

use db::Timestamp;
use resource::{Field, Input as _, Record};

use super::{FieldErrors, Members, Mode, Reader};

/// The submitted fields of a record, with the errors that can be found without the database.
#[derive(Debug, Clone)]
pub struct Draft<R: Record> {
    /// The fields that could be parsed.
    pub input: R::Input,
    /// The errors of the other fields.
    pub errors: FieldErrors,
}

impl<R: Record> Draft<R> {
    /// Reads all fields of the record from a body or a form.
    pub fn read(members: &Members, mode: Mode) -> Self {
        Self::read_fields(R::FIELDS, members, mode)
    }

    /// Reads only these fields from a body or a form.
    pub fn read_fields(fields: &[&'static Field], members: &Members, mode: Mode) -> Self {
        Self::of(Reader {
            fields: Some(fields),
            ..Reader::new(members, mode)
        })
    }

    /// Reads a row of an imported file. Unlike a request it may set the id and the times, so that
    /// an exported file restores the same records.
    pub(crate) fn import(fields: &[&'static Field], members: &Members, now: Timestamp) -> Self {
        let reader = Reader {
            fields: Some(fields),
            imported_at: Some(now),
            ..Reader::new(members, Mode::Whole)
        };
        Self::of(reader)
    }

    fn of(mut reader: Reader<'_>) -> Self {
        Self {
            input: R::Input::read(&mut reader),
            errors: reader.finish(),
        }
    }

    /// A draft of values that the program itself produced, which are valid.
    pub(crate) fn of_input(input: R::Input) -> Self {
        Self {
            input,
            errors: FieldErrors::default(),
        }
    }

    /// The input if all fields are valid, otherwise the messages of all fields.
    pub fn valid(&self) -> Result<R::Input, FieldErrors> {
        self.errors.clone().into_result()?;
        Ok(self.input.clone())
    }
}
