//! Mail as a server takes it: one for each crossing, to each receiver, durable, in both forms.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use inventory::{
    Config,
    events::{self, Mail, mail::Server},
    stock::AlertMode,
};
use serde_json::json;
use test_kit::on_both_engines;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
};

use super::config;
use crate::app::TestApp;

/// A mail that was taken.
#[derive(Debug, Clone, Default)]
struct Taken {
    from: String,
    to: String,
    login: Option<String>,
    text: String,
}

impl Taken {
    /// The texts of both forms, decoded.
    fn texts(&self) -> Vec<String> {
        let parts = self
            .text
            .split("Content-Transfer-Encoding: base64\r\n\r\n")
            .skip(1);
        parts
            .map(|part| {
                let encoded: String = part.split("\r\n--").next().unwrap().split("\r\n").collect();
                String::from_utf8(STANDARD.decode(encoded).unwrap()).unwrap()
            })
            .collect()
    }

    fn header(&self, name: &str) -> &str {
        let mut lines = self.text.split("\r\n").take_while(|line| !line.is_empty());
        lines
            .find_map(|line| line.strip_prefix(&format!("{name}: ")))
            .unwrap()
    }
}

/// A mail server that speaks the protocol and answers RCPT as it is told.
#[derive(Clone)]
struct MailServer {
    address: SocketAddr,
    taken: Arc<Mutex<Vec<Taken>>>,
    rcpt: Arc<Mutex<&'static str>>,
}

impl MailServer {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Self {
            address: listener.local_addr().unwrap(),
            taken: Arc::default(),
            rcpt: Arc::new(Mutex::new("250 ok")),
        };
        let serving = server.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serving.clone().converse(stream));
            }
        });
        server
    }

    async fn converse(self, stream: TcpStream) {
        let mut stream = BufReader::new(stream);
        let mut mail = Taken::default();
        let mut is_data = false;
        let mut answer = "220 mail.example ESMTP".to_owned();
        loop {
            if !answer.is_empty()
                && stream
                    .get_mut()
                    .write_all(format!("{answer}\r\n").as_bytes())
                    .await
                    .is_err()
            {
                return;
            }
            let mut line = String::new();
            if stream.read_line(&mut line).await.unwrap_or(0) == 0 {
                return;
            }
            let text = line.trim_end_matches("\r\n");
            answer = String::new();
            if is_data {
                if text == "." {
                    is_data = false;
                    self.taken.lock().unwrap().push(std::mem::take(&mut mail));
                    "250 queued".clone_into(&mut answer);
                } else {
                    mail.text.push_str(text.strip_prefix('.').unwrap_or(text));
                    mail.text.push_str("\r\n");
                }
                continue;
            }
            answer = match text.split_once([' ', ':']).unwrap_or((text, "")) {
                ("EHLO", _) => {
                    "250-mail.example\r\n250-AUTH PLAIN LOGIN\r\n250 8BITMIME".to_owned()
                }
                ("AUTH", token) => {
                    mail.login = Some(token.trim_start_matches("PLAIN ").to_owned());
                    "235 welcome".to_owned()
                }
                ("MAIL", from) => {
                    from.clone_into(&mut mail.from);
                    "250 ok".to_owned()
                }
                ("RCPT", to) => {
                    to.clone_into(&mut mail.to);
                    (*self.rcpt.lock().unwrap()).to_owned()
                }
                ("DATA", _) => {
                    is_data = true;
                    "354 go on".to_owned()
                }
                ("QUIT", _) => "221 bye".to_owned(),
                _ => "500 what".to_owned(),
            };
        }
    }

    fn taken(&self) -> Vec<Taken> {
        self.taken.lock().unwrap().clone()
    }

    fn settings(&self, to: &[&str]) -> Config {
        Config {
            mail: Some(Mail {
                server: Server::parse(&format!("smtp://shop:p%40ss@{}", self.address)).unwrap(),
                from: "shop@example.com".to_owned(),
                to: to.iter().map(|address| (*address).to_owned()).collect(),
                digest: None,
            }),
            public_url: "https://shop.example".parse().ok(),
            ..config(None)
        }
    }
}

/// Makes mails of what happened, and sends what is due.
async fn mail(app: &TestApp) -> usize {
    app.pass().await;
    events::mail::pass(&app.state).await.unwrap()
}

on_both_engines!(
    a_crossing_is_mailed_once_to_each_receiver_as_text_and_html,
    async |address| {
        let server = MailServer::start().await;
        let app = TestApp::with(
            &address,
            server.settings(&["ana@example.com", "rui@example.com"]),
        )
        .await;
        let product = app.admin().a_product("Açaí <b>", 12).await;
        app.ship(product, 1).await;
        assert_eq!(mail(&app).await, 0);
        app.ship(product, 3).await;
        app.ship(product, 1).await;
        assert_eq!(mail(&app).await, 2);
        let taken = server.taken();
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
                "Açaí <b>: restam 8; o limite é 10.\n\nhttps://shop.example/products/{product}/\n"
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

/// Six changes, three of which cross the threshold downwards: by an outflow, by an adjustment, by an outflow.
async fn crossings_are_mailed(address: &str, alert: AlertMode) {
    let server = MailServer::start().await;
    let settings = Config {
        low_stock_alert: alert,
        ..server.settings(&["ana@example.com"])
    };
    let app = TestApp::with(address, settings).await;
    let product = app.admin().a_product("Arroz", 12).await;
    app.ship(product, 3).await;
    app.ship(product, 1).await;
    let path = format!("/api/v1/products/{product}/");
    for quantity in [20, 5, 30] {
        app.manager()
            .patch(&path, json!({"quantity": quantity}))
            .await;
    }
    app.ship(product, 25).await;
    assert_eq!(mail(&app).await, 3);
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
    a_mail_that_is_not_taken_is_tried_again_and_one_that_is_refused_for_good_is_not,
    async |address| {
        let server = MailServer::start().await;
        *server.rcpt.lock().unwrap() = "451 later";
        let app = TestApp::with(&address, server.settings(&["ana@example.com"])).await;
        let product = app.admin().a_product("Arroz", 12).await;
        app.ship(product, 3).await;
        assert_eq!(mail(&app).await, 0);
        *server.rcpt.lock().unwrap() = "250 ok";
        assert_eq!(mail(&app).await, 0);
        app.clock.advance(std::time::Duration::from_secs(61));
        assert_eq!(mail(&app).await, 1);
        *server.rcpt.lock().unwrap() = "550 nobody here";
        let other = app.admin().a_product("Feijão", 12).await;
        app.ship(other, 3).await;
        assert_eq!(mail(&app).await, 0);
        *server.rcpt.lock().unwrap() = "250 ok";
        app.clock.advance(std::time::Duration::from_secs(100_000));
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
    people_hear_of_an_endpoint_that_is_disabled,
    async |address| {
        let (server, receiver) = (MailServer::start().await, super::Receiver::start().await);
        receiver.behaves(|_| super::receiver::Reply::Status(410));
        let app = TestApp::with(&address, server.settings(&["ana@example.com"])).await;
        app.endpoint(&receiver, "outflow.created").await;
        let product = app.admin().a_product("Arroz", 50).await;
        app.ship(product, 1).await;
        assert_eq!(mail(&app).await, 1);
        assert!(server.taken()[0].texts()[0].contains(&receiver.url()));
    }
);
