//! Low products, and their order in the list. Pure functions.

use std::{cmp::Reverse, collections::BTreeMap};

use web::locale::Locale;

use crate::{
    analysis::model::{Figures, round_down},
    rest::json::Named,
    stock::LowStock,
};

#[derive(Debug)]
pub(crate) struct LowProduct {
    pub(crate) stock: LowStock,
    /// Units sold in the last 30 days.
    pub(crate) sold: i64,
    /// How many days the stock lasts at the pace of the last 30 days. `None` without sales.
    pub(crate) cover: Option<f64>,
}

/// The data that is needed to order a product.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct OrderSource {
    pub(crate) serie_number: Option<String>,
    /// The supplier of the last inflow.
    pub(crate) supplier: Option<Named>,
}

/// A low product, and how much to order.
#[derive(Debug)]
pub(crate) struct ReorderNeed {
    pub(crate) low: LowProduct,
    pub(crate) source: OrderSource,
    pub(crate) figures: Figures,
}

impl LowProduct {
    /// How long the stock lasts, as text.
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
    /// The supplier's id. 0 if no supplier has delivered the product yet.
    pub(crate) fn supplier_id(&self) -> i64 {
        self.supplier.as_ref().map_or(0, |supplier| supplier.id)
    }
}

/// Sorts by urgency: the shortest cover first, so products out of stock come first; products
/// without sales come last. Of equal cover, the one that sold most comes first.
pub(super) fn sort_by_urgency(lows: &mut [LowProduct]) {
    lows.sort_by(|one, other| {
        let days = |low: &LowProduct| low.cover.unwrap_or(f64::INFINITY);
        let by_days = days(one).total_cmp(&days(other));
        by_days.then(other.sold.cmp(&one.sold))
    });
}

/// Groups by supplier, most urgent first. Products without a supplier come last.
pub(super) fn by_supplier(
    mut sourced: Vec<(LowProduct, OrderSource)>,
) -> Vec<(LowProduct, OrderSource)> {
    let mut positions = BTreeMap::new();
    for (position, (_, source)) in sourced.iter().enumerate() {
        positions.entry(source.supplier_id()).or_insert(position);
    }
    sourced.sort_by_key(|(_, source)| {
        let supplier = source.supplier_id();
        (Reverse(supplier > 0), positions.get(&supplier).copied())
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
        let titles = lows.map(|low| low.stock.product.title);
        assert_eq!(titles, expected);
    }
}
