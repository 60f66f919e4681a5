//! Trust in certificates: the program connects to providers, receivers of webhooks and mail servers
//! whose authority the machine trusts, a private one included, and to no others.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use serde_json::json;
use test_kit::mail::{MailServer, Protection};
use test_kit::process::{Balcao, Start, printed};
use test_kit::receiver::Receiver;
use test_kit::tls::Authority;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::inventory::{Caller, inventory, run_with, succeeds};
use crate::support::{Provider, boleto, card, client, pay, pay_until_final, pix};

const PRIVATE: &str = "BALCAO_INVENTORY_WEBHOOK_ALLOW_PRIVATE";

/// A gateway that terminates TLS in front of a server without it.
async fn tls_before(server: SocketAddr, config: Arc<ServerConfig>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, acceptor) = (listener.local_addr().unwrap(), TlsAcceptor::from(config));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let accepted = acceptor.accept(stream);
            tokio::spawn(async move {
                // A client that does not trust the certificate goes away.
                if let Ok(mut outside) = accepted.await {
                    let mut inside = TcpStream::connect(server).await.unwrap();
                    // Either side may close the connection.
                    let _ = copy_bidirectional(&mut outside, &mut inside).await;
                }
            });
        }
    });
    address
}

/// A command without a running service, on a machine that trusts one authority.
fn command(data: &Path, authority: &Authority, words: &[&str]) -> std::process::Output {
    let start = Start::new(words.iter().copied()).data(data);
    run_with(
        start
            .env("SSL_CERT_FILE", authority.file())
            .env(PRIVATE, "true"),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_with_a_certificate_of_a_private_authority_gets_events_where_that_is_trusted() {
    let (authority, stranger) = (Authority::new(), Authority::new());
    let receiver = Receiver::start().await;
    let gate = tls_before(receiver.address, authority.server()).await;
    let url = format!("https://localhost:{}/hooks", gate.port());
    let data = tempfile::tempdir().unwrap();
    let endpoint = ["inventory", "endpoint", "add", &url];
    succeeds(&command(data.path(), &authority, &endpoint));
    let test = ["inventory", "endpoint", "test", "1"];
    // With an untrusted authority nothing is sent.
    let refused = command(data.path(), &stranger, &test);
    assert_eq!(refused.status.code(), Some(1));
    let said = printed(&refused);
    assert!(
        said.contains("not_connected") && said.contains("UnknownIssuer"),
        "{said}"
    );
    assert!(receiver.received().is_empty());
    let printed = succeeds(&command(data.path(), &authority, &test));
    assert!(printed.contains("delivered 204"), "{printed}");
    // A running service does the same.
    let service = inventory()
        .data(data.path())
        .env("SSL_CERT_FILE", authority.file())
        .env(PRIVATE, "true")
        .ready()
        .await;
    let ana = Caller::ana(&service).await;
    let outflow = json!({"product": ana.a_product(50).await, "quantity": 1});
    ana.make("/api/v1/outflows/", &outflow).await;
    let arrived = receiver.has_read(2).await;
    assert_eq!(arrived[1].json()["type"], "outflow.created");
}

#[tokio::test(flavor = "multi_thread")]
async fn payments_reach_a_provider_of_a_trusted_authority_under_tls_and_no_other() {
    let (authority, stranger) = (Authority::new(), Authority::new());
    let provider = Provider::start().await;
    let gate = tls_before(provider.address(), authority.server()).await;
    let data = tempfile::tempdir().unwrap();
    let checkout = async |trusted: &Authority| {
        provider
            .checkout()
            .data(data.path())
            .env(
                "BALCAO_CHECKOUT_PROVIDER_URL",
                format!("https://localhost:{}", gate.port()),
            )
            .env("SSL_CERT_FILE", trusted.file())
            .ready()
            .await
    };
    // With an untrusted authority the access token is not sent.
    let mut doubting = checkout(&stranger).await;
    let url = doubting.url("checkout").await;
    let refused = pay(&url, "under-tls", &pix()).await.unwrap();
    assert_eq!(refused.status(), 503);
    assert!(provider.calls().await.is_empty());
    doubting.stop().await;
    // With the trusted authority the same request completes, and so do payments of every method.
    let believing = checkout(&authority).await;
    let url = believing.url("checkout").await;
    for (key, body) in [
        ("under-tls", pix()),
        ("second", card("APRO")),
        ("third", boleto()),
    ] {
        let paid = pay_until_final(&url, key, &body).await;
        assert!(paid["id"].is_string(), "{paid}");
    }
    assert_eq!(provider.references().await.len(), 3);
}

/// A service with this mail server, which trusts this authority. One of its products has become
/// low.
async fn low(server: &MailServer, authority: &Authority, scheme: &str) -> Balcao {
    let port = server.address.port();
    let service = inventory()
        .env("SSL_CERT_FILE", authority.file())
        .env(
            "BALCAO_SMTP_URL",
            format!("{scheme}://shop:secret@localhost:{port}"),
        )
        .env("BALCAO_MAIL_FROM", "shop@example.com")
        .env("BALCAO_INVENTORY_ALERT_MAIL_TO", "ana@example.com")
        .ready()
        .await;
    let ana = Caller::ana(&service).await;
    ana.sell(ana.a_product(12).await, 5).await;
    service
}

/// Its mail arrives over TLS, with the password.
async fn mail_arrives(server: &MailServer, authority: &Authority, scheme: &str) {
    let _service = low(server, authority, scheme).await;
    let taken = server.has(1).await;
    assert!(taken[0].is_protected && taken[0].login.is_some());
    assert_eq!(taken[0].to, "TO:<ana@example.com>");
    assert!(taken[0].texts()[0].contains("restam 7"));
}

#[tokio::test]
async fn mail_goes_under_tls_from_the_first_byte() {
    let authority = Authority::new();
    let server = MailServer::start(Protection::Tls(authority.server())).await;
    mail_arrives(&server, &authority, "smtps").await;
}

#[tokio::test]
async fn mail_goes_under_tls_when_the_server_offers_it() {
    let authority = Authority::new();
    let server = MailServer::start(Protection::StartTls(authority.server())).await;
    mail_arrives(&server, &authority, "smtp").await;
}

#[tokio::test]
async fn a_mail_server_of_an_unknown_authority_hears_no_password() {
    let (authority, stranger) = (Authority::new(), Authority::new());
    let server = MailServer::start(Protection::StartTls(authority.server())).await;
    let service = low(&server, &stranger, "smtp").await;
    let is_refused = |line: &str| line.contains("sending a mail failed");
    let line = service.line(is_refused, "a mail that is not sent").await;
    assert!(line.contains("UnknownIssuer"), "{line}");
    assert!(server.received().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_on_this_machine_that_does_not_say_for_whom_it_asks_is_refused_before_a_public_shop()
 {
    let public = ("BALCAO_INVENTORY_PUBLIC_URL", "https://stock.example");
    let service = inventory().env(public.0, public.1).ready().await;
    let url = service.url("inventory").await;
    let ask = async |path: &str, headers: &[(&str, &str)]| {
        let mut request = client().get(format!("{url}{path}"));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    };
    let host = ("host", "stock.example");
    for path in ["/login/", "/api/v1/products/"] {
        let (status, said) = ask(path, &[host]).await;
        assert_eq!(status, 400, "{path}");
        assert!(said.contains("X-Forwarded-For"), "{said}");
        assert!(said.contains(public.0), "{said}");
    }
    let credentials = [
        host,
        ("x-forwarded-for", "203.0.113.7"),
        ("x-forwarded-proto", "https"),
    ];
    assert_eq!(ask("/login/", &credentials).await.0, 200);
    assert_eq!(ask("/login/", &[]).await.0, 200, "from this machine");
    assert_eq!(ask("/health", &[host]).await.0, 200, "a probe");
}
