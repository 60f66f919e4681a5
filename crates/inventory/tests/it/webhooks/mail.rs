//! Mail that a server receives: one for each time that stock falls below the threshold and each
//! receiver, durable, as text and HTML.

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use inventory::{
    Config,
    analysis::report::{WeeklyRun, run_weekly},
    events::{Mail, mail::Server},
    stock::{self, AlertMode},
};
use serde_json::json;
use test_kit::{
    mail::{MailServer, Protection, SmtpSupport},
    on_both_engines,
};
use web::locale::Locale;

use super::config;
use crate::app::TestApp;

/// Settings with this mail server and these receivers of alerts.
fn settings(server: &MailServer, to: &[&str]) -> Config {
    Config {
        mail: Some(Mail {
            server: Server::parse(&format!("smtp://shop:p%40ss@{}", server.address)).unwrap(),
            from: inventory::events::mail::Sender {
                name: "Loja da Ana".to_owned(),
                address: "shop@example.com".to_owned(),
            },
            to: to.iter().map(|address| (*address).to_owned()).collect(),
            digest: None,
        }),
        public_url: "https://shop.example".parse().ok(),
        ..config(None)
    }
}

/// Creates the mails of new events, and sends those that are due.
async fn mail(app: &TestApp) -> usize {
    app.pass().await;
    delivery::mailer::pass(&app.state.outbox).await.unwrap()
}

on_both_engines!(
    a_crossing_is_mailed_once_to_each_receiver_as_text_and_html,
    async |address| {
        let server = MailServer::start(Protection::None).await;
        let app = TestApp::with(
            &address,
            settings(&server, &["ana@example.com", "rui@example.com"]),
        )
        .await;
        let product = app.admin().a_product("Açaí <b>", 12).await;
        app.sell(product, 1).await;
        assert_eq!(mail(&app).await, 0);
        app.sell(product, 3).await;
        app.sell(product, 1).await;
        assert_eq!(mail(&app).await, 2);
        let taken = server.received();
        assert_eq!(taken[0].to, "TO:<ana@example.com>");
        assert_eq!(taken[1].to, "TO:<rui@example.com>");
        assert_eq!(taken[0].from, "FROM:<shop@example.com>");
        assert_eq!(
            taken[0].login.as_deref(),
            Some(STANDARD.encode("\0shop\0p@ss").as_str())
        );
        let subject = STANDARD.encode("Estoque baixo: Açaí <b>");
        assert_eq!(taken[0].header("Subject"), format!("=?utf-8?B?{subject}?="));
        let texts = taken[0].texts();
        assert_eq!(
            texts[0],
            format!(
                "Açaí <b>: restam 8; o mínimo é 10.\n\nhttps://shop.example/products/{product}/\n\n-- \n\
                 Seu endereço está na lista de avisos de estoque da loja. Quem administra o sistema pode mudar isso.\n"
            )
        );
        assert!(
            texts[1].contains("Açaí &#60;b&#62;: restam 8"),
            "{}",
            texts[1]
        );
        assert_eq!(mail(&app).await, 0);
    }
);

/// Eight changes, four of which make the product low: an outflow, an adjustment, an outflow, a
/// higher threshold; three end it.
async fn crossings_are_mailed(address: &str, alert: AlertMode) {
    let server = MailServer::start(Protection::None).await;
    let settings = Config {
        low_stock_alert: alert,
        ..settings(&server, &["ana@example.com"])
    };
    let app = TestApp::with(address, settings).await;
    let product = app.admin().a_product("Arroz", 12).await;
    app.sell(product, 3).await;
    app.sell(product, 1).await;
    for quantity in [20, 5, 30] {
        app.change_product(product, json!({"quantity": quantity}))
            .await;
    }
    app.sell(product, 25).await;
    for threshold in [2, 9] {
        app.set_threshold(product, threshold).await;
    }
    assert_eq!(mail(&app).await, 4);
    let events = app.events().await;
    let ended = events
        .iter()
        .filter(|event| event["type"] == "product.stock_recovered");
    let told = if alert == AlertMode::Once { 3 } else { 0 };
    assert_eq!(ended.count(), told);
}

on_both_engines!(
    every_crossing_is_mailed_whichever_way_it_comes,
    async |address| crossings_are_mailed(&address, AlertMode::EveryOutflow).await
);

on_both_engines!(
    every_crossing_is_mailed_once_when_webhooks_are_told_once_too,
    async |address| crossings_are_mailed(&address, AlertMode::Once).await
);

on_both_engines!(
    a_crossing_after_archiving_and_after_a_lower_threshold_of_the_shop_is_mailed,
    async |address| {
        let server = MailServer::start(Protection::None).await;
        let app = TestApp::with(&address, settings(&server, &["ana@example.com"])).await;
        let product = app.admin().a_product("Arroz", 50).await;
        app.sell(product, 45).await;
        assert_eq!(mail(&app).await, 1);
        let archive = async |archived: bool| {
            let path = format!("/api/v1/products/{product}/archived/");
            let body = json!({"archived": archived});
            app.admin().put(&path, body).await.has_status(200);
        };
        archive(true).await;
        app.change_product(product, json!({"quantity": 50})).await;
        archive(false).await;
        assert_eq!(mail(&app).await, 0);
        app.sell(product, 45).await;
        assert_eq!(mail(&app).await, 1);
        let lower = Config {
            low_stock_threshold: 3,
            ..app.state.config.clone()
        };
        let app = app.restarted(lower).await;
        app.sell(product, 3).await;
        app.sell(product, 1).await;
        assert_eq!(mail(&app).await, 1);
    }
);

on_both_engines!(
    a_mail_that_is_not_taken_is_tried_again_and_one_that_is_refused_for_good_is_not,
    async |address| {
        let server = MailServer::start(Protection::None).await;
        server.answers_rcpt("451 later");
        let app = TestApp::with(&address, settings(&server, &["ana@example.com"])).await;
        let product = app.admin().a_product("Arroz", 12).await;
        app.sell(product, 3).await;
        assert_eq!(mail(&app).await, 0);
        server.answers_rcpt("250 ok");
        assert_eq!(mail(&app).await, 0);
        app.clock.advance(Duration::from_secs(61));
        assert_eq!(mail(&app).await, 1);
        server.answers_rcpt("550 nobody here");
        let other = app.admin().a_product("Feijão", 12).await;
        app.sell(other, 3).await;
        assert_eq!(mail(&app).await, 0);
        server.answers_rcpt("250 ok");
        app.clock.advance(Duration::from_secs(100_000));
        assert_eq!(mail(&app).await, 0);
        let shown = app.metrics.encode().unwrap();
        for line in [
            "balcao_mails_total{outcome=\"sent\"} 1",
            "balcao_mails_total{outcome=\"failed\"} 1",
            "balcao_mails_total{outcome=\"given_up\"} 1",
        ] {
            assert!(shown.contains(line), "{line}\n{shown}");
        }
    }
);

on_both_engines!(
    old_servers_and_those_that_ask_for_name_and_password_apart_are_spoken_to,
    async |address| {
        let server = MailServer::start(Protection::None).await;
        let app = TestApp::with(&address, settings(&server, &["ana@example.com"])).await;
        let product = app.admin().a_product("Arroz", 12).await;
        app.sell(product, 3).await;
        // A refused password can be corrected in the settings, so the mail waits.
        server.supports(SmtpSupport::NoPasswords);
        assert_eq!(mail(&app).await, 0);
        server.supports(SmtpSupport::LoginOnly);
        app.clock.advance(Duration::from_secs(61));
        assert_eq!(mail(&app).await, 1);
        let words = ["shop", "p@ss"].map(|word| STANDARD.encode(word));
        assert_eq!(server.received()[0].login, Some(words.join(" ")));
        // A server that only supports HELO takes no password, and takes mail without one.
        let mut bare = settings(&server, &["ana@example.com"]);
        bare.mail.as_mut().unwrap().server =
            Server::parse(&format!("smtp://{}", server.address)).unwrap();
        let app = app.restarted(bare).await;
        server.supports(SmtpSupport::HeloOnly);
        let other = app.admin().a_product("Feijão", 12).await;
        app.sell(other, 3).await;
        assert_eq!(mail(&app).await, 1);
        assert_eq!(server.received()[1].login, None);
    }
);

on_both_engines!(
    people_hear_of_an_endpoint_that_is_disabled,
    async |address| {
        let (server, receiver) = (
            MailServer::start(Protection::None).await,
            super::Receiver::start().await,
        );
        receiver.behaves(|_| super::receiver::Reply::Status(410));
        let app = TestApp::with(&address, settings(&server, &["ana@example.com"])).await;
        app.endpoint(&receiver, "outflow.created").await;
        let product = app.admin().a_product("Arroz", 50).await;
        app.sell(product, 1).await;
        assert_eq!(mail(&app).await, 1);
        assert!(server.received()[0].texts()[0].contains(&receiver.url()));
    }
);

on_both_engines!(
    the_weekly_report_is_mailed_once_to_each_receiver_of_alerts,
    async |address| {
        let server = MailServer::start(Protection::None).await;
        let settings = Config {
            language: Locale::En,
            ..settings(&server, &["ana@example.com", "rui@example.com"])
        };
        let app = TestApp::with(&address, settings).await;
        app.admin().a_product("Arroz", 40).await;
        let WeeklyRun::Stored(id) = run_weekly(&app.state).await.unwrap() else {
            panic!("no report was made");
        };
        assert_eq!(
            run_weekly(&app.state).await.unwrap(),
            WeeklyRun::NothingToDo
        );
        assert_eq!(mail(&app).await, 2);
        let taken = server.received();
        assert_eq!(taken[1].to, "TO:<rui@example.com>");
        let texts = taken[0].texts();
        for words in [
            "1 product, R$\u{a0}320.00 in stock at cost",
            "How long the stock lasts\n- less than 7 days: 0 products",
            &format!("https://shop.example/analyses/{id}/"),
        ] {
            assert!(texts[0].contains(words), "{words}: {}", texts[0]);
        }
        assert!(texts[1].contains("<h2>Assumptions</h2>"), "{}", texts[1]);
        // The next week has a mail of its own.
        app.clock.advance(Duration::from_secs(7 * 24 * 60 * 60));
        let next = run_weekly(&app.state).await.unwrap();
        assert!(matches!(next, WeeklyRun::Stored(_)), "{next:?}");
        assert_eq!(mail(&app).await, 2);
    }
);

on_both_engines!(
    the_digest_goes_out_once_a_day_from_its_time_on_when_anything_is_low,
    async |address| {
        let server = MailServer::start(Protection::None).await;
        let mut settings = settings(&server, &["ana@example.com"]);
        // The clock of tests shows noon.
        settings.mail.as_mut().unwrap().digest = Some(12 * 60 + 30);
        let app = TestApp::with(&address, settings.clone()).await;
        let digest = async |app: &TestApp| {
            let is_time = stock::digest::queue_digest(&app.state).await.unwrap();
            (
                is_time,
                delivery::mailer::pass(&app.state.outbox).await.unwrap(),
            )
        };
        assert_eq!(digest(&app).await, (false, 0));
        app.clock.advance(Duration::from_secs(30 * 60));
        // If nothing is low, no mail is sent.
        assert_eq!(digest(&app).await, (true, 0));
        app.admin().a_product("Café", 4).await;
        app.admin().a_product("Açúcar", 2).await;
        app.admin().a_product("Arroz", 40).await;
        app.clock.advance(Duration::from_secs(24 * 60 * 60));
        assert_eq!(digest(&app).await, (true, 1));
        let told = server.received()[0].texts();
        assert!(
            told[0].contains("Produtos abaixo do mínimo em 21/11/2026: 2."),
            "{}",
            told[0]
        );
        let lowest_first =
            "- Açúcar: restam 2, mínimo 10\n- Café: restam 4, mínimo 10\n\nhttps://shop.example/";
        assert!(told[0].contains(lowest_first), "{}", told[0]);
        assert!(told[1].contains("<li>Café: restam 4, mínimo 10</li>"));
        // Neither a second pass nor a restart sends a second mail; the next day does.
        assert_eq!(digest(&app).await, (true, 0));
        let again = app.restarted(settings).await;
        assert_eq!(digest(&again).await, (true, 0));
        app.clock.advance(Duration::from_secs(24 * 60 * 60));
        assert_eq!(digest(&again).await, (true, 1));
    }
);
