//! A receipt: what it holds, and the bounds of it. Booked, each line is an inflow.

use db::{Money, Timestamp};
use web::locale::Locale;

use crate::rest::{
    Message,
    fields::FieldErrors,
    json::{Named, Titled},
};

/// Drafts that one user may have.
pub(super) const MAX_DRAFTS: i64 = 20;
/// Lines of one receipt. All of them are booked in one transaction, which others wait for on SQLite.
pub(super) const MAX_LINES: usize = 200;
/// Units of one line. A barcode that was scanned into the quantity is more, and so is noticed.
pub(super) const MAX_QUANTITY: i64 = 1_000_000;
/// Characters of the invoice's number. The access key of a Brazilian invoice has 44.
pub(super) const MAX_INVOICE: usize = 60;

/// Goods of one invoice.
#[derive(Debug, Clone)]
pub(crate) struct Receipt {
    pub(crate) id: i64,
    /// Who made it: nobody else sees the draft.
    pub(crate) user: Named,
    /// None before it is chosen, and when it was deleted meanwhile.
    pub(crate) supplier: Option<Named>,
    /// The invoice's number; empty without one.
    pub(crate) invoice: String,
    /// None of a draft.
    pub(crate) booked_at: Option<Timestamp>,
    /// The last that was added comes first.
    pub(crate) lines: Vec<Line>,
}

/// Units of one product.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) id: i64,
    pub(crate) product: Titled,
    /// The product's cost price; none when it was deleted meanwhile.
    pub(crate) cost_price: Option<Money>,
    pub(crate) quantity: i64,
    /// What was booked of it.
    pub(crate) inflow: Option<i64>,
}

impl Line {
    /// What its units cost; none past the largest amount.
    pub(crate) fn cost(&self) -> Option<Money> {
        self.cost_price?.checked_mul(self.quantity)
    }
}

/// A receipt in a list.
#[derive(Debug, Clone)]
pub(crate) struct Summary {
    pub(crate) id: i64,
    pub(crate) username: String,
    pub(crate) supplier: Option<String>,
    pub(crate) invoice: String,
    pub(crate) products: i64,
    pub(crate) units: i64,
    /// When it was booked, or a draft last changed.
    pub(crate) at: Timestamp,
}

impl Receipt {
    pub(crate) const fn is_booked(&self) -> bool {
        self.booked_at.is_some()
    }

    /// The sum of all units.
    pub(crate) fn units(&self) -> i64 {
        // At most 200 lines of a million.
        self.lines.iter().map(|line| line.quantity).sum()
    }

    /// What all of it costs; none past the largest amount.
    pub(crate) fn cost(&self) -> Option<Money> {
        let mut lines = self.lines.iter();
        lines.try_fold(Money::ZERO, |sum, line| {
            sum.checked_add(line.cost().unwrap_or(Money::ZERO))
        })
    }

    /// What its inflows say.
    pub(super) fn description(&self, locale: Locale) -> Option<String> {
        let name = locale.text("Nota fiscal", "Invoice");
        (!self.invoice.is_empty()).then(|| format!("{name} {}", self.invoice))
    }
}

/// What a form does to a draft.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub(crate) supplier: Option<i64>,
    pub(crate) invoice: String,
    /// Lines, and their new quantities.
    pub(crate) quantities: Vec<(i64, i64)>,
    /// A product, and how many units come to those that are there.
    pub(crate) added: Option<(i64, i64)>,
    pub(crate) step: Step,
}

/// What else a form asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nothing but to store it.
    Keep,
    /// A line goes.
    Remove(i64),
    /// All of it is booked.
    Book,
}

/// How many units a line has.
///
/// # Errors
///
/// Fewer than one, or more than a line may have.
pub(crate) fn check_quantity(quantity: i64) -> Result<i64, Message> {
    match quantity {
        ..1 => Err(Message::at_least(1)),
        1..=MAX_QUANTITY => Ok(quantity),
        _ => Err(Message::at_most(MAX_QUANTITY)),
    }
}

/// The quantity of a product's line after some more came; of a product that has no line yet, it is a new one.
///
/// # Errors
///
/// A message on the quantity, or on the product where no further line fits.
pub(super) fn add_up(lines: &[Line], product: i64, quantity: i64) -> Result<i64, FieldErrors> {
    let line = lines.iter().find(|line| line.product.id == product);
    if line.is_none() && lines.len() >= MAX_LINES {
        return Err(FieldErrors::of("product", full()));
    }
    let before = line.map_or(0, |line| line.quantity);
    check_quantity(quantity)
        .and_then(|quantity| check_quantity(before + quantity))
        .map_err(|_| FieldErrors::of("quantity", Message::at_most(MAX_QUANTITY - before)))
}

fn full() -> Message {
    Message::new(
        format!("A lista já tem {MAX_LINES} produtos: registre-a e comece outra."),
        format!("The list has {MAX_LINES} products already: book it and begin another one."),
    )
}

/// Why no further draft is begun.
pub(super) fn too_many_drafts() -> Message {
    Message::new(
        format!("Você já tem {MAX_DRAFTS} rascunhos: registre ou descarte um deles."),
        format!("You have {MAX_DRAFTS} drafts already: book or discard one of them."),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(product: i64, quantity: i64, cost: &str) -> Line {
        Line {
            id: product,
            product: Titled {
                id: product,
                title: "Café".to_owned(),
            },
            cost_price: Money::parse(cost).ok(),
            quantity,
            inflow: None,
        }
    }

    #[test]
    fn the_same_product_adds_up_to_the_most_that_a_line_may_have() {
        let lines = [line(1, 999_990, "1.00")];
        assert_eq!(add_up(&lines, 1, 10).unwrap(), MAX_QUANTITY);
        assert_eq!(add_up(&lines, 2, 10).unwrap(), 10);
        let errors = add_up(&lines, 1, 11).unwrap_err();
        let (field, messages) = errors.iter().next().unwrap();
        assert_eq!((field, messages), ("quantity", &[Message::at_most(10)][..]));
    }

    #[test]
    fn no_line_comes_to_a_full_list_but_units_do() {
        let most = i64::try_from(MAX_LINES).unwrap();
        let lines: Vec<_> = (1..=most).map(|product| line(product, 1, "1.00")).collect();
        assert_eq!(add_up(&lines, most, 1).unwrap(), 2);
        assert!(add_up(&lines, most + 1, 1).unwrap_err().has("product"));
    }

    #[test]
    fn a_barcode_is_no_quantity() {
        assert!(check_quantity(7_891_000_000_007).is_err());
        assert!(check_quantity(0).is_err());
        assert_eq!(check_quantity(12).unwrap(), 12);
    }

    #[test]
    fn sums_are_those_of_the_lines() {
        let receipt = Receipt {
            id: 1,
            user: Named {
                id: 1,
                name: "ana".to_owned(),
            },
            supplier: None,
            invoice: "123".to_owned(),
            booked_at: None,
            lines: vec![line(1, 3, "2.50"), line(2, 4, "1.00")],
        };
        assert_eq!(receipt.units(), 7);
        assert_eq!(receipt.cost(), Money::parse("11.50").ok());
        let said = receipt.description(Locale::PtBr);
        assert_eq!(said.as_deref(), Some("Nota fiscal 123"));
    }
}
