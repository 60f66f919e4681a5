//! Records with a description, one line for each field.
//!
//! `resource!` takes a struct whose fields have a description after an equals sign. The macro only
//! repeats one field's code for each field. All other code works on [`Record::FIELDS`].

use std::fmt;

use db::{OwnedValue, Row};

use super::{
    field::Field,
    value::{Reference, Value},
};

/// A record with described fields.
pub trait Record: Clone + fmt::Debug + Send + Sync + 'static {
    /// The fields that can be written.
    type Input: Input;

    /// The fields, in the order of responses, files and errors.
    const FIELDS: &'static [&'static Field];

    /// Reads a row with the columns of these fields, in their order. For some kinds of records
    /// these are not all fields.
    fn of_fields(fields: &[&'static Field], row: &Row<'_>) -> Result<Self, db::Error>;

    /// Reads a row with the columns of all fields.
    fn from_row(row: &Row<'_>) -> Result<Self, db::Error> {
        Self::of_fields(Self::FIELDS, row)
    }

    /// The values of all fields that the record has.
    fn values(&self) -> Vec<(&'static Field, Value<'_>)>;

    /// The values of these fields, in the given order.
    fn values_of(&self, fields: &[&'static Field]) -> Vec<(&'static Field, Value<'_>)> {
        let values = self.values();
        let value = |name| values.iter().find(|(known, _)| known.name == name);
        let found = fields.iter().filter_map(|field| value(field.name));
        found.copied().collect()
    }
}

/// The written fields of a record.
pub trait Input: Clone + fmt::Debug + Send + Sync + 'static {
    /// Reads all fields.
    fn read(source: &mut impl Source) -> Self;

    /// The values that are set.
    fn values(&self) -> Vec<(&'static Field, Value<'_>)>;
}

/// A source of input values, such as a request body.
pub trait Source {
    /// The value of a field; `None` if it is absent or invalid.
    fn field(&mut self, field: &'static Field) -> Option<OwnedValue>;

    /// The reference of a field; `None` if it is absent or invalid.
    fn reference(&mut self, field: &'static Field) -> Option<Reference>;

    /// The chosen values of a field that holds several.
    fn several(&mut self, field: &'static Field) -> Option<Vec<String>>;
}

/// The fields that differ between two states of a record, with both values. Read-only fields are
/// left out.
pub fn differences<'a, R: Record>(
    before: &'a R,
    after: &'a R,
) -> Vec<(&'static Field, Value<'a>, Value<'a>)> {
    let pairs = before.values().into_iter().zip(after.values());
    pairs
        .filter(|((field, before), (_, after))| !field.is_read_only && !before.is(*after))
        .map(|((field, before), (_, after))| (field, before, after))
        .collect()
}

/// Drops the fields without a value.
pub fn there<'a, const N: usize>(
    values: [(&'static Field, Option<Value<'a>>); N],
) -> Vec<(&'static Field, Value<'a>)> {
    let values = values.into_iter();
    values
        .filter_map(|(field, value)| Some((field, value?)))
        .collect()
}

/// Declares a record, its input, and a constant with the description of each field.
#[macro_export]
macro_rules! resource {
    ($(#[$about:meta])* pub struct $record:ident, $input:ident {
        $($field:ident: $type:ty = $description:expr,)+
    }) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $record {
            $(#[doc = concat!("`", stringify!($description), "`")] pub $field: $type,)+
        }

        /// The written fields of a record.
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        pub struct $input {
            $(#[doc = concat!("`", stringify!($field), "`")] pub $field: Option<<$type as $crate::FieldType>::Submitted>,)+
        }

        #[expect(non_upper_case_globals, reason = "a description has the name of its field")]
        impl $record {
            $(
                #[doc = concat!("Describes `", stringify!($field), "`.")]
                pub const $field: &'static $crate::Field = {
                    const TYPED: $crate::FieldOf<$type> = $description;
                    &TYPED.named(stringify!($field))
                };
            )+
        }

        impl $crate::Record for $record {
            type Input = $input;

            const FIELDS: &'static [&'static $crate::Field] = &[$(Self::$field,)+];

            fn of_fields(fields: &[&'static $crate::Field], row: &db::Row<'_>) -> Result<Self, db::Error> {
                let mut at = 0;
                Ok(Self {
                    $($field: match $crate::FieldType::lacking() {
                        Some(lacking) if !fields.contains(&Self::$field) => lacking,
                        _ => $crate::FieldType::from_row(row, &mut at)?,
                    },)+
                })
            }

            fn values(&self) -> Vec<(&'static $crate::Field, $crate::Value<'_>)> {
                let values = [$((Self::$field, $crate::FieldType::value(&self.$field)),)+];
                $crate::there(values)
            }
        }

        impl $crate::Input for $input {
            fn read(source: &mut impl $crate::Source) -> Self {
                Self {
                    $($field: $crate::Submitted::read(source, $record::$field),)+
                }
            }

            fn values(&self) -> Vec<(&'static $crate::Field, $crate::Value<'_>)> {
                let values = [$(($record::$field, self.$field.as_ref().map($crate::Submitted::sent)),)+];
                $crate::there(values)
            }
        }

        impl serde::Serialize for $record {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap as _;
                let mut map = serializer.serialize_map(None)?;
                $(if let Some(value) = $crate::FieldType::value(&self.$field) {
                    map.serialize_entry(stringify!($field), &value)?;
                })+
                map.end()
            }
        }
    };
}
