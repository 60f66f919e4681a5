//! The browser driver against a page that this test serves itself.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::thread;

use test_kit::browser::{Browser, Key, Reader, Scheme};

const PAGE: &str = r##"<!doctype html><html lang="pt-BR"><head><meta charset="utf-8"><title>Loja</title>
<meta name="viewport" content="width=device-width"></head>
<body><main><h1>Loja</h1><label for="name">Nome</label><input id="name"><button id="go" type="button">Ir</button>
<select id="count" aria-label="Parcelas"><option value="1">1</option><option value="2">2</option></select>
<p id="says"></p><noscript><p id="plain">Sem script</p></noscript>
<script>
  document.cookie = "seen=yes";
  document.querySelector("#go").addEventListener("click", () => {
    fetch("/asked", { method: "POST", body: "n=1" }).then(() =>
      setTimeout(() => { document.querySelector("#says").textContent = "Olá, " + document.querySelector("#name").value; }, 30));
  });
</script></main></body></html>"##;

/// Serves the page, with the `Accept-Language` of the request in a header comment, until the test
/// process ends.
fn serve() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            thread::spawn(move || {
                let head: Vec<String> = BufReader::new(&stream)
                    .lines()
                    .map_while(Result::ok)
                    .take_while(|line| !line.is_empty())
                    .collect();
                let language = head
                    .iter()
                    .find_map(|line| line.strip_prefix("Accept-Language: "))
                    .unwrap_or_default();
                let body = PAGE.replace(
                    "<main>",
                    &format!("<main><p id=\"language\">{language}</p>"),
                );
                let length = body.len();
                let _ = write!(
                    stream,
                    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
                );
            });
        }
    });
    host
}

#[tokio::test]
async fn the_browser_types_clicks_waits_and_remembers() {
    let host = serve();
    let browser = Browser::open().await;
    browser.goto(&format!("http://{host}/")).await;
    assert_eq!(browser.title().await, "Loja");
    assert!(browser.text("#language").await.starts_with("pt-BR"));
    browser.fill("#name", "Ana").await;
    browser.press(Key::Tab).await;
    assert_eq!(browser.focused().await, "#go");
    browser.press(Key::Enter).await;
    assert_eq!(browser.wait_text("#says", "Olá").await, "Olá, Ana");
    browser.click("#count option[value='2']").await;
    assert_eq!(browser.value("#count").await, "2");
    assert_eq!(browser.accessible_name("#count").await, "Parcelas");
    assert_eq!(browser.role("#count").await, "combobox");
    assert_eq!(browser.cookie("seen").await.as_deref(), Some("yes"));
    browser.click("#name").await;
    browser.paste(" Lima").await;
    assert_eq!(browser.value("#name").await, "Ana Lima");
    browser.press_with(&[Key::Shift], Key::Home).await;
    browser.press(Key::Delete).await;
    assert_eq!(browser.value("#name").await, "");

    let requests = browser.requests().await;
    assert!(
        requests
            .iter()
            .any(|request| request.method == "POST" && request.url.ends_with("/asked")),
        "{requests:?}"
    );
    browser.check_clean(&[&host]).await;
}

#[tokio::test]
async fn the_browser_shows_phones_colour_schemes_languages_and_pictures() {
    let host = serve();
    let browser = Browser::open_as(Reader {
        language: "en-US".to_owned(),
        ..Reader::default()
    })
    .await;
    browser.goto(&format!("http://{host}/")).await;
    assert!(browser.text("#language").await.starts_with("en-US"));
    browser.resize(360, 740).await;
    assert_eq!(browser.script("return innerWidth").await, 360);
    assert!(!browser.is_too_wide().await);
    let dark = "return matchMedia('(prefers-color-scheme: dark)').matches";
    browser.prefer(Scheme::Dark).await;
    assert_eq!(browser.script(dark).await, true);
    browser.prefer(Scheme::Light).await;
    assert_eq!(browser.script(dark).await, false);
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("pages/loja.png");
    browser.screenshot(&file).await;
    assert!(std::fs::read(file).unwrap().starts_with(b"\x89PNG"));
    browser.script("console.error('broken')").await;
    let console = browser.console().await;
    assert!(
        console
            .iter()
            .any(|message| message.text.contains("broken")),
        "{console:?}"
    );
}

#[tokio::test]
async fn a_page_can_be_read_without_scripts() {
    let host = serve();
    let browser = Browser::open_as(Reader {
        scripts: false,
        ..Reader::default()
    })
    .await;
    browser.goto(&format!("http://{host}/")).await;
    browser.wait_text("#plain", "Sem script").await;
    assert_eq!(browser.cookie("seen").await, None);
    browser.fill("#name", "Ana").await;
    assert_eq!(browser.value("#name").await, "Ana");
}
