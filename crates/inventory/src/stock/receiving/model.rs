//! The additional fields of a receipt: supplier and invoice. Also its cost.

use db::Money;
use resource::{Field, text};
use web::locale::Locale;

use super::{DocumentLine, documents::Quantities};

/// The maximum length in characters. The access key of a Brazilian invoice has 44.
pub(crate) const MAX_INVOICE: usize = 60;
pub(crate) const INVOICE: &Field =
    &text::<Option<String>>("Nota fiscal", "Invoice number", MAX_INVOICE).named("invoice");

pub(crate) fn units(lines: &[DocumentLine]) -> i64 {
    // Cannot overflow: at most 200 lines of a million units.
    lines.iter().map(DocumentLine::units).sum()
}

/// The cost of a line, as [`DocumentLine::cost_of`].
pub(crate) fn cost(line: &DocumentLine) -> Option<Money> {
    line.cost_of(line.units())
}

/// The cost of all lines that have one. `None` if it exceeds the largest amount.
pub(crate) fn total_cost(lines: &[DocumentLine]) -> Option<Money> {
    let mut costs = lines.iter().filter_map(cost);
    costs.try_fold(Money::ZERO, Money::checked_add)
}

/// The lines with their units, by which a form tells later whether they are still as it showed them.
pub(crate) fn as_shown(lines: &[DocumentLine]) -> String {
    let lines = lines
        .iter()
        .map(|line| format!("{}:{}", line.id, line.units()));
    lines.collect::<Vec<_>>().join(",")
}

pub(super) fn description(invoice: &str, locale: Locale) -> Option<String> {
    let name = locale.text("Nota fiscal", "Invoice");
    (!invoice.is_empty()).then(|| format!("{name} {invoice}"))
}

/// The changes that a form makes to a draft.
#[derive(Debug, Clone)]
pub(crate) struct DraftChange {
    /// The lines as the form shows them, as [`as_shown`] writes them.
    pub(crate) shown: Option<String>,
    pub(crate) supplier: Option<i64>,
    pub(crate) invoice: String,
    /// Line ids with their new quantities.
    pub(crate) quantities: Quantities,
    /// A product and the units to add to its line.
    pub(crate) added: Option<(i64, i64)>,
    pub(crate) step: DraftStep,
}

/// The action that a form requests besides storing its fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DraftStep {
    /// Only store the fields.
    Keep,
    /// Delete this line.
    Remove(i64),
    Book,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stock::documents::tests::line;

    #[test]
    fn sums_are_those_of_the_lines() {
        let mut lines = vec![line(1, Some(3), "2.50"), line(2, Some(4), "1.00")];
        assert_eq!(units(&lines), 7);
        assert_eq!(total_cost(&lines), Money::parse("11.50").ok());
        lines[0].cost_price = None;
        assert_eq!(total_cost(&lines), Money::parse("4.00").ok());
    }

    #[test]
    fn inflows_say_of_which_invoice_they_are() {
        let text = description("123", Locale::PtBr);
        assert_eq!(text.as_deref(), Some("Nota fiscal 123"));
        assert_eq!(description("", Locale::PtBr), None);
    }
}
