//! The four digits of a boleto that encode its due date: days since 1997-10-07, restarting at 1000
//! on 2025-02-22 (Febraban, 2022).

use jiff::ToSpan;
use jiff::civil::{Date, date};

const BASE: Date = date(1997, 10, 7);
const FIRST: i64 = 1000;
/// The number of factors, from 1000 to 9999, after which they restart.
const PERIOD: i64 = 9000;

/// The factor of a due date: 1000 to 9999. `None` before 2000-07-03, for which there is no factor.
pub fn due_factor(due: Date) -> Option<u16> {
    let days = days_since_base(due);
    if days < FIRST {
        return None;
    }
    u16::try_from((days - FIRST) % PERIOD + FIRST).ok()
}

/// The due date of a factor. Of all dates with this factor, it is the one nearest to today. `None`
/// for a boleto without a due date (factor 0) and for factors that are never issued.
///
/// Febraban's own rule is a window around today. Within 4500 days it gives the same date.
pub fn due_date(factor: u16, today: Date) -> Option<Date> {
    let factor = i64::from(factor);
    if !(FIRST..FIRST + PERIOD).contains(&factor) {
        return None;
    }
    let ahead = days_since_base(today) - factor;
    let rounds = (ahead + PERIOD / 2).div_euclid(PERIOD).max(0);
    BASE.checked_add((factor + rounds * PERIOD).days()).ok()
}

fn days_since_base(date: Date) -> i64 {
    date.duration_since(BASE).as_hours() / 24
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TODAY: Date = date(2026, 11, 20);

    #[test]
    fn the_factor_starts_again_in_february_2025() {
        for (due, factor) in [
            (date(2000, 7, 3), 1000),
            (date(2025, 2, 21), 9999),
            (date(2025, 2, 22), 1000),
            (TODAY, 1636),
            (date(2049, 10, 13), 9999),
            (date(2049, 10, 14), 1000),
        ] {
            assert_eq!(due_factor(due), Some(factor), "{due}");
        }
        assert_eq!(due_factor(date(2000, 7, 2)), None);
    }

    #[test]
    fn a_factor_means_the_date_nearest_to_today() {
        assert_eq!(due_date(1636, TODAY), Some(TODAY));
        assert_eq!(due_date(9999, TODAY), Some(date(2025, 2, 21)));
        assert_eq!(due_date(1000, TODAY), Some(date(2025, 2, 22)));
        assert_eq!(due_date(9999, date(2045, 1, 1)), Some(date(2049, 10, 13)));
        assert_eq!(due_date(8441, date(2020, 11, 10)), Some(date(2020, 11, 16)));
        assert_eq!(due_date(9999, date(1998, 1, 1)), Some(date(2025, 2, 21)));
    }

    #[test]
    fn no_factor_is_no_date() {
        for factor in [0, 1, 999, 10_000, u16::MAX] {
            assert_eq!(due_date(factor, TODAY), None, "{factor}");
        }
    }

    proptest! {
        #[test]
        fn every_date_within_twelve_years_of_today_comes_back(today in 0_i64..20_000, shift in -4_499_i64..4_500) {
            let today = date(2013, 1, 1).checked_add(today.days()).unwrap();
            let due = today.checked_add(shift.days()).unwrap();
            let factor = due_factor(due).unwrap();
            prop_assert_eq!(due_date(factor, today), Some(due));
        }
    }
}
