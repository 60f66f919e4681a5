//! Rules that concern several settings, and the settings that a command requires.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use db::Address;
use inventory::accounts::check_strength;
use url::Host;
use web::http_client::ApiKey;

use super::problem::Problem;
use super::reader::Reader;
use super::secret::Secret;
use super::table::Settings;
use super::value::{Value, WebUrl};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The purpose for which settings are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A command that needs no provider.
    Any,
    /// Running services in production.
    Serve(Services),
    /// Running the demo on this machine.
    Demo,
}

/// The settings that the demo reads from the environment and the file. It reads all others only
/// from its command line. Settings of the real service must not make a demo send mail, call
/// webhooks or use a language model.
pub(super) const READ_BY_DEMO: [&str; 7] = [
    "BALCAO_DATA_DIR",
    "BALCAO_CHECKOUT_LISTEN",
    "BALCAO_INVENTORY_LISTEN",
    "BALCAO_SANDBOX_LISTEN",
    "BALCAO_METRICS_LISTEN",
    "BALCAO_LOG",
    "BALCAO_LOG_FORMAT",
];

/// A warning with the settings that the demo ignored, if any.
pub(super) fn ignored_by_demo(names: &BTreeSet<&'static str>) -> Option<String> {
    let names: Vec<&str> = names.iter().copied().collect();
    (!names.is_empty()).then(|| {
        format!(
            "ignored, because a demo talks to nobody: {}; `--set NAME=VALUE` on its command line is heeded, save for what a demo sets itself: databases, secrets, Redis, the services' addresses for each other",
            names.join(", ")
        )
    })
}

/// The services to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Services {
    pub(crate) checkout: bool,
    pub(crate) inventory: bool,
}

/// Settings that only work together.
const PAIRS: [(&str, &str); 7] = [
    ("BALCAO_TLS_CERT_FILE", "BALCAO_TLS_KEY_FILE"),
    ("BALCAO_ADMIN_USERNAME", "BALCAO_ADMIN_PASSWORD"),
    (
        "BALCAO_CHECKOUT_WEBHOOK_URL",
        "BALCAO_CHECKOUT_WEBHOOK_SECRET",
    ),
    (
        "BALCAO_INVENTORY_WEBHOOK_URL",
        "BALCAO_INVENTORY_WEBHOOK_SECRET",
    ),
    (
        "BALCAO_INVENTORY_CHECKOUT_URL",
        "BALCAO_INVENTORY_CHECKOUT_KEY",
    ),
    ("BALCAO_LLM_BASE_URL", "BALCAO_LLM_MODEL"),
    ("BALCAO_SMTP_URL", "BALCAO_MAIL_FROM"),
];

/// Pairs in which the first setting requires the second. The second has other uses too.
const NEEDS: [(&str, &str); 2] = [
    ("BALCAO_INVENTORY_ALERT_MAIL_TO", "BALCAO_SMTP_URL"),
    ("BALCAO_INVENTORY_ALERT_MAIL_TO", "BALCAO_MAIL_FROM"),
];

/// Warnings about settings that are unusual but allowed.
pub(super) fn warnings(settings: &Settings, purpose: Purpose) -> Vec<String> {
    let Purpose::Serve(services) = purpose else {
        return Vec::new();
    };
    // Orders are in the database, which is not read here. A setting that only orders need, or a
    // webhook for payments, shows that the shop uses them.
    let has_orders = settings.checkout_refund_overpayment
        || settings.checkout_webhook_url.is_some()
        || settings.orders_book_stock
        || settings.inventory_checkout_url.is_some();
    let warnings = [
        (
            services.checkout && settings.checkout_public_url.is_none(),
            "BALCAO_CHECKOUT_PUBLIC_URL is not set: the provider is not told where to notify us, and links name the host of each request",
        ),
        (
            services.inventory && settings.inventory_public_url.is_none(),
            "BALCAO_INVENTORY_PUBLIC_URL is not set: mails have no link to the shop, and other links name the host of each request",
        ),
        (
            services.checkout && settings.checkout_provider_webhook_secret.is_empty(),
            "BALCAO_CHECKOUT_PROVIDER_WEBHOOK_SECRET is not set: anybody can send notifications, so each only makes us read a payment back that we know",
        ),
        (
            services.checkout && has_orders && settings.checkout_open_payments,
            "BALCAO_CHECKOUT_OPEN_PAYMENTS is true: anybody can pay any amount by an address; set it to false where every payment has an order",
        ),
        (
            services.inventory
                && settings.llm_api_key.is_some()
                && is_in_the_clear(settings.llm_base_url.as_ref()),
            "BALCAO_LLM_BASE_URL is http:// and not by loopback: whoever is between reads the API key and the shop's figures",
        ),
        (
            services.inventory && is_in_the_clear(settings.inventory_checkout_url.as_ref()),
            "BALCAO_INVENTORY_CHECKOUT_URL is http:// and not by loopback: whoever is between reads the merchant's key, which refunds payments",
        ),
    ];
    let applicable = warnings.into_iter().filter(|(applies, _)| *applies);
    applicable.map(|(_, warning)| warning.to_owned()).collect()
}

/// Whether requests to this address cross the network without TLS.
fn is_in_the_clear(url: Option<&WebUrl>) -> bool {
    url.is_some_and(|WebUrl(url)| {
        let is_here = match url.host() {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => true,
        };
        url.scheme() == "http" && !is_here
    })
}

/// Problems between settings that are valid individually. `settings` is `None` when some of them
/// are invalid.
pub(super) fn problems(
    reader: &Reader,
    settings: Option<&Settings>,
    purpose: Purpose,
) -> Vec<Problem> {
    let mut problems = missing_partners(reader);
    if let Purpose::Serve(services) = purpose {
        problems.extend(missing_to_serve(reader, services));
    }
    if reader.is_given("OTEL_EXPORTER_OTLP_ENDPOINT") && !cfg!(feature = "otel") {
        problems.push(Problem::new(
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            "this program was built without the cargo feature `otel`; allowed: not set, or a build with `--features otel`",
        ));
    }
    if let Some(settings) = settings {
        problems.extend(page_sizes(settings));
        problems.extend(demand_window(settings));
        problems.extend(called_services(settings));
        problems.extend(shared_file(settings));
        problems.extend(super::logo(settings).err());
        if let Purpose::Serve(services) = purpose {
            problems.extend(shared_addresses(settings, services));
            problems.extend(orders_without_inventory(settings, services));
            problems.extend(super::tls(settings).err());
            problems.extend(weak_first_password(settings).filter(|_| services.inventory));
        }
    }
    problems
}

fn missing_partners(reader: &Reader) -> Vec<Problem> {
    let mut problems: Vec<Problem> = Vec::new();
    let both_ways = PAIRS
        .into_iter()
        .flat_map(|(left, right)| [(left, right), (right, left)]);
    for (given, absent) in both_ways.chain(NEEDS) {
        if !reader.is_given(given) || reader.is_given(absent) {
            continue;
        }
        if problems.iter().all(|problem| problem.key != absent) {
            problems.push(Problem::new(
                absent,
                format!("not set, while {given} is; allowed: both or neither"),
            ));
        }
    }
    problems
}

fn missing_to_serve(reader: &Reader, services: Services) -> Vec<Problem> {
    let needed = [
        (
            "BALCAO_CHECKOUT_PROVIDER_URL",
            "the provider's https:// address, or http://127.0.0.1:8002 where `balcao sandbox` runs",
        ),
        (
            "BALCAO_CHECKOUT_PROVIDER_ACCESS_TOKEN",
            "the access token from the provider's account, best in a file named by BALCAO_CHECKOUT_PROVIDER_ACCESS_TOKEN_FILE",
        ),
    ];
    needed
        .into_iter()
        .filter(|(name, _)| services.checkout && !reader.is_given(name))
        .map(|(name, allowed)| {
            Problem::new(
                name,
                format!("not set, and checkout cannot run without it; allowed: {allowed}"),
            )
        })
        .collect()
}

fn page_sizes(settings: &Settings) -> Option<Problem> {
    let (size, most) = (
        settings.inventory_page_size.0,
        settings.inventory_max_page_size.0,
    );
    (size > most).then(|| {
        Problem::new(
            "BALCAO_INVENTORY_PAGE_SIZE",
            format!(
                "found {size}; allowed: at most BALCAO_INVENTORY_MAX_PAGE_SIZE, which is {most}"
            ),
        )
    })
}

/// Inventory makes the first user with this password, if there is no user yet.
fn weak_first_password(settings: &Settings) -> Option<Problem> {
    let (name, password) = (
        settings.admin_username.as_ref()?,
        settings.admin_password.as_ref()?,
    );
    let weak = check_strength(password.expose().trim(), &name.0).err()?;
    let text = format!(
        "found a value that is not shown: {weak} Allowed: a password that a user could set"
    );
    Some(Problem::new("BALCAO_ADMIN_PASSWORD", text))
}

/// Analyses count whole days, at most two years.
fn demand_window(settings: &Settings) -> Option<Problem> {
    let window = settings.inventory_demand_window;
    let is_whole = window.as_secs().is_multiple_of(DAY.as_secs()) && window.subsec_nanos() == 0;
    (!is_whole || window > DAY * 730).then(|| {
        Problem::new(
            "BALCAO_INVENTORY_DEMAND_WINDOW",
            format!(
                "found {}; allowed: whole days, from 1d to 730d",
                window.show()
            ),
        )
    })
}

/// Keys that a header to the called services cannot contain, and addresses to which no path can be
/// appended.
fn called_services(settings: &Settings) -> Vec<Problem> {
    let key = |name: &'static str, key: &Option<Secret>| {
        let key = key.as_ref();
        let is_wrong = key.is_some_and(|key| ApiKey::parse(key.expose()).is_err());
        let what = "found characters that cannot be sent; allowed: visible ASCII characters";
        is_wrong.then(|| Problem::new(name, what))
    };
    let address = |name: &'static str, url: &Option<WebUrl>, end: &str| {
        let url = url.as_ref();
        let is_wrong = url.is_some_and(|url| url.0.query().is_some() || url.0.fragment().is_some());
        let what = format!(
            "found a query or a fragment; allowed: an address that ends where {end} begins"
        );
        is_wrong.then(|| Problem::new(name, what))
    };
    let problems = [
        key("BALCAO_LLM_API_KEY", &settings.llm_api_key),
        address(
            "BALCAO_LLM_BASE_URL",
            &settings.llm_base_url,
            "/chat/completions",
        ),
        key(
            "BALCAO_INVENTORY_CHECKOUT_KEY",
            &settings.inventory_checkout_key,
        ),
        address(
            "BALCAO_INVENTORY_CHECKOUT_URL",
            &settings.inventory_checkout_url,
            "/orders/",
        ),
    ];
    problems.into_iter().flatten().collect()
}

/// A SQLite file belongs to one process, and a backup has one file for each service. On PostgreSQL,
/// services can share a database.
fn shared_file(settings: &Settings) -> Option<Problem> {
    let inventory = settings.inventory_database();
    let (Address::Sqlite(one), Address::Sqlite(other)) = (settings.checkout_database(), &inventory)
    else {
        return None;
    };
    (real_path(&one) == real_path(other)).then(|| {
        Problem::new(
            "BALCAO_INVENTORY_DATABASE_URL",
            format!(
                "found {inventory}, which BALCAO_CHECKOUT_DATABASE_URL has too; allowed: a file of its own"
            ),
        )
    })
}

/// The canonical path of a file that exists or will be created, however it is written.
fn real_path(file: &Path) -> PathBuf {
    let of_folder = || {
        Some(
            fs::canonicalize(file.parent()?)
                .ok()?
                .join(file.file_name()?),
        )
    };
    fs::canonicalize(file)
        .ok()
        .or_else(of_folder)
        .or_else(|| std::path::absolute(file).ok())
        .unwrap_or_else(|| file.to_path_buf())
}

/// Orders can book stock only if both services run in one process and inventory's address can be
/// reached from it.
fn orders_without_inventory(settings: &Settings, services: Services) -> Option<Problem> {
    let problem = |what: &str| Some(Problem::new("BALCAO_ORDERS_BOOK_STOCK", what));
    if !settings.orders_book_stock {
        return None;
    }
    if !services.checkout || !services.inventory {
        return problem(
            "found true, while one service runs alone; allowed: false, and BALCAO_CHECKOUT_WEBHOOK_URL at checkout with \
             BALCAO_INVENTORY_ORDERS_SECRET at inventory",
        );
    }
    if settings.tls_cert_file.is_some() && settings.inventory_public_url.is_none() {
        return problem(
            "found true with TLS of our own; allowed together with BALCAO_INVENTORY_PUBLIC_URL, which the certificate is for",
        );
    }
    None
}

fn shared_addresses(settings: &Settings, services: Services) -> Vec<Problem> {
    let used = [
        (
            "BALCAO_CHECKOUT_LISTEN",
            services.checkout.then_some(settings.checkout_listen),
        ),
        (
            "BALCAO_INVENTORY_LISTEN",
            services.inventory.then_some(settings.inventory_listen),
        ),
        ("BALCAO_METRICS_LISTEN", settings.metrics_listen.on()),
    ];
    let mut seen: BTreeMap<SocketAddr, &str> = BTreeMap::new();
    let mut problems = Vec::new();
    for (name, address) in used {
        let Some(address) = address.filter(|address| address.port() != 0) else {
            continue;
        };
        if let Some(other) = seen.insert(address, name) {
            problems.push(Problem::new(
                name,
                format!("found {address}, which {other} has too; allowed: an address of its own"),
            ));
        }
    }
    problems
}
