//! The names of a kind of record, and the texts made from them. Portuguese texts depend on the
//! noun's gender.

use web::locale::Locale;

use crate::Both;

/// The names of a kind of record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Words {
    /// The singular.
    pub singular: Both,
    /// The plural.
    pub plural: Both,
    /// Whether the Portuguese noun is feminine.
    pub is_feminine: bool,
}

impl Words {
    /// Names whose Portuguese noun is masculine.
    pub const fn masculine(singular: Both, plural: Both) -> Self {
        Self {
            singular,
            plural,
            is_feminine: false,
        }
    }

    /// Names whose Portuguese noun is feminine.
    pub const fn feminine(singular: Both, plural: Both) -> Self {
        Self {
            is_feminine: true,
            ..Self::masculine(singular, plural)
        }
    }

    /// The singular in the user's language.
    pub const fn one(&self, locale: Locale) -> &'static str {
        locale.text(self.singular.0, self.singular.1)
    }

    /// The plural in the user's language.
    pub const fn many(&self, locale: Locale) -> &'static str {
        locale.text(self.plural.0, self.plural.1)
    }

    /// The singular or the plural, depending on `count`.
    pub const fn of(&self, locale: Locale, count: u64) -> &'static str {
        if count == 1 {
            self.one(locale)
        } else {
            self.many(locale)
        }
    }

    /// The Portuguese ending for the noun's gender.
    pub const fn ending(&self, masculine: &'static str, feminine: &'static str) -> &'static str {
        if self.is_feminine {
            feminine
        } else {
            masculine
        }
    }

    /// `Categoria`
    pub fn name(&self, locale: Locale) -> String {
        capitalized(self.one(locale))
    }

    /// `Categorias`
    pub fn title(&self, locale: Locale) -> String {
        capitalized(self.many(locale))
    }

    /// `Nova categoria`
    pub fn new_one(&self, locale: Locale) -> String {
        let new = locale.text(self.ending("Novo", "Nova"), "New");
        format!("{new} {}", self.one(locale))
    }

    /// `Editar categoria`
    pub fn edit(&self, locale: Locale) -> String {
        format!("{} {}", locale.text("Editar", "Edit"), self.one(locale))
    }

    /// `Buscar categoria`, `Search categories`
    pub fn search(&self, locale: Locale) -> String {
        locale.choose(
            format!("Buscar {}", self.one(locale)),
            format!("Search {}", self.many(locale)),
        )
    }

    /// `Ainda não há categorias.`
    pub fn none_yet(&self, locale: Locale) -> String {
        let many = self.many(locale);
        locale.choose(
            format!("Ainda não há {many}."),
            format!("There are no {many} yet."),
        )
    }

    /// `Categoria criada`, from `criad` and `added`.
    pub fn done(&self, locale: Locale, portuguese: &str, english: &str) -> String {
        let one = self.name(locale);
        locale.choose(
            format!("{one} {portuguese}{}", self.ending("o", "a")),
            format!("{one} {english}"),
        )
    }

    /// `Excluir a categoria?`
    pub fn ask_to_delete(&self, locale: Locale) -> String {
        format!("{} {}?", locale.text("Excluir", "Delete"), self.the(locale))
    }

    /// `Sim, excluir a categoria`
    pub fn confirm_to_delete(&self, locale: Locale) -> String {
        let yes = locale.text("Sim, excluir", "Yes, delete");
        format!("{yes} {}", self.the(locale))
    }

    /// `Produtos desta categoria`: records of this kind that refer to one of another kind.
    pub fn of_this(&self, other: &Self, locale: Locale) -> String {
        let this = locale.text(other.ending("deste", "desta"), "of this");
        format!("{} {this} {}", self.title(locale), other.one(locale))
    }

    fn the(&self, locale: Locale) -> String {
        let article = locale.text(self.ending("o", "a"), "the");
        format!("{article} {}", self.one(locale))
    }
}

/// The text with a capital first letter.
pub fn capitalized(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(characters).collect()
    })
}

/// A label for use within a sentence: with a small first letter, unless it is an abbreviation.
pub fn in_a_sentence(label: &str) -> String {
    let mut characters = label.chars();
    match (characters.next(), characters.clone().next()) {
        (Some(first), second) if !second.is_some_and(char::is_uppercase) => {
            first.to_lowercase().chain(characters).collect()
        }
        _ => label.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_texts_of_a_kind_have_the_endings_of_its_gender() {
        let category = Words::feminine(("categoria", "category"), ("categorias", "categories"));
        let supplier = Words::masculine(("fornecedor", "supplier"), ("fornecedores", "suppliers"));
        for (locale, category_texts, supplier_texts) in [
            (
                Locale::PtBr,
                ["Nova categoria", "Categoria criada", "Excluir a categoria?"],
                [
                    "Novo fornecedor",
                    "Fornecedor criado",
                    "Excluir o fornecedor?",
                ],
            ),
            (
                Locale::En,
                ["New category", "Category added", "Delete the category?"],
                ["New supplier", "Supplier added", "Delete the supplier?"],
            ),
        ] {
            for (words, expected) in [(category, category_texts), (supplier, supplier_texts)] {
                let made = [
                    words.new_one(locale),
                    words.done(locale, "criad", "added"),
                    words.ask_to_delete(locale),
                ];
                assert_eq!(made, expected);
            }
        }
        assert_eq!(category.search(Locale::En), "Search categories");
        assert_eq!(
            category.of_this(&supplier, Locale::PtBr),
            "Categorias deste fornecedor"
        );
    }
}
