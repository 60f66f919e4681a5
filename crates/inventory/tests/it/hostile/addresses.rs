//! Ids and query strings of every odd shape.

use http::Method;
use serde_json::{Value, json};
use test_kit::on_both_engines;

use super::{shop, stored};

const RECORDS: [&str; 8] = [
    "/api/v1/brands/{id}/",
    "/api/v1/categories/{id}/",
    "/api/v1/suppliers/{id}/",
    "/api/v1/products/{id}/",
    "/api/v1/products/{id}/ledger/",
    "/api/v1/products/{id}/threshold/",
    "/api/v1/inflows/{id}/",
    "/api/v1/outflows/{id}/",
];

const LISTS: [&str; 8] = [
    "/api/v1/brands/",
    "/api/v1/categories/",
    "/api/v1/suppliers/",
    "/api/v1/products/",
    "/api/v1/inflows/",
    "/api/v1/outflows/",
    "/api/v1/low-stock/",
    "/api/v1/products/1/ledger/",
];

/// Ids that no record can have.
const IDS: [&str; 18] = [
    "0", "01", "-1", "99999", "abc", "None", "null", "1.0", "1e0", "0x1", "+1", "1_0", "%201",
    "1%00", "%D9%A1", "%ff", "1%2F2", "1;1",
];
const LONG_IDS: [&str; 8] = [
    "0000000000000000000001",
    "9223372036854775807",
    "9223372036854775808",
    "99999999999999999999",
    "999999999999999999999999999999999999",
    "1'%20OR%201=1--",
    "%F0%9F%98%80",
    "..%2f1",
];
/// A number that fits into no integer.
const HUGE: &str = "99999999999999999999999";

on_both_engines!(
    an_id_of_any_odd_shape_is_not_found_whatever_is_done_with_it,
    async |address| {
        let app = shop(&address).await;
        let before = stored(&app).await;
        for record in RECORDS {
            for id in IDS.into_iter().chain(LONG_IDS) {
                let path = record.replace("{id}", id);
                for method in [Method::GET, Method::PUT, Method::PATCH, Method::DELETE] {
                    let answer = app
                        .admin()
                        .send(method.clone(), &path, Some(json!({})))
                        .await;
                    if answer.status != 405 {
                        assert_eq!(answer.status, 404, "{method} {path}: {answer:?}");
                        assert_eq!(answer.json(), json!({"detail": "Not found."}), "{path}");
                    }
                }
            }
        }
        assert_eq!(stored(&app).await, before);
    }
);

on_both_engines!(filters_refuse_what_they_cannot_read, async |address| {
    let app = shop(&address).await;
    let viewer = app.viewer();
    let number = json!(["Enter a number."]);
    let date = json!(["Enter a valid date."]);
    for (path, filters) in [
        (
            "products",
            ["category", "brand", "min_price", "max_price"].as_slice(),
        ),
        ("inflows", &["supplier", "product"]),
        ("outflows", &["product"]),
    ] {
        for filter in filters {
            for value in [
                "abc", "1,000", "NaN", "Infinity", "1_0", "0x1", "%00", "%ff", "1;1", "%D9%A1",
                "--1", "true",
            ] {
                let answer = viewer
                    .get(&format!("/api/v1/{path}/?{filter}={value}"))
                    .await;
                answer.is(400, &json!({*filter: number}));
            }
        }
    }
    for path in ["inflows", "outflows"] {
        for filter in ["date_from", "date_to"] {
            for value in [
                "abc",
                "2024-02-30",
                "13/03/2024",
                "20240310",
                "2024-3-1",
                "%2B024-01-01",
                "10000-01-01",
                "2024-01-01T00:00:00Z",
                "%00",
                "%ff",
                "0000-00-00",
                "0000-01-01",
            ] {
                let answer = viewer
                    .get(&format!("/api/v1/{path}/?{filter}={value}"))
                    .await;
                answer.is(400, &json!({filter: date}));
            }
        }
    }
    let all = viewer
        .get("/api/v1/products/?category=x&brand=y&min_price=z&max_price=&page=999")
        .await;
    all.is(
        400,
        &json!({"category": number, "brand": number, "min_price": number}),
    );
});

on_both_engines!(
    a_search_for_what_no_text_holds_is_refused_with_a_list,
    async |address| {
        let app = shop(&address).await;
        for path in ["brands", "categories", "suppliers", "products"] {
            for search in ["%00", "a%00b"] {
                let answer = app
                    .viewer()
                    .get(&format!("/api/v1/{path}/?search={search}"))
                    .await;
                answer.is(400, &json!(["Null characters are not allowed."]));
            }
        }
        let inflows = app.viewer().get("/api/v1/inflows/?search=%00").await;
        assert_eq!(inflows.status, 200, "movements are not searched");
    }
);

on_both_engines!(
    a_search_has_sixteen_different_words_at_most,
    async |address| {
        let app = shop(&address).await;
        let words: Vec<_> = (0..17).map(|number| format!("w{number}")).collect();
        let (most, all) = (words[..16].join("+"), words.join("+"));
        let refused = "Search for at most 16 different words.";
        let visitor = app.superuser().await;
        for path in ["brands", "categories", "suppliers", "products"] {
            let get = async |words: &str| {
                let path = format!("/api/v1/{path}/?search={words}");
                app.viewer().get(&path).await
            };
            get(&format!("{most}+W0,w1")).await.has_status(200);
            get(&all).await.is(400, &json!({"search": [refused]}));
            for list in [
                format!("/{path}/?search={all}"),
                format!("/admin/{path}/?q={all}"),
            ] {
                let page = visitor.page_with(&list, 422).await;
                assert!(page.contains(refused), "{list}: {page}");
                let typed = format!("value=\"{}\"", words.join(" "));
                assert!(page.contains(&typed), "{list}: {page}");
            }
        }
    }
);

on_both_engines!(
    a_price_in_a_filter_is_ten_to_the_fiftieth_at_most,
    async |address| {
        let app = shop(&address).await;
        let message = "Ensure this value is less than or equal to 1e+50.";
        for filter in ["min_price", "max_price"] {
            for value in ["1e400", "1e51", "2e50", &format!("1{}.01", "0".repeat(50))] {
                let answer = app
                    .viewer()
                    .get(&format!("/api/v1/products/?{filter}={value}"))
                    .await;
                answer.is(400, &json!({filter: [message]}));
            }
        }
    }
);

on_both_engines!(
    extreme_numbers_and_dates_in_filters_find_nothing_or_everything,
    async |address| {
        let app = shop(&address).await;
        let count = async |query: &str| -> Value {
            let answer = app.viewer().get(query).await;
            assert_eq!(answer.status, 200, "{query}: {answer:?}");
            answer.json()["count"].clone()
        };
        for (query, found) in [
            ("/api/v1/products/?category=0", 0),
            ("/api/v1/products/?category=-1", 0),
            ("/api/v1/products/?brand=99999999999999999999999999", 0),
            ("/api/v1/products/?min_price=1e50", 0),
            ("/api/v1/products/?max_price=1e50", 1),
            ("/api/v1/products/?max_price=-1e50", 0),
            (
                "/api/v1/products/?min_price=-99999999999999999999999.999",
                1,
            ),
            ("/api/v1/products/?min_price=5&max_price=4", 0),
            (
                "/api/v1/inflows/?date_from=0001-01-01&date_to=9999-12-31",
                1,
            ),
            ("/api/v1/outflows/?date_from=9999-12-31", 0),
            ("/api/v1/outflows/?date_to=0001-01-01", 0),
            (
                "/api/v1/outflows/?date_from=2026-11-21&date_to=2026-11-20",
                0,
            ),
        ] {
            assert_eq!(count(query).await, found, "{query}");
        }
    }
);

on_both_engines!(
    pages_that_do_not_exist_are_not_found_and_sizes_fall_back,
    async |address| {
        let app = shop(&address).await;
        let viewer = app.viewer();
        for list in LISTS {
            let pages = [
                "0", "-1", "abc", "first", "LAST", "1.0", "999", "%00", "%ff", "1%002", "1e0",
                "NaN", HUGE,
            ];
            for page in pages {
                let answer = viewer.get(&format!("{list}?page={page}")).await;
                answer.is(404, &json!({"detail": "Invalid page."}));
            }
            let usual = viewer.get(list).await.json();
            for size in ["0", "-1", "abc", "2.5", "", "%00", "1e2", "999", HUGE] {
                let answer = viewer.get(&format!("{list}?page_size={size}")).await;
                assert_eq!(answer.json(), usual, "{list} {size}");
            }
        }
    }
);

on_both_engines!(
    absurd_query_strings_are_answered_like_any_other,
    async |address| {
        let app = shop(&address).await;
        let before = stored(&app).await;
        let long = format!("search={}", "a".repeat(4_000));
        let words = format!("search={}", "a+".repeat(1_500));
        let orders = format!("ordering={}", "name,-id,".repeat(300));
        for list in LISTS {
            for query in [
                "?",
                "&&&&",
                "=",
                "=&=",
                "%",
                "%zz=%zz",
                "%00=%00",
                "%ff=%ff",
                "search=%25%5F%5C",
                "search='%22",
                "search=%22",
                "search=%EF%BF%BF",
                "search=%F0%9F%98%80",
                "search=NOT+AND+OR+NEAR(",
                "search=*",
                "search=name:x",
                "search=-1;DROP+TABLE+products",
                "ordering=%00",
                "ordering=,,,",
                "ordering=--name,+id,pk,category__name,NAME",
                "ordering=id;DROP+TABLE+brands",
                "ordering=description,-description,serie_number,-category,brand",
                "page=1&page=1",
                "unknown[]=1&unknown[a][b]=2",
                &long,
                &words,
                &orders,
            ] {
                let answer = app.viewer().get(&format!("{list}?{query}")).await;
                assert_eq!(answer.status, 200, "{list}?{query}: {answer:?}");
            }
        }
        assert_eq!(stored(&app).await, before);
    }
);
