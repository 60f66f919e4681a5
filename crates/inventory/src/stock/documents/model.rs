//! A document: products with quantities, edited line by line and booked as a whole. Defines the
//! kinds and their limits. All other rules of a kind are in `receiving` and `counts`.

use db::{Money, Timestamp};
use resource::stored_enum;

use crate::rest::{
    Message,
    fields::FieldErrors,
    json::{Named, Titled},
};

/// The most drafts of one kind per user.
pub(super) const MAX_DRAFTS: i64 = 20;

stored_enum! {
    pub(crate) enum DocumentKind {
        /// Goods received with one supplier's invoice.
        Receipt = "receipt";
        Count = "count";
    }
}

impl DocumentKind {
    /// The most lines of a document. All lines are booked in one transaction, and on SQLite other
    /// writers wait for it. Counts book only lines that differ, so they may have more.
    pub(crate) const fn max_lines(self) -> usize {
        match self {
            Self::Receipt => 200,
            Self::Count => 500,
        }
    }

    /// The most units of a line. A barcode in the quantity field exceeds it.
    pub(crate) const fn max_quantity(self) -> i64 {
        match self {
            Self::Receipt => 1_000_000,
            Self::Count => crate::stock::adjustments::MAX_COUNTED,
        }
    }

    /// Checks the units of a line. Receipts have at least 1 unit per line; counts may have 0.
    pub(crate) fn check_quantity(self, quantity: i64) -> Result<i64, Message> {
        let least = match self {
            Self::Receipt => 1,
            Self::Count => 0,
        };
        if quantity < least {
            Err(Message::at_least(least))
        } else if quantity > self.max_quantity() {
            Err(Message::at_most(self.max_quantity()))
        } else {
            Ok(quantity)
        }
    }

    /// The units of a product's line after adding `quantity`. The product may have no line yet. The
    /// error is a message on the quantity, or on the product if the document has no room for
    /// another line.
    pub(crate) fn add_up(
        self,
        lines: &[DocumentLine],
        product: i64,
        quantity: i64,
    ) -> Result<i64, FieldErrors> {
        let line = lines.iter().find(|line| line.product.id == product);
        if line.is_none() && lines.len() >= self.max_lines() {
            return Err(FieldErrors::of("product", self.full()));
        }
        let before = line.map_or(0, DocumentLine::units);
        self.check_quantity(quantity)
            .and_then(|quantity| self.check_quantity(before + quantity))
            .map_err(|_| {
                FieldErrors::of("quantity", Message::at_most(self.max_quantity() - before))
            })
    }

    fn full(self) -> Message {
        let most = self.max_lines();
        Message::new(
            format!("A lista já tem {most} produtos: registre-a e comece outra."),
            format!("The list already has {most} products: book it and start another one."),
        )
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Document {
    pub(crate) id: i64,
    /// The author. `None` if it was deleted.
    pub(crate) user: Option<i64>,
    pub(crate) user_name: String,
    /// The supplier of a receipt. `None` for a count, before it is chosen, and if it was deleted.
    pub(crate) supplier: Option<Named>,
    /// The invoice number of a receipt, possibly empty, or the description of a count.
    pub(crate) label: String,
    /// `None` for a draft.
    pub(crate) booked_at: Option<Timestamp>,
    /// The line that was added last comes first.
    pub(crate) lines: Vec<DocumentLine>,
}

impl Document {
    pub(crate) const fn is_booked(&self) -> bool {
        self.booked_at.is_some()
    }

    /// Whether a user sees the document. Only its author sees a draft, until the author is deleted.
    pub(super) fn is_seen_by(&self, user: i64) -> bool {
        self.is_booked() || self.user.is_none_or(|author| author == user)
    }
}

/// A line: units of one product.
#[derive(Debug, Clone)]
pub(crate) struct DocumentLine {
    pub(crate) id: i64,
    pub(crate) product: Titled,
    /// The product's current data. `None` if it was deleted.
    pub(crate) present: Option<CurrentProduct>,
    /// The cost price now, or when the document was booked. `None` if the product of a draft was
    /// deleted.
    pub(crate) cost_price: Option<Money>,
    /// `None` until the product is counted.
    pub(crate) quantity: Option<i64>,
    /// The stock when the quantity was written.
    pub(crate) expected: Option<i64>,
    /// The id of the inflow that was booked for a line of a receipt.
    pub(crate) inflow: Option<i64>,
}

#[derive(Debug, Clone)]
pub(crate) struct CurrentProduct {
    pub(crate) serie_number: Option<String>,
    pub(crate) stock: i64,
}

impl DocumentLine {
    pub(crate) fn units(&self) -> i64 {
        self.quantity.unwrap_or_default()
    }

    /// The cost of units. `None` if it is too large, or if there is no cost price.
    pub(crate) fn cost_of(&self, units: i64) -> Option<Money> {
        self.cost_price?.checked_mul(units)
    }
}

#[derive(Debug, Clone)]
pub(crate) struct DocumentSummary {
    pub(crate) id: i64,
    pub(crate) username: String,
    pub(crate) supplier: Option<String>,
    pub(crate) label: String,
    pub(crate) products: i64,
    /// The number of lines that have a quantity.
    pub(crate) counted: i64,
    pub(crate) units: i64,
    /// When the document was booked, or when the draft was last changed.
    pub(crate) at: Timestamp,
}

pub(super) fn too_many_drafts() -> Message {
    Message::new(
        format!("Você já tem {MAX_DRAFTS} rascunhos: registre ou descarte um deles."),
        format!("You already have {MAX_DRAFTS} drafts: book or discard one of them."),
    )
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A line of a product whose stock is 10 now and was 10 when the quantity was written.
    pub(crate) fn line(product: i64, quantity: Option<i64>, cost: &str) -> DocumentLine {
        DocumentLine {
            id: product,
            product: Titled {
                id: product,
                title: "Café".to_owned(),
            },
            present: Some(CurrentProduct {
                serie_number: None,
                stock: 10,
            }),
            cost_price: Some(Money::parse(cost).unwrap()),
            quantity,
            expected: Some(10),
            inflow: None,
        }
    }

    #[test]
    fn the_same_product_adds_up_to_the_most_that_a_line_may_have() {
        let lines = [line(1, Some(999_990), "1.00"), line(3, None, "1.00")];
        let kind = DocumentKind::Receipt;
        assert_eq!(kind.add_up(&lines, 1, 10).unwrap(), kind.max_quantity());
        assert_eq!(kind.add_up(&lines, 2, 10).unwrap(), 10);
        assert_eq!(DocumentKind::Count.add_up(&lines, 3, 1).unwrap(), 1);
        let errors = kind.add_up(&lines, 1, 11).unwrap_err();
        let (field, messages) = errors.iter().next().unwrap();
        assert_eq!((field, messages), ("quantity", &[Message::at_most(10)][..]));
    }

    #[test]
    fn no_line_comes_to_a_full_list_but_units_do() {
        for kind in [DocumentKind::Receipt, DocumentKind::Count] {
            let most = i64::try_from(kind.max_lines()).unwrap();
            let lines: Vec<_> = (1..=most)
                .map(|product| line(product, Some(1), "1.00"))
                .collect();
            assert_eq!(kind.add_up(&lines, most, 1).unwrap(), 2);
            assert!(kind.add_up(&lines, most + 1, 1).unwrap_err().has("product"));
        }
    }

    #[test]
    fn a_barcode_is_no_quantity_and_nothing_is_one_that_is_counted() {
        for kind in [DocumentKind::Receipt, DocumentKind::Count] {
            assert!(kind.check_quantity(7_891_000_000_007).is_err());
            assert!(kind.check_quantity(-1).is_err());
            assert_eq!(kind.check_quantity(12).unwrap(), 12);
        }
        assert!(DocumentKind::Receipt.check_quantity(0).is_err());
        assert_eq!(DocumentKind::Count.check_quantity(0).unwrap(), 0);
    }
}
