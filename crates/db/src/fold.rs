//! Text as people search and sort it: without regard to case and accents. It is computed here and
//! stored beside the original, so that both engines compare the same bytes whatever their locale.

use unicode_normalization::UnicodeNormalization;

/// Lower case, accents removed: `Ação` becomes `acao`, `Straße` `strasse`. Folding twice changes
/// nothing more.
///
/// Compatible forms are made one (`ﬁ` is `fi`, full-width digits are digits). Letters that Unicode
/// does not take apart but that people type without their stroke (ø, đ, ł, ı) are replaced; the
/// marks of scripts in which a mark is a letter of its own (Devanagari, Thai, Japanese) stay.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let letters = text
        .nfkd()
        .filter(|character| !is_accent(*character))
        .flat_map(char::to_lowercase)
        .nfkd()
        .filter(|character| !is_accent(*character));
    let mut plain = String::with_capacity(text.len());
    for letter in letters {
        match without_decomposition(letter) {
            Some(letters) => plain.push_str(letters),
            None => plain.push(letter),
        }
    }
    plain.nfc().collect()
}

/// The blocks of combining diacritical marks of the Unicode standard, chapter 7.9.
fn is_accent(character: char) -> bool {
    matches!(character,
        '\u{0300}'..='\u{036F}'
        | '\u{1AB0}'..='\u{1AFF}'
        | '\u{1DC0}'..='\u{1DFF}'
        | '\u{20D0}'..='\u{20FF}'
        | '\u{FE20}'..='\u{FE2F}')
}

/// What stands for a letter that has no decomposition.
fn without_decomposition(letter: char) -> Option<&'static str> {
    Some(match letter {
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'ø' => "o",
        'đ' | 'ð' => "d",
        'þ' => "th",
        'ł' => "l",
        'ħ' => "h",
        'ı' => "i",
        'ς' => "σ",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::fold;

    #[test]
    fn case_and_accents_disappear() {
        let cases = [
            ("Café", "cafe"),
            ("CAFE\u{301}", "cafe"),
            ("AÇÃO", "acao"),
            ("piñata", "pinata"),
            ("Straße", "strasse"),
            ("GROẞ", "gross"),
            ("Smørrebrød Łódź", "smorrebrod lodz"),
            ("İstanbul ılık", "istanbul ilik"),
            ("ΟΔΟΣ", "οδοσ"),
            ("οδός", "οδοσ"),
            ("ﬁlé １２", "file 12"),
            ("Ёлка", "елка"),
            ("がっこう", "がっこう"),
            ("한국어", "한국어"),
            ("100% _x\\", "100% _x\\"),
            ("", ""),
        ];
        for (text, folded) in cases {
            assert_eq!(fold(text), folded, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn folding_twice_changes_nothing_more(text in "\\PC{0,40}") {
            let folded = fold(&text);
            proptest::prop_assert_eq!(fold(&folded), folded);
        }

        #[test]
        fn upper_and_composed_forms_fold_alike(text in "[a-zA-ZÀ-ÖØ-öø-ÿ0-9 ]{0,40}") {
            use unicode_normalization::UnicodeNormalization;
            let decomposed: String = text.nfd().collect();
            proptest::prop_assert_eq!(fold(&decomposed), fold(&text));
            proptest::prop_assert_eq!(fold(&text.to_uppercase()), fold(&text));
        }
    }
}
