//! Receipts as a mail server receives them.

use checkout::Config;
use checkout::Receipts;
use delivery::mail::{Sender, Server};
use delivery::mailer;
use http::HeaderValue;
use http::header::ACCEPT_LANGUAGE;
use serde_json::json;
use test_kit::mail::{MailServer, Protection};
use test_kit::on_both_engines;

use crate::{
    orders::{act, make, pay, pix},
    payments::{
        app::{Shop, creation, shop_on_both_engines},
        notified::{notify, work},
        requests::{self, card, with},
    },
};

/// Sends receipts of the shop by this server.
fn mailed_by(server: &MailServer) -> impl FnOnce(&mut Config) + use<> {
    let server = Server::parse(&format!("smtp://{}", server.address)).unwrap();
    move |config| {
        config.shop.name = "Livraria <da> Praça".to_owned();
        config.shop.contact = Some("(11) 5555-0142".to_owned());
        config.receipts = Some(Receipts {
            server,
            from: Sender {
                name: "Livraria".to_owned(),
                address: "shop@example.com".to_owned(),
            },
        });
    }
}

async fn mail(shop: &Shop) -> usize {
    mailer::pass(shop.state.outbox()).await.unwrap()
}

/// The recipients of mail that is queued or was sent.
async fn recipients(shop: &Shop) -> Vec<String> {
    let find = async |conn: &mut db::Conn| {
        let sql = "SELECT recipient FROM mails ORDER BY id";
        conn.all(sql, &[], |row| row.get(0)).await
    };
    shop.db.read::<_, db::Error, _>(find).await.unwrap()
}

on_both_engines!(
    the_buyer_of_an_order_gets_one_receipt_once_the_pix_is_paid,
    async |address| {
        let server = MailServer::start(Protection::None).await;
        let shop = Shop::open_with(&address, mailed_by(&server)).await;
        let order = json!({
            "reference": "1042", "description": "Pedido 1042",
            "items": [
                {"title": "Café <forte>", "quantity": 1000, "unit_price": 39.90},
                {"title": "Filtro", "quantity": 1, "unit_price": 9.50},
            ],
        });
        let made = make(&shop, &order).await;
        let payment = pay(&shop, &made, &pix(), None).await.id();
        assert_eq!(mail(&shop).await, 0, "nothing is paid yet");
        act(&shop, &payment, "pay").await;
        assert_eq!(mail(&shop).await, 1);
        notify(&shop, &payment).await;
        work(&shop).await;
        assert_eq!(mail(&shop).await, 0);
        let refunded = shop.pay(&requests::pix()).await.id();
        shop.sandbox.act(&refunded, "pay").await;
        act(&shop, &refunded, "refund").await;
        assert_eq!(mail(&shop).await, 0, "the buyer has the money back");
        let taken = server.received();
        assert_eq!(taken[0].to, "TO:<ana@example.com>");
        assert_eq!(taken[0].from, "FROM:<shop@example.com>");
        let texts = taken[0].texts();
        let expected = format!(
            "Seu pagamento para Livraria <da> Praça foi aprovado.\n\n\
             Valor: R$\u{a0}39.909,50\nData: 20/11/2026 09:00\nForma de pagamento: Pix\n\
             Descrição: Pedido 1042\nPedido: 1042\nNúmero do pagamento: {payment}\n\n\
             - 1.000 × Café <forte>: R$\u{a0}39.900,00\n- 1 × Filtro: R$\u{a0}9,50\n\n\
             Dúvidas? Fale com a loja: (11) 5555-0142\n\n-- \n\
             Você recebe este e-mail porque o seu endereço foi informado no pagamento. Não é um documento fiscal.\n"
        );
        assert_eq!(texts[0], expected);
        assert!(texts[1].contains("Café &#60;forte&#62;"), "{}", texts[1]);
        test_kit::html::check_mail(&texts[1]);
    }
);

on_both_engines!(a_receipt_is_in_the_language_of_the_page, async |address| {
    let server = MailServer::start(Protection::None).await;
    let shop = Shop::open_with(&address, mailed_by(&server)).await;
    let body = with(card("APRO"), "installments", json!(3));
    let mut request = creation(&body, None);
    let english = HeaderValue::from_static("en-GB, pt;q=0.5");
    request.headers_mut().insert(ACCEPT_LANGUAGE, english);
    let payment = shop.send(request).await.id();
    assert_eq!(mail(&shop).await, 1);
    let text = server.received()[0].texts().swap_remove(0);
    let expected = format!(
        "Your payment to Livraria <da> Praça was approved.\n\n\
             Amount: R$\u{a0}100.50\nDate: 20 Nov 2026, 09:00\n\
             Payment method: Visa card ending in 5682, in 3 installments\n\
             Description: Pedido 1042\nPayment number: {payment}\n\n"
    );
    assert!(text.starts_with(&expected), "{text}");
});

on_both_engines!(
    an_answer_that_was_lost_does_not_change_a_receipts_language,
    async |address| {
        let server = MailServer::start(Protection::None).await;
        let shop = Shop::open_with(&address, mailed_by(&server)).await;
        shop.sandbox.fail_payment("drop after").await;
        let mut request = creation(&card("APRO"), None);
        let english = HeaderValue::from_static("en");
        request.headers_mut().insert(ACCEPT_LANGUAGE, english);
        assert_eq!(shop.send(request).await.status, 503);
        shop.let_leases_end();
        shop.reconcile().await;
        assert_eq!(mail(&shop).await, 1);
        let text = server.received()[0].texts().swap_remove(0);
        assert!(text.starts_with("Your payment to"), "{text}");
    }
);

on_both_engines!(
    what_is_not_approved_has_no_receipt_and_tests_say_that_they_are,
    async |address| {
        let server = MailServer::start(Protection::None).await;
        let mailed = mailed_by(&server);
        let shop = Shop::open_with(&address, |config| {
            mailed(config);
            config.shop.is_test = true;
        })
        .await;
        shop.pay(&card("OTHE")).await.id();
        shop.pay(&card("CONT")).await.id();
        shop.pay(&requests::boleto()).await.id();
        assert_eq!(recipients(&shop).await, [""; 0]);
        shop.pay(&card("APRO")).await.id();
        assert_eq!(mail(&shop).await, 1);
        let text = server.received()[0].texts().swap_remove(0);
        let test = "\n\nModo de teste: nenhum dinheiro foi movido.\n\n";
        assert!(text.contains(test), "{text}");
    }
);

shop_on_both_engines!(without_a_mail_server_no_receipt_is_kept, async |shop| {
    shop.pay(&card("APRO")).await.id();
    assert_eq!(recipients(&shop).await, [""; 0]);
});
