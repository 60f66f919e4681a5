//! Interleaved 2 of 5, the symbology of a boleto's bar code. It encodes digits in pairs, one digit
//! in five bars and the other in the five spaces between them.

use std::fmt::Write as _;

/// Which two of a digit's five elements are wide.
const PATTERNS: [[bool; 5]; 10] = [
    [false, false, true, true, false],
    [true, false, false, false, true],
    [false, true, false, false, true],
    [true, true, false, false, false],
    [false, false, true, false, true],
    [true, false, true, false, false],
    [false, true, true, false, false],
    [false, false, false, true, true],
    [true, false, false, true, false],
    [false, true, false, true, false],
];
const NARROW: u32 = 1;
const WIDE: u32 = 3;
const QUIET_ZONE: u32 = 10;
/// Febraban requires 103 by 13 mm. For a 44-digit symbol this is the height in modules.
const HEIGHT: u32 = 51;

/// The digits cannot be encoded: there are none, their number is odd, or a character is not a
/// digit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be an even number of digits")]
pub struct ItfError;

/// The symbol as an SVG image: black bars on white with quiet zones, one unit per narrow bar. It
/// should be printed at least 103 mm wide. It has no inline style, which a strict content security
/// policy would block.
///
/// # Errors
/// When the text is not a positive even number of digits.
pub fn svg(digits: &str) -> Result<String, ItfError> {
    let elements = elements(digits)?;
    let width = elements.iter().sum::<u32>() + 2 * QUIET_ZONE;
    let mut path = String::new();
    let mut x = QUIET_ZONE;
    for (place, element) in elements.iter().enumerate() {
        if place.is_multiple_of(2) {
            // Writing into a String cannot fail.
            let _ = write!(path, "M{x} 0h{element}v{HEIGHT}h-{element}z");
        }
        x += element;
    }
    Ok(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {HEIGHT}\" shape-rendering=\"crispEdges\" \
         role=\"img\" aria-label=\"{digits}\"><path fill=\"#fff\" d=\"M0 0h{width}v{HEIGHT}H0z\"/><path fill=\"#000\" d=\"{path}\"/></svg>"
    ))
}

/// The widths of bars and spaces in turn, beginning with a bar: start, digits, stop.
fn elements(digits: &str) -> Result<Vec<u32>, ItfError> {
    let values: Vec<[bool; 5]> = digits
        .chars()
        .map(|character| pattern(character).ok_or(ItfError))
        .collect::<Result<_, _>>()?;
    if values.is_empty() || !values.len().is_multiple_of(2) {
        return Err(ItfError);
    }
    let mut elements = vec![NARROW; 4];
    for pair in values.chunks_exact(2) {
        let [bars, spaces] = pair else { continue };
        for (bar, space) in bars.iter().zip(spaces) {
            elements.extend([width(*bar), width(*space)]);
        }
    }
    elements.extend([WIDE, NARROW, NARROW]);
    Ok(elements)
}

fn pattern(character: char) -> Option<[bool; 5]> {
    let digit = character.to_digit(10)?;
    PATTERNS.get(usize::try_from(digit).ok()?).copied()
}

const fn width(is_wide: bool) -> u32 {
    if is_wide { WIDE } else { NARROW }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Decodes the elements like a scanner.
    fn scan(elements: &[u32]) -> String {
        let inner = &elements[4..elements.len() - 3];
        let digit = |wide: Vec<bool>| PATTERNS.iter().position(|p| p.as_slice() == wide).unwrap();
        inner
            .chunks(10)
            .flat_map(|pair| {
                let of = |start: usize| {
                    pair.iter()
                        .skip(start)
                        .step_by(2)
                        .map(|w| *w == WIDE)
                        .collect()
                };
                [digit(of(0)), digit(of(1))]
            })
            .map(|digit| char::from_digit(u32::try_from(digit).unwrap(), 10).unwrap())
            .collect()
    }

    #[test]
    fn every_pattern_has_two_wide_elements_and_is_unique() {
        for (digit, pattern) in PATTERNS.iter().enumerate() {
            assert_eq!(pattern.iter().filter(|wide| **wide).count(), 2);
            assert_eq!(
                PATTERNS.iter().position(|other| other == pattern),
                Some(digit)
            );
        }
    }

    #[test]
    fn a_boletos_44_digits_are_405_modules_wide() {
        let digits = "34195844100000020005000001233203186422147000";
        assert_eq!(elements(digits).unwrap().iter().sum::<u32>(), 405);
        let image = svg(digits).unwrap();
        assert!(image.contains("viewBox=\"0 0 425 51\""), "{image}");
        // Two start bars, five for each of 22 pairs, two stop bars, and the white background.
        assert_eq!(image.matches('M').count(), 2 + 5 * 22 + 2 + 1);
    }

    #[test]
    fn what_cannot_be_drawn_is_refused() {
        for digits in ["", "123", "12a4", "1२"] {
            assert_eq!(svg(digits), Err(ItfError), "{digits}");
        }
    }

    proptest! {
        #[test]
        fn a_scanner_reads_the_digits_back(digits in "([0-9]{2}){1,22}") {
            prop_assert_eq!(scan(&elements(&digits).unwrap()), digits);
        }
    }
}
