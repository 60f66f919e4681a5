//! Variants of a mistyped word: one letter missing, swapped, wrong, or too many. Pure functions.

/// Shorter words have no variants, because most of them would be other words.
const SHORTEST: usize = 4;
/// Longer words have no variants, because their number grows with the length.
const LONGEST: usize = 24;

/// The words that a user may have meant by a folded word, most likely ones first. Only words of
/// letters have variants: a code or a size with another digit is a different one.
pub(super) fn variants(word: &str) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    let is_word = letters.iter().all(|letter| letter.is_alphabetic());
    if !is_word || !(SHORTEST..=LONGEST).contains(&letters.len()) {
        return Vec::new();
    }
    let mut variants = Vec::new();
    let mut add = |before: &[char], between: &[char], after: &[char]| {
        let variant: String = [before, between, after].concat().into_iter().collect();
        if variant != word && !variants.contains(&variant) {
            variants.push(variant);
        }
    };
    // The first letter is rarely mistyped, so it is tried last.
    for at in (1..=letters.len()).chain([0]) {
        let (before, after) = letters.split_at(at);
        for letter in 'a'..='z' {
            add(before, &[letter], after);
        }
    }
    for at in (1..letters.len()).chain([0]) {
        let (before, rest) = letters.split_at(at);
        if let [first, second, after @ ..] = rest {
            add(before, &[*second, *first], after);
        }
    }
    for at in (1..letters.len()).chain([0]) {
        let (before, rest) = letters.split_at(at);
        if let [_, after @ ..] = rest {
            for letter in 'a'..='z' {
                add(before, &[letter], after);
            }
        }
    }
    for at in (1..letters.len()).chain([0]) {
        let (before, rest) = letters.split_at(at);
        if let [_, after @ ..] = rest {
            add(before, &[], after);
        }
    }
    variants
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_one_letter() {
        let variants = variants("aroz");
        for meant in ["arroz", "raoz", "aros", "roz", "arozz", "aro"] {
            assert!(variants.iter().any(|variant| variant == meant), "{meant}");
        }
        for other in ["aroz", "arrozes", "arr", "az"] {
            assert!(!variants.iter().any(|variant| variant == other), "{other}");
        }
        // A missing letter is more likely than a letter too many.
        let position = |word: &str| variants.iter().position(|variant| variant == word);
        assert!(position("arroz") < position("aros") && position("aros") < position("aro"));
    }

    #[test]
    fn short_words_and_codes_have_no_slips() {
        for word in ["cha", "500g", "7891000", "a-b-c", &"x".repeat(25)] {
            assert_eq!(variants(word), [] as [&str; 0], "{word}");
        }
        assert!(variants(&"x".repeat(24)).len() < 1500);
    }
}
