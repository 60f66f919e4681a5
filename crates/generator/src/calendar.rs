//! When goods are sold: weekdays, seasons and opening hours of a Brazilian shop, spread over the
//! days of a history.

use db::Timestamp;

/// When a good sells best.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Season {
    Flat,
    Summer,
    Winter,
    Christmas,
    School,
}

impl Season {
    pub(crate) fn parse(name: &str) -> Option<Self> {
        match name {
            "flat" => Some(Self::Flat),
            "summer" => Some(Self::Summer),
            "winter" => Some(Self::Winter),
            "christmas" => Some(Self::Christmas),
            "school" => Some(Self::School),
            _ => None,
        }
    }

    /// The sales in a month (1 to 12), in percent of the best month.
    pub(crate) const fn percent(self, month: i8) -> u64 {
        match (self, month) {
            (Self::Flat, _)
            | (Self::Summer, 12 | 1 | 2)
            | (Self::Winter, 6..=8)
            | (Self::Christmas, 12)
            | (Self::School, 1 | 2) => 100,
            (Self::Summer, 3 | 11) | (Self::Winter, 5 | 9) | (Self::School, 7 | 12) => 75,
            (Self::Christmas, 11) => 80,
            (Self::Christmas, 10) => 60,
            (Self::School, _) => 35,
            _ => 50,
        }
    }
}

/// The sales of weekdays, Monday first, and of months, January first, in percent of the average.
const WEEKDAYS: [u64; 7] = [88, 90, 95, 100, 122, 150, 55];
const MONTHS: [u64; 12] = [86, 88, 94, 95, 106, 100, 93, 98, 93, 99, 114, 150];

const SECOND: i64 = 1_000_000;
const DAY: i64 = 24 * 60 * 60 * SECOND;
/// The shop is open from 08:00 to 20:00 in São Paulo, which is three hours behind UTC.
const OPENS: i64 = 11 * 60 * 60 * SECOND;
const CLOSES: i64 = 23 * 60 * 60 * SECOND;

/// A day of the history, with its number of movements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Day {
    pub(crate) month: i8,
    /// The opening time, in microseconds since 1970.
    opens: i64,
    /// The closing time, in microseconds since 1970. The present on the last day.
    closes: i64,
    /// The number of movements.
    pub(crate) movements: u64,
}

impl Day {
    /// The time of movement `number`. The day is divided evenly between the movements; `shift`
    /// moves each within its part.
    pub(crate) fn moment(&self, number: u64, shift: u64) -> Timestamp {
        let span = u128::from((self.closes - self.opens).unsigned_abs());
        let thousandths = u128::from(number) * 1000 + u128::from(shift % 1000);
        let at = span * thousandths / (u128::from(self.movements.max(1)) * 1000);
        Timestamp::from_micros(self.opens + i64::try_from(at).unwrap_or(0))
    }
}

/// The last `days` days up to `until`, with `movements` distributed over them.
pub(crate) fn days(until: Timestamp, days: u32, movements: u64) -> Vec<Day> {
    let today = until.micros().div_euclid(DAY);
    let weighed: Vec<(Day, u64)> = (0..i64::from(days))
        .rev()
        .filter_map(|ago| day(today - ago, until))
        .collect();
    let total: u64 = weighed.iter().map(|(_, weight)| *weight).sum();
    let (mut passed, mut assigned) = (0, 0);
    weighed
        .into_iter()
        .map(|(day, weight)| {
            passed += weight;
            let due = u128::from(movements) * u128::from(passed) / u128::from(total.max(1));
            let due = u64::try_from(due).unwrap_or(movements);
            let movements = due - assigned;
            assigned = due;
            Day { movements, ..day }
        })
        .collect()
}

/// A day and its weight. `None` when the history ends before the shop opens.
fn day(number: i64, until: Timestamp) -> Option<(Day, u64)> {
    let midnight = Timestamp::from_micros(number * DAY);
    let date = midnight.to_jiff().to_zoned(jiff::tz::TimeZone::UTC).date();
    let opens = midnight.micros() + OPENS;
    let closes = (midnight.micros() + CLOSES).min(until.micros());
    if closes <= opens {
        return None;
    }
    let weekday = usize::try_from(date.weekday().to_monday_zero_offset()).unwrap_or(0);
    let month = usize::try_from(date.month() - 1).unwrap_or(0);
    let share = (closes - opens).unsigned_abs() * 1000 / (CLOSES - OPENS).unsigned_abs();
    let weight = WEEKDAYS.get(weekday)? * MONTHS.get(month)? * share;
    let day = Day {
        month: date.month(),
        opens,
        closes,
        movements: 0,
    };
    (weight > 0).then_some((day, weight))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_spread_and_nothing_lies_in_the_future() {
        let until = Timestamp::parse("2026-11-20T15:00:00Z").unwrap();
        let days = days(until, 365, 100_003);
        assert_eq!(days.iter().map(|day| day.movements).sum::<u64>(), 100_003);
        let last = days.last().unwrap();
        assert!(last.moment(last.movements - 1, 999) <= until);
        let mut before = Timestamp::from_micros(0);
        for day in &days {
            for number in 0..day.movements {
                let moment = day.moment(number, 500);
                assert!(moment > before);
                before = moment;
            }
        }
    }

    #[test]
    fn saturdays_and_december_are_busy() {
        let until = Timestamp::parse("2026-12-31T23:30:00Z").unwrap();
        let days = days(until, 365, 1_000_000);
        let of_month = |month| {
            let in_month = days.iter().filter(|day| day.month == month);
            in_month.map(|day| day.movements).sum::<u64>()
        };
        assert!(of_month(12) > of_month(2) * 3 / 2);
        // 19 and 20 December 2026 are a Saturday and a Sunday.
        let (saturday, sunday) = (days[days.len() - 13], days[days.len() - 12]);
        assert!(saturday.movements > sunday.movements * 2);
    }
}
