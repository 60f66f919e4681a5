//! Our own TLS, and certificates that are replaced while the server runs.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use rustls::ClientConfig;
use rustls::pki_types::{CertificateDer, ServerName};
use tempfile::TempDir;
use test_kit::logs::Logs;
use test_kit::until;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use web::client::Origin;
use web::server::{Options, Tls, TlsFiles};

use crate::support::{Running, in_stack};

/// Writes a new self-signed certificate with its key, and returns it.
fn write(folder: &Path) -> CertificateDer<'static> {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    put(&folder.join("key.pem"), &made.signing_key.serialize_pem());
    put(&folder.join("cert.pem"), &made.cert.pem());
    made.cert.der().clone()
}

/// Replaces a file atomically, so that readers never see half of it, or none.
fn put(file: &Path, text: &str) {
    let new = file.with_extension("new");
    fs::write(&new, text).unwrap();
    fs::rename(new, file).unwrap();
}

fn files(folder: &Path) -> TlsFiles {
    TlsFiles {
        certificate: folder.join("cert.pem"),
        key: folder.join("key.pem"),
    }
}

async fn start(folder: &Path) -> Running {
    let tls = Tls::load(files(folder))
        .unwrap()
        .every(Duration::from_millis(10));
    let is_secure = async |origin: Origin| origin.is_secure().to_string();
    let routes = Router::new().route("/", get(is_secure));
    Running::with(
        in_stack(routes),
        Options {
            tls: Some(tls),
            ..Options::default()
        },
    )
    .await
}

/// Connects, and trusts only this certificate.
async fn connect(
    server: &Running,
    trusted: &CertificateDer<'static>,
) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(trusted.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap();
    let config = builder.with_root_certificates(roots).with_no_client_auth();
    let stream = TcpStream::connect(server.address).await.unwrap();
    TlsConnector::from(Arc::new(config))
        .connect(ServerName::try_from("localhost").unwrap(), stream)
        .await
}

async fn ask(stream: &mut TlsStream<TcpStream>) -> String {
    stream
        .write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        .await
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn requests_over_our_tls_are_secure() {
    let folder = TempDir::new().unwrap();
    let certificate = write(folder.path());
    let server = start(folder.path()).await;
    let answer = ask(&mut connect(&server, &certificate).await.unwrap()).await;
    assert!(answer.ends_with("true"), "{answer}");
    let plain = server
        .say(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .await;
    assert!(!plain.contains("HTTP/1.1 2"), "{plain}");
}

/// A `ClientHello` of this version, without the extension that offers others.
fn hello(version: u8) -> Vec<u8> {
    // Groups, formats of points, and algorithms of signatures.
    let extensions = [
        [0, 10, 0, 4, 0, 2, 0, 23].as_slice(),
        &[0, 11, 0, 2, 1, 0],
        &[0, 13, 0, 4, 0, 2, 4, 3],
    ]
    .concat();
    let mut body = vec![3, version];
    body.extend([7; 32]);
    // No session; the suite ECDHE-ECDSA-AES128-GCM-SHA256; no compression.
    body.extend([0, 0, 2, 0xc0, 0x2b, 1, 0, 0]);
    body.push(u8::try_from(extensions.len()).unwrap());
    body.extend(extensions);
    let length = u8::try_from(body.len()).unwrap();
    let head = [22, 3, 1, 0, length + 4, 1, 0, 0, length];
    [head.as_slice(), &body].concat()
}

#[tokio::test]
async fn tls_older_than_1_2_is_refused() {
    const HANDSHAKE: u8 = 22;
    const PROTOCOL_VERSION: [u8; 2] = [2, 70];
    let folder = TempDir::new().unwrap();
    write(folder.path());
    let server = start(folder.path()).await;
    for version in 0..=3 {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        stream.write_all(&hello(version)).await.unwrap();
        let mut answer = [0; 7];
        stream.read_exact(&mut answer).await.unwrap();
        if version == 3 {
            assert_eq!(answer[0], HANDSHAKE, "TLS 1.2: {answer:?}");
        } else {
            assert_eq!(answer[5..], PROTOCOL_VERSION, "3.{version}: {answer:?}");
        }
    }
}

#[tokio::test]
async fn a_new_certificate_is_taken_up_and_open_connections_go_on() {
    let folder = TempDir::new().unwrap();
    let old = write(folder.path());
    let server = start(folder.path()).await;
    let mut open = connect(&server, &old).await.unwrap();
    let new = write(folder.path());
    until(async || connect(&server, &new).await.is_ok()).await;
    assert!(connect(&server, &old).await.is_err());
    assert!(ask(&mut open).await.ends_with("true"));
}

#[tokio::test]
async fn a_broken_certificate_changes_nothing_and_a_later_good_one_is_taken_up() {
    let (logs, _guard) = Logs::of_this_thread();
    let folder = TempDir::new().unwrap();
    let old = write(folder.path());
    let server = start(folder.path()).await;
    put(&folder.path().join("cert.pem"), "half a certific");
    until(async || logs.text().contains("the old one stays")).await;
    assert!(connect(&server, &old).await.is_ok());
    fs::remove_file(folder.path().join("key.pem")).unwrap();
    until(async || logs.text().matches("the old one stays").count() == 2).await;
    assert!(connect(&server, &old).await.is_ok());
    let new = write(folder.path());
    until(async || connect(&server, &new).await.is_ok()).await;
}

#[test]
fn files_that_cannot_be_used_are_named() {
    let folder = TempDir::new().unwrap();
    let error = Tls::load(files(folder.path())).unwrap_err().to_string();
    assert!(
        error.starts_with("cannot read a certificate from ") && error.ends_with("cert.pem"),
        "{error}"
    );
    write(folder.path());
    let cert = fs::read(folder.path().join("cert.pem")).unwrap();
    write(folder.path());
    fs::write(folder.path().join("cert.pem"), cert).unwrap();
    let error = Tls::load(files(folder.path())).unwrap_err().to_string();
    assert_eq!(error, "certificate and key cannot be used");
}
