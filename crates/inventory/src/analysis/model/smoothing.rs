//! Forecasts of daily demand by exponential smoothing and Croston's method.

/// The weight of the newest day in simple exponential smoothing.
pub const DAY_WEIGHT: f64 = 0.2;
/// The weight of the newest demand in Croston's method.
pub const DEMAND_WEIGHT: f64 = 0.1;

/// Simple exponential smoothing, initialised with the first value. 0 for an empty series.
pub fn simple(series: &[f64], weight: f64) -> f64 {
    let smoothed = series
        .iter()
        .copied()
        .reduce(|level, value| weight.mul_add(value, (1.0 - weight) * level));
    smoothed.unwrap_or(0.0)
}

/// The state of Croston's method, which smooths demand sizes and intervals separately.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Croston {
    /// The smoothed size of a demand, `ẑ`.
    pub size: f64,
    /// The smoothed number of days between demands, `p̂`.
    pub interval: f64,
    weight: f64,
}

impl Croston {
    /// Smooths a series, initialised with its first demand. `None` for a series without demand.
    pub fn of(series: &[f64], weight: f64) -> Option<Self> {
        let mut smoothed: Option<Self> = None;
        let mut gap = 0.0;
        for value in series {
            gap += 1.0;
            if *value <= 0.0 {
                continue;
            }
            smoothed = Some(match smoothed {
                None => Self {
                    size: *value,
                    interval: gap,
                    weight,
                },
                Some(before) => Self {
                    size: weight.mul_add(*value, (1.0 - weight) * before.size),
                    interval: weight.mul_add(gap, (1.0 - weight) * before.interval),
                    weight,
                },
            });
            gap = 0.0;
        }
        smoothed
    }

    /// Croston's forecast of daily demand, which is biased upwards.
    pub fn per_day(self) -> f64 {
        self.size / self.interval
    }

    /// The forecast of daily demand with the bias correction of Syntetos and Boylan.
    pub fn corrected_per_day(self) -> f64 {
        self.per_day() * (1.0 - self.weight / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_sold_is_nothing_foretold() {
        assert!(simple(&[], DAY_WEIGHT).abs() < 1e-12);
        assert_eq!(Croston::of(&[0.0, 0.0], DEMAND_WEIGHT), None);
    }

    #[test]
    fn the_first_demand_brings_the_first_size_and_gap() {
        let croston = Croston::of(&[0.0, 0.0, 6.0], DEMAND_WEIGHT).unwrap();
        assert!((croston.size - 6.0).abs() < 1e-12 && (croston.interval - 3.0).abs() < 1e-12);
        assert!((croston.per_day() - 2.0).abs() < 1e-12);
        assert!((croston.corrected_per_day() - 1.9).abs() < 1e-12);
    }
}
