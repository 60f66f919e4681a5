//! Paid orders that checkout sends: goods that are booked out by themselves, and orders that wait
//! for somebody.

use http::Method;
use inventory::{Config, events::Secret};
use serde_json::{Value, json};
use test_kit::{
    html::{has, has_not},
    on_both_engines,
};

use crate::{
    app::{Answer, NOW, ORDERS_SECRET, TestApp, app_on_both_engines},
    visitor::{Visitor, leads_to},
};

const RETRY: &str = "/outflows/orders/1/retry/";

const ADDRESS: &str = "/integrations/orders/";
/// The time of the tests, in seconds.
const SECONDS: i64 = 1_795_176_000;

/// A message as checkout posts it.
struct Post {
    secret: String,
    id: &'static str,
    seconds: i64,
    /// The signed body.
    body: String,
}

impl Post {
    fn of(event: &Value) -> Self {
        Self {
            secret: ORDERS_SECRET.to_owned(),
            id: "evt_7_1795176000000000",
            seconds: SECONDS,
            body: event.to_string(),
        }
    }

    fn signature(&self) -> String {
        let secret = Secret::parse(&self.secret).unwrap();
        secret.sign(self.id, self.seconds, self.body.as_bytes())
    }

    /// Sends the message with this body and this signature.
    async fn send_as(self, app: &TestApp, body: String, signature: &str) -> Answer {
        let seconds = self.seconds.to_string();
        let headers = [
            ("webhook-id", self.id),
            ("webhook-timestamp", &seconds),
            ("webhook-signature", signature),
        ];
        let anyone = app.anonymous();
        anyone
            .send_with(Method::POST, ADDRESS, Some(body), &headers)
            .await
    }

    async fn send(self, app: &TestApp) -> Answer {
        let (body, signature) = (self.body.clone(), self.signature());
        self.send_as(app, body, &signature).await
    }
}

/// An order as checkout sends it, with units of these serie numbers.
fn paid(id: &str, reference: Option<&str>, items: &[(&str, i64)]) -> Value {
    let item = |(sku, quantity): &(&str, i64)| json!({"title": format!("Item {sku}"), "quantity": quantity, "unit_price": 4.00, "sku": sku});
    let items: Vec<Value> = items.iter().map(item).collect();
    json!({
        "type": "order.paid", "timestamp": NOW,
        "data": {
            "id": id, "reference": reference, "status": "paid", "amount": 12.00, "description": "Feira", "items": items,
            "customer": null, "metadata": {}, "payments": [], "url": null,
        },
    })
}

/// Sends a paid order; returns its outcome.
async fn tell(app: &TestApp, event: &Value) -> String {
    let answer = Post::of(event).send(app).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()["outcome"].as_str().unwrap().to_owned()
}

/// Three products of ten units, with the serie numbers `cafe`, `cha` and `leite`; their ids are 1,
/// 2 and 3.
async fn a_shop(app: &TestApp) {
    let admin = app.admin();
    admin.a_category("Grãos").await;
    admin.a_brand("Grãos").await;
    admin.a_supplier("Grãos").await;
    for (title, serie_number) in [("Café", "cafe"), ("Chá", "cha"), ("Leite", "leite")] {
        admin.a_product_with_code(title, serie_number, 1).await;
    }
}

async fn outflows(app: &TestApp) -> Vec<Value> {
    let list = app.admin().get("/api/v1/outflows/?ordering=id").await;
    list.json()["results"].as_array().unwrap().clone()
}

/// The dashboard's card of orders that wait; empty without one.
async fn attention(visitor: &Visitor<'_>) -> String {
    let page = visitor.page("/").await;
    let after = page.split_once("Paid orders waiting to be booked out");
    let card = after.and_then(|(_, rest)| rest.split_once("See all waiting orders"));
    card.map_or_else(String::new, |(card, _)| card.to_owned())
}

app_on_both_engines!(
    the_goods_of_a_paid_order_leave_with_ledger_and_events,
    async |app| {
        a_shop(&app).await;
        let order = paid(
            "ord_1",
            Some("1042"),
            &[("cha", 2), ("cafe", 3), ("cha", 1)],
        );
        assert_eq!(tell(&app, &order).await, "booked");
        assert_eq!(app.stock::<3>().await, [7, 7, 10]);
        let booked: Vec<_> = outflows(&app).await;
        let booked: Vec<_> = booked
            .iter()
            .map(|one| json!([one["product"]["title"], one["quantity"], one["description"]]))
            .collect();
        assert_eq!(
            booked,
            [
                json!(["Chá", 3, "Pedido 1042"]),
                json!(["Café", 3, "Pedido 1042"])
            ]
        );
        let ledger = app.admin().get("/api/v1/products/2/ledger/").await.json();
        let newest = &ledger["results"][0];
        assert_eq!(
            [&newest["kind"], &newest["change"], &newest["user"]],
            [&json!("outflow"), &json!(-3), &Value::Null]
        );
        let events = app.events().await;
        let kinds: Vec<_> = events.iter().map(|event| &event["type"]).collect();
        let of_one = ["outflow.created", "product.low_stock"];
        assert_eq!(kinds, [of_one, of_one].concat());
        assert_eq!(attention(&app.logged_in("manager").await).await, "");
    }
);

app_on_both_engines!(
    a_booked_order_shows_the_product_that_left_whichever_has_its_serie_number_now,
    async |app| {
        a_shop(&app).await;
        tell(&app, &paid("ord_1", None, &[("cha", 2)])).await;
        app.change_product(2, json!({"serie_number": "other"}))
            .await;
        app.change_product(3, json!({"serie_number": "cha"})).await;
        let manager = app.logged_in("manager").await;
        let shown = manager.page("/outflows/orders/1/").await;
        assert!(
            shown.contains(r#"<a href="/products/2/">Chá</a>"#),
            "{shown}"
        );
        app.admin()
            .delete("/api/v1/outflows/1/")
            .await
            .has_status(204);
        let shown = manager.page("/outflows/orders/1/").await;
        has(&shown, &["Item cha"]);
        has_not(&shown, &["/products/3/"]);
    }
);

app_on_both_engines!(
    an_order_is_booked_once_however_often_and_to_whomever_it_is_told,
    async |app| {
        a_shop(&app).await;
        let replica = app.replica().await;
        let order = paid("ord_1", Some("1042"), &[("cafe", 2), ("leite", 1)]);
        let told: Vec<_> = [&app, &replica, &app, &replica]
            .map(|app| {
                let (app, order) = (app.clone(), order.clone());
                tokio::spawn(async move { tell(&app, &order).await })
            })
            .into();
        for one in told {
            assert_eq!(one.await.unwrap(), "booked");
        }
        let again = paid("ord_1", None, &[("cafe", 5)]);
        assert_eq!(tell(&app, &again).await, "booked");
        assert_eq!(app.stock::<3>().await, [8, 10, 9]);
        assert_eq!(outflows(&app).await.len(), 2);
    }
);

app_on_both_engines!(
    an_order_of_an_archived_product_waits_until_it_is_unarchived,
    async |app| {
        a_shop(&app).await;
        let path = "/api/v1/products/1/archived/";
        app.admin().put(path, json!({"archived": true})).await;
        let order = paid("ord_1", Some("1042"), &[("cafe", 2)]);
        assert_eq!(tell(&app, &order).await, "needs_attention");
        let manager = app.logged_in("manager").await;
        let told = manager.page("/outflows/orders/1/").await;
        assert!(told.contains("this product is archived"), "{told}");
        app.admin().put(path, json!({"archived": false})).await;
        manager.submit(RETRY, &[]).await;
        assert_eq!(app.stock::<3>().await, [8, 10, 10]);
    }
);

app_on_both_engines!(
    orders_with_the_same_products_in_another_order_are_all_booked,
    async |app| {
        a_shop(&app).await;
        let replica = app.replica().await;
        let skus = [[("cafe", 1), ("leite", 1)], [("leite", 1), ("cafe", 1)]];
        let told: Vec<_> = (0..8)
            .map(|number| {
                let app = if number % 4 < 2 { &app } else { &replica }.clone();
                let order = paid(&format!("ord_{number}"), None, &skus[number % 2]);
                tokio::spawn(async move { tell(&app, &order).await })
            })
            .collect();
        for one in told {
            assert_eq!(one.await.unwrap(), "booked");
        }
        assert_eq!(app.stock::<3>().await, [2, 10, 2]);
        assert_eq!(
            outflows(&app).await[0]["description"]
                .as_str()
                .unwrap()
                .len(),
            "Pedido ord_0".len()
        );
    }
);

app_on_both_engines!(
    what_is_not_signed_or_not_of_now_is_401_and_books_nothing,
    async |app| {
        a_shop(&app).await;
        let order = paid("ord_1", None, &[("cafe", 1)]);
        let other = Post {
            secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".to_owned(),
            ..Post::of(&order)
        };
        let old = Post {
            seconds: SECONDS - 301,
            ..Post::of(&order)
        };
        let early = Post {
            seconds: SECONDS + 301,
            ..Post::of(&order)
        };
        let mut refused = vec![
            other.send(&app).await,
            old.send(&app).await,
            early.send(&app).await,
            app.anonymous().post(ADDRESS, order.clone()).await,
            app.admin().post(ADDRESS, order.clone()).await,
        ];
        let post = Post::of(&order);
        let (signature, body) = (post.signature(), post.body.replace("cafe", "chaa"));
        refused.push(post.send_as(&app, body, &signature).await);
        let unsigned = Post::of(&order);
        let body = unsigned.body.clone();
        refused.push(unsigned.send_as(&app, body, "v1,").await);
        for answer in refused {
            let detail = json!({"detail": "The signature is missing, wrong or too old."});
            answer.is(401, &detail);
        }
        assert_eq!(app.stock::<3>().await, [10, 10, 10]);
        assert_eq!(tell(&app, &order).await, "booked");
    }
);

on_both_engines!(
    without_a_secret_the_address_does_not_exist,
    async |address| {
        let app = TestApp::with(&address, Config::default()).await;
        let order = paid("ord_1", None, &[("cafe", 1)]);
        let answer = Post::of(&order).send(&app).await;
        answer.is(404, &json!({"detail": "Not found."}));
        assert_eq!(app.anonymous().get(ADDRESS).await.status, 404);
    }
);

on_both_engines!(
    while_the_secret_is_changed_both_are_taken,
    async |address| {
        let new = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let secrets = [new, ORDERS_SECRET].map(|secret| Secret::parse(secret).unwrap());
        let config = Config {
            orders_secrets: secrets.into(),
            ..Config::default()
        };
        let app = TestApp::with(&address, config).await;
        a_shop(&app).await;
        for (secret, id) in [(new, "ord_1"), (ORDERS_SECRET, "ord_2")] {
            let post = Post {
                secret: secret.to_owned(),
                ..Post::of(&paid(id, None, &[("cafe", 1)]))
            };
            assert_eq!(post.send(&app).await.json(), json!({"outcome": "booked"}));
        }
    }
);

app_on_both_engines!(
    events_that_move_no_goods_are_taken_and_do_nothing_and_what_is_none_is_422,
    async |app| {
        a_shop(&app).await;
        let mut refunded = paid("ord_1", None, &[("cafe", 1)]);
        refunded["type"] = json!("payment.refunded");
        let mut without_sku = paid("ord_2", None, &[("cafe", 1)]);
        without_sku["data"]["items"][0]["sku"] = Value::Null;
        for event in [&refunded, &without_sku, &json!({"type": "endpoint.test"})] {
            assert_eq!(tell(&app, event).await, "ignored", "{event}");
        }
        let mut few = paid("ord_3", None, &[("cafe", 1)]);
        few["data"]["items"][0]["quantity"] = json!(0);
        for event in [json!(null), json!({"type": "order.paid"}), few] {
            let refused = Post::of(&event).send(&app).await;
            assert_eq!(refused.status, 422, "{refused:?}");
            let detail = refused.json()["detail"].as_str().unwrap().to_owned();
            assert!(detail.starts_with("The event cannot be read: "), "{detail}");
        }
        assert_eq!(app.stock::<3>().await, [10, 10, 10]);
        assert_eq!(attention(&app.logged_in("manager").await).await, "");
    }
);

app_on_both_engines!(
    an_order_with_too_little_stock_books_nothing_and_waits_until_trying_again_works,
    async |app| {
        a_shop(&app).await;
        let order = paid("ord_1", Some("1042"), &[("cafe", 3), ("cha", 12)]);
        assert_eq!(tell(&app, &order).await, "needs_attention");
        assert_eq!(tell(&app, &order).await, "needs_attention");
        assert_eq!(app.stock::<3>().await, [10, 10, 10]);
        let manager = app.logged_in("manager").await;
        let waits = attention(&manager).await;
        for part in ["Order 1042", "Chá: the order has 12, the stock 10.", RETRY] {
            assert!(waits.contains(part), "{part}: {waits}");
        }
        let retry = "/outflows/orders/1/retry/";
        let from_home = [("next", "/")];
        leads_to(&manager.submit(retry, &from_home).await, "/");
        let told = manager.page("/").await;
        let still = "Order 1042: Nothing was booked out. Chá: the order has 12, the stock 10.";
        assert!(told.contains(still), "{told}");
        app.admin().receive(1, 2, 1).await;
        let renewed = "Chá: the order has 12, the stock 11.";
        assert!(attention(&manager).await.contains(renewed));
        app.admin().receive(1, 2, 1).await;
        has(&attention(&manager).await, &["There is enough stock now."]);
        leads_to(&manager.submit(retry, &from_home).await, "/");
        has(&manager.page("/").await, &["Order 1042: Booked out."]);
        assert_eq!(attention(&manager).await, "");
        assert_eq!(app.stock::<3>().await, [7, 0, 10]);
        leads_to(&manager.submit(retry, &[]).await, "/outflows/orders/1/");
        assert_eq!(app.stock::<3>().await, [7, 0, 10]);
        assert_eq!(tell(&app, &order).await, "booked");
        let ledger = app.admin().get("/api/v1/products/1/ledger/").await.json();
        assert_eq!(ledger["results"][0]["user"], "manager");
    }
);

app_on_both_engines!(
    an_order_that_somebody_booked_by_hand_is_put_aside_and_the_log_says_by_whom,
    async |app| {
        a_shop(&app).await;
        let order = paid("ord_1", None, &[("cafe", 1), ("cacau", 2)]);
        assert_eq!(tell(&app, &order).await, "needs_attention");
        let manager = app.logged_in("manager").await;
        let why = "Item cacau: no product has the serial number cacau.";
        assert!(attention(&manager).await.contains(why));
        let shown = manager.page("/outflows/orders/1/").await;
        for part in [
            "Order ord_1",
            why,
            "I booked it by hand",
            "Waiting to be booked out",
        ] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        let by_hand = "/outflows/orders/1/by-hand/";
        leads_to(&manager.submit(by_hand, &[]).await, "/outflows/orders/1/");
        assert_eq!(attention(&manager).await, "");
        let shown = manager.page("/outflows/orders/1/").await;
        assert!(shown.contains("Booked by hand") && !shown.contains("retry/"));
        assert_eq!(tell(&app, &order).await, "booked_by_hand");
        leads_to(&manager.submit(RETRY, &[]).await, "/outflows/orders/1/");
        assert_eq!(app.stock::<3>().await, [10, 10, 10]);
        let entries = inventory::audit::recent(&app.state, 2, 10).await.unwrap();
        let newest = &entries[0];
        assert_eq!(
            (newest.object.as_str(), newest.fields.names()),
            ("Pedido ord_1", vec!["booked_by_hand"])
        );
        let user = newest.user.clone().map(|user| (user.id, user.name));
        assert_eq!(user, Some((2, "manager".to_owned())));
    }
);

app_on_both_engines!(
    only_who_may_book_goods_out_ends_the_wait_of_an_order,
    async |app| {
        a_shop(&app).await;
        tell(&app, &paid("ord_1", None, &[("cafe", 99)])).await;
        let viewer = app.logged_in("viewer").await;
        let seen = attention(&viewer).await;
        has(&seen, &["Order ord_1"]);
        has_not(&seen, &["retry"]);
        let shown = viewer.page("/outflows/orders/1/").await;
        assert!(!shown.contains("retry/") && !shown.contains("by-hand"));
        let manager = app.logged_in("manager").await;
        for path in [RETRY, "/outflows/orders/1/by-hand/"] {
            assert_eq!(viewer.submit(path, &[]).await.status, 403);
            assert_eq!(manager.post_form(path, &[]).await.status, 403);
            manager
                .submit(&path.replace('1', "9"), &[])
                .await
                .has_status(404);
        }
        assert!(attention(&manager).await.contains("Order ord_1"));
    }
);

app_on_both_engines!(an_outflow_names_the_order_that_it_came_from, async |app| {
    a_shop(&app).await;
    tell(&app, &paid("ord_1", Some("<1042>"), &[("cafe", 1)])).await;
    let mut viewer = app.logged_in("viewer").await;
    let outflow = viewer.page("/outflows/1/").await;
    let link = "<a href=\"/outflows/orders/1/\">Order &#60;1042&#62;</a>";
    assert!(outflow.contains(link), "{outflow}");
    viewer.language = "pt-BR";
    let order = viewer.page("/outflows/orders/1/").await;
    for part in ["Baixado do estoque", "href=\"/outflows/1/\"", "Café"] {
        assert!(order.contains(part), "{part}: {order}");
    }
});

app_on_both_engines!(
    the_oldest_orders_that_wait_are_shown_and_the_others_counted,
    async |app| {
        a_shop(&app).await;
        for number in 1..=52 {
            let order = paid(&format!("ord_{number}"), None, &[("cafe", 99)]);
            assert_eq!(tell(&app, &order).await, "needs_attention");
        }
        let manager = app.logged_in("manager").await;
        let skus = ["a", "b", "c", "d", "e"].map(|sku| (sku, 1));
        tell(&app, &paid("many", None, &skus)).await;
        has(&manager.page("/outflows/orders/53/").await, &["number e."]);
        let card = attention(&manager).await;
        has(&card, &["53", "ord_4"]);
        has_not(&card, &["ord_5"]);
        let list = manager.page("/outflows/orders/").await;
        has(&list, &["ord_50<"]);
        has_not(&list, &["ord_51<"]);
        assert!(list.contains("More: 3."), "{list}");
    }
);
