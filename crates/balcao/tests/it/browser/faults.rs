//! Error pages: not found, too large, too many requests, unavailable, internal error. Each service
//! has them in both languages, on a desktop in light and on a phone in dark.

use std::sync::mpsc;

use db::{Db, Options};
use serde_json::Value;
use test_kit::{
    browser::{Browser, Scheme},
    process::{Balcao, Start},
};

use super::{
    log_in,
    walk::{DESK, Walk, on_both},
};

/// More requests than the limit of a minute. The page must be quick, so that a slow machine reaches
/// the limit too.
const TOO_MANY: &str = "return (async () => {
    let status = 200;
    while (status === 200) {
        const answers = await Promise.all(Array.from({ length: 50 }, () => fetch(QUICK)));
        status = answers.at(-1).status;
    }
    return status;
})()";

impl Walk {
    /// Checks the error page of an address.
    async fn fault(&mut self, url: &str, status: u16) {
        for language in ["pt-BR", "en"] {
            let found = self.status_of(url, language).await;
            assert_eq!(found, status, "{url}");
            self.shows_error(url, status, language).await;
        }
    }

    /// Checks the error page of a service that is over its rate limit; `quick` is a quick page of
    /// it.
    async fn too_much(&mut self, url: &str, quick: &str) {
        let too_many = TOO_MANY.replace("QUICK", &format!("'{quick}'"));
        for language in ["pt-BR", "en"] {
            let mut status = Value::Null;
            // On a slow machine the first calls may have left the minute before the last ones come.
            while status != 429 {
                assert_eq!(self.browser.script(&too_many).await, 429, "{url}");
                status = self.status_of(url, language).await;
                assert!(status == 429 || status == 200, "{url}: {status}");
            }
            self.shows_error(url, 429, language).await;
        }
    }

    async fn status_of(&self, url: &str, language: &str) -> Value {
        self.browser.goto(&format!("{url}?lang={language}")).await;
        let script = "return performance.getEntriesByType('navigation')[0].responseStatus";
        self.browser.script(script).await
    }

    /// Checks the error page that is open.
    async fn shows_error(&mut self, url: &str, status: u16, language: &str) {
        let number = status.to_string();
        self.browser.wait_text("main .fine", &number).await;
        for problem in self.browser.html_problems().await {
            self.note(url, &format!("HTML: {problem}"));
        }
        self.look(url, language, on_both([Scheme::Light, Scheme::Dark]))
            .await;
    }
}

async fn database(demo: &Balcao) -> Db {
    let file = demo.data().join("demo").join("inventory.sqlite");
    let address = format!("sqlite:{}", file.display()).parse().unwrap();
    Db::open(&address, &Options::default()).await.unwrap()
}

async fn change(db: &Db, sql: &'static str) {
    let change = async move |tx: &mut db::Tx| tx.execute(sql, &[]).await;
    db.write::<_, db::Error, _>(change).await.unwrap();
}

/// A file over the size limit.
async fn too_large(walk: &mut Walk, inventory: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("brands.csv");
    std::fs::write(&file, vec![b'x'; 5 * 1024 * 1024]).unwrap();
    let url = format!("{inventory}/import/");
    walk.browser.resize(DESK.0, DESK.1).await;
    walk.browser.goto(&url).await;
    walk.browser
        .type_text("#file", file.to_str().unwrap())
        .await;
    walk.browser.click("main form button[type=submit]").await;
    walk.shows_error(&url, 413, "pt-BR").await;
}

/// A form of the administration over the size limit.
async fn too_long(walk: &mut Walk, inventory: &str) {
    let url = format!("{inventory}/admin/brands/add/");
    walk.browser.resize(DESK.0, DESK.1).await;
    walk.browser.goto(&url).await;
    walk.browser.fill("input[name=name]", "Longa demais").await;
    let script = "const text = document.querySelector('textarea[name=description]');
        text.removeAttribute('maxlength');
        text.value = 'x'.repeat(5 * 1024 * 1024);";
    walk.browser.script(script).await;
    walk.browser.click("[name=_save]").await;
    walk.shows_error(&url, 413, "pt-BR").await;
}

/// A database that another writer has locked.
async fn not_now(walk: &mut Walk, inventory: &str, db: &Db) {
    let (begun, has_begun) = tokio::sync::oneshot::channel();
    let (release, released) = mpsc::channel::<()>();
    let (begun, db) = (std::sync::Mutex::new(Some(begun)), db.clone());
    let holding = tokio::spawn(async move {
        let hold = async move |tx: &mut db::Tx| {
            tx.execute("UPDATE brands SET name = name WHERE id = 0", &[])
                .await?;
            if let Some(begun) = begun.lock().unwrap().take() {
                begun.send(()).unwrap();
            }
            // Repeats until the page is there.
            _ = released.recv();
            Ok::<_, db::Error>(())
        };
        db.write(hold).await
    });
    has_begun.await.unwrap();
    for (path, field, button) in [
        ("/brands/new/", "#name", "main form button[type=submit]"),
        ("/admin/brands/add/", "input[name=name]", "[name=_save]"),
    ] {
        let url = format!("{inventory}{path}");
        walk.browser.resize(DESK.0, DESK.1).await;
        walk.browser.goto(&url).await;
        walk.browser.fill(field, "Tarde demais").await;
        walk.browser.click(button).await;
        walk.shows_error(&url, 503, "pt-BR").await;
    }
    release.send(()).unwrap();
    holding.await.unwrap().unwrap();
}

#[tokio::test]
async fn every_fault_is_told_on_a_page_that_everybody_can_read() {
    let demo = Start::new(["demo"]).ready().await;
    let (inventory, checkout) = (demo.url("inventory").await, demo.url("checkout").await);
    let sandbox = demo.url("sandbox").await;
    let mut walk = Walk::begin().await;
    walk.fault(&format!("{sandbox}/nowhere"), 404).await;
    walk.fault(&format!("{sandbox}/sandbox/payments/1/pay"), 405)
        .await;
    log_in(&walk.browser, &inventory, "admin").await;
    too_large(&mut walk, &inventory).await;
    too_long(&mut walk, &inventory).await;
    let db = database(&demo).await;
    not_now(&mut walk, &inventory, &db).await;
    change(&db, "ALTER TABLE analyses RENAME TO gone").await;
    walk.fault(&format!("{inventory}/analyses/"), 500).await;
    walk.fault(&format!("{inventory}/admin/analyses/"), 500)
        .await;
    change(&db, "ALTER TABLE gone RENAME TO analyses").await;
    db.close().await;
    walk.browser.goto(&format!("{inventory}/shortcuts/")).await;
    walk.too_much(&format!("{inventory}/products/"), "/shortcuts/")
        .await;
    walk.too_much(&format!("{inventory}/admin/"), "/shortcuts/")
        .await;
    walk.browser.goto(&format!("{checkout}/")).await;
    walk.too_much(&format!("{checkout}/"), "/").await;
    walk.nothing_is_found();
}

#[tokio::test]
async fn what_the_sandbox_does_not_have_is_missing_in_a_sandbox() {
    let demo = Start::new(["demo"]).ready().await;
    let browser = Browser::open().await;
    browser
        .goto(&format!("{}/nowhere", demo.url("sandbox").await))
        .await;
    browser.wait_text("h1", "Página não encontrada").await;
    browser.wait_text(".banner", "Ambiente de teste").await;
    browser.check_accessibility().await;
    browser.click("main a").await;
    browser.wait_text("h1", "Pagamentos").await;
}
