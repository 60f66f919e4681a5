//! The catalogue: brands, categories and suppliers (one shape, one implementation), and products.
//! Quantities and their changes are in `stock`.

pub mod named;
pub mod products;
mod store;

use db::Conn;
use web::locale::Locale;

use crate::{
    State,
    access::Model,
    rest::{Message, Refusal},
};
use resource::Words;

/// Longest name and title, in characters.
pub const MAX_NAME: usize = 500;
/// The noun for rows of a running import, in messages about references.
pub(crate) const IMPORT_WORDS: Words =
    Words::feminine(("importação", "import"), ("importações", "imports"));

/// How many records of one kind refer to a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReferenceCount {
    /// The noun for these records.
    pub(crate) words: &'static Words,
    /// The number of records.
    pub count: i64,
}

/// How many records refer to a named record or a product and prevent its deletion, by kind.
pub async fn references_to(
    state: &State,
    model: Model,
    id: i64,
) -> Result<Vec<ReferenceCount>, Refusal> {
    let read = async move |conn: &mut Conn| store::references_to(conn, model, id).await;
    Ok(state.db.read(read).await?)
}

/// Fails with 409 if anything refers to the record.
pub(crate) async fn check_deletion(conn: &mut Conn, model: Model, id: i64) -> Result<(), Refusal> {
    let references = store::references_to(conn, model, id).await?;
    refuse_when_referenced(model.words(), &references)
}

/// Fails with 409 if anything refers to the record. The message counts every kind, in the specified
/// words: `Cannot delete this brand because 3 product records reference it.`
pub(crate) fn refuse_when_referenced(
    words: &Words,
    references: &[ReferenceCount],
) -> Result<(), Refusal> {
    let references: Vec<_> = references.iter().filter(|kind| kind.count > 0).collect();
    let total: i64 = references.iter().map(|kind| kind.count).sum();
    if total == 0 {
        return Ok(());
    }
    let english = references.iter().map(|ReferenceCount { words, count }| {
        let records = if *count == 1 { "record" } else { "records" };
        format!("{count} {} {records}", words.one(Locale::En))
    });
    let portuguese = references.iter().map(|ReferenceCount { words, count }| {
        let noun = words.of(Locale::PtBr, count.unsigned_abs());
        format!("{} {noun}", Locale::PtBr.number(*count))
    });
    let verb = if total == 1 {
        "references"
    } else {
        "reference"
    };
    let is_feminine = references.iter().all(|kind| kind.words.is_feminine);
    let bound = match (is_feminine, total) {
        (false, 1) => "ligado",
        (false, _) => "ligados",
        (true, 1) => "ligada",
        (true, _) => "ligadas",
    };
    let (this, one) = (words.ending("este", "esta"), words.one(Locale::PtBr));
    let portuguese = portuguese.collect::<Vec<_>>().join(" e ");
    let english = english.collect::<Vec<_>>().join(" and ");
    let resource = words.one(Locale::En);
    Err(Refusal::Conflict(Message::new(
        format!(
            "Não é possível excluir {this} {one}: ainda há {portuguese} {bound} a este registro."
        ),
        format!("Cannot delete this {resource} because {english} {verb} it."),
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(name: &str) -> &'static Words {
        let mut all = Model::all().map(Model::words).chain([&IMPORT_WORDS]);
        all.find(|words| words.singular.1 == name).unwrap()
    }

    fn refusal(resource: &str, counts: &[(&str, i64)]) -> String {
        let references: Vec<_> = counts
            .iter()
            .map(|&(name, count)| ReferenceCount {
                words: words(name),
                count,
            })
            .collect();
        match refuse_when_referenced(words(resource), &references) {
            Err(Refusal::Conflict(message)) => message.text(Locale::PtBr).to_owned(),
            _ => String::new(),
        }
    }

    #[test]
    fn a_protected_delete_is_told_in_portuguese_with_its_endings() {
        for (resource, counts, expected) in [
            (
                "brand",
                &[("product", 1200)][..],
                "Não é possível excluir esta marca: ainda há 1.200 produtos ligados a este registro.",
            ),
            (
                "product",
                &[("inflow", 1)],
                "Não é possível excluir este produto: ainda há 1 entrada ligada a este registro.",
            ),
            (
                "product",
                &[("inflow", 1), ("outflow", 2)],
                "Não é possível excluir este produto: ainda há 1 entrada e 2 saídas ligadas a este registro.",
            ),
            (
                "category",
                &[("product", 3), ("import", 1)],
                "Não é possível excluir esta categoria: ainda há 3 produtos e 1 importação ligados a este registro.",
            ),
        ] {
            assert_eq!(refusal(resource, counts), expected);
        }
    }
}
