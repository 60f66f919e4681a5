//! `Debug` of secrets.

/// Implements `Debug` for types whose content must never be printed: only their names are.
#[macro_export]
macro_rules! masked_debug {
    ($($secret:ident),+ $(,)?) => {
        $(impl ::std::fmt::Debug for $secret {
            fn fmt(&self, formatter: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                formatter.write_str(concat!(stringify!($secret), "(****)"))
            }
        })+
    };
}
