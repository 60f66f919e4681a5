//! A step chart of a balance over time. The table beside it has the same numbers.

use std::fmt::Write as _;

use db::Timestamp;
use web::locale::Locale;

/// The chart's width in SVG units.
pub(crate) const WIDTH: u64 = 600;
const HEIGHT: u64 = 120;

#[derive(Debug)]
pub(crate) struct Trend {
    /// The line, as an SVG path.
    pub(crate) line: String,
    /// The area below the line, as an SVG path.
    pub(crate) area: String,
    /// A text alternative.
    pub(crate) summary: String,
    /// The highest balance, at the upper edge. The lower edge is 0.
    pub(crate) highest: String,
    /// The first and the last day.
    pub(crate) days: (String, String),
    /// The tooltips of the steps, one a line: the distance from the left, the time and the balance.
    pub(crate) steps: String,
}

impl Trend {
    /// The chart of balances, oldest first. `None` for fewer than two.
    pub(crate) fn of(points: &[(Timestamp, i64)], locale: Locale) -> Option<Self> {
        let [(start, _), .., (end, last)] = points else {
            return None;
        };
        let span = end
            .micros()
            .saturating_sub(start.micros())
            .max(1)
            .unsigned_abs();
        let highest = points
            .iter()
            .map(|(_, balance)| *balance)
            .max()
            .unwrap_or(0);
        let lowest = points
            .iter()
            .map(|(_, balance)| *balance)
            .min()
            .unwrap_or(0);
        let across = |time: &Timestamp| {
            let past = time.micros().saturating_sub(start.micros()).unsigned_abs();
            scaled(past, span, WIDTH)
        };
        let down = |balance: i64| {
            HEIGHT
                - scaled(
                    balance.unsigned_abs(),
                    highest.unsigned_abs().max(1),
                    HEIGHT,
                )
        };
        let (mut line, mut steps) = (String::new(), Vec::new());
        for (index, (time, balance)) in points.iter().enumerate() {
            // Writing to a string cannot fail.
            _ = if index == 0 {
                write!(line, "M{} {}", across(time), down(*balance))
            } else {
                write!(line, "H{}V{}", across(time), down(*balance))
            };
            let (when, balance) = (locale.date_time(*time), locale.number(*balance));
            steps.push(format!("{}|{when}|{balance}", across(time)));
        }
        let number = |number: i64| locale.number(number);
        let words = |portuguese, english| locale.text(portuguese, english);
        Some(Self {
            area: format!("{line}V{HEIGHT}H0Z"),
            summary: format!(
                "{} {}, {} {}, {} {}",
                words("Saldo: menor", "Balance: lowest"),
                number(lowest),
                words("maior", "highest"),
                number(highest),
                words("agora", "now"),
                number(*last)
            ),
            highest: number(highest),
            days: (locale.date(*start), locale.date(*end)),
            steps: steps.join("\n"),
            line,
        })
    }
}

/// Scales `part` of `whole` to `size`.
fn scaled(part: u64, whole: u64, size: u64) -> u64 {
    let scaled = u128::from(part) * u128::from(size) / u128::from(whole);
    u64::try_from(scaled).unwrap_or(size).min(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_balance_is_drawn_in_steps_from_the_ground_to_its_highest() {
        let at = |minute: i64| {
            Timestamp::parse("2026-11-20T12:00:00Z").unwrap()
                + std::time::Duration::from_secs(minute.unsigned_abs() * 60)
        };
        let trend = Trend::of(&[(at(0), 10), (at(5), 5), (at(10), 20)], Locale::En).unwrap();
        assert_eq!(trend.line, "M0 60H300V90H600V0");
        assert_eq!(trend.summary, "Balance: lowest 5, highest 20, now 20");
        let steps = "0|20 Nov 2026, 09:00|10\n300|20 Nov 2026, 09:05|5\n600|20 Nov 2026, 09:10|20";
        assert_eq!(trend.steps, steps);
        assert!(Trend::of(&[(at(0), 1)], Locale::En).is_none());
        assert!(Trend::of(&[(at(0), 0), (at(0), i64::MAX)], Locale::En).is_some());
    }
}
