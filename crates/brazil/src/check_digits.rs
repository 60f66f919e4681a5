//! The two weighted sums that tax ids and boletos share. Each format maps the remainder to a digit
//! in its own way.

/// The weighted sum modulo 11. Weights are 2, 3, … `last_weight` from the right, and repeat.
pub(crate) fn modulo_11(values: impl DoubleEndedIterator<Item = u32>, last_weight: u32) -> u32 {
    let weights = (2..=last_weight).cycle();
    values
        .rev()
        .zip(weights)
        .map(|(value, weight)| value * weight)
        .sum::<u32>()
        % 11
}

/// The check digit modulo 10. Weights are 2, 1, 2, … from the right; the digits of each product are
/// added.
pub(crate) fn modulo_10(digits: impl DoubleEndedIterator<Item = u32>) -> u32 {
    (10 - doubled_sum(digits, 2) % 10) % 10
}

/// The sum of digits with alternating weights 2 and 1 from the right, beginning with
/// `first_weight`. A product of two digits counts as the sum of its digits.
pub(crate) fn doubled_sum(digits: impl DoubleEndedIterator<Item = u32>, first_weight: u32) -> u32 {
    let mut weight = first_weight;
    digits
        .rev()
        .map(|digit| {
            let product = digit * weight;
            weight = 3 - weight;
            product / 10 + product % 10
        })
        .sum()
}

/// The digits of a text that consists of digits. Other characters are ignored.
pub(crate) fn digits_of(text: &str) -> impl DoubleEndedIterator<Item = u32> {
    text.chars().filter_map(|character| character.to_digit(10))
}
