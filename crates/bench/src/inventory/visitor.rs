//! A client that opens pages like a browser: logged in through the form, with cookies.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderName, Method, Response, StatusCode, header};

use super::super::load::{self, Call, LoadError, Target};
use super::super::shop::{PASSWORD, Shop, USER};

/// A session with its cookies.
pub(super) struct Visitor {
    address: SocketAddr,
    cookies: BTreeMap<String, String>,
}

impl Visitor {
    /// Logs in through the form at `/login/`.
    ///
    /// # Errors
    ///
    /// When the login fails.
    pub(super) async fn log_in(shop: &Shop) -> Result<Self, LoadError> {
        let mut visitor = Self {
            address: shop.address,
            cookies: BTreeMap::new(),
        };
        let form = load::answer(&visitor.target([Call::get("/login/")], &[])).await?;
        visitor.keep(form.headers());
        let page = String::from_utf8_lossy(form.body());
        let token = page
            .split_once("name=\"csrfmiddlewaretoken\" value=\"")
            .and_then(|(_, rest)| rest.split_once('"'))
            .map(|(token, _)| token)
            .ok_or("the login form has no token")?;
        let password = PASSWORD.replace(' ', "+");
        let fields = format!("csrfmiddlewaretoken={token}&username={USER}&password={password}");
        let kind = (
            header::CONTENT_TYPE,
            "application/x-www-form-urlencoded".to_owned(),
        );
        let mut target = visitor.target([Call::send(Method::POST, "/login/", fields)], &[kind]);
        target.expected = StatusCode::FOUND;
        let answer = load::answer(&target).await?;
        visitor.keep(answer.headers());
        Ok(visitor)
    }

    fn keep(&mut self, headers: &HeaderMap) {
        for line in headers.get_all(header::SET_COOKIE) {
            let pair = line.to_str().unwrap_or_default().split(';').next();
            if let Some((name, value)) = pair.and_then(|pair| pair.split_once('=')) {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
    }

    /// Requests with the session's cookies and additional headers.
    pub(super) fn target(
        &self,
        calls: impl Into<Arc<[Call]>>,
        further: &[(HeaderName, String)],
    ) -> Target {
        let cookies = self
            .cookies
            .iter()
            .map(|(name, value)| format!("{name}={value}"));
        let mut headers = vec![(header::ACCEPT, "text/html".to_owned())];
        if !self.cookies.is_empty() {
            headers.push((header::COOKIE, cookies.collect::<Vec<_>>().join("; ")));
        }
        headers.extend_from_slice(further);
        Target {
            address: self.address,
            calls: calls.into(),
            headers,
            fresh_key: None,
            expected: StatusCode::OK,
        }
    }

    /// The response to one request.
    ///
    /// # Errors
    ///
    /// When the status is not 200.
    pub(super) async fn read(
        &self,
        path: &str,
        further: &[(HeaderName, String)],
    ) -> Result<Response<Bytes>, LoadError> {
        load::answer(&self.target([Call::get(path)], further)).await
    }
}

/// The `Accept-Encoding` header of a browser.
pub(super) fn compressed() -> (HeaderName, String) {
    (header::ACCEPT_ENCODING, "gzip, deflate, br".to_owned())
}
