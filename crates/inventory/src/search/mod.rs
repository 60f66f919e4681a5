//! Search by words in folded text, with the same results on both engines: every word must occur.
//!
//! Names of brands, categories and suppliers are few and are scanned. Titles have an index: their
//! words, the suffixes of these words, and the products of each word. A search term is a prefix of
//! a suffix, so it is found anywhere within a word. `words` splits texts, `store` maintains and
//! queries the index, `near` finds corrections of mistyped words. The lists decide how they use the
//! index.

mod near;
mod store;
mod words;

pub(crate) use store::{
    Within, add, entries_of, has_word, ids_of_name, nearest, push_word_ids, rebuild, remove, renew,
    words_with, wrong_products, wrong_words,
};
pub(crate) use words::{Key, successor};

use db::Query;

/// Adds the condition that a column begins with a text, so that an index on it is used.
pub(crate) fn begins(query: &mut Query, column: &'static str, text: &str) {
    query.push(column).push(" >= ").bind(text);
    if let Some(beyond) = successor(text) {
        query.push(" AND ").push(column).push(" < ").bind(beyond);
    }
}

/// Adds the condition that every word occurs in a folded column.
pub(crate) fn contains(query: &mut Query, column: &'static str, words: &[String]) {
    for word in words {
        query
            .push(" AND ")
            .push(column)
            .push(" LIKE ")
            .bind(pattern(word))
            .push(" ESCAPE '\\'");
    }
}

/// Adds the condition that every word begins a word of a folded column.
pub(crate) fn begins_words(query: &mut Query, column: &'static str, words: &[String]) {
    for word in words {
        query
            .push(" AND ' ' || ")
            .push(column)
            .push(" LIKE ")
            .bind(format!("% {}%", escaped(word)))
            .push(" ESCAPE '\\'");
    }
}

/// The `LIKE` pattern that matches a word anywhere.
pub(crate) fn pattern(word: &str) -> String {
    format!("%{}%", escaped(word))
}

/// Escapes the wildcards of `LIKE`.
fn escaped(word: &str) -> String {
    let mut pattern = String::with_capacity(word.len());
    for character in word.chars() {
        if matches!(character, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_with_a_meaning_stand_for_themselves() {
        assert_eq!(pattern("50%_a\\"), "%50\\%\\_a\\\\%");
    }
}
