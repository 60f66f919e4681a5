//! Numbers, durations, times of day and rates.

use std::time::Duration;

use checkout::request::MaxAmounts;
use web::rate::{Rate, Rates};

use super::{Value, displayed_values};

/// A whole number from `LOW` to `HIGH`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Count<const LOW: i64, const HIGH: i64>(pub(crate) i64);

impl<const LOW: i64, const HIGH: i64> Value for Count<LOW, HIGH> {
    fn allowed() -> String {
        format!("a whole number from {LOW} to {HIGH}")
    }

    fn parse(text: &str) -> Option<Self> {
        let number = text.parse().ok()?;
        (LOW..=HIGH).contains(&number).then_some(Self(number))
    }

    fn show(&self) -> String {
        self.0.to_string()
    }
}

/// A percentage with at most two decimals, from 50.00 to 99.99.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Percent {
    hundredths: u32,
}

impl Percent {
    /// The percentage, from 50.0 to 99.99.
    pub(crate) fn value(self) -> f64 {
        f64::from(self.hundredths) / 100.0
    }
}

impl Value for Percent {
    fn allowed() -> String {
        "a number from 50 to 99.99 with at most two decimals".to_owned()
    }

    fn parse(text: &str) -> Option<Self> {
        let hundredths = db::Money::parse(text).ok()?.cents();
        let hundredths = u32::try_from(hundredths).ok()?;
        (5000..=9999)
            .contains(&hundredths)
            .then_some(Self { hundredths })
    }

    fn show(&self) -> String {
        self.value().to_string()
    }
}

/// Units of time in milliseconds, longest first.
const UNITS: [(&str, u64); 5] = [
    ("d", 86_400_000),
    ("h", 3_600_000),
    ("m", 60_000),
    ("s", 1_000),
    ("ms", 1),
];

impl Value for Duration {
    fn allowed() -> String {
        "a whole number above 0 with its unit (ms, s, m, h or d), such as 15s".to_owned()
    }

    fn parse(text: &str) -> Option<Self> {
        let digits = text.find(|character: char| !character.is_ascii_digit())?;
        let (number, unit) = text.split_at(digits);
        let (_, milliseconds) = UNITS.iter().find(|(name, _)| *name == unit)?;
        let number: u64 = number.parse().ok().filter(|number| *number > 0)?;
        number.checked_mul(*milliseconds).map(Self::from_millis)
    }

    fn show(&self) -> String {
        let milliseconds = self.as_millis();
        UNITS
            .iter()
            .find(|(_, length)| milliseconds.is_multiple_of(u128::from(*length)))
            .map_or_else(String::new, |(name, length)| {
                format!("{}{name}", milliseconds / u128::from(*length))
            })
    }
}

/// A waiting time, which may be zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pause(pub(crate) Duration);

impl Value for Pause {
    fn allowed() -> String {
        format!("0s, or {}", Duration::allowed())
    }

    fn parse(text: &str) -> Option<Self> {
        if text == "0s" {
            return Some(Self(Duration::ZERO));
        }
        <Duration as Value>::parse(text).map(Self)
    }

    fn show(&self) -> String {
        if self.0.is_zero() {
            return "0s".to_owned();
        }
        self.0.show()
    }
}

/// A time of day in UTC, in minutes after midnight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimeOfDay(pub(crate) u32);

impl Value for TimeOfDay {
    fn allowed() -> String {
        "a time of day in UTC, such as 10:30".to_owned()
    }

    fn parse(text: &str) -> Option<Self> {
        let (hours, minutes) = text.split_once(':')?;
        let number = |text: &str, most: u32| -> Option<u32> {
            let is_plain = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
            let number = text.parse().ok().filter(|number| *number <= most);
            number.filter(|_| is_plain)
        };
        Some(Self(number(hours, 23)? * 60 + number(minutes, 59)?))
    }

    fn show(&self) -> String {
        format!("{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

displayed_values! {
    MaxAmounts: Open, "card, pix or boleto with an amount, such as card=60000, several by comma; or `off`";
    Rates: Open, format_args!(
        "a number (1 to {}) per second, minute, hour or day, such as 100/minute, several by comma; or `off`",
        Rate::MAX_LIMIT
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_and_show_in_their_largest_unit() {
        for (text, seconds) in [("15s", 15), ("2m", 120), ("1d", 86_400), ("7d", 604_800)] {
            assert_eq!(
                <Duration as Value>::parse(text),
                Some(Duration::from_secs(seconds))
            );
            assert_eq!(Duration::from_secs(seconds).show(), text);
        }
        assert_eq!(
            <Duration as Value>::parse("250ms"),
            Some(Duration::from_millis(250))
        );
    }

    #[test]
    fn a_duration_needs_a_number_above_zero_and_a_unit() {
        for text in [
            "15",
            "s",
            "0s",
            "-1s",
            "1.5s",
            "15 s",
            "15sec",
            "99999999999999999999d",
        ] {
            assert_eq!(<Duration as Value>::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_pause_may_be_none() {
        for text in ["0s", "5s", "250ms"] {
            assert_eq!(Pause::parse(text).unwrap().show(), text);
        }
        assert_eq!(Pause::parse("0"), None);
    }

    #[test]
    fn rates_read_one_or_several() {
        for (text, shown) in [
            ("100/minute, 1000/hour", "100/minute,1000/hour"),
            ("off", "off"),
        ] {
            assert_eq!(Rates::parse(text).unwrap().show(), shown);
        }
        for text in [
            "",
            "100",
            "100/fortnight",
            "0/minute",
            "x/minute",
            "100/minute,",
        ] {
            assert_eq!(Rates::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_share_is_more_than_half_and_less_than_all() {
        for text in ["95", "97.5", "99.99", "50"] {
            assert_eq!(Percent::parse(text).unwrap().show(), text);
        }
        for text in ["100", "49.99", "95%", "97,5", "97.555", "-95", ""] {
            assert_eq!(Percent::parse(text), None, "{text}");
        }
    }

    #[test]
    fn counts_keep_to_their_range() {
        assert_eq!(Count::<1, 100>::parse("100"), Some(Count(100)));
        assert_eq!(Count::<1, 100>::parse("101"), None);
        assert_eq!(Count::<0, 100>::parse("-1"), None);
    }

    #[test]
    fn a_time_of_day_has_hours_and_minutes() {
        assert_eq!(TimeOfDay::parse("10:30"), Some(TimeOfDay(630)));
        assert_eq!(TimeOfDay(5).show(), "00:05");
        for text in ["24:00", "10:60", "1:30", "10h30", "+1:00", "noon"] {
            assert_eq!(TimeOfDay::parse(text), None, "{text}");
        }
    }
}
