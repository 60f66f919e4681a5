//! The page of an order as it is sent.

use axum::body::Body;
use checkout::page::Logo;
use http::Request;
use serde_json::json;
use test_kit::on_both_engines;
use tower::ServiceExt;

use super::{OrderLink, act, cancel, card, make, order, pay, pix};
use crate::payments::{
    app::{API_KEY, Answer, Shop, creation, shop_on_both_engines},
    requests::{self, with},
};

async fn page(shop: &Shop, made: &OrderLink, language: &str) -> String {
    let request = Request::get(&made.page).header("accept-language", language);
    let answer = shop.send(request.body(Body::empty()).unwrap()).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    test_kit::html::check(&answer.text);
    answer.text
}

on_both_engines!(the_page_shows_what_the_shop_has_fixed, async |address| {
    let shop = Shop::open_with(&address, |config| config.shop.is_test = true).await;
    let body = json!({
        "description": "Pedido <1042>", "payment_methods": ["pix", "boleto"],
        "items": [{"title": "Café <forte>", "quantity": 1000, "unit_price": 39.90}],
        "customer": {"name": "Maria Silva", "email": "maria@example.com"},
        "success_url": "https://shop.example/thanks", "cancel_url": "https://shop.example/cart?a=b",
    });
    let made = make(&shop, &body).await;
    for (language, texts) in [
        (
            "pt-BR",
            [
                "1.000 × Café &#60;forte&#62;",
                "R$\u{a0}39.900,00",
                "Gerar Pix de R$\u{a0}39.900,00",
                "Modo de teste",
                "Voltar à loja",
            ],
        ),
        (
            "en",
            [
                "1,000 × Café &#60;forte&#62;",
                "R$\u{a0}39,900.00",
                "Get the Pix code for R$\u{a0}39,900.00",
                "Test mode",
                "Back to the shop",
            ],
        ),
    ] {
        let html = page(&shop, &made, language).await;
        for text in texts {
            assert!(html.contains(text), "{text}");
        }
        assert!(html.contains(&format!("action=\"{}\"", made.page)));
        assert!(html.contains("data-order=\"open\""));
        assert!(html.contains("<meta name=\"robots\" content=\"noindex\">"));
        assert!(!html.contains("value=\"card\""), "the order takes no card");
        assert!(html.contains(&format!(
            "https://shop.example/cart?a=b&#38;order={}",
            made.id
        )));
        assert!(html.contains("maria@example.com") && !html.contains("id=\"transaction_amount\""));
    }
});

on_both_engines!(
    a_method_that_cannot_take_the_sum_is_not_offered,
    async |address| {
        let shop = Shop::open_with(&address, |config| {
            config.max_amounts = "card=20,pix=30,boleto=30".parse().unwrap();
        })
        .await;
        let made = make(&shop, &with(order(), "amount", json!(20.01))).await;
        for path in [made.page.as_str(), "/?amount=20.01"] {
            let html = shop.get(path).await.text;
            assert!(!html.contains("value=\"card\""), "{path}");
            assert!(html.contains("value=\"pix\" checked"), "{path}");
        }
        let html = shop.get("/?amount=30.01").await.text;
        assert!(html.contains("Este link de pagamento tem um valor"));
        assert!(html.contains("id=\"transaction_amount\"") && html.contains("value=\"card\""));
    }
);

shop_on_both_engines!(
    an_order_that_no_method_can_take_any_more_offers_its_own_and_the_payment_is_refused,
    async |shop| {
        let body = with(order(), "payment_methods", json!(["pix", "boleto"]));
        let made = make(&shop, &body).await;
        let restarted = shop.replica(|config| {
            config.max_amounts = "card=10,pix=10,boleto=10".parse().unwrap();
        });
        let restarted = restarted.await;
        let html = restarted.get(&made.page).await.text;
        assert!(html.contains("value=\"pix\" checked") && html.contains("value=\"boleto\""));
        assert!(!html.contains("value=\"card\""), "the order takes no card");
        pay(&restarted, &made, &pix(), None).await.has_status(422);
    }
);

on_both_engines!(
    the_page_shows_the_shops_logo_which_can_run_nothing,
    async |address| {
        let drawing = "<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>";
        let logo = Logo::new(drawing.into()).unwrap();
        let shop = Shop::open_with(&address, |config| config.shop.logo = Some(logo)).await;
        let made = make(&shop, &order()).await;
        let open_page = shop.get("/").await.text;
        for html in [page(&shop, &made, "pt-BR").await, open_page] {
            let (_, picture) = html.split_once("<img class=\"brand-logo\" src=\"").unwrap();
            let (file, _) = picture.split_once('"').unwrap();
            let request = Request::get(file).body(Body::empty()).unwrap();
            let answer = shop.router.clone().oneshot(request).await.unwrap();
            let header = |name: &str| answer.headers()[name].to_str().unwrap();
            assert_eq!(answer.status(), 200, "{file}");
            assert_eq!(header("content-type"), "image/svg+xml");
            assert!(header("cache-control").contains("immutable"));
            assert_eq!(header("x-content-type-options"), "nosniff");
            let policy = header("content-security-policy");
            assert!(policy.starts_with("default-src 'none'; ") && policy.ends_with("; sandbox"));
            assert!(!policy.contains("script"), "{policy}");
        }
    }
);

shop_on_both_engines!(the_pages_of_ended_orders_say_so, async |shop| {
    let body = json!({
        "amount": 10, "description": "x",
        "success_url": "https://shop.example/thanks", "cancel_url": "https://shop.example/cart",
    });
    let paid = make(&shop, &body).await;
    let payment = pay(&shop, &paid, &card("APRO"), None).await.id();
    let canceled = make(&shop, &body).await;
    assert_eq!(cancel(&shop, &canceled).await.status, 200);
    let expired = make(&shop, &body).await;
    shop.clock.advance(std::time::Duration::from_hours(24));
    let is_over = |html: &str| {
        html.contains("id=\"over\"")
            && !html.contains("id=\"payment\"")
            && !html.contains("checkout.js")
    };
    for (made, portuguese, english) in [
        (&paid, "Este pedido está pago", "This order is paid"),
        (
            &canceled,
            "Este pedido foi cancelado",
            "This order was cancelled",
        ),
        (
            &expired,
            "O prazo deste pedido acabou",
            "This order has expired",
        ),
    ] {
        let html = page(&shop, made, "pt-BR").await;
        assert!(html.contains(portuguese) && is_over(&html), "{html}");
        assert!(page(&shop, made, "en").await.contains(english));
    }
    let way = format!("https://shop.example/thanks?order={}", paid.id);
    assert!(page(&shop, &paid, "en").await.contains(&way));
    act(&shop, &payment, "refund").await;
    let returned = page(&shop, &paid, "pt-BR").await;
    assert!(returned.contains("Este pagamento foi devolvido") && returned.contains(&way));
    for (language, said) in [
        ("pt-BR", "Confira o link de pagamento ou peça outro à loja."),
        ("en", "Check the payment link, or ask the shop for another."),
    ] {
        for path in ["/pay/unknown", "/pay/%ff"] {
            let ask = |accept: &str| {
                let unknown = Request::get(path).header("accept", accept);
                let unknown = unknown.header("accept-language", language);
                shop.send(unknown.body(Body::empty()).unwrap())
            };
            let answer = ask("text/html").await;
            answer.has_status(404);
            test_kit::html::has(&answer.text, &[said]);
            let answer = ask("application/json").await;
            answer.is_error(404, "Order not found");
            assert!(!answer.text.contains("hint"), "{}", answer.text);
        }
    }
});

shop_on_both_engines!(
    a_payment_that_waits_is_followed_after_a_reload_and_in_another_tab,
    async |shop| {
        let made = make(&shop, &order()).await;
        let answer = pay(&shop, &made, &pix(), None).await;
        let html = page(&shop, &made, "en").await;
        assert!(html.contains("data-order=\"followed\""));
        assert!(html.contains(&answer.id()) && html.contains(&answer.token()));
    }
);

shop_on_both_engines!(
    a_payment_of_unknown_outcome_is_confirmed_without_a_script_too,
    async |shop| {
        let made = make(&shop, &order()).await;
        shop.sandbox.fail_payment("drop after").await;
        assert_eq!(pay(&shop, &made, &card("APRO"), None).await.status, 503);
        let html = page(&shop, &made, "en").await;
        assert!(html.contains("<noscript><meta http-equiv=\"refresh\""));
        let (_, rest) = html.rsplit_once("<noscript>").unwrap();
        assert!(rest.contains("We are confirming your payment"));
    }
);

on_both_engines!(
    the_closed_open_form_needs_a_merchants_key,
    async |address| {
        let shop = Shop::open_with(&address, |config| {
            config.open_payments = false;
            config.shop.contact = Some("(11) 5555-0142".to_owned());
        })
        .await;
        let refused = |answer: &Answer| answer.status == 401;
        let answer = shop.send(creation(&requests::pix(), None)).await;
        answer.is_error(401, "Invalid credentials");
        for (accepted, language, expected) in [
            ("text/html", "pt-BR", "Esta loja recebe pelos links dela"),
            ("*/*", "en", "This shop takes payments by its own links"),
            ("application/json", "en", "(11) 5555-0142"),
        ] {
            let page = Request::get("/").header("accept", accepted);
            let page = page.header("accept-language", language);
            let answer = shop.send(page.body(Body::empty()).unwrap()).await;
            assert!(refused(&answer) && answer.text.contains(expected));
            assert!(!answer.text.contains("href=\"/\""), "it leads to itself");
            test_kit::html::check(&answer.text);
        }
        let mut merchants = creation(&requests::pix(), None);
        let key = format!("Bearer {API_KEY}").parse().unwrap();
        merchants.headers_mut().insert("authorization", key);
        assert_eq!(shop.send(merchants).await.status, 200);
        let made = make(&shop, &order()).await;
        assert_eq!(shop.get(&made.page).await.status, 200);
        assert_eq!(pay(&shop, &made, &pix(), None).await.status, 200);
    }
);
