//! The service on a data set, as a process of its own, with somebody logged in.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use axum::http::{Method, StatusCode, header};
use serde_json::{Value, json};
use tokio::process::Command;

use super::super::child::Child;
use super::super::load::{self, Call, LoadError, Target};
use super::Arguments;

/// How large a data set is.
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

/// Who calls. The database is of this command alone.
pub(super) const USER: &str = "measuring";
pub(super) const PASSWORD: &str = "um balde de parafusos";

impl Shop {
    /// Fills the database unless it has products, and serves it.
    ///
    /// # Errors
    ///
    /// When it cannot be filled or served.
    pub(super) async fn open(
        arguments: &Arguments,
        data: &Path,
        postgres: Option<&str>,
        size: Size,
    ) -> Result<Self, LoadError> {
        fill(data, postgres, size).await?;
        let mut settings = vec![
            ("BALCAO_INVENTORY_LISTEN", "127.0.0.1:0".to_owned()),
            ("BALCAO_INVENTORY_RATE_LIMIT_AUTH", "off".to_owned()),
            ("BALCAO_INVENTORY_RATE_LIMIT_READ", "off".to_owned()),
            ("BALCAO_INVENTORY_RATE_LIMIT_WRITE", "off".to_owned()),
            ("BALCAO_ADMIN_USERNAME", USER.to_owned()),
            ("BALCAO_ADMIN_PASSWORD", PASSWORD.to_owned()),
            ("BALCAO_LOG", arguments.log.clone()),
        ];
        settings.extend(database(postgres));
        let child = Child::start(&["serve", "--only", "inventory"], &settings, data).await?;
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

    /// The memory that it holds when nobody has asked for anything for a while, in bytes: the thread that hashed the password
    /// of the login ends when it has had nothing to do for ten seconds, and gives its memory back.
    ///
    /// # Errors
    ///
    /// When the process is gone.
    pub(super) async fn memory_at_rest(&self) -> Result<u64, LoadError> {
        tokio::time::sleep(Duration::from_secs(12)).await;
        Ok(self.child.memory()?.0)
    }

    /// Requests to it, with what they are answered.
    pub(super) fn target(&self, calls: impl Into<Arc<[Call]>>, expected: StatusCode) -> Target {
        Target {
            address: self.address,
            calls: calls.into(),
            headers: vec![(header::AUTHORIZATION, format!("Bearer {}", self.token))],
            fresh_key: None,
            expected,
        }
    }

    /// The body of one answer.
    ///
    /// # Errors
    ///
    /// When it is not 200.
    pub(super) async fn read(&self, path: &str) -> Result<Vec<u8>, LoadError> {
        let target = self.target([Call::get(path)], StatusCode::OK);
        Ok(load::fetch(&target).await?.to_vec())
    }

    /// One answer as JSON.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub(super) async fn json(&self, path: &str) -> Result<Value, LoadError> {
        Ok(serde_json::from_slice(&self.read(path).await?)?)
    }
}

fn database(postgres: Option<&str>) -> Option<(&'static str, String)> {
    postgres.map(|address| ("BALCAO_INVENTORY_DATABASE_URL", address.to_owned()))
}

/// Runs `balcao generate`; a catalogue that is not empty stays as it is.
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
    let said = fs::read_to_string(&log).unwrap_or_default();
    if status.success() || said.contains("not empty") {
        Ok(())
    } else {
        Err(format!("the data set was not made: {said}").into())
    }
}
