//! Low or normal: the state of a product's stock, derived from its quantity and its threshold.

use crate::config::Config;

/// The state of a product's stock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// At the threshold or above.
    Normal,
    /// Below the threshold.
    Low,
}

/// When a low-stock alert is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AlertMode {
    /// After every outflow that leaves a product low, as specified.
    #[default]
    EveryOutflow,
    /// Once until the stock recovers, whichever way it became low; and once when it recovers.
    Once,
}

/// The shop's rules about low stock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// The threshold of products without one of their own.
    pub threshold: i64,
    /// When an alert is sent.
    pub alert: AlertMode,
    /// Whether people are told by mail, once for each crossing.
    pub mails: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Self::from(&Config::default())
    }
}

impl From<&Config> for Policy {
    fn from(config: &Config) -> Self {
        Self {
            threshold: config.low_stock_threshold,
            alert: config.low_stock_alert,
            mails: config.mail.is_some(),
        }
    }
}

impl Policy {
    /// The threshold that holds for a product: its own, or else the shop's.
    pub fn threshold_of(self, own: Option<i64>) -> i64 {
        own.unwrap_or(self.threshold)
    }
}

impl Level {
    /// The level of a quantity under a threshold.
    pub const fn of(quantity: i64, threshold: i64) -> Self {
        if quantity < threshold {
            Self::Low
        } else {
            Self::Normal
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantity_below_the_threshold_is_low() {
        assert_eq!(Level::of(9, 10), Level::Low);
    }

    #[test]
    fn a_quantity_at_or_above_the_threshold_is_normal() {
        assert_eq!(Level::of(10, 10), Level::Normal);
        assert_eq!(Level::of(0, 0), Level::Normal);
    }
}
