//! The inventory service with a data set, in a separate process, with a logged-in user.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use axum::http::{Method, StatusCode, header};
use serde_json::{Value, json};
use tokio::process::Command;

use super::check;
use super::child::Child;
use super::load::{self, Call, LoadError, Target};

/// The size of a data set.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub(super) products: u64,
    pub(super) movements: u64,
}

/// A running service.
pub(super) struct Shop {
    pub(super) child: Child,
    pub(super) address: SocketAddr,
    token: String,
}

/// The measured command.
const SERVE: &[&str] = &["serve", "--only", "inventory"];
/// A rate limit that counts each request, as in a shop, but is never reached.
pub(super) const UNREACHED: &str = "1000000/second";
/// Far more units than a run sells.
pub(super) const PLENTY: u64 = 1_000_000_000;
/// The number of connections that book concurrently.
pub(super) const CONNECTIONS: u32 = 32;
/// The user. The database belongs to this command alone.
pub(super) const USER: &str = "measuring";
pub(super) const PASSWORD: &str = "um balde de parafusos";

impl Shop {
    /// Fills the database unless it has products, and serves it with additional settings.
    ///
    /// # Errors
    ///
    /// When the database cannot be filled or served.
    pub(super) async fn open(
        data: &Path,
        postgres: Option<&str>,
        size: Size,
        further: impl IntoIterator<Item = (&'static str, String)>,
    ) -> Result<Self, LoadError> {
        fill(data, postgres, size).await?;
        let settings = settings(postgres, further);
        Self::of(Child::start(SERVE, &settings, data).await?).await
    }

    /// Same as [`open`](Self::open) on SQLite, under callgrind.
    ///
    /// # Errors
    ///
    /// When valgrind is missing, and those of [`open`](Self::open).
    pub(super) async fn open_counted(
        data: &Path,
        size: Size,
        further: impl IntoIterator<Item = (&'static str, String)>,
    ) -> Result<Self, LoadError> {
        fill(data, None, size).await?;
        let settings = settings(None, further);
        Self::of(Child::start_counted(SERVE, &settings, data).await?).await
    }

    /// Logs in.
    async fn of(child: Child) -> Result<Self, LoadError> {
        let address = child.address("inventory")?;
        let mut shop = Self {
            child,
            address,
            token: String::new(),
        };
        let login = json!({"username": USER, "password": PASSWORD}).to_string();
        let path = "/api/v1/authentication/token/";
        let call = Call::send(Method::POST, path, login);
        let answer = load::fetch(&shop.target([call], StatusCode::OK)).await?;
        let answer: Value = serde_json::from_slice(&answer)?;
        let access = answer.get("access").and_then(Value::as_str);
        access.ok_or("no token")?.clone_into(&mut shop.token);
        Ok(shop)
    }

    /// The memory of the idle service, in KiB. Waits 12 s first: the thread that hashed the
    /// password of the login ends after ten idle seconds, and returns its memory.
    ///
    /// # Errors
    ///
    /// When the process has ended.
    pub(super) async fn memory_at_rest(&self) -> Result<u64, LoadError> {
        tokio::time::sleep(Duration::from_secs(12)).await;
        Ok(self.child.memory()?.0)
    }

    /// Requests to the service, with their expected status.
    pub(super) fn target(&self, calls: impl Into<Arc<[Call]>>, expected: StatusCode) -> Target {
        Target {
            address: self.address,
            calls: calls.into(),
            headers: vec![(header::AUTHORIZATION, format!("Bearer {}", self.token))],
            fresh_key: None,
            expected,
        }
    }

    /// Sets the stock of every product to `units`.
    ///
    /// # Errors
    ///
    /// When a request fails.
    pub(super) async fn stock_up(&self, products: u64, units: u64) -> Result<(), LoadError> {
        let body = format!("{{\"quantity\":{units}}}");
        let call = |id| {
            Call::send(
                Method::PATCH,
                format!("/api/v1/products/{id}/"),
                body.clone(),
            )
        };
        let calls: Vec<Call> = (1..=products).map(call).collect();
        let count = calls.len();
        let done = load::run_count(&self.target(calls, StatusCode::OK), CONNECTIONS, count).await?;
        check(&done, "inventory")
    }

    /// Sales of one unit, of `products` products in turn.
    pub(super) fn sales(&self, products: u64) -> Target {
        self.sales_of(scattered(products))
    }

    /// Sales of one unit of these products in turn.
    pub(super) fn sales_of(&self, products: impl Iterator<Item = u64>) -> Target {
        let sale = |id| {
            let body = format!("{{\"product\":{id},\"quantity\":1}}");
            Call::send(Method::POST, "/api/v1/outflows/", body)
        };
        let calls: Vec<Call> = products.map(sale).collect();
        self.target(calls, StatusCode::CREATED)
    }

    /// Pages of ten products in turn, limited to the first twenty, which people open most.
    pub(super) fn lists(&self, products: u64) -> Target {
        let page = |number| Call::get(format!("/api/v1/products/?page_size=10&page={number}"));
        let calls: Vec<Call> = (1..=products.div_ceil(10).min(20)).map(page).collect();
        self.target(calls, StatusCode::OK)
    }

    /// Reads of single products, of `products` products in turn.
    pub(super) fn reads(&self, products: u64) -> Target {
        let read = |id| Call::get(format!("/api/v1/products/{id}/"));
        let calls: Vec<Call> = scattered(products).map(read).collect();
        self.target(calls, StatusCode::OK)
    }

    /// The body of one response.
    ///
    /// # Errors
    ///
    /// When the status is not 200.
    pub(super) async fn read(&self, path: &str) -> Result<Vec<u8>, LoadError> {
        let target = self.target([Call::get(path)], StatusCode::OK);
        Ok(load::fetch(&target).await?.to_vec())
    }

    /// One response as JSON.
    ///
    /// # Errors
    ///
    /// Those of [`read`](Self::read).
    pub(super) async fn json(&self, path: &str) -> Result<Value, LoadError> {
        Ok(serde_json::from_slice(&self.read(path).await?)?)
    }
}

/// Every id once, with neighbours far apart: 7919 is prime and shares no factor with round numbers.
fn scattered(products: u64) -> impl Iterator<Item = u64> {
    (0..products).map(move |number| number * 7919 % products + 1)
}

fn settings(
    postgres: Option<&str>,
    further: impl IntoIterator<Item = (&'static str, String)>,
) -> Vec<(&'static str, String)> {
    let mut settings = vec![
        ("BALCAO_INVENTORY_LISTEN", super::any_port()),
        // The login page is opened more often than by a real user.
        ("BALCAO_INVENTORY_RATE_LIMIT_AUTH", "off".to_owned()),
        ("BALCAO_INVENTORY_RATE_LIMIT_READ", UNREACHED.to_owned()),
        ("BALCAO_INVENTORY_RATE_LIMIT_WRITE", UNREACHED.to_owned()),
        ("BALCAO_ADMIN_USERNAME", USER.to_owned()),
        ("BALCAO_ADMIN_PASSWORD", PASSWORD.to_owned()),
    ];
    settings.extend(database(postgres));
    settings.extend(further);
    settings
}

fn database(postgres: Option<&str>) -> Option<(&'static str, String)> {
    postgres.map(|address| ("BALCAO_INVENTORY_DATABASE_URL", address.to_owned()))
}

/// Runs `balcao generate`. A catalogue that is not empty is left unchanged.
async fn fill(data: &Path, postgres: Option<&str>, size: Size) -> Result<(), LoadError> {
    fs::create_dir_all(data)?;
    let log = data.join("generate.log");
    let status = Command::new(std::env::current_exe()?)
        .args(["generate", "--products", &size.products.to_string()])
        .args(["--movements", &size.movements.to_string()])
        .envs(database(postgres))
        .env("BALCAO_DATA_DIR", data)
        .current_dir(data)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(File::create(&log)?)
        .status()
        .await?;
    let log_text = fs::read_to_string(&log).unwrap_or_default();
    if status.success() || log_text.contains("not empty") {
        Ok(())
    } else {
        Err(format!("the data set was not made: {log_text}").into())
    }
}
