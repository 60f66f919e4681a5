//! The service and the sandbox on free ports, and a buyer with a browser.

use std::ops::Deref;
use std::time::Duration;

use checkout::page;
use checkout::{Config, State, provider, reconcile};
use db::Db;
use sandbox::ListeningSandbox;
use serde_json::{Value, json};
use tempfile::TempDir;
use test_kit::browser::{Browser, Reader};
use test_kit::sandbox::SandboxClient;
use web::server::{self, Listener, Shutdown};
use web::{Clock, Random};

use crate::payments::app::{API_KEY, TestApp};

/// The address of the page, with the amount to pay.
pub(super) const ORDER: &str = "/?amount=149.90&description=Pedido%201042";

/// A running service with its provider; ends with this value.
pub(super) struct Shop {
    /// `127.0.0.1:PORT`
    host: String,
    pub(super) sandbox: SandboxClient,
    _listening: ListeningSandbox,
    client: reqwest::Client,
    state: State,
    db: Db,
    shutdown: Shutdown,
    _data: TempDir,
}

impl Shop {
    pub(super) async fn open() -> Self {
        let clock = Clock::system();
        let settings = sandbox::Config::default();
        let sandbox = sandbox::start(settings, clock.clone(), Random::system());
        let listening = sandbox.unwrap().listen("127.0.0.1:0").await.unwrap();
        let sandbox = SandboxClient::new(listening.url());
        let listener = Listener::bind("127.0.0.1:0".parse().unwrap())
            .await
            .unwrap();
        let host = listener.address().to_string();
        let data = TempDir::with_prefix("balcao-shop-").unwrap();
        let address = format!("sqlite:{}", data.path().join("checkout.sqlite").display());
        let app = TestApp::start(&address, config(&host, &sandbox.url()), clock, 1).await;
        tokio::spawn(app.workers.run());
        let options = server::Options::default();
        tokio::spawn(server::serve(
            listener,
            app.router,
            options,
            app.shutdown.clone(),
        ));
        Self {
            host,
            sandbox,
            _listening: listening,
            client: reqwest::Client::builder().no_proxy().build().unwrap(),
            state: app.state,
            db: app.db,
            shutdown: app.shutdown,
            _data: data,
        }
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.host)
    }

    /// Asks the provider about everything that is open, as the service does by itself after a
    /// while.
    pub(super) async fn reconcile(&self) {
        reconcile::run_once(&self.state, reconcile::Scope::All)
            .await
            .unwrap();
    }

    /// Creates a payment without the page; returns status and body.
    pub(super) async fn create(&self, body: &Value, key: &str) -> (u16, Value) {
        let request = self.client.post(self.url("/create_payment"));
        let request = request.header("idempotency-key", key).json(body);
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }

    /// Creates a payment without the page, as a client at this address; returns the status.
    pub(super) async fn create_from(&self, address: &str, body: &Value) -> u16 {
        let request = self.client.post(self.url("/create_payment"));
        let request = request.header("x-forwarded-for", address).json(body);
        request.send().await.unwrap().status().as_u16()
    }

    /// Creates an order; returns its id and the path of its page.
    pub(super) async fn order(&self, body: &Value) -> (String, String) {
        let request = self.client.post(self.url("/orders/")).bearer_auth(API_KEY);
        let answer = request.json(body).send().await.unwrap();
        assert_eq!(answer.status(), 201);
        let made: Value = answer.json().await.unwrap();
        let text = |member: &str| made[member].as_str().unwrap().to_owned();
        let url = text("url");
        (
            text("id"),
            url.split_at(url.find("/pay/").unwrap()).1.to_owned(),
        )
    }

    /// Cancels an order.
    pub(super) async fn cancel_order(&self, id: &str) {
        let path = format!("/orders/{id}/cancel");
        let request = self.client.post(self.url(&path)).bearer_auth(API_KEY);
        assert_eq!(request.send().await.unwrap().status(), 200);
    }

    /// Writes that the provider reviews the pending payments, which the sandbox does for cards only.
    pub(super) async fn begin_review(&self) {
        let review = async |tx: &mut db::Tx| {
            let sql = "UPDATE payments SET state = 'in_process' WHERE state = 'pending'";
            tx.execute(sql, &[]).await
        };
        self.db.write::<_, db::Error, _>(review).await.unwrap();
    }

    /// Posts to the service without the page; returns the status.
    pub(super) async fn post(&self, path: &str, body: &Value) -> u16 {
        let request = self.client.post(self.url(path)).json(body);
        request.send().await.unwrap().status().as_u16()
    }

    /// The order's status, and the newest of its payments.
    pub(super) async fn order_and_payment(&self, id: &str) -> (String, String) {
        let request = self.client.get(self.url(&format!("/orders/{id}")));
        let answer = request.bearer_auth(API_KEY).send().await.unwrap();
        let order: Value = answer.json().await.unwrap();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (text(&order["status"]), text(&order["payments"][0]["id"]))
    }

    /// The languages of the receipts of all attempts.
    pub(super) async fn languages(&self) -> Vec<String> {
        let find = async |conn: &mut db::Conn| {
            conn.all("SELECT language FROM attempts", &[], |row| row.get(0))
                .await
        };
        self.db.read::<_, db::Error, _>(find).await.unwrap()
    }

    /// How many charges the provider made.
    pub(super) async fn charges(&self) -> u64 {
        self.sandbox.charges().await.1
    }

    /// How many payments the provider was asked to create.
    pub(super) async fn creations(&self) -> usize {
        let calls = self.sandbox.calls().await;
        calls
            .iter()
            .filter(|call| call["method"] == "POST" && call["path"] == "/v1/payments")
            .count()
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        self.shutdown.begin();
    }
}

fn config(host: &str, provider: &str) -> Config {
    let usual = crate::payments::app::config(provider);
    Config {
        public_url: Some(format!("http://{host}").parse().unwrap()),
        provider: provider::ProviderConfig {
            timeout: Duration::from_secs(60),
            ..usual.provider
        },
        allow_http: true,
        webhook_secrets: Vec::new(),
        shop: page::Shop {
            name: "Livraria da Praça".to_owned(),
            contact: Some("(11) 5555-0142".to_owned()),
            is_test: true,
            ..page::Shop::default()
        },
        ..usual
    }
}

/// A buyer with the page in a browser.
pub(super) struct Buyer<'a> {
    pub(super) browser: Browser,
    shop: &'a Shop,
}

impl Deref for Buyer<'_> {
    type Target = Browser;

    fn deref(&self) -> &Browser {
        &self.browser
    }
}

impl<'a> Buyer<'a> {
    /// Opens the page, and waits until its script is ready.
    pub(super) async fn at(shop: &'a Shop, path: &str) -> Self {
        Self::reading(shop, path, Reader::default()).await
    }

    /// Opens the page of [`ORDER`], and requests a pix.
    pub(super) async fn with_pix(shop: &'a Shop) -> Self {
        let buyer = Self::at(shop, ORDER).await;
        buyer.choose("pix").await;
        buyer.fill_payer().await;
        buyer.pay().await;
        buyer.see("pix").await;
        buyer
    }

    pub(super) async fn reading(shop: &'a Shop, path: &str, reader: Reader) -> Self {
        let browser = Browser::open_as(reader).await;
        browser.goto(&shop.url(path)).await;
        browser.wait_for("#checkout[data-ready]").await;
        Self { browser, shop }
    }

    pub(super) async fn choose(&self, method: &str) {
        self.click(&format!(".choice:has([value={method}])")).await;
    }

    pub(super) async fn fill_payer(&self) {
        self.fill("#email", "maria@exemplo.com.br").await;
        self.fill("#identification_number", "12345678909").await;
    }

    /// Fills in a card; its name decides the outcome at the sandbox.
    pub(super) async fn fill_card(&self, name: &str) {
        self.fill("#card_number", "5031433215406351").await;
        self.fill("#expiry", "1139").await;
        self.fill("#security_code", "123").await;
        self.fill("#cardholder_name", name).await;
        self.fill_payer().await;
    }

    pub(super) async fn fill_boleto(&self) {
        self.fill("#first_name", "Maria").await;
        self.fill("#last_name", "Souza").await;
        self.fill_payer().await;
        self.fill("#zip_code", "01310100").await;
        self.fill("#street_name", "Avenida Paulista").await;
        self.fill("#street_number", "1000").await;
        self.fill("#neighborhood", "Bela Vista").await;
        self.fill("#city", "São Paulo").await;
        self.click("#federal_unit option:nth-child(27)").await;
    }

    /// Holds the page's timers of a second or more until [`Buyer::let_time_pass`]. So a state that
    /// is shown briefly stays until a busy browser was asked for it.
    pub(super) async fn hold_time(&self) {
        let held = "const set = window.setTimeout, held = [];
            window.setTimeout = (work, wait = 0, ...rest) => wait < 1000 ? set(work, wait, ...rest) : -held.push(work);
            window.letTimePass = () => {
                window.setTimeout = set;
                held.forEach((work) => work());
            };";
        self.script(held).await;
    }

    /// Runs the held timers, and holds no more.
    pub(super) async fn let_time_pass(&self) {
        self.script("letTimePass()").await;
    }

    pub(super) async fn pay(&self) {
        self.click("#pay").await;
    }

    /// The page's requests come from this address from now on.
    pub(super) async fn comes_from(&self, address: &str) {
        self.devtools("Network.enable", json!({})).await;
        let headers = json!({"headers": {"x-forwarded-for": address}});
        self.devtools("Network.setExtraHTTPHeaders", headers).await;
    }

    /// Waits until the page shows this result.
    pub(super) async fn see(&self, view: &str) {
        self.wait_for(&format!("#checkout[data-view={view}] #result h2"))
            .await;
    }

    /// The id of the payment on the page.
    pub(super) async fn payment(&self) -> String {
        let stored = "JSON.parse(sessionStorage.getItem('balcao.payment')).id";
        let id = self.script(&format!("return {stored}")).await;
        id.as_str().unwrap().to_owned()
    }

    /// Fails if a script failed, the security policy blocked something, or a request went to
    /// another host.
    pub(super) async fn leaves_no_trace_elsewhere(&self) {
        self.check_clean(&[&self.shop.host]).await;
    }
}
