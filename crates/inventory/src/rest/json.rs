//! Serializes values for responses: times in UTC with `Z`, prices as strings with two decimals,
//! references as small objects.

use db::Timestamp;
use serde::Serializer;

use crate::aggregates::Sum;

pub use resource::{Named, Titled, time_text};

/// Serializes a time as `2026-11-20T08:44:16.860338Z`, with six digits of fraction, or with none
/// for a whole second.
pub fn time<S: Serializer>(time: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&time_text(*time))
}

/// Serializes a total of prices as a string with two decimals.
pub fn total<S: Serializer>(cents: &Sum, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&cents.hundredths())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fraction_has_six_digits_or_is_not_there() {
        let text = |text: &str| Timestamp::parse(text).map(time_text);
        assert_eq!(
            text("2026-11-20T08:44:16.860338Z"),
            Ok("2026-11-20T08:44:16.860338Z".to_owned())
        );
        assert_eq!(
            text("2026-11-20T08:44:16.5Z"),
            Ok("2026-11-20T08:44:16.500000Z".to_owned())
        );
        assert_eq!(
            text("2026-11-20T08:44:16Z"),
            Ok("2026-11-20T08:44:16Z".to_owned())
        );
    }
}
