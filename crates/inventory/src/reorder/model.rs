//! Low products, and the order in which they are shown. Pure.

use std::{cmp::Reverse, collections::BTreeMap};

use web::locale::Locale;

use crate::{
    analysis::model::{Figures, round_down},
    rest::json::Named,
    stock::LowStock,
};

/// A product that runs low.
#[derive(Debug)]
pub(crate) struct LowProduct {
    pub(crate) stock: LowStock,
    /// Units sold in the last 30 days.
    pub(crate) sold: i64,
    /// How many days it lasts if it sells as in the last 30; `None` when it sold nothing.
    pub(crate) cover: Option<f64>,
}

/// How a product is ordered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct OrderSource {
    pub(crate) serie_number: Option<String>,
    /// The last supplier.
    pub(crate) supplier: Option<Named>,
}

/// A low product with what to order of it.
#[derive(Debug)]
pub(crate) struct ReorderNeed {
    pub(crate) low: LowProduct,
    pub(crate) source: OrderSource,
    pub(crate) figures: Figures,
}

impl LowProduct {
    /// How long it lasts, in words.
    pub(crate) fn lasts(&self, locale: Locale) -> String {
        match self.cover {
            _ if self.stock.quantity == 0 => locale.text("acabou", "out of stock").to_owned(),
            None => locale.text("sem saídas", "no sales").to_owned(),
            Some(days) if days < 1.0 => locale.text("menos de 1 dia", "under a day").to_owned(),
            Some(days) if days < 2.0 => locale.text("1 dia", "1 day").to_owned(),
            Some(days) => {
                let whole = locale.number(round_down(days));
                format!("{whole} {}", locale.text("dias", "days"))
            }
        }
    }
}

impl OrderSource {
    /// The supplier's id; 0 when no supplier has delivered the product yet.
    pub(crate) fn supplier_id(&self) -> i64 {
        self.supplier.as_ref().map_or(0, |supplier| supplier.id)
    }
}

/// Sorts by urgency: sold-out products first, best sellers among them first; then those that last
/// least; last those without sales.
pub(super) fn sort_by_urgency(lows: &mut [LowProduct]) {
    lows.sort_by(|one, other| {
        let days = |low: &LowProduct| low.cover.unwrap_or(f64::INFINITY);
        let by_days = days(one).total_cmp(&days(other));
        by_days.then(other.sold.cmp(&one.sold))
    });
}

/// Groups by supplier. The supplier of the most urgent product comes first, products without a
/// supplier last.
pub(super) fn by_supplier(
    mut sourced: Vec<(LowProduct, OrderSource)>,
) -> Vec<(LowProduct, OrderSource)> {
    let mut places = BTreeMap::new();
    for (place, (_, source)) in sourced.iter().enumerate() {
        places.entry(source.supplier_id()).or_insert(place);
    }
    sourced.sort_by_key(|(_, source)| {
        let supplier = source.supplier_id();
        (Reverse(supplier > 0), places.get(&supplier).copied())
    });
    sourced
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rest::json::Titled;

    fn low(title: &str, quantity: i64, sold: i64, cover: Option<f64>) -> LowProduct {
        let title = title.to_owned();
        let product = Titled { id: 1, title };
        LowProduct {
            stock: LowStock {
                product,
                quantity,
                threshold: 10,
            },
            sold,
            cover,
        }
    }

    fn titles<'a>(lows: impl IntoIterator<Item = &'a LowProduct>) -> Vec<&'a str> {
        let lows = lows.into_iter();
        lows.map(|low| low.stock.product.title.as_str()).collect()
    }

    #[test]
    fn what_runs_out_first_stands_first_and_what_nobody_buys_last() {
        let mut lows = [
            low("never sold", 0, 0, None),
            low("a week", 7, 30, Some(7.0)),
            low("out of stock", 0, 3, Some(0.0)),
            low("sold out and missed", 0, 90, Some(0.0)),
            low("a day", 9, 270, Some(1.0)),
        ];
        sort_by_urgency(&mut lows);
        let expected = [
            "sold out and missed",
            "out of stock",
            "a day",
            "a week",
            "never sold",
        ];
        assert_eq!(titles(&lows), expected);
    }

    #[test]
    fn the_supplier_of_what_is_missed_first_stands_first() {
        let of = |supplier: i64| {
            let name = format!("Supplier {supplier}");
            let supplier = (supplier > 0).then_some(Named { id: supplier, name });
            OrderSource {
                serie_number: None,
                supplier,
            }
        };
        let sourced = vec![
            (low("nobody's", 0, 9, Some(0.0)), of(0)),
            (low("second's first", 1, 9, Some(1.0)), of(2)),
            (low("first's first", 2, 9, Some(2.0)), of(1)),
            (low("second's last", 3, 9, Some(3.0)), of(2)),
        ];
        let grouped = by_supplier(sourced);
        let expected = [
            "second's first",
            "second's last",
            "first's first",
            "nobody's",
        ];
        assert_eq!(titles(grouped.iter().map(|(low, _)| low)), expected);
    }
}
