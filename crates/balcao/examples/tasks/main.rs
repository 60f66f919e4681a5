//! A shopkeeper's tasks, done in a browser by keys and clicks alone: `.ci/tasks` prints what each
//! takes, as docs/performance.md shows it.
//!
//! A task begins on the page that its name implies. Choosing a file counts as one click, a scanned
//! code as one scan. The seconds are the program's: from a key or click until what it brings is
//! shown, with what the browser needs to draw it.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "an example that measures: it ends at what it did not expect, and prints what it found"
)]

mod person;

use test_kit::browser::{Browser, Key};
use test_kit::demo::{PASSWORD, english};
use test_kit::process::Start;

use person::Person;

const DESK: (u32, u32) = (1280, 900);
/// The lines of the delivery that is received.
const LINES: usize = 8;
/// What lists of offers below a field show.
const OFFER: &str = ".picker-list:not([hidden]) [role=option]";

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let demo = Start::new(["demo"]).ready().await;
    let inventory = demo.url("inventory").await;
    let browser = Browser::open_as(english(DESK)).await;
    let person = Person::new(browser, inventory);
    println!("Task|Keys|Clicks|Scans|Pages|Seconds");
    println!("---|---|---|---|---|---");
    person.does("log in", "/login/", log_in).await;
    person.does("find", "/", find).await;
    person.does("sell 3", "/products/1/", sell).await;
    person.does("receive 8 lines", "/", receive).await;
    person
        .does("correct a stock", "/products/1/", correct)
        .await;
    person
        .does("add a product with a new brand", "/products/", add)
        .await;
    person
        .does("import with two errors", "/brands/", import)
        .await;
    person.does("reorder for one supplier", "/", reorder).await;
    person.does("count a category", "/categories/", count).await;
    person
        .does("give a colleague access", "/", give_access)
        .await;
}

async fn log_in(person: &Person) {
    person.is_at("#username").await;
    person.types("admin").await;
    person.goes_to("#password").await;
    person.types(PASSWORD).await;
    person.key(Key::Enter).await;
    person.sees(".shell-nav", "Products").await;
}

async fn find(person: &Person) {
    person.key(Key::Char('/')).await;
    person.is_at("#shell-search").await;
    person.types("arroz").await;
    person.sees(OFFER, "Arroz").await;
    person.key(Key::Down).await;
    person.key(Key::Enter).await;
    person.sees("h1", "Arroz").await;
}

async fn sell(person: &Person) {
    person.key(Key::Char('s')).await;
    person.is_at("#dialog-quantity").await;
    person.types("3").await;
    person.key(Key::Enter).await;
    person.sees("#toasts", "Booked out: 3 ×").await;
}

async fn receive(person: &Person) {
    let codes = codes(person).await;
    person.clicks(".shell-nav a[href='/receiving/']").await;
    person.sees("h1", "Receive goods").await;
    person.key(Key::Char('n')).await;
    person.is_at("#supplier").await;
    person.types("a").await;
    person.sees(OFFER, "").await;
    person.key(Key::Enter).await;
    person.is_at("#invoice").await;
    person.types("4711").await;
    person.key(Key::Enter).await;
    for (at, code) in codes.iter().enumerate() {
        person.is_at("#product").await;
        person.scans(code).await;
        person.is_at("#quantity").await;
        person.types("3").await;
        person.key(Key::Enter).await;
        let lines = at + 1;
        let are_there = format!("document.querySelectorAll('#lines tbody tr').length === {lines}");
        person.wait_until("the line", &are_there).await;
        person.waited().await;
    }
    person.clicks("[name=do][value=book]").await;
    person.sees("#toasts", "24 units").await;
}

/// The bar codes of the delivery.
async fn codes(person: &Person) -> Vec<String> {
    let script = format!(
        "const json = (answer) => answer.json();
         const login = {{ method: 'POST', headers: {{ 'Content-Type': 'application/json' }},
             body: JSON.stringify({{ username: 'admin', password: '{PASSWORD}' }}) }};
         return fetch('/api/v1/authentication/token/', login).then(json)
             .then(({{ access }}) => fetch('/api/v1/products/?page_size=100', {{ headers: {{ Authorization: `Bearer ${{access}}` }} }}))
             .then(json).then(({{ results }}) => results.map((product) => product.serie_number).filter(Boolean))"
    );
    let codes = person.script(&script).await;
    let codes = codes.as_array().into_iter().flatten();
    let codes = codes.filter_map(|code| code.as_str().map(str::to_owned));
    codes.take(LINES).collect()
}

async fn correct(person: &Person) {
    person.clicks(".page-header a[href='adjust/']").await;
    person.is_at("#quantity, #dialog-quantity").await;
    person.types("40").await;
    person.key(Key::Enter).await;
    person.sees("#toasts", "Stock adjusted").await;
}

async fn add(person: &Person) {
    person.key(Key::Char('n')).await;
    person.is_at("#title").await;
    person.types("Caneca esmaltada").await;
    person.goes_to("#category").await;
    person.types("merc").await;
    person.sees(OFFER, "Mercearia").await;
    person.key(Key::Enter).await;
    person.is_at("#brand").await;
    person.goes_to("[data-add=brand]").await;
    person.key(Key::Enter).await;
    person.is_at("#dialog-name").await;
    person.types("Marca nova").await;
    person.key(Key::Enter).await;
    person.is_at("#brand").await;
    person.goes_to("#cost_price").await;
    person.types("8.10").await;
    person.goes_to("#selling_price").await;
    person.types("19.90").await;
    person.key(Key::Enter).await;
    person.sees("#toasts", "Caneca esmaltada").await;
}

async fn import(person: &Person) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("brands.csv");
    for (rows, told) in [
        ("name,description\nAlfa,a\n,b\nBeta,c\n,d\n", "#problems"),
        ("name,description\nAlfa,a\nBeta,c\n", "main .notice"),
    ] {
        if !person.has("#file").await {
            person.clicks(".page-header a[href^='/import/']").await;
            person.sees("h1", "Import").await;
        }
        std::fs::write(&file, rows).expect("the file");
        person.chooses(&file).await;
        person.clicks("main form button[type=submit]").await;
        person.sees(told, "").await;
    }
    person.clicks("main form button[type=submit]").await;
    person.sees("#toasts", "Imported: 2 records.").await;
}

async fn reorder(person: &Person) {
    person.clicks(".shell-nav a[href='/low-stock/']").await;
    person.sees("h1", "Low stock").await;
    person
        .clicks(".page-header a[href*='group=supplier']")
        .await;
    person.sees(".index-heading", "").await;
    person.clicks(".index-heading a").await;
    person.sees(".order", "").await;
}

/// Twelve of everything, line by line.
async fn count(person: &Person) {
    person.clicks("#index tbody th a").await;
    person.clicks(".page-header a[href^='/counts/new/']").await;
    person.is_at("main form .button-primary").await;
    person.key(Key::Enter).await;
    person.is_at("#product").await;
    person.goes_to("#lines .line-quantity").await;
    for _ in 0..person.count("#lines .line-quantity").await {
        person.types("12").await;
        person.key(Key::Enter).await;
    }
    person.clicks("#lines ~ div [value=review]").await;
    person.sees("h1", "Differences").await;
    person.clicks("main form .button-primary").await;
    person.sees("main .button-danger", "Undo").await;
}

async fn give_access(person: &Person) {
    person.clicks(".shell-nav a[href='/admin/']").await;
    person.sees(".site-nav", "Users").await;
    person.clicks("a[aria-label='Add: Users']").await;
    person.clicks("#field-username").await;
    person.types("ana").await;
    person.goes_to("#field-password1").await;
    person.types("quatro gatos pretos").await;
    person.goes_to("#field-password2").await;
    person.types("quatro gatos pretos").await;
    person.key(Key::Enter).await;
    person.sees(".site-message", "ana").await;
    person.clicks("input[name='groups:2']").await;
    person.clicks("button[name=_save]").await;
    person
        .sees(".site-message", "was changed successfully")
        .await;
}
