//! Amounts and times in the provider's JSON format: exact decimals, and times with milliseconds at
//! -04:00.

use std::fmt;

use db::{Money, Timestamp};
use jiff::tz::Offset;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// An amount in BRL. Written as a JSON number, parsed exactly from a number or a string.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Amount(i64);

impl Amount {
    pub(crate) const ZERO: Self = Self(0);

    pub(crate) const fn from_cents(cents: i64) -> Self {
        Self(cents)
    }

    pub(crate) const fn cents(self) -> i64 {
        self.0
    }

    /// Parses a JSON number or string. `None` when it is not an amount.
    pub(crate) fn of_json(json: &RawValue) -> Option<Self> {
        Self::parse(json.get().trim_matches('"'))
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let money = Money::parse(text).ok()?;
        i64::try_from(money.cents()).ok().map(Self)
    }

    pub(crate) const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    pub(crate) const fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// One of `parts` equal shares, rounded down.
    pub(crate) fn share(self, parts: u8) -> Self {
        Self(self.0 / i64::from(parts.max(1)))
    }

    pub(crate) fn money(self) -> Money {
        Money::from_cents(i128::from(self.0))
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.money().fmt(formatter)
    }
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.money().to_json().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Box::<RawValue>::deserialize(deserializer)?;
        Self::of_json(&json).ok_or_else(|| serde::de::Error::custom("not an amount"))
    }
}

/// A time in whole milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment(Timestamp);

impl Moment {
    pub(crate) fn of(timestamp: Timestamp) -> Self {
        Self(Timestamp::from_micros(
            timestamp.micros().div_euclid(1000) * 1000,
        ))
    }

    /// Parses RFC 3339.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Timestamp::parse(text).ok().map(Self::of)
    }

    pub(crate) const fn timestamp(self) -> Timestamp {
        self.0
    }

    /// The calendar date in the provider's time zone.
    pub(crate) fn date(self) -> jiff::civil::Date {
        OFFSET.to_datetime(self.0.to_jiff()).date()
    }

    pub(crate) fn plus(self, duration: std::time::Duration) -> Self {
        Self::of(self.0 + duration)
    }
}

/// The provider uses this offset all year round.
const OFFSET: Offset = Offset::constant(-4);

impl fmt::Display for Moment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let local = OFFSET.to_datetime(self.0.to_jiff());
        write!(
            formatter,
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}-04:00",
            local.year(),
            local.month(),
            local.day(),
            local.hour(),
            local.minute(),
            local.second(),
            local.millisecond()
        )
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("not a date-time"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_four_hours_behind_with_milliseconds() {
        let moment = Moment::parse("2026-11-20T12:00:00.123456Z").unwrap();
        assert_eq!(moment.to_string(), "2026-11-20T08:00:00.123-04:00");
        let json = serde_json::to_string(&moment).unwrap();
        assert_eq!(serde_json::from_str::<Moment>(&json).unwrap(), moment);
    }

    #[test]
    fn amounts_are_exact_from_number_and_string() {
        for json in ["58.8", "58.80", "\"58.80\""] {
            let amount: Amount = serde_json::from_str(json).unwrap();
            assert_eq!(amount.cents(), 5_880);
            assert_eq!(serde_json::to_string(&amount).unwrap(), "58.80");
        }
        for json in ["58.801", "\"\"", "true", "1e2", "{}"] {
            assert!(serde_json::from_str::<Amount>(json).is_err(), "{json}");
        }
    }
}
