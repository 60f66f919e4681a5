//! Two replicas behind a proxy are replaced one after the other under load, and no request fails.
//! The proxies run with the configurations of `deploy/`, in which the test replaces addresses and
//! files.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use reqwest::{Client, Method, RequestBuilder, StatusCode};
use serde_json::json;
use tempfile::TempDir;
use test_kit::database::{Database, Engine};
use test_kit::process::{Balcao, Start};
use test_kit::until;
use tokio::task::JoinSet;

use crate::inventory::{Caller, inventory};

const NGINX: &str = include_str!("../../../../../deploy/nginx.conf");
const HAPROXY: &str = include_str!("../../../../../deploy/haproxy.cfg");
const CADDY: &str = include_str!("../../../../../deploy/Caddyfile");
const SECRET: &str = "the same secret on every replica, of 32 bytes or more";
/// Debian installs servers in folders outside the users' search path.
const PROGRAMS: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const WORKERS: usize = 4;
const ROUNDS: usize = 2;
const STOCK: i64 = 1_000_000;
/// As in `docs/operations.md`.
const DRAIN: &str = "5s";

/// A proxy in front of two replicas.
struct Proxy {
    process: Child,
    url: String,
    _folder: TempDir,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // An error means that it has ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Where a proxy listens, its replicas, and the folder of its files.
struct Place {
    port: u16,
    replicas: [SocketAddr; 2],
    folder: PathBuf,
}

impl Place {
    fn file(&self, name: &str) -> String {
        self.folder.join(name).to_str().unwrap().to_owned()
    }

    /// A configuration with texts replaced; each of them must be there.
    fn configuration(&self, file: &str, own: &[(&str, String)]) -> String {
        let [one, other] = self.replicas.map(|address| address.to_string());
        let shared = [("10.0.0.1:8001", one), ("10.0.0.2:8001", other)];
        let mut text = file.to_owned();
        for (there, here) in shared.iter().chain(own) {
            assert!(text.contains(there), "{there} is not in:\n{file}");
            text = text.replace(there, here);
        }
        text
    }

    fn nginx(&self) -> Command {
        let own = [
            ("listen 443", format!("listen 127.0.0.1:{}", self.port)),
            ("/etc/ssl/stock.example.pem", self.file("certificate.pem")),
            ("/etc/ssl/stock.example.key", self.file("certificate.pem")),
        ];
        let block = self.configuration(NGINX, &own);
        let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|kind| format!("{kind}_temp_path {};\n", self.file(kind)))
            .concat();
        let text = format!(
            "daemon off;\nmaster_process off;\npid {};\nevents {{}}\nhttp {{\naccess_log off;\n{temporary}{block}}}\n",
            self.file("pid")
        );
        std::fs::write(self.folder.join("configuration"), text).unwrap();
        let mut command = Command::new("nginx");
        command.args(["-e", "stderr", "-c", &self.file("configuration")]);
        command
    }

    fn haproxy(&self) -> Command {
        let own = [
            ("bind :443", format!("bind 127.0.0.1:{}", self.port)),
            ("/etc/ssl/stock.example.pem", self.file("certificate.pem")),
        ];
        let text = self.configuration(HAPROXY, &own);
        std::fs::write(self.folder.join("configuration"), text).unwrap();
        let mut command = Command::new("haproxy");
        command.args(["-db", "-f", &self.file("configuration")]);
        command
    }

    fn caddy(&self) -> Command {
        let certificate = self.file("certificate.pem");
        let address = format!(
            "https://localhost:{} {{\n\ttls {certificate} {certificate}",
            self.port
        );
        let block = self.configuration(CADDY, &[("stock.example {", address)]);
        let text = format!("{{\n\tadmin off\n\tauto_https disable_redirects\n}}\n{block}");
        std::fs::write(self.folder.join("configuration"), text).unwrap();
        let mut command = Command::new("caddy");
        command
            .args(["run", "--adapter", "caddyfile", "--config"])
            .arg(self.file("configuration"))
            .env("HOME", &self.folder);
        command
    }
}

impl Proxy {
    /// Starts a proxy and waits until it forwards requests.
    async fn start(
        command: fn(&Place) -> Command,
        replicas: [SocketAddr; 2],
        client: &Client,
    ) -> Self {
        let folder = TempDir::with_prefix("balcao-proxy-").unwrap();
        let key = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let pem = key.cert.pem() + &key.signing_key.serialize_pem();
        std::fs::write(folder.path().join("certificate.pem"), pem).unwrap();
        let place = Place {
            port: free_port(),
            replicas,
            folder: folder.path().to_owned(),
        };
        let mut proxy = Self {
            process: command(&place).env("PATH", PROGRAMS).spawn().unwrap(),
            url: format!("https://localhost:{}", place.port),
            _folder: folder,
        };
        let ready = format!("{}/ready", proxy.url);
        until(async || {
            assert!(proxy.process.try_wait().unwrap().is_none(), "it has ended");
            let answer = client.get(&ready).send().await;
            answer.is_ok_and(|answer| answer.status() == StatusCode::OK)
        })
        .await;
        proxy
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap().port()
}

/// The load through the proxy, which runs until it is stopped.
#[derive(Clone)]
struct Load {
    client: Client,
    url: String,
    token: String,
    product: i64,
    posts: Posts,
    is_enough: Arc<AtomicBool>,
    sold: Arc<AtomicI64>,
}

/// Which sales the load sends.
#[derive(Clone, Copy, PartialEq)]
enum Posts {
    /// All: the proxy checks `/ready`, and sends nothing to a replica that drains.
    All,
    /// Those with an `Idempotency-Key`: the proxy learns from a failed request that a replica is
    /// gone, and must be allowed to send that request again.
    WithKey,
}

impl Load {
    /// Reads, and sells with and without a key, in turns; returns every wrong answer.
    async fn run(self, worker: usize) -> Vec<String> {
        let mut failures = Vec::new();
        for number in 0.. {
            if self.is_enough.load(Ordering::Relaxed) {
                break;
            }
            let (request, expected) = match number % 3 {
                0 => (
                    self.request(Method::GET, &format!("/api/v1/products/{}/", self.product)),
                    StatusCode::OK,
                ),
                2 if self.posts == Posts::All => (self.sale(), StatusCode::CREATED),
                _ => (
                    self.sale()
                        .header("Idempotency-Key", format!("{worker}-{number}")),
                    StatusCode::CREATED,
                ),
            };
            match request.send().await {
                Ok(answer) if answer.status() == expected => {
                    let sold = i64::from(expected == StatusCode::CREATED);
                    self.sold.fetch_add(sold, Ordering::Relaxed);
                }
                other => failures.push(format!("{number}: {other:?}")),
            }
        }
        failures
    }

    fn sale(&self) -> RequestBuilder {
        self.request(Method::POST, "/api/v1/outflows/")
            .json(&json!({"product": self.product, "quantity": 1}))
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.url));
        request.bearer_auth(&self.token)
    }
}

/// A replica at an address; with port 0 the system chooses one.
fn replica(database: &Database, address: SocketAddr) -> Start {
    inventory()
        .env("BALCAO_INVENTORY_LISTEN", address.to_string())
        .env("BALCAO_INVENTORY_DATABASE_URL", database.address())
        .env("BALCAO_INVENTORY_TOKEN_SECRET", SECRET)
        .env("BALCAO_DRAIN", DRAIN)
}

async fn address(replica: &Balcao) -> SocketAddr {
    let url = replica.url("inventory").await;
    url.strip_prefix("http://").unwrap().parse().unwrap()
}

async fn no_request_fails_behind(command: fn(&Place) -> Command, posts: Posts) {
    let database = Database::new(Engine::Postgres);
    let anywhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let start = || replica(&database, anywhere).ready();
    let (one, other) = tokio::join!(start(), start());
    let addresses = [address(&one).await, address(&other).await];
    let ana = Caller::ana(&one).await;
    let product = ana.a_product(STOCK).await;
    let client = Client::builder()
        .danger_accept_invalid_certs(true)
        .build()
        .unwrap();
    let proxy = Proxy::start(command, addresses, &client).await;
    let load = Load {
        client,
        url: proxy.url.clone(),
        token: ana.token().to_owned(),
        product,
        posts,
        is_enough: Arc::default(),
        sold: Arc::default(),
    };
    let mut workers = JoinSet::new();
    for worker in 0..WORKERS {
        workers.spawn(load.clone().run(worker));
    }
    let mut replicas = [one, other];
    let is_request = |line: &str| line.contains("/api/v1/outflows/");
    for _ in 0..ROUNDS {
        for (running, address) in replicas.iter_mut().zip(addresses) {
            let status = running.stop().await;
            assert!(status.success(), "{status}: {}", running.logs());
            *running = replica(&database, address).ready().await;
            // The proxy uses it, so the other replica may stop.
            running.line(is_request, "a request of the load").await;
        }
    }
    load.is_enough.store(true, Ordering::Relaxed);
    let failures = workers.join_all().await.concat();
    assert!(
        failures.is_empty(),
        "{} failed: {failures:#?}",
        failures.len()
    );
    // Repeated requests were sold once.
    let ana = Caller::ana(&replicas[0]).await;
    let left = ana.get(&format!("/api/v1/products/{product}/")).await;
    assert_eq!(left["quantity"], STOCK - load.sold.load(Ordering::Relaxed));
}

#[tokio::test(flavor = "multi_thread")]
async fn replicas_are_replaced_behind_nginx_and_no_request_with_a_key_fails() {
    no_request_fails_behind(Place::nginx, Posts::WithKey).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn replicas_are_replaced_behind_haproxy_and_no_request_fails() {
    no_request_fails_behind(Place::haproxy, Posts::All).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn replicas_are_replaced_behind_caddy_and_no_request_fails() {
    no_request_fails_behind(Place::caddy, Posts::All).await;
}
