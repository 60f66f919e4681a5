//! Products counted by bands of selling prices, so that a range of prices is counted without reading most of its products: bands wholly within
//! the range are added up, and only the first and the last are counted in the products' own index.

use db::{Money, Query};

use super::store;

/// The band of a price, as the tallies have it: how many digits it has in hundredths, and the first three of them.
pub(crate) fn band_of(price: Money) -> i64 {
    let digits = digits_of(price);
    let first: String = digits.chars().take(3).collect();
    let length = i64::try_from(digits.len()).unwrap_or(0);
    length * 1000 + first.parse::<i64>().unwrap_or(0)
}

/// The digits of a price in hundredths; nothing has none.
pub(crate) fn digits_of(price: Money) -> String {
    match price.cents() {
        0 => String::new(),
        cents => cents.to_string(),
    }
}

/// The least and the greatest price of a band.
pub(crate) fn bounds_of(band: i64) -> (Money, Money) {
    let (length, first) = (band / 1000, i128::from(band % 1000));
    let further = u32::try_from(length - 3).unwrap_or(0);
    let width = 10_i128.checked_pow(further).unwrap_or(1);
    let least = first * width;
    (
        Money::from_cents(least),
        Money::from_cents(least + width - 1),
    )
}

/// A stretch of prices, both ends within it, in parts: bands that are wholly within it, and what lies before and behind them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// The first and the last of the bands.
    bands: (i64, i64),
    /// From one price to another, both included; none where the bands begin or end with the stretch.
    pub(crate) before: Option<(Money, Money)>,
    pub(crate) behind: Option<(Money, Money)>,
}

impl Stretch {
    /// The parts, unless no band is wholly within it.
    pub(crate) fn of(min: Money, max: Money) -> Option<Self> {
        let one = Money::from_cents(1);
        let mut bands = (band_of(min), band_of(max));
        let (mut before, mut behind) = (None, None);
        let (lowest, highest) = (bounds_of(bands.0), bounds_of(bands.1));
        if min > lowest.0 {
            before = Some((min, lowest.1));
            bands.0 = band_of(lowest.1.checked_add(one)?);
        }
        if max < highest.1 {
            behind = Some((highest.0, max));
            let below = highest.0.checked_sub(one);
            bands.1 = band_of(below.filter(|price| *price >= Money::ZERO)?);
        }
        (bands.0 <= bands.1).then_some(Self {
            bands,
            before,
            behind,
        })
    }

    /// How many products are in the bands, exactly and in the statement's own state of the store: a number.
    pub(crate) fn push_bands(&self, query: &mut Query) {
        store::push_priced(query, self.bands);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn price(text: &str) -> Money {
        Money::parse(text).unwrap()
    }

    #[test]
    fn a_stretch_is_its_bands_and_what_is_left_of_two() {
        let stretch = Stretch::of(price("10.05"), price("123.45")).unwrap();
        assert_eq!(stretch.before, Some((price("10.05"), price("10.09"))));
        assert_eq!(stretch.bands, (4101, 5122));
        assert_eq!(stretch.behind, Some((price("123.00"), price("123.45"))));
        let all = Stretch::of(Money::ZERO, Money::MAX).unwrap();
        assert_eq!((all.before, all.behind), (None, None));
        assert_eq!(Stretch::of(price("1000.01"), price("1009.98")), None);
        assert_eq!(Stretch::of(price("9.01"), price("1.00")), None);
    }

    proptest! {
        #[test]
        fn every_price_is_in_its_band_and_bands_follow_prices(
            one in 0..=Money::MAX.cents(), other in 0..=Money::MAX.cents(), shift in 0..70_u32
        ) {
            let (one, other) = (Money::from_cents(one >> shift), Money::from_cents(other >> shift));
            let (least, greatest) = bounds_of(band_of(one));
            prop_assert!(least <= one && one <= greatest);
            prop_assert_eq!((band_of(least), band_of(greatest)), (band_of(one), band_of(one)));
            prop_assert_eq!(band_of(one) < band_of(other), greatest < other && band_of(one) != band_of(other));
        }

        #[test]
        fn a_price_is_in_one_part_of_the_stretch_it_is_in(
            bounds in (0..200_000_i128, 0..200_000_i128), price in 0..200_000_i128
        ) {
            let (min, max, price) = (Money::from_cents(bounds.0), Money::from_cents(bounds.1), Money::from_cents(price));
            if let Some(stretch) = Stretch::of(min, max) {
                let within = |part: Option<(Money, Money)>| {
                    usize::from(part.is_some_and(|(from, to)| from <= price && price <= to))
                };
                let bands = usize::from((stretch.bands.0..=stretch.bands.1).contains(&band_of(price)));
                let parts = within(stretch.before) + bands + within(stretch.behind);
                prop_assert_eq!(parts, usize::from(min <= price && price <= max));
            }
        }
    }
}
