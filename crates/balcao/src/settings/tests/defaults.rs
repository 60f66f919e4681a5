//! The settings where nothing is given.

use super::*;
use crate::settings::reader::Origin;

#[test]
fn with_nothing_given_every_default_is_valid() {
    let report = read(Sources::default(), Purpose::Any);
    let settings = report.settings.unwrap();
    assert_eq!(settings.checkout_listen.to_string(), "127.0.0.1:8000");
    assert!(
        report
            .effective
            .iter()
            .all(|setting| setting.origin == Origin::Default)
    );
    assert_eq!(report.effective.len(), table::NAMES.len());
}

#[test]
fn the_default_limits_are_the_specifications() {
    let effective = read(Sources::default(), Purpose::Any).effective;
    for (name, expected) in [
        (
            "BALCAO_CHECKOUT_PROVIDER_QUOTA",
            "100/minute,1000/hour,10000/day",
        ),
        ("BALCAO_CHECKOUT_RATE_LIMIT", "100/minute"),
        ("BALCAO_INVENTORY_RATE_LIMIT_AUTH", "10/minute"),
        ("BALCAO_INVENTORY_RATE_LIMIT_READ", "100/minute"),
        ("BALCAO_INVENTORY_RATE_LIMIT_WRITE", "50/minute"),
        ("BALCAO_INVENTORY_PAGE_SIZE", "10"),
        ("BALCAO_INVENTORY_ACCESS_TOKEN_LIFETIME", "1d"),
        ("BALCAO_INVENTORY_REFRESH_TOKEN_LIFETIME", "7d"),
    ] {
        let setting = effective.iter().find(|setting| setting.name == name);
        assert_eq!(setting.unwrap().shown, expected, "{name}");
    }
}

#[test]
fn neither_service_posts_to_anybody_by_default() {
    let settings = read(Sources::default(), Purpose::Any).settings.unwrap();
    assert!(settings.checkout_webhook_url.is_none());
    assert!(settings.inventory_webhook_url.is_none());
}

#[test]
fn attempts_have_no_limit_and_declines_five_an_hour_unless_it_is_set() {
    let limits = |file: &str| {
        let settings = read(sources(&[], file), Purpose::Any).settings.unwrap();
        let limits = [
            settings.checkout_attempt_limit,
            settings.checkout_decline_limit,
        ];
        limits.map(|limit| limit.to_string())
    };
    assert_eq!(limits(""), ["off", "5/hour"]);
    let file = "[checkout]\nattempt_limit = \"10/minute,60/hour\"\ndecline_limit = \"off\"\n";
    assert_eq!(limits(file), ["10/minute,60/hour", "off"]);
}

#[test]
fn the_document_of_settings_is_the_generated_one() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(
        written,
        document::markdown(),
        "write it anew: balcao config document > docs/configuration.md"
    );
}
