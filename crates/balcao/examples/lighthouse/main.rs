//! Looks at every page of the demo with Lighthouse, on a phone and on a desk, and fails below the
//! bounds: `.ci/lighthouse`. Which pages there are comes from their links, one of each kind.

#![expect(
    clippy::print_stdout,
    reason = "an example that measures: it prints what it found"
)]

use std::io::{self, BufRead, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};

use clap::Parser;
use serde_json::{Value, json};
use test_kit::browser::{Browser, Key};
use test_kit::demo::{english, log_in};
use test_kit::process::{Balcao, Start};

const DESK: (u32, u32) = (1280, 900);
/// The least of each category, of a page and of one that shows an API's document.
const LEAST: u64 = 95;
const LEAST_OF_VIEWERS: u64 = 90;
const VIEWERS: [&str; 4] = ["/api/v1/docs/", "/api/v1/redoc/", "/docs", "/redoc"];
const CATEGORIES: [&str; 4] = ["performance", "accessibility", "best-practices", "seo"];

/// Nobody looks at so many pages in a minute.
const UNLIMITED: [&str; 3] = [
    "BALCAO_CHECKOUT_RATE_LIMIT",
    "BALCAO_INVENTORY_RATE_LIMIT_READ",
    "BALCAO_INVENTORY_RATE_LIMIT_AUTH",
];

/// Follows the links of a service from its first page. Records of one kind, which differ by a
/// number, count as one page.
const WALK: &str = "
    const kind = (path) => path.replace(/[0-9]+(?=[/]|$)/g, '1').replace(/ord_[^/]+/, 'ord_');
    const seen = new Set(['/']);
    const open = ['/'];
    const pages = [];
    while (open.length > 0) {
        const path = open.shift();
        const answer = await fetch(path, { headers: { Accept: 'text/html' } });
        if (!answer.ok || !answer.headers.get('content-type').startsWith('text/html')) continue;
        pages.push(path);
        const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
        for (const link of page.querySelectorAll('a[href]:not([download])')) {
            const { origin, pathname } = new URL(link.getAttribute('href'), answer.url);
            if (origin !== location.origin || seen.has(kind(pathname))) continue;
            seen.add(kind(pathname));
            open.push(pathname);
        }
    }
    return pages;";

#[derive(Parser)]
struct Arguments {
    /// The folder with Lighthouse and the script that runs it
    tools: PathBuf,
    /// Leaves the performance out: on a busy machine it says nothing
    #[arg(long)]
    without_performance: bool,
    /// Only pages whose address contains this
    #[arg(long, default_value = "")]
    only: String,
}

/// A page, and whom it is shown to.
struct Page {
    url: String,
    session: Option<String>,
}

impl Page {
    fn path(&self) -> String {
        let path = self.url.splitn(4, '/').nth(3);
        format!("/{}", path.unwrap_or_default())
    }

    fn least(&self) -> u64 {
        if VIEWERS.contains(&self.path().as_str()) {
            LEAST_OF_VIEWERS
        } else {
            LEAST
        }
    }
}

/// Lighthouse in a process of its own, which is asked line by line.
struct Lighthouse {
    process: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Lighthouse {
    fn start(arguments: &Arguments) -> io::Result<Self> {
        let mut process = Command::new("node")
            .arg(arguments.tools.join("audit.mjs"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let pipes = (process.stdin.take(), process.stdout.take());
        let (Some(questions), Some(answers)) = pipes else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let answers = BufReader::new(answers);
        Ok(Self {
            process,
            questions,
            answers,
        })
    }

    fn ask(&mut self, page: &Page, form: &str, categories: &[&str]) -> io::Result<Value> {
        let question = json!({"url": page.url, "session": page.session, "form": form, "categories": categories});
        writeln!(self.questions, "{question}")?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        Ok(serde_json::from_str(&answer)?)
    }

    /// Lets it close its browser.
    fn end(self) -> io::Result<()> {
        let Self {
            mut process,
            questions,
            ..
        } = self;
        drop(questions);
        process.wait().map(drop)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<ExitCode> {
    let arguments = Arguments::parse();
    let start = UNLIMITED
        .iter()
        .fold(Start::new(["demo"]), |start, name| start.env(name, "off"));
    let demo = start.ready().await;
    let browser = Browser::open_as(english(DESK)).await;
    let pages = pages(&browser, &demo).await;
    drop(browser);
    let left_out = usize::from(arguments.without_performance);
    let categories: Vec<_> = CATEGORIES.into_iter().skip(left_out).collect();
    let mut lighthouse = Lighthouse::start(&arguments)?;
    let mut found = Vec::new();
    println!("Page | Phone | Desk\n---|---|---");
    for page in pages
        .iter()
        .filter(|page| page.url.contains(&arguments.only))
    {
        let mut row = page.path();
        for form in ["phone", "desk"] {
            let answer = lighthouse.ask(page, form, &categories)?;
            let score = |category: &&str| answer.pointer(&format!("/scores/{category}"));
            let scores = categories.iter().map(|category| score(category)?.as_u64());
            let scores: Vec<u64> = scores.map(Option::unwrap_or_default).collect();
            let written: Vec<String> = scores.iter().map(u64::to_string).collect();
            row = format!("{row} | {}", written.join(" "));
            if scores.iter().any(|score| *score < page.least()) {
                let told = answer.get("found").unwrap_or(&Value::Null);
                found.push(format!("{} ({form}): {told}", page.path()));
            }
        }
        println!("{row}");
    }
    lighthouse.end()?;
    println!("\nIn this order: {}.", categories.join(", "));
    for line in &found {
        println!("{line}");
    }
    Ok(ExitCode::from(u8::from(!found.is_empty())))
}

/// Every page: those for everybody, those of the sandbox, and those of somebody who may do
/// everything.
async fn pages(browser: &Browser, demo: &Balcao) -> Vec<Page> {
    let open = |url: String| Page { url, session: None };
    let (inventory, checkout) = (demo.url("inventory").await, demo.url("checkout").await);
    let sandbox = demo.url("sandbox").await;
    let mut pages = vec![open(format!("{inventory}/login/"))];
    pages.extend(walk(browser, &checkout).await.into_iter().map(open));
    pay(browser).await;
    pages.extend(walk(browser, &sandbox).await.into_iter().map(open));
    log_in(browser, &inventory, "admin").await;
    pages.push(open(make_link(browser, &inventory).await));
    make_endpoint(browser, &inventory).await;
    let session = browser.cookie("sessionid").await;
    let inside = walk(browser, &inventory).await.into_iter();
    pages.extend(inside.map(|url| Page {
        url,
        session: session.clone(),
    }));
    pages
}

/// The addresses of a service's pages.
async fn walk(browser: &Browser, service: &str) -> Vec<String> {
    browser.goto(&format!("{service}/")).await;
    let paths = browser
        .script(&format!("return (async () => {{{WALK}}})()"))
        .await;
    let paths = paths.as_array().into_iter().flatten();
    let paths = paths.filter_map(Value::as_str);
    paths.map(|path| format!("{service}{path}")).collect()
}

/// Pays by pix at the checkout whose page is open, so that the sandbox has a payment.
async fn pay(browser: &Browser) {
    let body = json!({
        "payment_method": "pix", "transaction_amount": 19.99, "description": "Two coffees", "email": "ana@example.com",
        "identification_number": "12345678909",
    });
    let script = format!(
        "return fetch('/create_payment', {{ method: 'POST', headers: {{ 'Content-Type': 'application/json' }}, body: '{body}' }})
             .then((answer) => answer.ok)"
    );
    assert_eq!(browser.script(&script).await, true, "a payment");
}

/// The address of a page that asks for a fixed sum.
async fn make_link(browser: &Browser, inventory: &str) -> String {
    browser.goto(&format!("{inventory}/payments/new/")).await;
    browser.fill("#amount", "149.90").await;
    browser.fill("#description", "Order 1042").await;
    browser.press(Key::Enter).await;
    browser.text("#link").await
}

async fn make_endpoint(browser: &Browser, inventory: &str) {
    browser.goto(&format!("{inventory}/webhooks/new/")).await;
    browser.fill("#url", "http://127.0.0.1:9/hooks").await;
    browser.press(Key::Enter).await;
    browser.wait_text("#secret", "whsec_").await;
}
