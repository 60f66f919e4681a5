use std::{path::Path, sync::Arc};

use db::{Db, Error, ErrorKind, Options};
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
};
use test_kit::database::{Engine, run};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::TlsAcceptor;

/// A proxy that adds TLS to a server without it. Its certificate is for `name`, and is stored in
/// `folder`. Returns its port.
async fn start(server: String, name: &str, folder: &Path) -> u16 {
    let made = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
    std::fs::write(folder.join("root.pem"), made.cert.pem()).unwrap();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let (acceptor, server) = (acceptor.clone(), server.clone());
            tokio::spawn(async move {
                // An SSLRequest of PostgreSQL's protocol: length 8 and its code.
                let mut request = [0; 8];
                client.read_exact(&mut request).await.unwrap();
                assert_eq!(request, [0, 0, 0, 8, 4, 210, 22, 47]);
                client.write_all(b"S").await.unwrap();
                // A client that does not accept the certificate closes the connection.
                if let Ok(mut client) = acceptor.accept(client).await {
                    let mut server = TcpStream::connect(server).await.unwrap();
                    copy_bidirectional(&mut client, &mut server).await.ok();
                }
            });
        }
    });
    port
}

async fn open(address: &str) -> Result<Db, Error> {
    Db::open(&address.parse().unwrap(), &Options::default()).await
}

#[test]
fn only_a_certificate_of_a_known_root_for_the_right_name_is_believed() {
    run(Engine::Postgres, async |address| {
        let (_, rest) = address.split_once('@').unwrap();
        let (server, database) = rest.split_once('/').unwrap();
        let folder = tempfile::tempdir().unwrap();
        let port = start(server.to_owned(), "localhost", folder.path()).await;
        let root = folder.path().join("root.pem");
        let with = |host: &str, rest: &str| {
            format!("postgres://postgres@{host}:{port}/{database}?sslmode={rest}")
        };
        let believed = format!("require&sslrootcert={}", root.display());

        let db = open(&with("localhost", &believed)).await.unwrap();
        let sql = "SELECT 1 + CAST($1 AS BIGINT)";
        let two: i64 = db
            .read(async move |conn| conn.one(sql, &[&1], |row| row.get(0)).await)
            .await
            .map_err(|error: Error| error)
            .unwrap();
        assert_eq!(two, 2);

        let wrong_name = open(&with("127.0.0.1", &believed)).await.err().unwrap();
        assert_eq!(*wrong_name.kind(), ErrorKind::Unavailable);
        assert!(
            wrong_name.to_string().contains("certificate"),
            "{wrong_name}"
        );
        for unknown_root in ["require", "verify-full"] {
            assert!(open(&with("localhost", unknown_root)).await.is_err());
        }
        // The server has no TLS. A client that requires it does not connect.
        let plain = format!(
            "postgres://postgres@{server}/{database}?{}",
            "sslmode=require"
        );
        let plain = format!("{plain}&sslrootcert={}", root.display());
        assert!(open(&plain).await.is_err());
    });
}
