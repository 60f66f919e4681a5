//! The lists that can be saved as views, and their parameters.

use web::locale::Locale;

use super::MAX_ADDRESS;
use crate::{
    catalogue::{named::Kind, products::Products},
    movement::Movement,
    page::{list_page::ListAddress, records::ResourcePages as _},
    payments, reorder,
    rest::query::Parameters,
};

/// The filter parameters of the list at a path. `None` if there is no such list.
fn parameters(path: &str) -> Option<Vec<&'static str>> {
    if path == reorder::pages::PATH {
        return Some(reorder::pages::PARAMETERS.to_vec());
    }
    let name = path.strip_prefix('/')?.strip_suffix('/')?;
    // Labels depend on the locale, names do not.
    let locale = Locale::En;
    let kind = Kind::ALL.into_iter().find(|kind| kind.path() == name);
    let mut movements = Movement::ALL.into_iter();
    let movement = movements.find(|movement| movement.path() == name);
    let filters = match (kind, movement) {
        (Some(kind), _) => kind.filters(locale),
        (None, Some(movement)) => movement.filters(locale),
        (None, None) if name == "products" => Products.filters(locale),
        (None, None) => payments::pages::filters(path, locale)?,
    };
    Some(filters.into_iter().map(|filter| filter.name).collect())
}

/// The canonical address of a list to save: only known parameters, in the list's order, without the
/// page. `None` for other addresses, for a list without filters and order, and for an address that
/// is too long.
pub(crate) fn canonical(address: &str) -> Option<String> {
    let (path, query) = address.split_once('?')?;
    let known = parameters(path)?;
    let list = ListAddress::new(path, known, "", &Parameters::parse(query));
    let written = list.with(&[("page", "")]);
    (written != path && written.len() <= MAX_ADDRESS).then_some(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_saved_with_what_it_knows_and_without_its_page() {
        for (shown, saved) in [
            (
                "/products/?page=3&ordering=-title&search=caf%C3%A9&x=1&brand=",
                Some("/products/?search=caf%C3%A9&ordering=-title"),
            ),
            ("/inflows/?supplier=2&lang=en", Some("/inflows/?supplier=2")),
            ("/brands/?search=a+b", Some("/brands/?search=a+b")),
            (
                "/low-stock/?group=supplier",
                Some("/low-stock/?group=supplier"),
            ),
            ("/payments/?status=paid", Some("/payments/?status=paid")),
            (
                "/payments/received/?status=approved",
                Some("/payments/received/?status=approved"),
            ),
            ("/products/", None),
            ("/products/?page=2", None),
            ("/products/1/?search=a", None),
            ("/products/delete/?search=a", None),
            ("/admin/products/?search=a", None),
            ("//evil.example/?search=a", None),
            ("https://evil.example/products/?search=a", None),
            ("/logout/?search=a", None),
        ] {
            assert_eq!(canonical(shown).as_deref(), saved, "{shown}");
        }
        let long = format!("/products/?search={}", "a".repeat(MAX_ADDRESS));
        assert_eq!(canonical(&long), None);
    }
}
