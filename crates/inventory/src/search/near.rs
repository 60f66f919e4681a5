//! Words that differ by one slip of the fingers: a letter left out, two that changed places, a
//! wrong one, or one too many. Pure.

/// Of shorter words nearly every other one is a slip away.
const SHORTEST: usize = 4;
/// Longer words are not looked for: the number of variants grows with the length.
const LONGEST: usize = 24;

/// What somebody may have meant who typed a folded word, the likelier slips first. Only words of
/// letters have any: a code or a size with another digit is another code.
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
    // Nearly nobody mistypes the first letter, so it is tried last of each slip.
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
        let of = variants("aroz");
        for meant in ["arroz", "raoz", "aros", "roz", "arozz", "aro"] {
            assert!(of.iter().any(|variant| variant == meant), "{meant}");
        }
        for other in ["aroz", "arrozes", "arr", "az"] {
            assert!(!of.iter().any(|variant| variant == other), "{other}");
        }
        // A letter left out is likelier than one too many.
        let place = |word: &str| of.iter().position(|variant| variant == word);
        assert!(place("arroz") < place("aros") && place("aros") < place("aro"));
    }

    #[test]
    fn short_words_and_codes_have_no_slips() {
        for word in ["cha", "500g", "7891000", "a-b-c", &"x".repeat(25)] {
            assert_eq!(variants(word), [] as [&str; 0], "{word}");
        }
        assert!(variants(&"x".repeat(24)).len() < 1500);
    }
}
