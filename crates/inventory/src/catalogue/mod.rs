//! The catalogue: brands, categories and suppliers (one shape, one implementation), and products.
//! What is on the shelves is in `stock`.

pub mod named;
pub mod products;

use axum::Router;

use crate::{page::PageState, rest::Refusal};
use named::Kind;

/// Longest name and title, in characters.
pub const MAX_NAME: usize = 500;
/// Longest description, in characters.
pub const MAX_DESCRIPTION: usize = 65_536;
/// Characters of a folded description that lists are ordered by.
const DESCRIPTION_KEY: usize = 200;

/// The pages of the catalogue.
pub(crate) fn pages() -> Router<PageState> {
    [Kind::Brand, Kind::Category, Kind::Supplier]
        .into_iter()
        .fold(products::pages::routes(), |router, kind| {
            router.merge(named::pages::routes(kind))
        })
}

/// What lists order a description by.
pub(crate) fn description_key(description: &str) -> String {
    db::fold(description)
        .chars()
        .take(DESCRIPTION_KEY)
        .collect()
}

/// One kind of record that refers to the one that should go, and how many do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Referring {
    /// What they are called, such as `product`.
    pub name: &'static str,
    /// How many.
    pub count: i64,
}

/// 409 in the decided words, when anything refers to the record: `Cannot delete this brand because 3 product records reference it.`
///
/// # Errors
///
/// [`Refusal::Conflict`]
pub(crate) fn refuse_when_referenced(
    resource: &str,
    referring: &[Referring],
) -> Result<(), Refusal> {
    let phrases: Vec<String> = referring
        .iter()
        .filter(|kind| kind.count > 0)
        .map(|kind| {
            format!(
                "{} {} {}",
                kind.count,
                kind.name,
                if kind.count == 1 { "record" } else { "records" }
            )
        })
        .collect();
    let verb = match referring.iter().map(|kind| kind.count).sum() {
        0 => return Ok(()),
        1 => "references",
        _ => "reference",
    };
    Err(Refusal::Conflict(format!(
        "Cannot delete this {resource} because {} {verb} it.",
        phrases.join(" and ")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(counts: &[(&'static str, i64)]) -> Option<String> {
        let referring: Vec<_> = counts
            .iter()
            .map(|&(name, count)| Referring { name, count })
            .collect();
        match refuse_when_referenced("product", &referring) {
            Err(Refusal::Conflict(text)) => Some(text),
            _ => None,
        }
    }

    #[test]
    fn a_protected_delete_counts_every_kind() {
        assert_eq!(refusal(&[("inflow", 0), ("outflow", 0)]), None);
        assert_eq!(
            refusal(&[("inflow", 1), ("outflow", 2)]).as_deref(),
            Some(
                "Cannot delete this product because 1 inflow record and 2 outflow records reference it."
            )
        );
        assert_eq!(
            refusal(&[("inflow", 1)]).as_deref(),
            Some("Cannot delete this product because 1 inflow record references it.")
        );
    }
}
