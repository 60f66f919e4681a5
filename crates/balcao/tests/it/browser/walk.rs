//! Checks every page: axe-core finds nothing, the HTML is strict, no request goes to other hosts,
//! the content security policy blocks nothing, no script fails, and nothing is wider than the
//! window. In both languages, on a desktop and on a phone, one in light and the other in dark. The
//! pages come from the services' own tables of addresses, so new pages are checked too.

use std::collections::BTreeSet;

use http::Method;
use serde_json::json;
use test_kit::{
    browser::{Browser, Rules, Scheme},
    process::{Balcao, Start},
};

use super::{PASSWORD, counts, log_in, orders, payments, receiving, shelves::bring, views};
use crate::inventory::Caller;
use crate::support::{boleto, card, pay_until_final, pix};

/// Addresses that are no pages of ours, or that another test covers.
const NOT_WALKED: &[(&str, &str)] = &[
    ("/health", "JSON"),
    ("/ready", "JSON"),
    ("/dashboard/figures/", "a part of the first page"),
    ("/dashboard/events/", "a stream"),
    ("/pick/{source}/", "a part of forms"),
    ("/login/code/", "walked in the middle of a login"),
    ("/login/", "walked before logging in"),
    ("/import/{id}/confirm/", "leads back to the import"),
    ("/import/{id}/undo/", "leads back to the import"),
    ("/admin/login/", "leads on whoever is logged in"),
    ("/admin/password_change/", "leads to the account's own page"),
    ("/admin/{model}/{id}/", "leads to the record's form"),
];

/// Examples of addresses with a variable; all others use the id 1.
const EXAMPLES: &[(&str, &str)] = &[
    ("/admin/{model}/{id}/delete/", "/admin/products/1/delete/"),
    ("/admin/{model}/{id}/history/", "/admin/users/1/history/"),
    ("/admin/{model}/{id}/password/", "/admin/users/2/password/"),
    ("/receiving/{id}/edit/", "/receiving/2/edit/"),
    ("/receiving/{id}/delete/", "/receiving/2/delete/"),
    ("/views/new/", "/views/new/?address=/brands/?search=a"),
    ("/counts/{id}/", "/counts/3/"),
    ("/counts/{id}/edit/", "/counts/4/edit/"),
    ("/counts/{id}/review/", "/counts/4/review/"),
    ("/counts/{id}/undo/", "/counts/3/undo/"),
    ("/counts/{id}/delete/", "/counts/4/delete/"),
];

/// Checked for every model, by the links of the administration.
const ADMINISTRATION: [&str; 3] = [
    "/admin/{model}/",
    "/admin/{model}/add/",
    "/admin/{model}/{id}/change/",
];

/// Checked by the first link of their list: pattern, list, and the beginning of the links. The test
/// creates the records.
const BY_LINKS: [(&str, &str, &str); 4] = [
    ("/analyses/{id}/", "/analyses/", "/analyses/"),
    ("/payments/orders/{id}/", "/payments/", "/payments/orders/"),
    (
        "/payments/received/{id}/",
        "/payments/received/",
        "/payments/received/",
    ),
    (
        "/webhooks/deliveries/{id}/",
        "/webhooks/",
        "/webhooks/deliveries/",
    ),
];

/// Addresses below such a record, which are checked with it.
const BELOW: [(&str, &str); 2] = [
    ("/payments/orders/{id}/", "cancel/"),
    ("/payments/received/{id}/", "refund/"),
];

/// Pages that are not in the tables: other states, and errors.
const FURTHER: [&str; 7] = [
    "/admin/ledger/?q=arroz&year=2026",
    "/admin/products/?q=arroz&_facets=1&year=2026",
    "/admin/suppliers/1/change/",
    "/products/?search=nothing-has-this-name",
    "/products/?search=wwww",
    "/nowhere/",
    "/products/999999999/",
];
/// Which of these are error pages.
const FAULTS: [&str; 3] = ["/nowhere/", "/nowhere", "/products/999999999/"];

pub(super) const DESK: (u32, u32) = (1280, 900);
const PHONE: (u32, u32) = (360, 740);

pub(super) struct Walk {
    pub(super) browser: Browser,
    problems: BTreeSet<String>,
}

impl Walk {
    pub(super) async fn begin() -> Self {
        let browser = Browser::open().await;
        browser.load_checker_with_pages().await;
        Self {
            browser,
            problems: BTreeSet::new(),
        }
    }

    /// Checks one address in each language, on a desktop and on a phone, in light and dark.
    async fn visit(&mut self, url: &str) {
        self.read(url, "pt-BR", [Scheme::Light, Scheme::Dark]).await;
        self.read(url, "en", [Scheme::Dark, Scheme::Light]).await;
    }

    /// Checks one address in one language: on a desktop in the first scheme, on a phone in the
    /// second.
    pub(super) async fn read(&mut self, url: &str, language: &str, schemes: [Scheme; 2]) {
        let sign = if url.contains('?') { '&' } else { '?' };
        self.browser.resize(DESK.0, DESK.1).await;
        self.browser
            .goto(&format!("{url}{sign}lang={language}"))
            .await;
        self.check_status(url).await;
        for problem in self.browser.html_problems().await {
            self.note(url, &format!("HTML: {problem}"));
        }
        self.look(url, language, on_both(schemes)).await;
    }

    /// Checks the open page in each of these schemes and sizes, by the rules for its language.
    pub(super) async fn look(
        &mut self,
        url: &str,
        language: &str,
        looks: impl IntoIterator<Item = (Scheme, (u32, u32))>,
    ) {
        let rules = Rules::in_language(language);
        for (scheme, (width, height)) in looks {
            self.browser.resize(width, height).await;
            self.browser.prefer(scheme).await;
            if self.browser.is_too_wide().await {
                self.note(url, &format!("wider than {width} pixels in {language}"));
            }
            for problem in self.browser.accessibility_problems(rules).await {
                self.note(url, &format!("{scheme:?} {width}: {problem}"));
            }
        }
    }

    /// A page that is not found needs an example in the table.
    async fn check_status(&mut self, url: &str) {
        let script = "return performance.getEntriesByType('navigation')[0].responseStatus";
        let status = self.browser.script(script).await;
        let is_fault = FAULTS.iter().any(|path| url.ends_with(path));
        if (status == 200) == is_fault {
            self.note(url, &format!("answers {status}"));
        }
    }

    /// The addresses of links on the page that begin and end so.
    async fn links(&self, start: &str, end: &str) -> BTreeSet<String> {
        let script = "return [...document.querySelectorAll('main a[href]')].map(link => link.getAttribute('href'))";
        let links = self.browser.script(script).await;
        let links = links.as_array().into_iter().flatten();
        let links = links.filter_map(|link| link.as_str());
        let fitting = links.filter(|link| link.starts_with(start) && link.ends_with(end));
        fitting.map(str::to_owned).collect()
    }

    /// The links of the page to single records whose addresses begin so.
    async fn record_links(&self, start: &str) -> BTreeSet<String> {
        let is_record = |path: &String| {
            let id = path
                .strip_prefix(start)
                .map(|rest| rest.trim_end_matches('/'));
            id.is_some_and(|id| id.parse::<i64>().is_ok() || id.starts_with("ord_"))
        };
        let links = self.links(start, "/").await;
        links.into_iter().filter(is_record).collect()
    }

    /// Every model of the administration: its list, its empty form, the form of one record.
    async fn administration(&mut self, inventory: &str) {
        self.browser.goto(&format!("{inventory}/admin/")).await;
        let models: BTreeSet<String> = self.links("/admin/", "/").await;
        let is_list = |path: &&String| path.matches('/').count() == 3;
        for list in models.iter().filter(is_list) {
            let schemes = [Scheme::Light, Scheme::Dark];
            self.read(&format!("{inventory}{list}"), "pt-BR", schemes)
                .await;
            let add = self.links(list, "/add/").await;
            let change = self.links(list, "/change/").await;
            for path in add.iter().take(1).chain(change.iter().take(1)) {
                self.read(&format!("{inventory}{path}"), "pt-BR", schemes)
                    .await;
            }
        }
        assert!(
            models.len() > 5,
            "the administration leads to {models:?} only"
        );
    }

    /// States without an address: a refused form of the administration with its rows, a refused
    /// list with its cells, a form over another.
    async fn refusals(&mut self, inventory: &str) {
        let schemes = [Scheme::Light, Scheme::Dark];
        for (path, field, button, shown) in [
            (
                "suppliers/1/change/",
                "inflows:new-0:quantity",
                "[name=_save]",
                "#problems",
            ),
            (
                "products/?q=arroz",
                "cell:1:selling_price",
                ".site-save button",
                "#problems",
            ),
            (
                "products/1/change/",
                "title",
                "[data-popup=change]",
                ".site-popup h2",
            ),
        ] {
            let url = format!("{inventory}/admin/{path}");
            self.browser.resize(DESK.0, DESK.1).await;
            self.browser.goto(&url).await;
            let field = format!("input[name='{field}']");
            self.browser.fill(&field, "x").await;
            self.browser.click(button).await;
            self.browser.wait_for(shown).await;
            self.look(&format!("{url} {shown}"), "pt-BR", on_both(schemes))
                .await;
        }
    }

    /// The page for a user who lacks a permission, which names it.
    async fn forbidden(&mut self, inventory: &str) {
        self.browser.clear_cookies().await;
        log_in(&self.browser, inventory, "viewer").await;
        let url = format!("{inventory}/products/new/");
        self.browser.goto(&url).await;
        self.browser.wait_text("main", "Pode adicionar").await;
        let schemes = [Scheme::Light, Scheme::Dark];
        self.look(&url, "pt-BR", on_both(schemes)).await;
    }

    /// Fails if a problem was found, or a page sent a request to a host other than these services'.
    pub(super) async fn end_of(&self, demo: &Balcao, services: &[&str]) {
        self.nothing_is_found();
        let mut hosts = Vec::new();
        for service in services {
            hosts.push(demo.url(service).await.replace("http://", ""));
        }
        let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
        self.browser.check_clean(&hosts).await;
    }

    pub(super) fn nothing_is_found(&self) {
        let found: Vec<_> = self.problems.iter().map(String::as_str).collect();
        assert!(
            found.is_empty(),
            "{} problems:\n{}",
            found.len(),
            found.join("\n")
        );
    }

    pub(super) fn note(&mut self, url: &str, problem: &str) {
        let path = url.splitn(4, '/').nth(3).unwrap_or_default();
        self.problems.insert(format!("/{path}: {problem}"));
    }
}

/// A desktop in the first scheme, a phone in the second.
pub(super) fn on_both(schemes: [Scheme; 2]) -> impl Iterator<Item = (Scheme, (u32, u32))> {
    schemes.into_iter().zip([DESK, PHONE])
}

/// The pages of the inventory that every user may open.
fn pages() -> BTreeSet<String> {
    let read = addresses().filter(|address| address.methods.contains(&Method::GET));
    let patterns = read.map(|address| address.path.as_str());
    let walked = patterns.filter(|pattern| {
        let is_known = NOT_WALKED.iter().any(|(known, _)| known == pattern);
        let is_file = matches!(pattern.rsplit('/').nth(1), Some("export" | "template"));
        let is_by_links = ADMINISTRATION.contains(pattern)
            || BY_LINKS.iter().any(|(known, ..)| known == pattern)
            || BELOW
                .iter()
                .any(|(record, below)| format!("{record}{below}") == *pattern);
        !is_known && !is_file && !is_by_links && !pattern.starts_with("/api/")
    });
    let example = |pattern: &str| {
        let known = EXAMPLES.iter().find(|(known, _)| *known == pattern);
        known.map_or_else(|| with_ids(pattern), |(_, path)| (*path).to_owned())
    };
    let further = FURTHER.map(str::to_owned);
    walked.map(example).chain(further).collect()
}

fn is_of_administration(path: &str) -> bool {
    path.starts_with("/admin/")
}

fn addresses() -> impl Iterator<Item = &'static inventory::RouteAddress> {
    inventory::documented_addresses()
        .iter()
        .chain(inventory::page_addresses())
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
    let is_there = |path: &str| addresses().any(|address| address.path == path);
    let tables = NOT_WALKED.iter().chain(EXAMPLES).map(|(path, _)| path);
    let by_links = BY_LINKS.iter().map(|(path, ..)| path);
    for path in tables.chain(&ADMINISTRATION).chain(by_links) {
        assert!(is_there(path), "{path} is gone: take it from the table");
    }
}

/// The pages of the sandbox and of checkout, with a payment of each kind.
async fn others(demo: &Balcao) -> Vec<String> {
    let (checkout, sandbox) = (demo.url("checkout").await, demo.url("sandbox").await);
    let mut urls = vec![
        format!("{checkout}/"),
        format!("{checkout}/nowhere"),
        format!("{sandbox}/"),
    ];
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

/// Creates an endpoint that does not answer, a failed delivery, an analysis, a paid order that
/// waits, a product with the longest texts, and an import.
async fn make_what_lists_lead_to(walk: &Walk, demo: &Balcao, inventory: &str) {
    let browser = &walk.browser;
    browser.resize(DESK.0, DESK.1).await;
    browser.goto(&format!("{inventory}/webhooks/new/")).await;
    browser.fill("#url", "http://127.0.0.1:9/hooks").await;
    browser.click("main form button[type=submit]").await;
    browser.wait_text("main", "whsec_").await;
    let program = Caller::log_in(demo, "manager", PASSWORD).await;
    program.sell(1, 1).await;
    let long = json!({
        "title": "W".repeat(200), "serie_number": "S".repeat(120), "brand": 1, "category": 1, "quantity": 3,
        "cost_price": "99999999999999999999.98", "selling_price": "99999999999999999999.99",
    });
    program.make("/api/v1/products/", &long).await;
    receiving::make_two(browser, inventory).await;
    counts::make_two(browser, inventory).await;
    payments::make_link(browser, inventory, "12,90").await;
    views::save_one(browser, inventory).await;
    orders::make_one_wait(browser, demo).await;
    browser.goto(&format!("{inventory}/products/1/")).await;
    browser.click("#analysis form button").await;
    browser
        .wait_for("#analysis-standing a[href^='/analyses/']:not([href*=product])")
        .await;
    browser
        .wait_until(
            "a delivery",
            "fetch('/webhooks/').then(answer => answer.text()).then(page => page.includes('/webhooks/deliveries/'))",
        )
        .await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("brands.csv");
    std::fs::write(&file, "name\nAlfa\n").unwrap();
    bring(browser, inventory, &file).await;
    browser.wait_for("main .notice").await;
}

#[tokio::test]
async fn every_page_is_for_everybody() {
    let demo = Start::new(["demo"]).ready().await;
    let inventory = demo.url("inventory").await;
    let mut walk = Walk::begin().await;
    walk.visit(&format!("{inventory}/login/")).await;
    for url in others(&demo).await {
        walk.visit(&url).await;
    }
    log_in(&walk.browser, &inventory, "admin").await;
    make_what_lists_lead_to(&walk, &demo, &inventory).await;
    for path in pages().iter().filter(|path| !is_of_administration(path)) {
        walk.visit(&format!("{inventory}{path}")).await;
    }
    for (pattern, list, start) in BY_LINKS {
        walk.browser.goto(&format!("{inventory}{list}")).await;
        let links = walk.record_links(start).await;
        let path = links
            .first()
            .unwrap_or_else(|| panic!("{list} leads to no {pattern}"));
        walk.visit(&format!("{inventory}{path}")).await;
        for (_, below) in BELOW.iter().filter(|(record, _)| *record == pattern) {
            walk.visit(&format!("{inventory}{path}{below}")).await;
        }
    }
    walk.forbidden(&inventory).await;
    walk.end_of(&demo, &["checkout", "inventory", "sandbox"])
        .await;
}

#[tokio::test]
async fn every_page_of_the_administration_is_for_everybody() {
    let demo = Start::new(["demo"]).ready().await;
    let inventory = demo.url("inventory").await;
    let mut walk = Walk::begin().await;
    log_in(&walk.browser, &inventory, "admin").await;
    make_what_lists_lead_to(&walk, &demo, &inventory).await;
    for path in pages().iter().filter(|path| is_of_administration(path)) {
        walk.visit(&format!("{inventory}{path}")).await;
    }
    walk.administration(&inventory).await;
    walk.refusals(&inventory).await;
    walk.end_of(&demo, &["inventory"]).await;
}
