//! The pages of orders and payments with a fake checkout: permissions, forms that act once, and the
//! messages when checkout refuses, does not answer, or answers nonsense.

mod checkout;
mod faults;
mod links;
mod refunds;

use inventory::{Config, access::Model, payments};
use serde_json::json;
use test_kit::{html::has, on_both_engines};

use crate::{
    app::{Answer, TestApp, app_on_both_engines, unlimited},
    visitor::{leads_to, redirects},
};
use checkout::{Call, Checkout, KEY, Reply, order, page as list_of, reads};

/// The application beside this checkout.
async fn app_with(address: &str, checkout: &Checkout) -> TestApp {
    TestApp::with(address, config(checkout.settings())).await
}

/// The settings of an application with this checkout, without rate limits.
fn config(checkout: payments::CheckoutConfig) -> Config {
    Config {
        checkout: Some(checkout),
        ..unlimited()
    }
}

/// The audit entries of payments and orders, oldest first: action, model, text, user.
async fn audit_entries(app: &TestApp) -> Vec<(String, String, String, String)> {
    let read = async |conn: &mut db::Conn| {
        let sql = "SELECT action, model, object_text, user_name FROM audit_entries WHERE model IN ('order', 'payment') ORDER BY id";
        conn.all(sql, &[], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })
        .await
    };
    app.state.db.read::<_, db::Error, _>(read).await.unwrap()
}

#[track_caller]
fn says(answer: &Answer, status: u16, words: &[&str]) {
    assert_eq!(answer.status, status, "{answer:?}");
    test_kit::html::check(&answer.text);
    has(&answer.text, words);
    assert!(!answer.text.contains(KEY));
}

on_both_engines!(
    orders_are_seen_and_made_by_managers_and_given_back_by_admins_alone,
    async |address| {
        let checkout = Checkout::start(|call| reads(call, "paid")).await;
        let app = app_with(&address, &checkout).await;
        let pages = [
            "/payments/",
            "/payments/orders/ord_1/",
            "/payments/received/",
            "/payments/received/1234567890/",
        ];
        let refund = "/payments/received/1234567890/refund/";
        for (user, sees, makes, refunds) in [
            ("admin", 200, 200, 200),
            ("manager", 200, 200, 403),
            ("viewer", 403, 403, 403),
        ] {
            let visitor = app.logged_in(user).await;
            for path in pages {
                visitor.page_with(path, sees).await;
            }
            visitor.page_with("/payments/new/", makes).await;
            let html = visitor.page_with(refund, refunds).await;
            assert_eq!(html.contains("Can refund"), user != "admin");
            let home = visitor.page("/").await;
            assert_eq!(home.contains("href=\"/payments/\""), sees == 200, "{user}");
            let html = visitor.page_with(pages[3], sees).await;
            assert_eq!(
                html.contains("href=\"/payments/received/1234567890/refund/\""),
                user == "admin"
            );
        }
        assert_eq!(checkout.posts().len(), 0);
        assert_eq!(
            checkout.calls()[0].header("authorization"),
            format!("Bearer {KEY}")
        );
    }
);

on_both_engines!(
    one_user_leaves_others_a_part_of_the_requests_that_checkout_allows,
    async |address| {
        let checkout = Checkout::start(|call| reads(call, "paid")).await;
        let app = app_with(&address, &checkout).await;
        let manager = app.logged_in("manager").await;
        for _ in 0..20 {
            manager.page("/payments/").await;
            // No call: the form is empty.
            manager.page("/payments/new/").await;
        }
        // A payment with its order takes two calls.
        for _ in 0..20 {
            let path = "/payments/received/1234567890/?order=ord_1";
            manager.page(path).await;
        }
        for path in ["/payments/", "/payments/export/"] {
            manager.page_with(path, 429).await;
        }
        let cancel = manager.submit("/payments/orders/ord_1/cancel/", &[]).await;
        assert_eq!(cancel.status, 429);
        assert_eq!(audit_entries(&app).await.len(), 0, "nothing was asked for");
        manager.page("/").await;
        app.logged_in("admin").await.page("/payments/").await;
        assert_eq!(checkout.calls().len(), 61);
    }
);

app_on_both_engines!(without_a_checkout_there_are_no_such_pages, async |app| {
    let admin = app.logged_in("admin").await;
    for path in [
        "/payments/",
        "/payments/new/",
        "/payments/orders/ord_1/",
        "/payments/received/1/",
    ] {
        admin.page_with(path, 404).await;
    }
    assert!(!admin.page("/").await.contains("/payments/"));
});

on_both_engines!(a_list_asks_for_what_its_filters_say, async |address| {
    let checkout = Checkout::start(|call| reads(call, "open")).await;
    let app = app_with(&address, &checkout).await;
    let manager = app.logged_in("manager").await;
    let query = "search=1042&status=open&date_from=2026-11-01&date_to=2026-11-30&page_size=25";
    let html = manager.page(&format!("/payments/?{query}")).await;
    for words in [
        "Café &lt;b&gt;",
        "R$\u{a0}149.90",
        "Open",
        "1042",
        "20 Nov 2026, 09:00",
    ] {
        assert!(
            html.contains(words) || html.contains(&words.replace("&lt;b&gt;", "&#60;b&#62;")),
            "{words}: {html}"
        );
    }
    assert_eq!(
        checkout.calls()[0].line(),
        "GET /orders/?status=open&reference=1042&created_from=2026-11-01T03%3A00%3A00.000000Z\
         &created_to=2026-12-01T02%3A59%3A59.999999Z&page=1&page_size=25"
    );
    manager.page_with("/payments/?page=9", 404).await;
    manager.page_with("/payments/?page=4294967296", 404).await;
    let refused = manager.get("/payments/?date_from=yesterday").await;
    says(&refused, 422, &["Enter a valid date."]);
    manager
        .page("/payments/received/?status=approved&payment_method=pix")
        .await;
    let last = checkout.calls().pop().unwrap();
    assert_eq!(
        last.line(),
        "GET /payments/?status=approved&payment_method=pix&page=1&page_size=10"
    );
});

on_both_engines!(the_last_page_is_asked_for_by_its_number, async |address| {
    let checkout = Checkout::start(|_| Reply::json(200, &list_of(&[order("open")], 25))).await;
    let app = app_with(&address, &checkout).await;
    let manager = app.logged_in("manager").await;
    let html = manager.page("/payments/?page=last").await;
    has(&html, &["21–21 of 25"]);
    let calls: Vec<_> = checkout.calls().iter().map(Call::line).collect();
    assert_eq!(
        calls,
        [
            "GET /orders/?page=1&page_size=10",
            "GET /orders/?page=3&page_size=10"
        ]
    );
});

on_both_engines!(
    a_number_that_no_order_has_is_told_at_the_search,
    async |address| {
        let refused = json!({"detail": "Validation error: reference: must have at most 64 characters",
            "status_code": 422, "field": "reference"});
        let checkout = Checkout::start(move |_| Reply::json(422, &refused)).await;
        let app = app_with(&address, &checkout).await;
        let manager = app.logged_in("manager").await;
        let long = "9".repeat(65);
        let answer = manager.get(&format!("/payments/?search={long}")).await;
        says(&answer, 422, &["An order number has at most 64 characters"]);
        let file = manager
            .get(&format!("/payments/export/?search={long}"))
            .await;
        redirects(&file, &format!("/payments/?search={long}"));
    }
);

on_both_engines!(
    a_list_is_a_file_up_to_a_bound_that_is_told,
    async |address| {
        let checkout = Checkout::start(|call| reads(call, "paid")).await;
        let app = app_with(&address, &checkout).await;
        let mut manager = app.logged_in("manager").await;
        let file = manager.get("/payments/export/?status=paid").await;
        assert_eq!(
            file.header("content-disposition"),
            "attachment; filename=\"orders.csv\""
        );
        let lines: Vec<&str> = file.text.trim_start_matches('\u{feff}').lines().collect();
        assert_eq!(
            lines,
            [
                "ID,Number,Status,Amount,Refunded,Description,Created,Valid until,Paid",
                "ord_1,1042,Paid,149.90,0.00,Café <b>,2026-11-20 09:00:00,2026-11-21 09:00:00,2026-11-20 09:02:00",
            ]
        );
        manager.language = "pt-BR";
        let file = manager.get("/payments/received/export/").await;
        let lines: Vec<&str> = file.text.trim_start_matches('\u{feff}').lines().collect();
        assert_eq!(
            lines,
            [
                "Código;Situação;Valor;Forma;Quem paga;Criado em;Aprovado em",
                "1234567890;Aprovado;149,90;Pix;maria@example.com;20/11/2026 09:01:00;20/11/2026 09:02:00",
            ]
        );
        manager.language = "en";
        checkout.behaves(|_| Reply::json(200, &list_of(&[order("paid")], 2001)));
        let answer = manager.get("/payments/export/?status=paid").await;
        redirects(&answer, "/payments/?status=paid");
        let html = manager.page("/payments/?status=paid").await;
        assert!(html.contains("The limit of rows per file is 2,000."));
        for _ in 3..20 {
            manager.get("/payments/export/").await;
        }
        let calls = checkout.calls().len();
        assert_eq!(manager.get("/payments/export/").await.status, 429);
        assert_eq!(checkout.calls().len(), calls);
    }
);

on_both_engines!(
    an_order_tells_when_a_payment_began_and_apart_from_that_how_it_stands,
    async |address| {
        let checkout = Checkout::start(|call| reads(call, "paid")).await;
        let app = app_with(&address, &checkout).await;
        let manager = app.logged_in("manager").await;
        let html = manager.page("/payments/orders/ord_1/").await;
        has(
            &html,
            &["Pix: payment started · now: Approved", "20 Nov 2026, 09:01"],
        );
    }
);

on_both_engines!(
    a_paid_order_tells_whether_its_goods_have_left,
    async |address| {
        let checkout = Checkout::start(|call| reads(call, "paid")).await;
        let app = app_with(&address, &checkout).await;
        let manager = app.logged_in("manager").await;
        let html = manager.page("/payments/orders/ord_1/").await;
        assert!(!html.contains("/outflows/orders/"), "{html}");
        app.execute(
            "INSERT INTO paid_orders (order_id, state, received_at) SELECT 'ord_1', 'waiting', max(created_at) FROM users",
        )
        .await;
        let html = manager.page("/payments/orders/ord_1/").await;
        let goods = "<a href=\"/outflows/orders/1/\">Waiting to be booked out</a>";
        has(&html, &["<dt>Goods</dt>", goods]);
    }
);

on_both_engines!(a_canceled_order_tells_who_canceled_it, async |address| {
    let checkout = Checkout::start(|call| reads(call, "open")).await;
    let app = app_with(&address, &checkout).await;
    let manager = app.logged_in("manager").await;
    let cancel = "/payments/orders/ord_1/cancel/";
    let html = manager.page("/payments/orders/ord_1/").await;
    for words in [
        "https://pay.example/pay/",
        "<svg",
        cancel,
        "https://wa.me/?text=",
        "CAFE-500",
        "Maria",
    ] {
        assert!(html.contains(words), "{words}");
    }
    let question = manager.page(cancel).await;
    has(&question, &["An open payment is cancelled."]);
    checkout.behaves(|call| match call.line().as_str() {
        "POST /orders/ord_1/cancel" => Reply::json(200, &order("canceled")),
        _ => reads(call, "canceled"),
    });
    let answer = manager.submit(cancel, &[]).await;
    leads_to(&answer, "/payments/orders/ord_1/");
    let html = manager.page("/payments/orders/ord_1/").await;
    assert!(html.contains("Cancelled") && !html.contains("https://pay.example/pay/"));
    checkout.behaves(|call| match call.line().as_str() {
        "POST /orders/ord_1/cancel" => {
            Reply::json(409, &serde_json::json!({"detail": "Order already paid"}))
        }
        _ => reads(call, "paid"),
    });
    let answer = manager.submit(cancel, &[]).await;
    says(&answer, 409, &["The order has already been paid."]);
    checkout.behaves(|call| match call.line().as_str() {
        "POST /orders/ord_1/cancel" => {
            Reply::json(502, &serde_json::json!({"detail": "API Error: no"}))
        }
        _ => reads(call, "open"),
    });
    let answer = manager.submit(cancel, &[]).await;
    says(
        &answer,
        409,
        &["provider did not accept the request, or failed."],
    );
    let expected = ["asked", "canceled", "asked", "refused", "asked", "refused"];
    let found = audit_entries(&app).await;
    assert_eq!(
        found
            .iter()
            .map(|(action, ..)| action.as_str())
            .collect::<Vec<_>>(),
        expected
    );
    assert!(found.iter().all(|(_, model, text, user)| {
        (model.as_str(), text.as_str(), user.as_str()) == (Model::Order.code(), "ord_1", "manager")
    }));
    let admin = app.staff("auditor", &["view_audit_entry"]).await;
    let log = admin.page("/admin/audit-log/?model=order").await;
    assert!(log.contains("Cancelled") && log.contains("Requested"));
});
