//! Enums whose values have names.

/// Declares an enum whose values are named in the database, in bodies, in addresses and in commands.
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

            /// All names.
            $vis const ALL_NAMES: [&'static str; [$($name),+].len()] = [$($name),+];

            /// The name.
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

        impl $crate::Param for $type {
            fn to_value(&self) -> $crate::Value<'_> {
                $crate::Value::Text(self.name())
            }

            fn null() -> $crate::Value<'static> {
                $crate::Value::Null($crate::Kind::Text)
            }
        }

        impl $crate::Column for $type {
            fn from_value(value: $crate::Value<'_>) -> Result<Self, $crate::Error> {
                let name = <String as $crate::Column>::from_value(value)?;
                let unknown = || $crate::Error::other(format!("no {}: {name}", stringify!($type)));
                Self::of(&name).ok_or_else(unknown)
            }
        }
    };
}
