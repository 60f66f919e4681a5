//! The catalogue: brands, categories and suppliers (one shape, one implementation), and products.
//! What is on the shelves is in `stock`.

pub mod named;
pub mod products;

use axum::Router;
use web::locale::Locale;

use crate::{
    page::PageState,
    rest::{Message, Refusal},
};
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

/// What records are called in messages, in English and in Portuguese: the record that should go, one that refers to it, and several.
const NOUNS: [(&str, [&str; 3]); 7] = [
    ("brand", ["esta marca", "marca", "marcas"]),
    ("category", ["esta categoria", "categoria", "categorias"]),
    (
        "supplier",
        ["este fornecedor", "fornecedor", "fornecedores"],
    ),
    ("product", ["este produto", "produto", "produtos"]),
    ("inflow", ["esta entrada", "entrada", "entradas"]),
    ("outflow", ["esta saída", "saída", "saídas"]),
    ("import", ["esta importação", "importação", "importações"]),
];

/// The words in Portuguese; those of English where there are none.
fn in_portuguese(name: &str) -> [&str; 3] {
    let found = NOUNS.iter().find(|(english, _)| *english == name);
    found.map_or([name; 3], |(_, words)| *words)
}

/// What one record is called in Portuguese.
pub(crate) fn one_in_portuguese(name: &str) -> &str {
    let [_, one, _] = in_portuguese(name);
    one
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
    let referring: Vec<_> = referring.iter().filter(|kind| kind.count > 0).collect();
    let total: i64 = referring.iter().map(|kind| kind.count).sum();
    if total == 0 {
        return Ok(());
    }
    let english = referring.iter().map(|Referring { name, count }| {
        let records = if *count == 1 { "record" } else { "records" };
        format!("{count} {name} {records}")
    });
    let portuguese = referring.iter().map(|Referring { name, count }| {
        let [_, one, several] = in_portuguese(name);
        let noun = if *count == 1 { one } else { several };
        format!("{} {noun}", Locale::PtBr.number(*count))
    });
    let verb = if total == 1 {
        "references"
    } else {
        "reference"
    };
    let is_masculine = referring.iter().any(|kind| kind.name == "product");
    let bound = match (is_masculine, total) {
        (true, 1) => "ligado",
        (true, _) => "ligados",
        (false, 1) => "ligada",
        (false, _) => "ligadas",
    };
    let [this, ..] = in_portuguese(resource);
    let portuguese = portuguese.collect::<Vec<_>>().join(" e ");
    let english = english.collect::<Vec<_>>().join(" and ");
    Err(Refusal::Conflict(Message::new(
        format!("Não é possível excluir {this}: ainda há {portuguese} {bound} a este registro."),
        format!("Cannot delete this {resource} because {english} {verb} it."),
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(resource: &str, counts: &[(&'static str, i64)], locale: Locale) -> String {
        let referring: Vec<_> = counts
            .iter()
            .map(|&(name, count)| Referring { name, count })
            .collect();
        match refuse_when_referenced(resource, &referring) {
            Err(Refusal::Conflict(message)) => message.text(locale).to_owned(),
            _ => String::new(),
        }
    }

    #[test]
    fn a_protected_delete_counts_every_kind() {
        let english = |counts: &[_]| refusal("product", counts, Locale::En);
        assert_eq!(english(&[("inflow", 0), ("outflow", 0)]), "");
        assert_eq!(
            english(&[("inflow", 1), ("outflow", 2)]),
            "Cannot delete this product because 1 inflow record and 2 outflow records reference it."
        );
        assert_eq!(
            english(&[("inflow", 1), ("import", 0)]),
            "Cannot delete this product because 1 inflow record references it."
        );
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
            assert_eq!(refusal(resource, counts, Locale::PtBr), expected);
        }
    }
}
