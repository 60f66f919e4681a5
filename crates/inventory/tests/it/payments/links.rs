//! New payment links for a sum or for products, created once.

use serde_json::json;
use test_kit::on_both_engines;

use super::{
    app_with, audit_entries,
    checkout::{Checkout, Reply, order, reads},
    says,
};
use crate::visitor::{hidden, leads_to};

/// The page of the order that checkout creates.
const ORDER: &str = "/payments/orders/ord_1/";
const NEW: &str = "/payments/new/";

/// Creates every order.
fn makes(call: &super::checkout::Call) -> Reply {
    match call.line().as_str() {
        "POST /orders/" => Reply::json(201, &order("open")),
        _ => reads(call, "open"),
    }
}

on_both_engines!(
    a_sum_as_brazilians_type_it_makes_one_order_however_often_the_form_is_sent,
    async |address| {
        let checkout = Checkout::start(makes).await;
        let app = app_with(&address, &checkout).await;
        let manager = app.logged_in("manager").await;
        let token = hidden(&manager.page(NEW).await, "form_token");
        let fields = [
            ("form_token", token.as_str()),
            ("amount", "149,90"),
            ("description", "Conserto"),
            ("reference", " 1042 "),
            ("expires_on", "2026-11-25"),
            ("do", "create"),
        ];
        for _ in 0..2 {
            leads_to(&manager.submit(NEW, &fields).await, ORDER);
        }
        let posts = checkout.posts();
        let expected = json!({
            "reference": "1042", "description": "Conserto", "amount": 149.90,
            "expires_at": "2026-11-26T02:59:59.999999Z",
        });
        assert_eq!((&posts[0].json(), &posts[1].json()), (&expected, &expected));
        let key = posts[0].header("idempotency-key");
        assert_eq!(key, posts[1].header("idempotency-key"));
        assert!(key.len() == 64 && key != token);
        let found = audit_entries(&app).await;
        let expected = ["added", "order", "ord_1: R$\u{a0}149,90", "manager"].map(str::to_owned);
        assert_eq!(found[0], expected.into());
    }
);

on_both_engines!(
    a_link_writes_texts_of_several_lines_in_one,
    async |address| {
        let checkout = Checkout::start(makes).await;
        let app = app_with(&address, &checkout).await;
        let product = app.admin().a_product("Arroz\tbranco", 10).await;
        let manager = app.logged_in("manager").await;
        let (product, quantity) = (product.to_string(), format!("quantity_{product}"));
        for (typed, description) in [("", "2 × Arroz branco"), ("Dois\tsacos", "Dois sacos")] {
            let fields = [
                ("lines", product.as_str()),
                (&quantity, "2"),
                (&format!("price_{product}"), "12.50"),
                ("description", typed),
                ("reference", "10\t42"),
                ("do", "create"),
            ];
            leads_to(&manager.submit(NEW, &fields).await, ORDER);
            let sent = checkout.posts().pop().unwrap().json();
            assert_eq!(sent["items"][0]["title"], "Arroz branco");
            assert_eq!(
                (&sent["description"], &sent["reference"]),
                (&json!(description), &json!("10 42"))
            );
        }
    }
);

on_both_engines!(
    what_is_wrong_with_a_link_is_told_beside_its_field_and_nothing_is_sent,
    async |address| {
        let checkout = Checkout::start(makes).await;
        let app = app_with(&address, &checkout).await;
        let manager = app.logged_in("manager").await;
        for (fields, said) in [
            (
                vec![("amount", ""), ("description", "x")],
                "or add products",
            ),
            (
                vec![("amount", "0"), ("description", "x")],
                "or add products",
            ),
            (vec![("amount", "1.234"), ("description", "x")], "two ways"),
            (
                vec![("amount", "10"), ("description", " ")],
                "Enter what is being paid for.",
            ),
            (
                vec![
                    ("amount", "10"),
                    ("description", "x"),
                    ("expires_on", "2026-12-31"),
                ],
                "29 days from now",
            ),
        ] {
            let mut fields = fields;
            fields.push(("do", "create"));
            says(&manager.submit(NEW, &fields).await, 422, &[said]);
        }
        assert_eq!(checkout.posts().len(), 0);
        checkout.behaves(|_| {
            let detail = "An order with this reference exists";
            Reply::json(
                409,
                &json!({"detail": detail, "field": "reference", "order": "ord_0"}),
            )
        });
        let fields = [
            ("amount", "10"),
            ("description", "x"),
            ("reference", "7"),
            ("do", "create"),
        ];
        let answer = manager.submit(NEW, &fields).await;
        says(
            &answer,
            422,
            &[
                "Order number: An order with this number already exists.",
                "value=\"7\"",
            ],
        );
        let refused = async |field: &'static str, said: &str| {
            checkout.behaves(move |_| {
                let detail = format!("Validation error: {field}: must not contain a card number");
                Reply::json(422, &json!({"detail": detail, "field": field}))
            });
            let answer = manager.submit(NEW, &fields).await;
            says(&answer, 422, &[said]);
            assert!(!answer.text.contains("must not contain"));
        };
        refused("description", "Description: A description has at most").await;
        refused("customer", "The payment service refused the data.").await;
        checkout
            .behaves(|_| Reply::json(400, &json!({"detail": "Invalid amount", "field": "amount"})));
        let too_much = "The amount is more than the payment service accepts.";
        says(&manager.submit(NEW, &fields).await, 422, &[too_much]);
        for (status, said) in [
            (429, "too many requests. Try again in a minute."),
            (502, "did not accept the request, or failed. Try again."),
        ] {
            checkout.behaves(move |_| Reply::json(status, &json!({"detail": "API Error"})));
            says(&manager.submit(NEW, &fields).await, 422, &[said]);
        }
        assert_eq!(audit_entries(&app).await.len(), 0);
    }
);

on_both_engines!(
    products_go_at_their_prices_and_a_price_that_changed_is_told_first,
    async |address| {
        let checkout = Checkout::start(makes).await;
        let app = app_with(&address, &checkout).await;
        let product = app.admin().a_product("Arroz", 10).await;
        let product = product.to_string();
        let manager = app.logged_in("manager").await;
        let no_code = "No code: book the goods out after the payment";
        let add = [
            ("product", product.as_str()),
            ("quantity", "3"),
            ("do", "add"),
        ];
        says(&manager.submit(NEW, &add).await, 200, &[no_code]);
        let code = json!({"serie_number": "7891"});
        app.admin()
            .change_product(product.parse().unwrap(), code)
            .await;
        // If a product is still in the field when the last button is pressed, the page shows the
        // sum and creates no order yet.
        let add = [
            ("product", product.as_str()),
            ("quantity", "3"),
            ("do", "create"),
        ];
        let answer = manager.submit(NEW, &add).await;
        says(&answer, 200, &["R$\u{a0}37.50"]);
        assert!(!answer.text.contains(no_code));
        assert_eq!(hidden(&answer.text, "lines"), product);
        let (quantity, price) = (format!("quantity_{product}"), format!("price_{product}"));
        let create = |shown: &'static str| {
            [
                ("lines", product.clone()),
                (quantity.as_str(), "2".to_owned()),
                (price.as_str(), shown.to_owned()),
                ("do", "create".to_owned()),
            ]
        };
        let send = async |fields: [(&str, String); 4]| {
            let fields = fields
                .each_ref()
                .map(|(name, value)| (*name, value.as_str()));
            manager.submit(NEW, &fields).await
        };
        says(
            &send(create("11.00")).await,
            422,
            &["A price has changed.", "R$\u{a0}12.50"],
        );
        assert_eq!(checkout.posts().len(), 0);
        leads_to(&send(create("12.50")).await, ORDER);
        let expected = json!({
            "description": "2 × Arroz",
            "items": [{"title": "Arroz", "quantity": 2, "unit_price": 12.50, "sku": "7891"}],
        });
        assert_eq!(checkout.posts()[0].json(), expected);
        checkout.behaves(|_| {
            let detail = "Validation error: items[0].sku: must not contain a card number";
            Reply::json(422, &json!({"detail": detail, "field": "items[0].sku"}))
        });
        let code = "must have no control characters and must not look like a card number.";
        let code = format!("The serial number of a product in a link {code}");
        let answer = send(create("12.50")).await;
        let line = format!("id=\"quantity_{product}-error\">{code}");
        says(&answer, 422, &[&format!("Arroz: {code}"), &line]);
        // The sum and the description of products have no field of their own.
        let title = "The title of a product in a link must not have a card number.";
        let too_much = "The amount is more than the payment service accepts.";
        for (field, said) in [("description", title), ("amount", too_much)] {
            checkout.behaves(move |_| {
                Reply::json(422, &json!({"detail": "Validation error", "field": field}))
            });
            let answer = send(create("12.50")).await;
            says(&answer, 422, &[said]);
            assert!(!answer.text.contains(&format!("href=\"#{field}\"")));
        }
        checkout.behaves(makes);
        says(
            &manager.submit(NEW, &[("do", "add")]).await,
            422,
            &["Choose a product."],
        );
        let both = [("product_text", "zzz"), ("quantity", "x"), ("do", "add")];
        says(
            &manager.submit(NEW, &both).await,
            422,
            &["“zzz”", "Enter a whole number from 1"],
        );
        let remove = format!("remove-{product}");
        let mut fields = create("12.50");
        fields[3].1 = remove;
        let answer = send(fields).await;
        says(&answer, 200, &["name=\"amount\""]);
        let title = json!({"title": "á".repeat(500)});
        app.admin().change_product(1, title).await;
        leads_to(&send(create("12.50")).await, ORDER);
        let sent = checkout.posts().pop().unwrap().json();
        let title = format!("{}…", "á".repeat(255));
        assert_eq!(sent["items"][0]["title"], title);
    }
);

on_both_engines!(
    a_link_whose_answer_was_lost_is_asked_for_again_under_the_same_key,
    async |address| {
        let checkout = Checkout::start(|_| Reply::close()).await;
        let app = app_with(&address, &checkout).await;
        let manager = app.logged_in("manager").await;
        let token = hidden(&manager.page(NEW).await, "form_token");
        let fields = [
            ("form_token", token.as_str()),
            ("amount", "10"),
            ("description", "x"),
            ("do", "create"),
        ];
        let answer = manager.submit(NEW, &fields).await;
        says(
            &answer,
            502,
            &["the link is created only once", "value=\"x\""],
        );
        assert_eq!(hidden(&answer.text, "form_token"), token);
        checkout.behaves(makes);
        leads_to(&manager.submit(NEW, &fields).await, ORDER);
        let posts = checkout.posts();
        let keys = posts.iter().map(|call| call.header("idempotency-key"));
        assert_eq!(keys.collect::<std::collections::BTreeSet<_>>().len(), 1);
    }
);
