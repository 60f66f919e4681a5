//! What a receipt holds beyond any document: a supplier, an invoice, and what it costs.

use db::Money;
use resource::{Field, text};
use web::locale::Locale;

use super::DocumentLine;

/// Characters of the invoice's number. The access key of a Brazilian invoice has 44.
pub(crate) const MAX_INVOICE: usize = 60;
/// The invoice's number.
pub(crate) const INVOICE: &Field =
    &text::<Option<String>>("Nota fiscal", "Invoice number", MAX_INVOICE).named("invoice");

/// The sum of all units.
pub(crate) fn units(lines: &[DocumentLine]) -> i64 {
    // At most 200 lines of a million.
    lines.iter().map(DocumentLine::units).sum()
}

/// What a line costs; none past the largest amount, and of a product that is gone.
pub(crate) fn cost(line: &DocumentLine) -> Option<Money> {
    line.cost_of(line.units())
}

/// What all lines cost; none past the largest amount.
pub(crate) fn total_cost(lines: &[DocumentLine]) -> Option<Money> {
    let mut lines = lines.iter();
    lines.try_fold(Money::ZERO, |sum, line| {
        sum.checked_add(cost(line).unwrap_or(Money::ZERO))
    })
}

/// What the inflows of an invoice say.
pub(super) fn description(invoice: &str, locale: Locale) -> Option<String> {
    let name = locale.text("Nota fiscal", "Invoice");
    (!invoice.is_empty()).then(|| format!("{name} {invoice}"))
}

/// What a form does to a draft.
#[derive(Debug, Clone)]
pub(crate) struct DraftChange {
    pub(crate) supplier: Option<i64>,
    pub(crate) invoice: String,
    /// Lines, and their new quantities.
    pub(crate) quantities: Vec<(i64, Option<i64>)>,
    /// A product, and how many units come to those that are there.
    pub(crate) added: Option<(i64, i64)>,
    pub(crate) step: DraftStep,
}

/// What else a form asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DraftStep {
    /// Nothing but to store it.
    Keep,
    /// A line goes.
    Remove(i64),
    /// All of it is booked.
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
        lines[0].present = None;
        assert_eq!(total_cost(&lines), Money::parse("4.00").ok());
    }

    #[test]
    fn inflows_say_of_which_invoice_they_are() {
        let said = description("123", Locale::PtBr);
        assert_eq!(said.as_deref(), Some("Nota fiscal 123"));
        assert_eq!(description("", Locale::PtBr), None);
    }
}
