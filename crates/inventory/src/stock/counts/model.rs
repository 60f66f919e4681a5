//! A counted line: the ledger's quantity when it was counted, and the counted quantity.

use db::Money;

use super::DocumentLine;
use crate::{digest::digest, rest::Message};

#[derive(Debug, Clone, Copy)]
pub(crate) struct CountedLine<'a> {
    pub(crate) line: &'a DocumentLine,
    /// The ledger's quantity when the line was counted.
    pub(crate) expected: i64,
    pub(crate) counted: i64,
}

impl<'a> CountedLine<'a> {
    /// The counted line. `None` if the line has no count.
    pub(crate) fn of(line: &'a DocumentLine) -> Option<Self> {
        Some(Self {
            line,
            expected: line.expected?,
            counted: line.quantity?,
        })
    }

    /// Counted minus expected units. Both are at least 0, so it cannot overflow.
    pub(crate) const fn difference(&self) -> i64 {
        self.counted - self.expected
    }

    /// The change of the stock since the count. `None` if the product was deleted.
    pub(crate) fn since(&self) -> Option<i64> {
        Some(self.line.present.as_ref()?.stock - self.expected)
    }

    /// The stock after the difference is booked. `None` if the product was deleted.
    pub(crate) fn after(&self) -> Option<i64> {
        let stock = self.line.present.as_ref()?.stock;
        stock.checked_add(self.difference())
    }
}

/// The lines that were counted.
pub(crate) fn compared(lines: &[DocumentLine]) -> impl Iterator<Item = CountedLine<'_>> {
    lines.iter().filter_map(CountedLine::of)
}

/// The lines whose count differs from the ledger.
pub(crate) fn differing(lines: &[DocumentLine]) -> impl Iterator<Item = CountedLine<'_>> {
    compared(lines).filter(|compared| compared.difference() != 0)
}

/// The value at cost of all differences. `None` if it exceeds the largest amount.
pub(crate) fn cost(lines: &[DocumentLine]) -> Option<Money> {
    let cost = |compared: CountedLine<'_>| compared.line.cost_of(compared.difference());
    let mut costs = differing(lines).filter_map(cost);
    costs.try_fold(Money::ZERO, Money::checked_add)
}

/// A digest of counted and expected quantities. Booking a count requires it, so that exactly the
/// differences are booked that the user saw.
pub(crate) fn fingerprint(lines: &[DocumentLine]) -> String {
    let all = compared(lines).map(|compared| {
        let (expected, counted) = (compared.expected, compared.counted);
        format!("{} {expected} {counted}\n", compared.line.id)
    });
    digest(all.collect::<String>())
}

pub(super) fn too_many(most: usize) -> Message {
    Message::new(
        format!(
            "São mais de {most} produtos. Escolha menos: uma categoria, uma marca ou um fornecedor."
        ),
        format!(
            "That is more than {most} products. Choose fewer: a category, a brand or a supplier."
        ),
    )
}

pub(super) const NO_PRODUCTS: Message = Message::fixed(
    "Não há nenhum produto para contar.",
    "There are no products to count.",
);
pub(super) const NOTHING_COUNTED: Message =
    Message::fixed("Nada foi contado ainda.", "Nothing has been counted yet.");
pub(super) const CHANGED_MEANWHILE: Message = Message::fixed(
    "A contagem mudou desde que esta página foi aberta. Confira as diferenças e registre de novo.",
    "The count has changed since this page was opened. Check the differences and record it again.",
);
pub(super) const GONE: Message = Message::fixed(
    "este produto foi excluído. Apague a quantidade dele.",
    "this product was deleted. Clear its quantity.",
);
pub(super) const SOLD_MORE: Message = Message::fixed(
    "desde a contagem saíram mais unidades do que havia. Conte de novo.",
    "since it was counted, more units have left than there were. Count it again.",
);
pub(super) const LEFT_ALREADY: Message = Message::fixed(
    "unidades que a contagem acrescentou já saíram.",
    "units that the count added have left already.",
);
pub(super) const TOO_MANY_UNITS: Message = Message::fixed(
    "o estoque passaria do máximo possível.",
    "the stock would exceed the largest possible number.",
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stock::documents::tests::line;

    #[test]
    fn what_nobody_counted_is_no_difference_and_nothing_on_the_shelf_is_one() {
        let lines = [
            line(1, None, "2.50"),
            line(2, Some(0), "2.50"),
            line(3, Some(10), "2.50"),
        ];
        let products: Vec<_> = differing(&lines)
            .map(|compared| compared.line.product.id)
            .collect();
        assert_eq!(products, [2]);
        assert_eq!(compared(&lines).count(), 2);
        assert_eq!(cost(&lines), Money::parse("-25.00").ok());
    }
}
