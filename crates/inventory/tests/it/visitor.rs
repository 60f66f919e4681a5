//! A user with a browser: keeps cookies, reads a language, sends forms.

use std::{collections::BTreeMap, net::SocketAddr, sync::Mutex};

use axum::{body::Body, extract::ConnectInfo};
use http::{Method, Request, header};
use inventory::accounts::{Tokens, users};
use test_kit::html::{self, has};

use crate::app::{Answer, TestApp};

/// The password of the users that every test has.
pub(crate) const PASSWORD: &str = "correct horse battery";

/// Its hash by the lowest cost, since tests log in thousands of times.
pub(crate) const PASSWORD_HASH: &str =
    "$argon2id$v=19$m=8,t=1,p=1$YSBzYWx0IG9mIHRlc3RzIQ$5+UEnWHNqg9QS470PZYSitPEbBRyNcTVTxlxeHbHyRk";

/// Lets nobody log in as the viewer.
pub(crate) const WITHOUT_PASSWORD: &str =
    "UPDATE users SET password_hash = NULL WHERE username = 'viewer'";

/// A browser that uses the application.
pub(crate) struct Visitor<'app> {
    app: &'app TestApp,
    pub(crate) cookies: Mutex<BTreeMap<String, String>>,
    pub(crate) language: &'static str,
}

impl TestApp {
    /// Gives a user a new password, which is the same.
    pub(crate) async fn renew_password(&self, username: &str) {
        let (db, passwords) = (&self.state.db, &self.state.passwords);
        let (now, password) = (self.clock.now(), PASSWORD);
        users::set_password(db, passwords, now, username, password, Tokens::Kept)
            .await
            .unwrap();
    }

    /// A browser without cookies.
    pub(crate) fn visitor(&self) -> Visitor<'_> {
        Visitor {
            app: self,
            cookies: Mutex::default(),
            language: "en",
        }
    }

    /// A browser in which this user has logged in.
    pub(crate) async fn logged_in(&self, username: &str) -> Visitor<'_> {
        let visitor = self.visitor();
        visitor.get("/login/").await;
        let answer = visitor
            .submit("/login/", &[("username", username), ("password", PASSWORD)])
            .await;
        assert_eq!(answer.status, 302, "{answer:?}");
        visitor
    }
}

impl Visitor<'_> {
    pub(crate) fn cookie(&self, name: &str) -> Option<String> {
        self.cookies.lock().unwrap().get(name).cloned()
    }

    pub(crate) fn set_cookie(&self, name: &str, value: &str) {
        let mut cookies = self.cookies.lock().unwrap();
        cookies.insert(name.to_owned(), value.to_owned());
    }

    pub(crate) fn forget(&self, name: &str) {
        self.cookies.lock().unwrap().remove(name);
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, "", &[]).await
    }

    /// Posts a form with the token of the cookie, unless the fields bring one.
    pub(crate) async fn submit(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let token = self.cookie("csrftoken").unwrap_or_default();
        let mut all = vec![("csrfmiddlewaretoken", token.as_str())];
        all.extend(fields);
        self.post_form(path, &all).await
    }

    /// Reads the page at this address, and posts its form with its token.
    pub(crate) async fn submit_with_token(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let token = token(&self.page(path).await);
        let mut all = vec![("form_token", token.as_str())];
        all.extend(fields);
        self.submit(path, &all).await
    }

    /// Posts a form of exactly these fields.
    pub(crate) async fn post_form(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let body = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(fields)
            .finish();
        let form = [("content-type", "application/x-www-form-urlencoded")];
        self.send(Method::POST, path, &body, &form).await
    }

    /// Sends JSON with the cookies, as scripts do.
    pub(crate) async fn json(
        &self,
        method: Method,
        path: &str,
        body: &str,
        headers: &[(&str, &str)],
    ) -> Answer {
        let mut all = vec![("content-type", "application/json")];
        all.extend(headers);
        self.send(method, path, body, &all).await
    }

    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        body: impl AsRef<[u8]>,
        headers: &[(&str, &str)],
    ) -> Answer {
        let request = self.request(method, path, body, headers);
        let answer = self.app.call(request).await;
        self.keep(&answer);
        answer
    }

    /// Sends a request whose answer is a stream.
    pub(crate) async fn open(&self, method: Method, path: &str) -> axum::response::Response {
        self.app.open(self.request(method, path, "", &[])).await
    }

    /// A page, which must be strict HTML.
    pub(crate) async fn page(&self, path: &str) -> String {
        self.page_with(path, 200).await
    }

    /// As [`Self::page`], with another status.
    pub(crate) async fn page_with(&self, path: &str, status: u16) -> String {
        let answer = self.get(path).await;
        assert_eq!(answer.status, status, "{path}: {answer:?}");
        html::check(&answer.text);
        answer.text
    }

    /// Posts a form that must be accepted; returns the address and the text of the next page.
    pub(crate) async fn done(&self, path: &str, fields: &[(&str, &str)]) -> (String, String) {
        let answer = self.submit(path, fields).await;
        assert_eq!(answer.status, 303, "{path}: {answer:?}");
        let address = answer.header("location").to_owned();
        let page = self.page(&address).await;
        (address, page)
    }

    /// Posts a form that must be refused; returns its page.
    pub(crate) async fn refused(&self, path: &str, fields: &[(&str, &str)]) -> String {
        let answer = self.submit(path, fields).await;
        assert_eq!(answer.status, 422, "{path}: {answer:?}");
        html::check(&answer.text);
        answer.text
    }

    /// Reads a page; the number of statements that it runs.
    pub(crate) async fn statements(&self, path: &str) -> u64 {
        let database = &self.app.state.db;
        let before = database.statistics().statements;
        self.page(path).await;
        database.statistics().statements - before
    }

    pub(crate) async fn status(&self, path: &str) -> u16 {
        self.get(path).await.status
    }

    fn request(
        &self,
        method: Method,
        path: &str,
        body: impl AsRef<[u8]>,
        headers: &[(&str, &str)],
    ) -> Request<Body> {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, "shop.example")
            .header(header::ACCEPT_LANGUAGE, self.language)
            .extension(ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 4000))));
        let cookies: Vec<String> = self
            .cookies
            .lock()
            .unwrap()
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        if !cookies.is_empty() {
            request = request.header(header::COOKIE, cookies.join("; "));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(Body::from(body.as_ref().to_vec())).unwrap()
    }

    fn keep(&self, answer: &Answer) {
        let mut cookies = self.cookies.lock().unwrap();
        for line in answer.set_cookies() {
            let (name, rest) = line.split_once('=').unwrap();
            let value = rest.split(';').next().unwrap();
            if line.contains("Max-Age=0") {
                cookies.remove(name);
            } else {
                cookies.insert(name.to_owned(), value.to_owned());
            }
        }
    }
}

impl Answer {
    pub(crate) fn set_cookies(&self) -> Vec<&str> {
        let lines = self.headers.get_all(header::SET_COOKIE).iter();
        lines.map(|line| line.to_str().unwrap()).collect()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.map_or("", |value| value.to_str().unwrap())
    }

    /// The status and the `Location`.
    pub(crate) fn redirect(&self) -> (u16, &str) {
        (self.status, self.header("location"))
    }
}

/// Fails unless the answer is a redirect (302) to this address.
#[track_caller]
pub(crate) fn redirects(answer: &Answer, address: &str) {
    assert_eq!(answer.redirect(), (302, address), "{answer:?}");
}

/// Fails unless a form was accepted: a redirect (303) to this address.
#[track_caller]
pub(crate) fn leads_to(answer: &Answer, address: &str) {
    assert_eq!(answer.redirect(), (303, address), "{answer:?}");
}

/// Fails unless a form was refused (422), and its page has these texts.
#[track_caller]
pub(crate) fn is_refused(answer: &Answer, said: &[&str]) {
    assert_eq!(answer.status, 422, "{answer:?}");
    html::check(&answer.text);
    has(&answer.text, &["role=\"alert\""]);
    has(&answer.text, said);
}

/// The value of a hidden field of a page.
#[track_caller]
pub(crate) fn hidden(page: &str, name: &str) -> String {
    let start = format!("name=\"{name}\" value=\"");
    let rest = page.split_once(&start).map(|(_, rest)| rest);
    let value = rest.and_then(|rest| rest.split_once('"'));
    value
        .unwrap_or_else(|| panic!("{name} in {page}"))
        .0
        .to_owned()
}

/// The token that lets the form of a page be sent once.
#[track_caller]
pub(crate) fn token(page: &str) -> String {
    hidden(page, "form_token")
}
