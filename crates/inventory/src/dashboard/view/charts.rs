//! Computes small charts: sparklines, and the widths of bars.

use crate::{aggregates::Sum, analysis::model::real};

/// The size of a sparkline, in the units of its SVG view box.
const LINE_WIDTH: f64 = 100.0;
const LINE_HEIGHT: f64 = 24.0;

/// The most points of a sparkline. More would not be visible.
const MAX_POINTS: usize = 60;

/// The points of a sparkline, from left to right. Many days are averaged in groups of neighbours.
pub(super) fn sparkline(values: impl Iterator<Item = Sum>) -> String {
    let days: Vec<f64> = values.map(Sum::approximately).collect();
    let group_size = days.len().div_ceil(MAX_POINTS).max(1);
    let values: Vec<f64> = days.chunks(group_size).map(mean).collect();
    let highest = values.iter().copied().fold(0.0_f64, f64::max);
    let lowest = values.iter().copied().fold(0.0_f64, f64::min);
    let range = highest - lowest;
    if range <= 0.0 {
        return String::new();
    }
    let last = real(i64::try_from(values.len()).unwrap_or(1)) - 1.0;
    let points = (0_u16..).zip(&values).map(|(index, value)| {
        let x = f64::from(index) / last.max(1.0) * LINE_WIDTH;
        let y = (highest - value) / range * (LINE_HEIGHT - 2.0) + 1.0;
        format!("{x:.1},{y:.1}")
    });
    points.collect::<Vec<_>>().join(" ")
}

fn mean(days: &[f64]) -> f64 {
    days.iter().sum::<f64>() / real(i64::try_from(days.len()).unwrap_or(1))
}

/// A share in percent with one decimal.
pub(super) fn tenths(part: i64, whole: i64) -> String {
    let tenths = i128::from(part) * 1000 / i128::from(whole.max(1));
    format!("{}.{}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_goes_from_the_first_day_to_the_last_and_stays_within_its_box() {
        let points = sparkline([0, 5, 10].map(Sum::from).into_iter());
        assert_eq!(points, "0.0,23.0 50.0,12.0 100.0,1.0");
        assert_eq!(sparkline([0, 0].map(Sum::from).into_iter()), "");
        assert_eq!(sparkline(std::iter::empty()), "");
    }

    #[test]
    fn the_line_of_a_year_has_a_point_for_each_week() {
        let year = sparkline((0..365).map(Sum::from));
        assert_eq!(year.split(' ').count(), 53);
        assert!(
            year.starts_with("0.0,22.8 1.9,") && year.ends_with(" 100.0,1.0"),
            "{year}"
        );
    }

    #[test]
    fn shares_are_written_with_one_decimal() {
        assert_eq!(tenths(1, 3), "33.3");
        assert_eq!(tenths(3, 3), "100.0");
        assert_eq!(tenths(0, 0), "0.0");
    }
}
