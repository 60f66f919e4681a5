//! The dashboard that stays open all day: its figures, another period, its tables without a mouse,
//! and sales elsewhere while it is open.

use serde_json::json;
use test_kit::{
    browser::{Browser, Key, Reader, Scheme},
    process::Start,
};

use super::{PASSWORD, log_in};
use crate::inventory::Caller;

async fn opened(window: (u32, u32)) -> Browser {
    let language = "en".to_owned();
    let reader = Reader {
        language,
        window,
        ..Reader::default()
    };
    Browser::open_as(reader).await
}

#[tokio::test]
async fn an_open_dashboard_shows_what_goes_out_elsewhere_and_keeps_focus_and_place() {
    let demo = Start::new(["demo"]).ready().await;
    let inventory = demo.url("inventory").await;
    let program = Caller::log_in(&demo, "manager", PASSWORD).await;
    let plenty = program
        .get("/api/v1/products/?ordering=-quantity&page_size=1")
        .await;
    let product = &plenty["results"][0];
    let browser = opened((1280, 900)).await;
    log_in(&browser, &inventory, "manager").await;
    browser.wait_text("#live-sales", "Sales value").await;
    browser.wait_for(".chart-host canvas").await;
    assert_eq!(browser.count(".chart-host canvas").await, 2);
    let today = "document.querySelector('#sales-days tbody tr')";
    let outflows = format!("Number({today}.cells[1].textContent.replace(',', ''))");
    let day = format!("{today}.cells[0].textContent");
    let before = browser
        .script(&format!(
            "[window.before, window.day] = [{outflows}, {day}]; return before"
        ))
        .await;
    assert!(before.is_u64(), "{before}");
    // The focus is at the bottom of the page, on a link of a part that htmx swaps.
    browser
        .script("document.querySelector('#live-movements li:last-child .line-main a').focus()")
        .await;
    let place = browser.script("return Math.round(scrollY)").await;
    program.sell(product["id"].as_i64().unwrap(), 1).await;
    let title = product["title"].as_str().unwrap();
    browser.wait_text("#live-movements li", title).await;
    // After midnight this is the first sale of a new day.
    let after = format!("{outflows} === ({day} === window.day ? before + 1 : 1)");
    browser.wait_until("the day's count to grow", &after).await;
    let now = browser.script("return Math.round(scrollY)").await;
    let (now, place) = (now.as_i64().unwrap(), place.as_i64().unwrap());
    assert!((now - place).abs() < 100, "{place} {now}");
    let focused = "return document.activeElement.closest('#live-movements') !== null";
    assert_eq!(browser.script(focused).await, true);
    browser
        .check_clean(&[inventory.trim_start_matches("http://")])
        .await;
}

#[tokio::test]
async fn another_period_is_a_link_away_and_every_number_is_in_a_table() {
    let demo = Start::new(["demo"]).ready().await;
    let inventory = demo.url("inventory").await;
    let browser = opened((360, 740)).await;
    log_in(&browser, &inventory, "viewer").await;
    browser.resize(360, 740).await;
    for (link, days) in [
        ("7 days", 7),
        ("90 days", 90),
        ("1 year", 365),
        ("30 days", 30),
    ] {
        let script = format!(
            "[...document.querySelectorAll('a.switch-option')].find((a) => a.textContent === '{link}').click()"
        );
        browser.script(&script).await;
        let rows = format!("document.querySelectorAll('#sales-days tbody tr').length === {days}");
        browser.wait_until(link, &rows).await;
        browser.wait_for(".chart-host canvas").await;
        assert!(!browser.is_too_wide().await, "{link}");
    }
    browser
        .script("document.querySelector('#days > summary').focus()")
        .await;
    browser.press(Key::Enter).await;
    browser
        .wait_text("#sales-days caption", "Days in UTC")
        .await;
    assert!(!browser.is_too_wide().await);
    browser
        .check_clean(&[inventory.trim_start_matches("http://")])
        .await;
}

/// The words of a day in the table below the charts, the newest first: its name, and its value.
async fn tip_of(browser: &Browser, row: usize) -> (String, String) {
    let cell = async |column: usize| {
        let script = format!(
            "return document.querySelector('#sales-days tbody').rows[{row}].cells[{column}].textContent"
        );
        let text = browser.script(&script).await;
        text.as_str().unwrap().to_owned()
    };
    (cell(0).await, cell(3).await)
}

/// Asserts that the page's tooltip has these words and is inside the window.
async fn check_tip(browser: &Browser, (day, value): (String, String)) {
    const TIP: &str = ".chart-tip:not([hidden])";
    let said = browser.wait_text(TIP, &day).await;
    let value = value.replace('\u{a0}', " ");
    assert!(said.contains(&value), "{said} is not {value}");
    let script = format!(
        "const box = document.querySelector('{TIP}').getBoundingClientRect();
         return box.left >= 0 && box.right <= innerWidth && box.top >= 0 && box.bottom <= innerHeight"
    );
    assert_eq!(browser.script(&script).await, true, "{said} is cut off");
}

#[tokio::test]
async fn a_chart_tells_day_and_value_to_the_mouse_to_fingers_to_keys_and_to_ears() {
    const CHART: &str = ".chart-host[data-chart=value]";
    let demo = Start::new(["demo"]).ready().await;
    let inventory = demo.url("inventory").await;
    let browser = opened((360, 740)).await;
    log_in(&browser, &inventory, "viewer").await;
    browser.resize(360, 740).await;
    browser.wait_for(&format!("{CHART} canvas")).await;
    let script = format!("document.querySelector('{CHART}').scrollIntoView({{block: 'center'}})");
    browser.script(&script).await;
    let script = format!(
        "const box = document.querySelector('{CHART} .u-over').getBoundingClientRect();
         return [box.right - 2, box.left + 2, box.top + box.height / 2]"
    );
    let points = browser.script(&script).await;
    let (newest, oldest, y) = (&points[0], &points[1], &points[2]);
    let mouse = json!({"type": "mouseMoved", "x": newest, "y": y});
    browser
        .devtools("Input.dispatchMouseEvent", mouse.clone())
        .await;
    check_tip(&browser, tip_of(&browser, 0).await).await;
    let away = json!({"type": "mouseMoved", "x": 2, "y": 2});
    browser
        .devtools("Input.dispatchMouseEvent", away.clone())
        .await;
    browser.wait_gone(".chart-tip").await;
    // Browsers follow a tap with events of a mouse, the click last.
    let count = "window.taps = 0; addEventListener('click', () => { window.taps += 1; })";
    browser.script(count).await;
    let finger = json!({"type": "touchStart", "touchPoints": [{"x": oldest, "y": y}]});
    browser.devtools("Input.dispatchTouchEvent", finger).await;
    check_tip(&browser, tip_of(&browser, 29).await).await;
    let lifted = json!({"type": "touchEnd", "touchPoints": []});
    browser.devtools("Input.dispatchTouchEvent", lifted).await;
    browser
        .wait_until("the tap's click", "window.taps === 1")
        .await;
    let focus = format!("document.querySelector('{CHART}').focus()");
    browser.script(&focus).await;
    browser.press(Key::End).await;
    browser.press(Key::Left).await;
    let (day, value) = tip_of(&browser, 1).await;
    let heard = browser.attribute(CHART, "aria-valuetext").await;
    assert_eq!(heard, Some(format!("{day}: {value}")));
    assert_eq!(browser.role(CHART).await, "slider");
    check_tip(&browser, (day, value)).await;
    browser.devtools("Input.dispatchMouseEvent", mouse).await;
    check_tip(&browser, tip_of(&browser, 0).await).await;
    browser.devtools("Input.dispatchMouseEvent", away).await;
    check_tip(&browser, tip_of(&browser, 1).await).await;
    browser.press(Key::Escape).await;
    browser.wait_gone(".chart-tip").await;
}

#[tokio::test]
async fn charts_are_drawn_again_in_the_colours_that_the_reader_comes_to_prefer() {
    let demo = Start::new(["demo"]).ready().await;
    let inventory = demo.url("inventory").await;
    let browser = opened((1280, 900)).await;
    browser.prefer(Scheme::Light).await;
    log_in(&browser, &inventory, "viewer").await;
    browser.wait_for(".chart-host canvas").await;
    let is_as_said = "[...document.querySelectorAll('.chart-host')].every((host) => {
        const canvas = host.querySelector('canvas');
        const painted = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
        const probe = document.createElement('canvas').getContext('2d');
        probe.fillStyle = getComputedStyle(host).color;
        probe.fillRect(0, 0, 1, 1);
        const [red, green, blue] = probe.getImageData(0, 0, 1, 1).data;
        let found = 0;
        for (let place = 0; place < painted.length; place += 4) {
            if (painted[place] === red && painted[place + 1] === green && painted[place + 2] === blue) found += 1;
        }
        return found > 1000;
    })";
    browser.wait_until("bars in light", is_as_said).await;
    browser.prefer(Scheme::Dark).await;
    browser.wait_until("bars in dark", is_as_said).await;
}
