//! Enums whose values have a name for programs and a label for people.

use super::{field::Both, value::FieldType};

/// The Rust type of a field that holds one of a few values.
#[diagnostic::on_unimplemented(message = "`{Self}` is no enum that `choice!` has made")]
pub trait Choice: FieldType {
    /// The names, with their labels.
    const CHOICES: &'static [(&'static str, Both)];
}

/// Declares the enum of a field that holds one of a few values. Clients cannot write such a field.
#[macro_export]
macro_rules! choice {
    ($(#[$about:meta])* pub enum $type:ident {
        $($(#[$doc:meta])* $variant:ident = $name:literal, $words:expr;)+
    }) => {
        db::stored_enum! {
            $(#[$about])*
            pub enum $type {
                $($(#[$doc])* $variant = $name;)+
            }
        }

        impl $type {
            /// The label.
            pub const fn words(self) -> $crate::Both {
                match self {
                    $(Self::$variant => $words,)+
                }
            }
        }

        impl $crate::Choice for $type {
            const CHOICES: &'static [(&'static str, $crate::Both)] = &[$(($name, $words)),+];
        }

        impl $crate::FieldType for $type {
            type Submitted = String;

            fn value(&self) -> Option<$crate::Value<'_>> {
                Some($crate::Value::Choice(self.name(), self.words()))
            }

            fn from_row(row: &db::Row<'_>, at: &mut usize) -> Result<Self, db::Error> {
                let value = row.get(*at)?;
                *at += 1;
                Ok(value)
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }
    };
}
