//! Allowed rates: a number of calls in a period, several periods at once.

use std::fmt;
use std::ops::Deref;
use std::str::FromStr;
use std::time::Duration;

/// The length of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Period {
    /// One second.
    Second,
    /// Sixty seconds.
    Minute,
    /// Sixty minutes.
    Hour,
    /// Twenty-four hours.
    Day,
}

impl Period {
    const ALL: [Self; 4] = [Self::Second, Self::Minute, Self::Hour, Self::Day];

    /// The length in seconds.
    pub const fn seconds(self) -> u32 {
        match self {
            Self::Second => 1,
            Self::Minute => 60,
            Self::Hour => 3600,
            Self::Day => 86_400,
        }
    }

    /// The length.
    pub const fn length(self) -> Duration {
        Duration::from_secs(self.seconds() as u64)
    }

    /// The name in settings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Second => "second",
            Self::Minute => "minute",
            Self::Hour => "hour",
            Self::Day => "day",
        }
    }
}

/// At most `limit` in any stretch of one period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rate {
    limit: u32,
    per: Period,
}

impl Rate {
    /// The largest limit: what one key may hold in memory.
    pub const MAX_LIMIT: u32 = 1_000_000;

    /// A rate; limits below 1 and above [`Rate::MAX_LIMIT`] are moved to the nearest allowed one.
    pub const fn new(limit: u32, per: Period) -> Self {
        let limit = if limit == 0 {
            1
        } else if limit > Self::MAX_LIMIT {
            Self::MAX_LIMIT
        } else {
            limit
        };
        Self { limit, per }
    }

    /// How many are allowed.
    pub const fn limit(self) -> u32 {
        self.limit
    }

    /// So many times as much in the same stretch.
    pub(super) const fn times(self, times: u32) -> Self {
        Self {
            limit: self.limit.saturating_mul(times),
            per: self.per,
        }
    }

    /// In which stretch of time.
    pub const fn per(self) -> Period {
        self.per
    }
}

/// Rates that hold at once; none of them is no limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rates(Vec<Rate>);

impl Rates {
    /// No limit.
    pub const fn off() -> Self {
        Self(Vec::new())
    }

    /// So many times as much in the same periods.
    #[must_use]
    pub fn times(&self, times: u32) -> Self {
        let rates = self.iter().map(|rate| rate.times(times));
        Self(rates.map(|rate| Rate::new(rate.limit, rate.per)).collect())
    }

    /// Whether there is no limit.
    pub fn is_off(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<Rate> for Rates {
    fn from(rate: Rate) -> Self {
        Self(vec![rate])
    }
}

impl Deref for Rates {
    type Target = [Rate];

    fn deref(&self) -> &[Rate] {
        &self.0
    }
}

/// A rate that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{found:?} is no rate: write 100/minute, several separated by commas (100/minute,1000/hour,10000/day), or off; \
     periods are second, minute, hour and day, each at most once, limits 1 to {}",
    Rate::MAX_LIMIT
)]
pub struct RatesError {
    found: String,
}

impl FromStr for Rate {
    type Err = RatesError;

    fn from_str(text: &str) -> Result<Self, RatesError> {
        let rate = || {
            let (limit, per) = text.split_once('/')?;
            let per = Period::ALL
                .into_iter()
                .find(|period| period.name() == per)?;
            let is_plain = limit.bytes().all(|byte| byte.is_ascii_digit());
            let limit = limit
                .parse()
                .ok()
                .filter(|limit| is_plain && (1..=Self::MAX_LIMIT).contains(limit))?;
            Some(Self { limit, per })
        };
        rate().ok_or_else(|| RatesError {
            found: text.to_owned(),
        })
    }
}

impl FromStr for Rates {
    type Err = RatesError;

    fn from_str(text: &str) -> Result<Self, RatesError> {
        if text.trim() == "off" {
            return Ok(Self::off());
        }
        let rates: Vec<Rate> = text
            .split(',')
            .map(|part| part.trim().parse())
            .collect::<Result<_, _>>()?;
        let is_repeated = rates.iter().enumerate().any(|(index, rate)| {
            rates
                .iter()
                .skip(index + 1)
                .any(|other| other.per == rate.per)
        });
        if is_repeated {
            Err(RatesError {
                found: text.to_owned(),
            })
        } else {
            Ok(Self(rates))
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.limit, self.per.name())
    }
}

impl fmt::Display for Rates {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_off() {
            return formatter.write_str("off");
        }
        for (index, rate) in self.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(formatter, "{comma}{rate}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_read_back_as_they_are_written() {
        for text in [
            "off",
            "1/second",
            "100/minute",
            "100/minute,1000/hour,10000/day",
        ] {
            assert_eq!(text.parse::<Rates>().unwrap().to_string(), text);
        }
        assert_eq!(
            " 100/minute , 1000/hour "
                .parse::<Rates>()
                .unwrap()
                .to_string(),
            "100/minute,1000/hour"
        );
    }

    #[test]
    fn what_is_no_rate_is_named_together_with_what_is_allowed() {
        let wrong = [
            "",
            "100",
            "/minute",
            "100/",
            "0/minute",
            "-1/minute",
            "+1/minute",
            "1.5/minute",
            "100/fortnight",
            "100/Minute",
            "1000001/day",
            "off,1/day",
        ];
        for text in wrong {
            let error = text.parse::<Rates>().unwrap_err().to_string();
            assert!(
                error.contains("is no rate: write 100/minute"),
                "{text:?}: {error}"
            );
        }
        assert!("100/minute,5/minute".parse::<Rates>().is_err());
    }
}
