//! How titles are split into words for the index, and how a search term is looked up in it. Pure.

use std::collections::BTreeSet;

/// A title's words of fewer characters are in no index: nearly every title has them.
const SHORTEST: usize = 3;
/// Characters of an ending that are kept; of a longer word so many are looked up, and the title
/// itself decides.
const ENDING: usize = 24;
/// Longer words are cut into overlapping pieces, so that an entry of an index has a bounded size.
const PIECE: usize = 96;

/// The words of a folded title that are indexed, in their order: whatever stands between blanks.
pub(crate) fn pieces(folded: &str) -> BTreeSet<String> {
    let mut pieces = BTreeSet::new();
    for word in folded.split(' ') {
        let characters: Vec<char> = word.chars().collect();
        if characters.len() < SHORTEST {
            continue;
        }
        // Neighbours share what a look-up can be long, so that none falls between them.
        let mut rest = characters.as_slice();
        while rest.len() > PIECE {
            pieces.insert(rest.iter().take(PIECE).collect());
            rest = rest.get(PIECE - ENDING + 1..).unwrap_or_default();
        }
        pieces.insert(rest.iter().collect());
    }
    pieces
}

/// A piece's endings, cut at a bounded length: what stands anywhere within it is the beginning of
/// one of them.
pub(crate) fn endings(piece: &str) -> BTreeSet<String> {
    let beginnings = piece.char_indices().map(|(at, _)| at);
    beginnings
        .filter_map(|at| piece.get(at..))
        .map(|ending| ending.chars().take(ENDING).collect::<String>())
        .filter(|ending| ending.chars().nth(SHORTEST - 1).is_some())
        .collect()
}

/// Where the index has the titles in which a word may occur: among the pieces that have an ending
/// from `least` to before `beyond`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) least: String,
    /// None: whatever is not less.
    pub(crate) beyond: Option<String>,
    /// Whether every title that is found has the word; else the title itself must be asked.
    pub(crate) exact: bool,
}

impl Key {
    /// How a folded word, or a phrase with blanks, is looked up; none when it is too short for the
    /// index.
    pub(crate) fn of(word: &str) -> Option<Self> {
        let longest = word.split(' ').max_by_key(|part| part.chars().count())?;
        let least: String = longest.chars().take(ENDING).collect();
        least.chars().nth(SHORTEST - 1)?;
        Some(Self {
            beyond: successor(&least),
            exact: least == word,
            least,
        })
    }
}

/// The least text behind all that begin with `text`, in the order of code points; none when there
/// is none.
pub(crate) fn successor(text: &str) -> Option<String> {
    let mut characters: Vec<char> = text.chars().collect();
    while let Some(last) = characters.pop() {
        let next = match last {
            char::MAX => continue,
            // Surrogates are no characters.
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
        assert_eq!((phrase.least.as_str(), phrase.exact), ("torrado", false));
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

    /// Whether the index leads from a word to a title.
    fn is_found(title: &str, word: &str) -> bool {
        let Some(key) = Key::of(word) else {
            return title.contains(word);
        };
        let is_within = |ending: &String| {
            *ending >= key.least && key.beyond.as_ref().is_none_or(|beyond| ending < beyond)
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
