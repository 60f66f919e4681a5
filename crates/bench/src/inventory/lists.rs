//! Every list, in a small shop and at full size: each documented filter in each documented order,
//! the first page and page 1,000, and search by one word. The latency is that of a client on one
//! connection, including the exact total.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use axum::http::StatusCode;
use serde_json::Value;

use super::super::load::{self, Call, LoadError};
use super::super::shop::{Shop, Size};
use super::super::{mebibytes, milliseconds, report};
use super::InventoryArguments;

/// The queries of a filter, used in turn.
struct Filter {
    name: &'static str,
    queries: Vec<String>,
}

/// A list with its sort fields and its filters.
struct List {
    path: &'static str,
    orders: &'static [&'static str],
    filters: Vec<Filter>,
}

/// The measured times of one filter in one order.
struct Combination {
    name: String,
    median: Duration,
    most: Duration,
}

impl Combination {
    fn is_within(&self, goal: Goal) -> bool {
        self.median < goal.median
    }

    fn times(&self) -> String {
        format!(
            "50th {}, 99th {}",
            milliseconds(self.median),
            milliseconds(self.most)
        )
    }
}

const NAMED: &[&str] = &["id", "name", "description", "created_at", "updated_at"];
const PRODUCTS: &[&str] = &[
    "id",
    "title",
    "category",
    "brand",
    "description",
    "serie_number",
    "cost_price",
    "selling_price",
    "quantity",
    "created_at",
    "updated_at",
];
const INFLOWS: &[&str] = &[
    "id",
    "supplier",
    "product",
    "quantity",
    "description",
    "created_at",
    "updated_at",
];
const OUTFLOWS: &[&str] = &[
    "id",
    "product",
    "quantity",
    "description",
    "created_at",
    "updated_at",
];

/// The number of different values of a filter.
pub(super) const VARIANTS: u64 = 12;
/// The target times of a shop's lists.
#[derive(Debug, Clone, Copy)]
pub(super) struct Goal {
    /// The target median of most combinations.
    median: Duration,
    /// The percentage of combinations that must meet it.
    percent: u32,
    /// The limit for every combination.
    most: Duration,
}

impl Goal {
    /// The target for a shop of ten thousand products.
    pub(super) const SMALL: Self = Self {
        median: Duration::from_millis(2),
        percent: 100,
        most: Duration::from_millis(2),
    };
    /// The target for a million products and ten million movements.
    pub(super) const LARGE: Self = Self {
        median: Duration::from_millis(10),
        percent: 95,
        most: Duration::from_millis(150),
    };
}

/// Measures every list.
///
/// # Errors
///
/// When the data set cannot be generated or served, or a request fails.
pub(super) async fn measure(
    arguments: &InventoryArguments,
    folder: &Path,
    postgres: Option<&str>,
    size: Size,
    goal: Goal,
) -> Result<(), LoadError> {
    let engine = engine(postgres);
    let shop = Shop::open(folder, postgres, size, arguments.log()).await?;
    let at_rest = shop.memory_at_rest().await?;
    let products = count(&shop, "/api/v1/products/?page_size=1").await?;
    let outflows = count(&shop, "/api/v1/outflows/?page_size=1").await?;
    report(
        &format!("{engine}: data set"),
        &format!("{products} products, {outflows} outflows"),
        "",
    );
    let mut all = Vec::new();
    for list in lists(&shop, products).await? {
        for filter in &list.filters {
            all.extend(one_filter(arguments, &shop, goal, engine, &list, filter).await?);
        }
    }
    let (_, most) = shop.child.memory()?;
    sum_up(engine, goal, all);
    report(
        &format!("{engine}: memory with this data set"),
        &format!(
            "{:.1} MiB at rest, {:.1} MiB under load",
            mebibytes(at_rest),
            mebibytes(most)
        ),
        "under 60 MiB, under 200 MiB",
    );
    Ok(())
}

/// The name of the database engine.
pub(super) const fn engine(postgres: Option<&str>) -> &'static str {
    if postgres.is_some() {
        "PostgreSQL"
    } else {
        "SQLite"
    }
}

/// Reports how many combinations meet the target, the median and the maximum, and the slowest ones.
fn sum_up(engine: &str, goal: Goal, mut all: Vec<Combination>) {
    let met = all.iter().filter(|one| one.is_within(goal)).count();
    report(
        &format!("{engine}: combinations within the goal"),
        &format!("{met} of {}", all.len()),
        &format!("{} of 100", goal.percent),
    );
    all.sort_by_key(|one| std::cmp::Reverse(one.median));
    let of = |one: Option<&Combination>| milliseconds(one.map_or(Duration::ZERO, |one| one.median));
    report(
        &format!("{engine}: medians of all combinations"),
        &format!(
            "half up to {}, all up to {}",
            of(all.get(all.len() / 2)),
            of(all.first())
        ),
        &format!("all under {}", milliseconds(goal.most)),
    );
    for one in all.iter().take(10) {
        report(
            &format!("    among the ten slowest: {}", one.name),
            &one.times(),
            "",
        );
    }
}

/// Measures one filter in every order. Reports one line for all orders, and one for each order that
/// misses the target.
async fn one_filter(
    arguments: &InventoryArguments,
    shop: &Shop,
    goal: Goal,
    engine: &str,
    list: &List,
    filter: &Filter,
) -> Result<Vec<Combination>, LoadError> {
    let mut combinations = Vec::new();
    let (mut worst, mut beyond) = ((Duration::ZERO, Duration::ZERO), Vec::new());
    let orders = list
        .orders
        .iter()
        .flat_map(|order| [(*order).to_owned(), format!("-{order}")]);
    for order in orders {
        let calls: Vec<Call> = filter
            .queries
            .iter()
            .map(|query| Call::get(format!("/api/v1/{}/?{query}&ordering={order}", list.path)))
            .collect();
        let target = shop.target(calls, StatusCode::OK);
        let measured = load::run_count(&target, 1, arguments.requests).await?;
        super::super::check(&measured, "inventory")?;
        let one = Combination {
            name: format!("{}, {}, by {order}", list.path, filter.name),
            median: measured.percentile(50),
            most: measured.percentile(99),
        };
        if !one.is_within(goal) {
            beyond.push(format!("{order} ({})", one.times()));
        }
        worst = (worst.0.max(one.median), worst.1.max(one.most));
        combinations.push(one);
    }
    let all = combinations.len();
    let text = format!(
        "{} of {all} orders within the goal; worst 50th {}, worst 99th {}",
        all - beyond.len(),
        milliseconds(worst.0),
        milliseconds(worst.1)
    );
    report(
        &format!("{engine}: {}, {}", list.path, filter.name),
        &text,
        &format!("median under {}", milliseconds(goal.median)),
    );
    for order in &beyond {
        report("    beyond it", order, "");
    }
    Ok(combinations)
}

pub(super) async fn count(shop: &Shop, path: &str) -> Result<u64, LoadError> {
    let page = shop.json(path).await?;
    let count = page.get("count").and_then(Value::as_u64);
    count.ok_or_else(|| format!("{path}: no count").into())
}

async fn lists(shop: &Shop, products: u64) -> Result<Vec<List>, LoadError> {
    let words = words(shop, products).await?;
    let mut lists = Vec::new();
    for path in ["brands", "categories", "suppliers"] {
        lists.push(List {
            path,
            orders: NAMED,
            filters: vec![
                Filter::one("first page", ""),
                Filter::of("search", words.iter().map(|word| format!("search={word}"))),
            ],
        });
    }
    lists.push(List {
        path: "products",
        orders: PRODUCTS,
        filters: product_filters(shop, products, &words).await?,
    });
    for (path, orders) in [("inflows", INFLOWS), ("outflows", OUTFLOWS)] {
        lists.push(List {
            path,
            orders,
            filters: movement_filters(shop, path, products).await?,
        });
    }
    Ok(lists)
}

async fn product_filters(
    shop: &Shop,
    products: u64,
    words: &[String],
) -> Result<Vec<Filter>, LoadError> {
    let categories = count(shop, "/api/v1/categories/?page_size=1").await?;
    let brands = count(shop, "/api/v1/brands/?page_size=1").await?;
    let price = |number: u64| 1 + number * 17 % 90;
    Ok(vec![
        Filter::one("first page", ""),
        Filter::one("page 1,000", &last_of(products)),
        Filter::numbered("category", |number| {
            format!("category={}", number % categories + 1)
        }),
        Filter::numbered("brand", |number| format!("brand={}", number % brands + 1)),
        Filter::numbered("min_price", |number| format!("min_price={}", price(number))),
        Filter::numbered("max_price", |number| format!("max_price={}", price(number))),
        Filter::numbered("min_price and max_price", |number| {
            let least = price(number);
            format!("min_price={least}&max_price={}.50", least + number % 5)
        }),
        Filter::numbered("category and brand", |number| {
            format!(
                "category={}&brand={}",
                number % categories + 1,
                number % brands + 1
            )
        }),
        Filter::of(
            "search by one word",
            words.iter().map(|word| format!("search={word}")),
        ),
        Filter::of(
            "search by two words and min_price",
            words
                .iter()
                .zip(words.iter().skip(1))
                .map(|(one, other)| format!("search={one}+{other}&min_price=5")),
        ),
    ])
}

async fn movement_filters(
    shop: &Shop,
    path: &str,
    products: u64,
) -> Result<Vec<Filter>, LoadError> {
    let suppliers = count(shop, "/api/v1/suppliers/?page_size=1").await?;
    let newest = newest_day(shop, path).await?;
    let movements = count(shop, &format!("/api/v1/{path}/?page_size=1")).await?;
    let day = |back: u64| {
        let days = i64::try_from(back).unwrap_or(0) * 86_400_000_000;
        let time = db::Timestamp::from_micros(newest.micros() - days);
        time.to_string().chars().take(10).collect::<String>()
    };
    let mut filters = vec![
        Filter::one("first page", ""),
        Filter::one("page 1,000", &last_of(movements)),
        Filter::numbered("product", |number| {
            format!("product={}", number * 7919 % products + 1)
        }),
        Filter::numbered("date_from", |number| {
            format!("date_from={}", day(number * 29))
        }),
        Filter::numbered("date_to", |number| format!("date_to={}", day(number * 29))),
        Filter::numbered("date_from and date_to, a day", |number| {
            let day = day(number * 29);
            format!("date_from={day}&date_to={day}")
        }),
        Filter::numbered("date_from and date_to, a month", |number| {
            format!(
                "date_from={}&date_to={}",
                day(number * 27 + 30),
                day(number * 27)
            )
        }),
    ];
    if path == "inflows" {
        filters.push(Filter::numbered("supplier", |number| {
            format!("supplier={}", number % suppliers + 1)
        }));
    }
    Ok(filters)
}

async fn newest_day(shop: &Shop, path: &str) -> Result<db::Timestamp, LoadError> {
    let page = shop.json(&format!("/api/v1/{path}/?page_size=1")).await?;
    let time = page.pointer("/results/0/created_at");
    let time = time.and_then(Value::as_str).ok_or("no movement")?;
    Ok(db::Timestamp::parse(time).map_err(|_| "no time")?)
}

/// Page 1,000, or the last page of a small data set.
pub(super) fn last_of(count: u64) -> String {
    format!("page={}", (count / 10).clamp(1, 1000))
}

/// Title words from all parts of the catalogue.
pub(super) async fn words(shop: &Shop, products: u64) -> Result<Vec<String>, LoadError> {
    let mut words = BTreeSet::new();
    for number in 0..VARIANTS * 2 {
        let id = number * 104_729 % products + 1;
        let product: Value = shop.json(&format!("/api/v1/products/{id}/")).await?;
        let title = product.get("title").and_then(Value::as_str);
        let title = title.unwrap_or_default();
        let known: Vec<&str> = title
            .split_whitespace()
            .filter(|word| word.len() >= 3 && word.bytes().all(|byte| byte.is_ascii_alphabetic()))
            .collect();
        let place = usize::try_from(number)? % known.len().max(1);
        words.extend(known.get(place).map(|word| (*word).to_lowercase()));
    }
    Ok(words.into_iter().collect())
}

impl Filter {
    fn one(name: &'static str, query: &str) -> Self {
        Self::of(name, [query.to_owned()])
    }

    fn of(name: &'static str, queries: impl IntoIterator<Item = String>) -> Self {
        Self {
            name,
            queries: queries.into_iter().collect(),
        }
    }

    fn numbered(name: &'static str, query: impl Fn(u64) -> String) -> Self {
        Self::of(name, (0..VARIANTS).map(query))
    }
}
