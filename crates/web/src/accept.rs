//! The weighted lists of `Accept`, `Accept-Language` and `Accept-Encoding` (RFC 9110, 12.4.2).

use http::HeaderMap;
use http::header::HeaderName;

/// The elements of all lines of such a header, each with its weight in thousandths. A malformed
/// weight is none.
pub(crate) fn ranges(
    headers: &HeaderMap,
    name: HeaderName,
) -> impl Iterator<Item = (&str, Option<u16>)> {
    headers
        .get_all(name)
        .iter()
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(','))
        .map(|element| {
            let mut parts = element.split(';').map(str::trim);
            let range = parts.next().unwrap_or_default();
            let weight = parts.find_map(|part| {
                let (name, weight) = part.split_once('=')?;
                name.eq_ignore_ascii_case("q").then_some(weight)
            });
            (range, weight.map_or(Some(1000), thousandths))
        })
}

/// `0.5` as 500.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "0.0 to 1.0 times a thousand fits"
)]
fn thousandths(weight: &str) -> Option<u16> {
    let weight: f32 = weight.trim().parse().ok()?;
    (0.0..=1.0)
        .contains(&weight)
        .then(|| (weight * 1000.0).round() as u16)
}
