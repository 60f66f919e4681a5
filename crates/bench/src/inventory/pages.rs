//! Everyday pages at full size: the server's time, as a browser on one connection sees it with
//! compression, and the bytes of a first and a repeated view.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use super::super::load::{self, Call, LoadError};
use super::super::shop::{Shop, Size};
use super::super::{milliseconds, report};
use super::InventoryArguments;
use super::lists::{VARIANTS, count, engine, last_of, words};
use super::visitor::{Visitor, compressed};
use super::weight::{PageWeights, Weight};

/// A page, with its addresses, which are requested in turn.
struct Page {
    name: &'static str,
    addresses: Vec<String>,
    /// The target median.
    goal: Duration,
}

const GOAL: Duration = Duration::from_millis(30);
const DASHBOARD_GOAL: Duration = Duration::from_millis(50);
const FIRST: usize = 150 * 1024;
const AGAIN: usize = 20 * 1024;
/// Pages are limited to 600 a minute per session. Each page has a session of its own and stays
/// below that limit.
const MOST: usize = 500;

/// Measures every page.
///
/// # Errors
///
/// When the data set cannot be generated or served, or a page fails.
pub(super) async fn measure(
    arguments: &InventoryArguments,
    folder: &Path,
    postgres: Option<&str>,
    size: Size,
) -> Result<(), LoadError> {
    let engine = engine(postgres);
    let shop = Shop::open(folder, postgres, size, arguments.log()).await?;
    let (mut weights, mut good) = (PageWeights::default(), 0);
    let pages = pages(&shop).await?;
    for page in &pages {
        let visitor = Visitor::log_in(&shop).await?;
        let mut weight = Weight::default();
        for address in &page.addresses {
            let one = weights.page(&visitor, address).await?;
            weight.first = weight.first.max(one.first);
            weight.again = weight.again.max(one.again);
        }
        let calls: Vec<Call> = page.addresses.iter().map(Call::get).collect();
        let target = visitor.target(calls, &[compressed()]);
        let requests = arguments.requests.min(MOST);
        let measured = load::run_count(&target, 1, requests).await?;
        super::super::check(&measured, "inventory")?;
        let half = measured.percentile(50);
        report(
            &format!("{engine}: page {}", page.name),
            &format!(
                "50th {}, 99th {}; first view {}, repeated {}",
                milliseconds(half),
                milliseconds(measured.percentile(99)),
                kibibytes(weight.first),
                kibibytes(weight.again)
            ),
            &format!(
                "under {} ms, under 150 KiB, under 20 KiB",
                page.goal.as_millis()
            ),
        );
        let is_good = half < page.goal && weight.first < FIRST && weight.again < AGAIN;
        good += usize::from(is_good);
    }
    let text = format!("{good} of {}", pages.len());
    report(&format!("{engine}: pages within the goals"), &text, "all");
    Ok(())
}

async fn pages(shop: &Shop) -> Result<Vec<Page>, LoadError> {
    let products = count(shop, "/api/v1/products/?page_size=1").await?;
    let mut pages = dashboard();
    pages.extend(product_pages(shop, products).await?);
    for path in ["brands", "categories", "suppliers"] {
        pages.extend(named_pages(shop, path).await?);
    }
    for path in ["inflows", "outflows"] {
        pages.extend(movement_pages(shop, path, products).await?);
    }
    let single = [
        ("/low-stock/", "/low-stock/"),
        ("/analyses/", "/analyses/"),
        ("/webhooks/", "/webhooks/"),
        ("/import/", "/import/"),
        ("/account/", "/account/"),
        ("/account/sessions/", "/account/sessions/"),
    ];
    pages.extend(single.map(|(name, path)| Page::one(name, path)));
    Ok(pages)
}

fn dashboard() -> Vec<Page> {
    let periods = [
        ("/ (dashboard, 7 days)", "/?period=7"),
        ("/ (dashboard, 30 days)", "/"),
        ("/ (dashboard, 90 days)", "/?period=90"),
        ("/ (dashboard, a year)", "/?period=365"),
        ("/ (dashboard, current prices)", "/?prices=now"),
    ];
    let pages = periods.map(|(name, path)| Page {
        goal: DASHBOARD_GOAL,
        ..Page::one(name, path)
    });
    pages.into()
}

async fn product_pages(shop: &Shop, products: u64) -> Result<Vec<Page>, LoadError> {
    let words = words(shop, products).await?;
    let id = |number: u64| number * 7919 % products + 1;
    let categories = count(shop, "/api/v1/categories/?page_size=1").await?;
    let list = "/products/?";
    Ok(vec![
        Page::one("/products/", "/products/"),
        Page::one("/products/, 100 a page", "/products/?page_size=100"),
        Page::one(
            "/products/, page 1,000",
            &format!("{list}{}", last_of(products)),
        ),
        Page::of(
            "/products/, search",
            words.iter().map(|word| format!("{list}search={word}")),
        ),
        Page::of(
            "/products/, search as it is typed, two letters",
            words.iter().map(|word| {
                let beginning: String = word.chars().take(2).collect();
                format!("{list}search={beginning}")
            }),
        ),
        Page::one(
            "/products/, by stock",
            "/products/?ordering=-quantity&page_size=50",
        ),
        Page::numbered("/products/, category and price", |number| {
            let category = number % categories + 1;
            format!("{list}category={category}&min_price={}", number + 5)
        }),
        Page::numbered("/products/<id>/", |number| {
            format!("/products/{}/", id(number))
        }),
        Page::numbered("/products/<id>/ledger/", |number| {
            format!("/products/{}/ledger/", id(number))
        }),
        Page::numbered("/products/<id>/edit/", |number| {
            format!("/products/{}/edit/", id(number))
        }),
        Page::numbered("/products/<id>/delete/", |number| {
            format!("/products/{}/delete/", id(number))
        }),
        Page::numbered("/analyses/product/<id>/", |number| {
            format!("/analyses/product/{}/", id(number))
        }),
        Page::one("/products/new/", "/products/new/"),
    ])
}

async fn named_pages(shop: &Shop, path: &'static str) -> Result<Vec<Page>, LoadError> {
    let records = count(shop, &format!("/api/v1/{path}/?page_size=1")).await?;
    let (list, detail) = match path {
        "brands" => ("/brands/", "/brands/<id>/"),
        "categories" => ("/categories/", "/categories/<id>/"),
        _ => ("/suppliers/", "/suppliers/<id>/"),
    };
    Ok(vec![
        Page::one(list, list),
        Page::numbered(detail, |number| {
            format!("{list}{}/", number * 7 % records + 1)
        }),
    ])
}

async fn movement_pages(
    shop: &Shop,
    path: &'static str,
    products: u64,
) -> Result<Vec<Page>, LoadError> {
    let newest = shop.json(&format!("/api/v1/{path}/?page_size=1")).await?;
    let id = newest.pointer("/results/0/id").and_then(Value::as_u64);
    let id = id.ok_or("no movement")?;
    let (list, of_product, detail, form) = match path {
        "inflows" => (
            "/inflows/",
            "/inflows/, of a product",
            "/inflows/<id>/",
            "/inflows/new/",
        ),
        _ => (
            "/outflows/",
            "/outflows/, of a product",
            "/outflows/<id>/",
            "/outflows/new/",
        ),
    };
    Ok(vec![
        Page::one(list, list),
        Page::numbered(of_product, |number| {
            format!("{list}?product={}", number * 7919 % products + 1)
        }),
        Page::one(detail, &format!("{list}{id}/")),
        Page::one(form, form),
    ])
}

impl Page {
    fn one(name: &'static str, address: &str) -> Self {
        Self::of(name, [address.to_owned()])
    }

    fn of(name: &'static str, addresses: impl IntoIterator<Item = String>) -> Self {
        Self {
            name,
            addresses: addresses.into_iter().collect(),
            goal: GOAL,
        }
    }

    fn numbered(name: &'static str, address: impl Fn(u64) -> String) -> Self {
        Self::of(name, (0..VARIANTS).map(address))
    }
}

fn kibibytes(bytes: usize) -> String {
    let bytes = f64::from(u32::try_from(bytes).unwrap_or(u32::MAX));
    format!("{:.1} KiB", bytes / 1024.0)
}
