//! The formulas of restocking: demand and its class, forecasts, safety stock, when and how much to
//! order, and the measures of a whole shop. Pure: days and units come in, figures go out; no clock,
//! no store, no money save as exact amounts. Sources: Croston (1972); Syntetos and Boylan (2005);
//! Silver, Pyke and Thomas, "Inventory and Production Management" (2017).

pub mod demand;
pub mod figures;
pub mod normal;
pub mod portfolio;
pub mod smoothing;
pub mod supply;

pub use demand::{Class, Day, Demand};
pub use figures::{Figures, Forecast, ForecastMethod, Variability};
pub use supply::Terms;

/// A count as a number to reckon with: exact up to 2⁵³, which no shelf holds.
#[expect(
    clippy::cast_precision_loss,
    reason = "statistics of counts; nothing that is stored exactly goes through here"
)]
pub fn real(count: i64) -> f64 {
    count as f64
}

/// The least whole number that is not below `value`, a hair of rounding error forgiven; what does
/// not fit is the nearest that does.
#[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
pub fn round_up(value: f64) -> i64 {
    (value - 1e-9).ceil() as i64
}

/// The greatest whole number that is not above `value`.
#[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
pub fn round_down(value: f64) -> i64 {
    (value + 1e-9).floor() as i64
}
