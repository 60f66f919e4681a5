//! The document is `OpenAPI` 3.1, and its examples fit its schemas.

use std::collections::BTreeSet;

use super::DOCUMENT;

#[test]
fn every_object_has_the_members_of_its_kind() {
    DOCUMENT.assert_objects();
}

#[test]
fn every_reference_points_to_something_and_everything_is_pointed_to() {
    DOCUMENT.assert_references();
}

#[test]
fn operations_are_named_apart_and_their_tags_and_keys_are_explained() {
    DOCUMENT.assert_names();
}

#[test]
fn the_parameters_of_a_path_are_those_of_its_template() {
    DOCUMENT.assert_path_parameters();
}

#[test]
fn every_status_is_a_status_of_http() {
    DOCUMENT.assert_statuses();
}

#[test]
fn clients_of_any_language_read_it_alike() {
    DOCUMENT.assert_fit_for_clients();
}

#[test]
fn every_schema_is_a_json_schema() {
    assert!(DOCUMENT.assert_schemas() > 50);
}

#[test]
fn every_example_is_what_its_schema_says() {
    let count = DOCUMENT.assert_examples();
    assert!(count > 50, "{count}");
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
