//! Splits titles into words for the index, and search terms into index keys. Pure functions.

use std::collections::BTreeSet;

/// Shorter words of a title are not indexed, because nearly every title has some.
const SHORTEST: usize = 3;
/// The maximum length of a stored ending, in characters. For a longer search term, this many
/// characters are looked up and the title is compared.
const ENDING: usize = 24;
/// Longer words are split into overlapping pieces, because the size of an index entry is limited.
const PIECE: usize = 96;

/// The indexed words of a folded title: the texts between spaces.
pub(crate) fn pieces(folded: &str) -> BTreeSet<String> {
    let mut pieces = BTreeSet::new();
    for word in folded.split(' ') {
        let characters: Vec<char> = word.chars().collect();
        if characters.len() < SHORTEST {
            continue;
        }
        // Pieces overlap by the length of a lookup, so that no match is lost at a boundary.
        let mut rest = characters.as_slice();
        while rest.len() > PIECE {
            pieces.insert(rest.iter().take(PIECE).collect());
            rest = rest.get(PIECE - ENDING + 1..).unwrap_or_default();
        }
        pieces.insert(rest.iter().collect());
    }
    pieces
}

/// The endings (suffixes) of a piece, cut at a maximum length. Any text within the piece is a
/// prefix of one of them.
pub(crate) fn endings(piece: &str) -> BTreeSet<String> {
    let beginnings = piece.char_indices().map(|(at, _)| at);
    beginnings
        .filter_map(|at| piece.get(at..))
        .map(|ending| ending.chars().take(ENDING).collect::<String>())
        .filter(|ending| ending.chars().nth(SHORTEST - 1).is_some())
        .collect()
}

/// The key of a search term in the index: endings that begin with `beginning`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) beginning: String,
    /// Whether every title with such an ending contains the term. If false, the title must be
    /// compared.
    pub(crate) exact: bool,
}

impl Key {
    /// The key of a word or a phrase with spaces. `None` if it is too short for the index.
    pub(crate) fn of(word: &str) -> Option<Self> {
        let longest = word.split(' ').max_by_key(|part| part.chars().count())?;
        let beginning: String = longest.chars().take(ENDING).collect();
        beginning.chars().nth(SHORTEST - 1)?;
        Some(Self {
            exact: beginning == word,
            beginning,
        })
    }
}

/// The smallest text that is greater than all texts with this prefix, by code points.
pub(crate) fn successor(text: &str) -> Option<String> {
    let mut characters: Vec<char> = text.chars().collect();
    while let Some(last) = characters.pop() {
        let next = match last {
            char::MAX => continue,
            // Skips the surrogates, which are not characters.
            '\u{D7FF}' => '\u{E000}',
            last => char::from_u32(u32::from(last) + 1)?,
        };
        characters.push(next);
        return Some(characters.into_iter().collect());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_cut_at_blanks_and_short_words_are_left_out() {
        let pieces: Vec<String> = pieces("cafe em graos 1 kg, 100%  arabica")
            .into_iter()
            .collect();
        assert_eq!(pieces, ["100%", "arabica", "cafe", "graos", "kg,"]);
    }

    #[test]
    fn endings_begin_everywhere_in_a_word() {
        let found: Vec<String> = endings("graos").into_iter().collect();
        assert_eq!(found, ["aos", "graos", "raos"]);
    }

    #[test]
    fn a_phrase_and_a_long_word_are_decided_by_the_title() {
        assert_eq!(Key::of("ab"), None);
        assert_eq!(Key::of("a bc"), None);
        assert!(Key::of("cafe").unwrap().exact);
        let phrase = Key::of("cafe torrado").unwrap();
        assert_eq!(
            (phrase.beginning.as_str(), phrase.exact),
            ("torrado", false)
        );
        assert!(!Key::of(&"x".repeat(25)).unwrap().exact);
    }

    #[test]
    fn what_follows_a_beginning_is_found_whatever_character_it_ends_with() {
        for (text, next) in [
            ("caf", Some("cag")),
            ("ca\u{D7FF}", Some("ca\u{E000}")),
            ("ca\u{10FFFF}", Some("cb")),
            ("\u{10FFFF}\u{10FFFF}", None),
        ] {
            assert_eq!(successor(text).as_deref(), next);
        }
    }

    /// Whether the index finds the title by the word.
    fn is_found(title: &str, word: &str) -> bool {
        let Some(key) = Key::of(word) else {
            return title.contains(word);
        };
        let beyond = successor(&key.beginning);
        let is_within = |ending: &String| {
            *ending >= key.beginning && beyond.as_ref().is_none_or(|beyond| ending < beyond)
        };
        let found = pieces(title)
            .iter()
            .any(|piece| endings(piece).iter().any(is_within));
        found && (key.exact || title.contains(word))
    }

    proptest::proptest! {
        #[test]
        fn the_index_finds_what_stands_in_the_title(title in "[ab%é ]{0,240}", from in 0..240_usize, length in 1..40_usize) {
            let word: String = title.chars().skip(from).take(length).collect();
            let word = word.trim();
            if !word.is_empty() {
                proptest::prop_assert!(is_found(&title, word));
            }
        }

        #[test]
        fn the_index_finds_nothing_else(title in "[ab ]{0,40}", word in "[ab]{1,6}") {
            proptest::prop_assert_eq!(is_found(&title, &word), title.contains(&word));
        }
    }
}
