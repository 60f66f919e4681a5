//! A walk over every page: axe-core finds nothing, the HTML is strict, nothing is asked of other hosts, the policy blocks nothing,
//! no script fails, nothing is wider than its window; in both languages, in light and dark, on a desk and on a phone. Which pages
//! there are comes from the services' own tables, so a new one is walked over as soon as it has an address.

use std::collections::BTreeSet;

use http::Method;
use inventory::{PAGES, ROUTES};
use test_kit::{
    browser::{Browser, Scheme},
    process::{Balcao, Start},
};

use super::log_in;
use crate::support::{boleto, card, pay_until_final, pix};

/// Addresses that answer something else than a page of ours, or only on a way that another test goes.
const NOT_WALKED: &[(&str, &str)] = &[
    ("/health", "JSON"),
    ("/ready", "JSON"),
    ("/api/v1/docs/", "the viewer's page, not ours"),
    ("/api/v1/redoc/", "the viewer's page, not ours"),
    ("/api/v1/schema/", "JSON"),
    ("/dashboard/figures/", "a part of the first page"),
    ("/dashboard/events/", "a stream"),
    (
        "/login/code/",
        "only in the middle of a login: walked there",
    ),
];

/// Where an address with a variable is looked at; everything else is looked at with the id 1.
const EXAMPLES: &[(&str, &str)] = &[];

/// Pages beside those of the tables: of other states, and of faults.
const FURTHER: &[&str] = &[
    "/products/?search=nothing-has-this-name",
    "/nowhere/",
    "/products/999999999/",
];

const DESK: (u32, u32) = (1280, 900);
const PHONE: (u32, u32) = (360, 740);

struct Walk {
    browser: Browser,
    problems: BTreeSet<String>,
}

impl Walk {
    /// Looks at one address: each language on a desk and on a phone, each of them in light and dark.
    async fn visit(&mut self, url: &str) {
        for (language, schemes) in [
            ("pt-BR", [Scheme::Light, Scheme::Dark]),
            ("en", [Scheme::Dark, Scheme::Light]),
        ] {
            let sign = if url.contains('?') { '&' } else { '?' };
            self.browser.resize(DESK.0, DESK.1).await;
            self.browser
                .goto(&format!("{url}{sign}lang={language}"))
                .await;
            for problem in self.browser.html_problems().await {
                self.note(url, &format!("HTML: {problem}"));
            }
            for (scheme, (width, height)) in schemes.into_iter().zip([DESK, PHONE]) {
                self.browser.resize(width, height).await;
                self.browser.prefer(scheme).await;
                if self.browser.is_too_wide().await {
                    self.note(url, &format!("wider than {width} pixels in {language}"));
                }
                for problem in self.browser.accessibility_problems().await {
                    self.note(url, &format!("{scheme:?} {width}: {problem}"));
                }
            }
        }
    }

    fn note(&mut self, url: &str, problem: &str) {
        let path = url.splitn(4, '/').nth(3).unwrap_or_default();
        self.problems.insert(format!("/{path}: {problem}"));
    }
}

/// The pages of the inventory that whoever is logged in may open.
fn pages() -> BTreeSet<String> {
    let tables = ROUTES.iter().chain(PAGES);
    let read = tables.filter(|(_, methods)| methods.contains(&Method::GET));
    let walked = read.filter(|(pattern, _)| {
        let is_known = NOT_WALKED.iter().any(|(known, _)| known == pattern);
        !is_known && (!pattern.starts_with("/api/"))
    });
    let example = |pattern: &str| {
        let known = EXAMPLES.iter().find(|(known, _)| *known == pattern);
        known.map_or_else(|| with_ids(pattern), |(_, path)| (*path).to_owned())
    };
    let further = FURTHER.iter().map(|path| (*path).to_owned());
    walked
        .map(|(pattern, _)| example(pattern))
        .chain(further)
        .collect()
}

/// An address with 1 for each variable.
fn with_ids(pattern: &str) -> String {
    let segments = pattern.split('/');
    let filled = segments.map(|segment| {
        if segment.starts_with('{') {
            "1"
        } else {
            segment
        }
    });
    filled.collect::<Vec<_>>().join("/")
}

#[test]
fn every_address_that_is_not_walked_or_has_an_example_is_there() {
    let is_there = |path: &str| ROUTES.iter().chain(PAGES).any(|(known, _)| *known == path);
    for (path, _) in NOT_WALKED.iter().chain(EXAMPLES) {
        assert!(is_there(path), "{path} is gone: take it from the table");
    }
}

/// The pages of the sandbox and of checkout, with a payment of each kind.
async fn others(demo: &Balcao) -> Vec<String> {
    let (checkout, sandbox) = (demo.url("checkout").await, demo.url("sandbox").await);
    let mut urls = vec![format!("{checkout}/"), format!("{sandbox}/")];
    for (key, body, document) in [
        ("walk-1", pix(), Some("ticket")),
        ("walk-2", boleto(), Some("boleto")),
        ("walk-3", card("APRO"), None),
    ] {
        let payment = pay_until_final(&checkout, key, &body).await;
        let id = payment["id"].as_str().unwrap();
        urls.push(format!("{sandbox}/sandbox/payments/{id}"));
        urls.extend(document.map(|name| format!("{sandbox}/sandbox/payments/{id}/{name}")));
    }
    urls
}

#[tokio::test]
async fn every_page_is_for_everybody() {
    let demo = Start::new(["demo"]).ready().await;
    let inventory = demo.url("inventory").await;
    let mut walk = Walk {
        browser: Browser::open().await,
        problems: BTreeSet::new(),
    };
    walk.visit(&format!("{inventory}/login/")).await;
    for url in others(&demo).await {
        walk.visit(&url).await;
    }
    log_in(&walk.browser, &inventory, "admin").await;
    for path in pages() {
        walk.visit(&format!("{inventory}{path}")).await;
    }
    let found: Vec<_> = walk.problems.iter().map(String::as_str).collect();
    assert!(
        found.is_empty(),
        "{} problems:\n{}",
        found.len(),
        found.join("\n")
    );
    let services = ["checkout", "inventory", "sandbox"];
    let mut hosts = Vec::new();
    for service in services {
        hosts.push(demo.url(service).await.replace("http://", ""));
    }
    let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
    walk.browser.check_clean(&hosts).await;
}
