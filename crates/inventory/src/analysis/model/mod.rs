//! The formulas of restocking: demand and its class, forecasts, safety stock, when and how much to
//! order, and the key figures of a whole shop. Pure functions: no clock, no database, no money
//! except as exact amounts. Sources: Croston (1972); Syntetos and Boylan (2005); Silver, Pyke and
//! Thomas, "Inventory and Production Management" (2017).

pub mod demand;
pub mod figures;
pub mod normal;
pub mod portfolio;
pub mod smoothing;
pub mod supply;

pub use demand::{Class, Day, Demand};
pub use figures::{Figures, Forecast, ForecastMethod, Variability};
pub use supply::Terms;

/// A count as a float. Exact up to 2⁵³.
#[expect(
    clippy::cast_precision_loss,
    reason = "statistics of counts; nothing that is stored exactly goes through here"
)]
pub fn real(count: i64) -> f64 {
    count as f64
}

/// Rounds up to a whole number. A rounding error of up to 1e-9 is ignored, and a value out of range
/// saturates.
#[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
pub fn round_up(value: f64) -> i64 {
    (value - 1e-9).ceil() as i64
}

/// Rounds down to a whole number, with the same tolerance as [`round_up`].
#[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
pub fn round_down(value: f64) -> i64 {
    (value + 1e-9).floor() as i64
}
