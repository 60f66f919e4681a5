//! Enums whose values have a name for programs and a label for people.

use super::{field::Both, value::FieldType};

/// The Rust type of a field that holds one of a few values.
#[diagnostic::on_unimplemented(message = "`{Self}` is no enum that `choice!` has made")]
pub trait Choice: FieldType {
    /// The names, with their labels.
    const CHOICES: &'static [(&'static str, Both)];
}

/// Declares an enum whose values are stored by their names.
#[macro_export]
macro_rules! stored_enum {
    ($(#[$about:meta])* $vis:vis enum $type:ident {
        $($(#[$doc:meta])* $variant:ident = $name:literal;)+
    }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $vis enum $type {
            $($(#[$doc])* $variant,)+
        }

        impl $type {
            /// All values.
            $vis const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// The name in the database, in bodies and in commands.
            $vis const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// The value with this name.
            $vis fn of(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|one| one.name() == name)
            }
        }

        impl db::Column for $type {
            fn from_value(value: db::Value<'_>) -> Result<Self, db::Error> {
                let name = <String as db::Column>::from_value(value)?;
                let unknown = || db::Error::other(format!("no {}: {name}", stringify!($type)));
                Self::of(&name).ok_or_else(unknown)
            }
        }
    };
}

/// Declares the enum of a field that holds one of a few values. Clients cannot write such a field.
#[macro_export]
macro_rules! choice {
    ($(#[$about:meta])* pub enum $type:ident {
        $($(#[$doc:meta])* $variant:ident = $name:literal, $words:expr;)+
    }) => {
        $crate::stored_enum! {
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
