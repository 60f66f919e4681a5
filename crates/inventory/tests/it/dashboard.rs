//! The dashboard over plain HTTP: its figures, its choices, what each user is offered, and the
//! event stream of movements.

use std::time::Duration;

use axum::body::BodyDataStream;
use http::{Method, StatusCode};
use inventory::analysis;
use serde_json::json;
use test_kit::html::has;

use crate::{analyses::a_product_that_ran_low, app::app_on_both_engines, visitor::Visitor};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The texts between tags, in one line. A number may break between its groups of digits.
fn texts(html: &str) -> String {
    let mut text = String::new();
    let mut is_tag = false;
    for character in html.replace("<wbr>", "").chars() {
        match character {
            '<' => is_tag = true,
            '>' => {
                is_tag = false;
                text.push(' ');
            }
            other if !is_tag => text.push(other),
            _ => {}
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

async fn page(visitor: &Visitor<'_>, path: &str) -> String {
    texts(&visitor.page(path).await)
}

app_on_both_engines!(
    the_dashboard_shows_exact_figures_in_both_languages,
    async |app| {
        let visitor = app.logged_in("viewer").await;
        has(&page(&visitor, "/").await, &["once there is a product"]);
        let product = app.admin().a_product("Café", 2_000).await;
        app.admin().a_product("Arroz", 3).await;
        app.sell(product, 100).await;
        app.clock.advance(DAY * 30);
        let mut visitor = app.logged_in("viewer").await;
        app.sell(product, 80).await;
        app.sell(product, 70).await;
        let english = page(&visitor, "/").await;
        has(
            &english,
            &[
                "From 21 Nov 2026 to 20 Dec 2026, compared with 22 Oct 2026 to 20 Nov 2026 (UTC)",
                "Sales value R$ 1,875.00 50% more before R$ 1,250.00",
                "Profit R$ 675.00 50% more before R$ 450.00",
                "Outflows 2 100% more before 1",
                "Units sold 150 50% more before 100",
                "Units in stock 1,753",
                "Cost value R$ 14,024.00",
                "Selling value R$ 21,912.50",
                "Potential profit R$ 7,888.50",
                "20 Dec 2026 2 150 R$ 1,875.00 R$ 675.00",
                "Arroz 3 of 10 lasts: no sales 0 sold in 30 days",
                "Out 70 × Café",
                "Grãos 1",
                "Tio João 1",
            ],
        );
        visitor.language = "pt-BR";
        let portuguese = page(&visitor, "/").await;
        has(
            &portuguese,
            &[
                "De 21/11/2026 a 20/12/2026, comparado com 22/10/2026 a 20/11/2026",
                "Valor vendido R$ 1.875,00 50% a mais antes R$ 1.250,00",
                "Arroz 3 de 10 dura: sem saídas",
                "Unidades em estoque 1.753",
            ],
        );
    }
);

app_on_both_engines!(one_product_and_one_unit_are_one, async |app| {
    app.admin().a_product("Arroz", 1).await;
    let mut visitor = app.logged_in("viewer").await;
    let one = "Products by category 1 product Grãos 1 1 unit · R$ 12.50";
    has(&page(&visitor, "/").await, &[one]);
    app.admin().a_product("Café", 1).await;
    let two = "Products by category 2 products";
    has(&page(&visitor, "/").await, &[two]);
    visitor.language = "pt-BR";
    app.sell(1, 1).await;
    let portuguese = [
        "Produtos por categoria 2 produtos",
        "Arroz 0 de 10 dura: acabou 1 vendido em 30 dias",
    ];
    has(&page(&visitor, "/").await, &portuguese);
});

app_on_both_engines!(
    the_newest_analysis_is_shown_up_to_its_first_heading,
    async |app| {
        a_product_that_ran_low(&app, "Café").await;
        analysis::work_once(&app.state).await.unwrap();
        let mut visitor = app.logged_in("viewer").await;
        visitor.language = "pt-BR";
        let shown = page(&visitor, "/").await;
        let (_, card) = shown.split_once("Reposição: Café").unwrap();
        let (card, _) = card.split_once("Ler a análise completa").unwrap();
        assert!(card.contains("Em estoque: 9 unidades"), "{card}");
        assert!(
            !card.contains("Por quê") && card.trim().ends_with('.'),
            "{card}"
        );
    }
);

app_on_both_engines!(
    advice_on_an_archived_product_gives_way_to_the_advice_before_it,
    async |app| {
        for title in ["Café", "Arroz"] {
            let product = app.admin().a_product(title, 10).await;
            app.sell(product, 1).await;
            analysis::work_once(&app.state).await.unwrap();
        }
        let visitor = app.logged_in("viewer").await;
        has(&page(&visitor, "/").await, &["Reposição: Arroz"]);
        let archived = json!({"archived": true});
        let path = "/api/v1/products/2/archived/";
        app.admin().put(path, archived.clone()).await;
        has(&page(&visitor, "/").await, &["Reposição: Café"]);
        app.admin()
            .put("/api/v1/products/1/archived/", archived)
            .await;
        let shown = page(&visitor, "/").await;
        assert!(!shown.contains("Reposição: "), "{shown}");
    }
);

app_on_both_engines!(
    advice_that_a_newer_one_replaced_does_not_come_back_when_that_is_over,
    async |app| {
        let product = app.admin().a_product("Café", 10).await;
        let supplier = app.admin().a_supplier("Torra").await;
        for _ in 0..2 {
            app.sell(product, 4).await;
            analysis::work_once(&app.state).await.unwrap();
        }
        // More than the newer advice was written for, less than the older.
        app.set_threshold(product, 1).await;
        app.receive(supplier, product, 2).await;
        let visitor = app.logged_in("viewer").await;
        let shown = page(&visitor, "/").await;
        assert!(!shown.contains("Restock: "), "{shown}");
    }
);

app_on_both_engines!(
    the_period_and_the_prices_are_chosen_in_the_address,
    async |app| {
        let product = app.admin().a_product("Café", 2_000).await;
        app.sell(product, 100).await;
        app.clock.advance(DAY * 10);
        let visitor = app.logged_in("viewer").await;
        app.change_product(1, json!({"selling_price": "20.00"}))
            .await;
        has(
            &page(&visitor, "/?period=7").await,
            &["Sales value R$ 0.00 100% less before R$ 1,250.00"],
        );
        for period in ["30", "90", "365", "090", "31", "-7", "nonsense", ""] {
            let path = format!("/?period={period}");
            has(
                &page(&visitor, &path).await,
                &["Sales value R$ 1,250.00 no comparison before R$ 0.00"],
            );
        }
        let present = visitor.page("/?period=90&prices=now").await;
        has(
            &texts(&present),
            &["Sales value R$ 2,000.00", "Profit R$ 1,200.00"],
        );
        has(&present, &["/dashboard/figures/?period=90&#38;prices=now"]);
        let figures = visitor
            .get("/dashboard/figures/?period=90&prices=now")
            .await;
        has(&texts(&figures.text), &["Sales value R$ 2,000.00"]);
        assert!(!figures.text.contains("<html"), "{figures:?}");
    }
);

app_on_both_engines!(
    a_dashboard_runs_as_many_statements_with_many_records_as_with_few,
    async |app| {
        let cost = async || {
            let visitor = app.logged_in("viewer").await;
            visitor.page("/").await;
            visitor.statements("/?period=365").await
        };
        let product = app.admin().a_product("Café", 5).await;
        app.sell(product, 1).await;
        let with_few = cost().await;
        for title in ["a", "b", "c", "d", "e", "f", "g", "h"] {
            let product = app.admin().a_product(title, 5).await;
            app.sell(product, 1).await;
            app.clock.advance(DAY);
        }
        assert_eq!(cost().await, with_few);
        assert!(with_few <= 16, "{with_few}");
    }
);

app_on_both_engines!(
    only_who_may_book_is_offered_it_and_nobody_sees_it_without_logging_in,
    async |app| {
        app.admin().a_product("Café", 5).await;
        let viewer = app.logged_in("viewer").await;
        assert!(!page(&viewer, "/").await.contains("Book out"));
        let manager = app.logged_in("manager").await;
        has(&page(&manager, "/").await, &["Book out"]);
        for path in ["/", "/dashboard/figures/", "/dashboard/events/"] {
            assert_eq!(app.visitor().get(path).await.status, 302, "{path}");
        }
    }
);

/// The next event's data; `None` when the stream has ended.
async fn next(stream: &mut BodyDataStream) -> Option<String> {
    use tokio_stream::StreamExt as _;
    loop {
        let chunk = stream.next().await?.unwrap();
        let text = String::from_utf8(chunk.to_vec()).unwrap();
        let data = text.lines().find_map(|line| line.strip_prefix("data: "));
        if let Some(data) = data {
            return Some(data.to_owned());
        }
    }
}

app_on_both_engines!(an_open_dashboard_is_told_when_stock_moves, async |app| {
    let product = app.admin().a_product("Café", 5).await;
    let visitor = app.logged_in("viewer").await;
    let mut stream = visitor.stream("/dashboard/events/").await;
    assert_eq!(next(&mut stream).await.as_deref(), Some("1"));
    app.sell(product, 1).await;
    assert_eq!(next(&mut stream).await.as_deref(), Some("2"));
    assert_eq!(app.state.streams.count(), 1);
    drop(stream);
    let mut second = visitor.stream("/dashboard/events/").await;
    assert_eq!(next(&mut second).await.as_deref(), Some("2"));
    // The stream ends when the user logs out.
    visitor.get("/").await;
    visitor.submit("/logout/", &[]).await;
    app.sell(product, 1).await;
    assert_eq!(next(&mut second).await, None);
});

app_on_both_engines!(streams_end_when_the_service_stops, async |app| {
    let visitor = app.logged_in("viewer").await;
    let mut stream = visitor.stream("/dashboard/events/").await;
    assert_eq!(next(&mut stream).await.as_deref(), Some("0"));
    app.state.shutdown.begin();
    assert_eq!(next(&mut stream).await, None);
});

impl Visitor<'_> {
    /// An answer whose body is a stream.
    async fn stream(&self, path: &str) -> BodyDataStream {
        let response = self.open(Method::GET, path).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert_eq!(response.headers()["x-accel-buffering"], "no");
        response.into_body().into_data_stream()
    }
}
