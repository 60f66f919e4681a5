//! Lists over many days: their counts and pages, with and without aggregated days.

use std::time::Duration;

use serde_json::json;

use crate::{
    orders::{OrderLink, cancel, make, order},
    payments::app::{TestApp, now, shop_on_both_engines},
};

/// An order as the list should show it.
struct Expected {
    link: OrderLink,
    /// The time of creation, in seconds after the first.
    made_at: u64,
    status: &'static str,
}

/// All ids that a query finds, page by page, newest first. Every page says how many there are.
async fn found(shop: &TestApp, query: &str) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for page in 1.. {
        let path = format!("/orders/?page_size=2&page={page}{query}");
        let answer = shop.merchant("GET", &path, None).await.json();
        let results = answer["results"].as_array().unwrap();
        ids.extend(
            results
                .iter()
                .map(|order| order["id"].as_str().unwrap().to_owned()),
        );
        if answer["next"].is_null() {
            assert_eq!(answer["count"], ids.len(), "{query}");
            return ids;
        }
    }
    unreachable!("a list has a last page");
}

async fn check(shop: &TestApp, orders: &[Expected]) {
    let spans = [
        ("", 0, u64::MAX),
        ("&created_from=2026-11-21", 43_200, u64::MAX),
        ("&created_to=2026-11-22", 0, 216_000),
        ("&created_from=2026-11-20T15:00:00Z", 10_800, u64::MAX),
        (
            "&created_from=2026-11-21T06:00:00Z&created_to=2026-11-23T06:00:00Z",
            64_800,
            237_601,
        ),
        (
            "&created_from=2026-11-21T06:00:00Z&created_to=2026-11-21T20:00:00Z",
            64_800,
            115_201,
        ),
        ("&created_from=2026-11-23&created_to=2026-11-21", 0, 0),
    ];
    for (span, from, before) in spans {
        for status in ["", "open", "canceled", "expired"] {
            let is_shown = |order: &&Expected| {
                (from..before).contains(&order.made_at)
                    && (status.is_empty() || order.status == status)
            };
            let shown = orders.iter().rev().filter(is_shown);
            let expected: Vec<_> = shown.map(|order| order.link.id.clone()).collect();
            let query = format!("{span}&status={status}");
            assert_eq!(found(shop, &query).await, expected, "{query}");
        }
    }
}

shop_on_both_engines!(
    a_list_over_days_is_counted_and_paged_exactly_at_any_moment,
    async |shop| {
        let mut orders = Vec::new();
        let expires_at = (now() + Duration::from_hours(480)).to_string();
        let mut body = order();
        body["expires_at"] = json!(expires_at);
        // Four times a day, once at midnight.
        for number in 0..15 {
            let link = make(&shop, &body).await;
            let (made_at, status) = (number * 6 * 3600, "open");
            orders.push(Expected {
                link,
                made_at,
                status,
            });
            shop.clock.advance(Duration::from_hours(6));
        }
        check(&shop, &orders).await;
        checkout::lists::compact(&shop.db).await.unwrap();
        check(&shop, &orders).await;
        // Changes of days that are already aggregated.
        for order in orders.iter_mut().step_by(4) {
            assert_eq!(cancel(&shop, &order.link).await.status, 200);
            order.status = "canceled";
        }
        check(&shop, &orders).await;
        checkout::lists::compact(&shop.db).await.unwrap();
        check(&shop, &orders).await;
    }
);
