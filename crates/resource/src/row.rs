//! Rows that several statements write. Their columns are listed once, so that no statement can omit
//! one.

/// Makes the type of a table's rows. `V` is what stands for a value: a parameter of the statement
/// that writes one row, or an SQL expression of a statement that writes many.
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
            /// The statement that writes one row, and its parameters.
            $vis fn insert(self) -> (&'static str, [V; [$($column),+].len()]) {
                static TEXT: std::sync::LazyLock<&'static str> = std::sync::LazyLock::new(|| {
                    $crate::sql::insert_one($table, &[$($column),+]).leak()
                });
                (*TEXT, [$(self.$field),+])
            }
        }

        impl $row<&'static str> {
            /// The part of a statement that writes one row for each row of `source`.
            $vis fn insert_from(self, source: &str) -> String {
                $crate::sql::insert_from($table, &[$($column),+], &[$(self.$field),+], source)
            }
        }
    };
}
