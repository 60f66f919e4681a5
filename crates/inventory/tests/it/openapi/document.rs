//! The document agrees with the code, and clients of any language read it alike.

use std::collections::BTreeSet;

use super::DOCUMENT;

#[test]
fn clients_of_any_language_read_it_alike() {
    DOCUMENT.assert_fit_for_clients();
}

#[test]
fn every_address_of_the_api_begins_with_its_version_and_no_other_has_one() {
    let documented = inventory::documented_addresses().iter();
    let others: BTreeSet<&str> = documented
        .map(|address| address.path.as_str())
        .filter(|path| !path.starts_with("/api/v1/"))
        .collect();
    let expected = [
        "/",
        "/health",
        "/integrations/orders/",
        "/login/",
        "/logout/",
        "/preferences",
        "/ready",
        "/token/refresh/",
    ];
    assert_eq!(others, BTreeSet::from(expected));
    for address in inventory::page_addresses() {
        assert!(!address.path.contains("/v1/"), "{}", address.path);
    }
}

#[test]
fn the_version_is_the_specifications() {
    assert_eq!(DOCUMENT.value()["info"]["version"], inventory::VERSION);
}
