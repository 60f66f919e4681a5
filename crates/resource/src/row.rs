//! Rows that several statements insert. The columns are listed once, so that no statement can omit
//! one.

/// Declares the type of a table's rows. `V` is the type of its values: parameters of a statement
/// that inserts one row, or SQL expressions of one that inserts many.
#[macro_export]
macro_rules! row {
    ($(#[$about:meta])* $vis:vis struct $row:ident in $table:literal {
        $($field:ident = $column:literal,)+
    }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy)]
        $vis struct $row<V> {
            $(#[doc = concat!("`", $column, "`")] $vis $field: V,)+
        }

        impl<V> $row<V> {
            /// The statement that inserts one row, with its parameters.
            $vis fn insert(self) -> (&'static str, [V; [$($column),+].len()]) {
                static TEXT: std::sync::LazyLock<&'static str> = std::sync::LazyLock::new(|| {
                    db::insert_statement($table, &[$($column),+]).leak()
                });
                (*TEXT, [$(self.$field),+])
            }
        }

        impl $row<&'static str> {
            /// The part of a statement that inserts one row for each row of `source`.
            $vis fn insert_from(self, source: &str) -> String {
                $crate::sql::insert_from($table, &[$($column),+], &[$(self.$field),+], source)
            }
        }
    };
}
