//! The layout of the administration: nothing is cut off, covered or shifted.

use test_kit::browser::{Browser, Key, Reader};

use super::{english, opened};

/// The addresses of all lists, from the navigation.
const LISTS: &str =
    "return [...document.querySelectorAll('.site-nav a.nav-link')].map((link) => link.pathname)";
/// By how much each table is wider than its frame.
const CUT: &str = "return [...document.querySelectorAll('.table-scroll')].map((frame) => frame.scrollWidth - frame.clientWidth)";
/// The element that covers the focused one, if any.
const OVER: &str = "const at = document.activeElement;
    const box = at.getBoundingClientRect();
    const top = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    return top && (at.contains(top) || top.contains(at)) ? '' : `${at.outerHTML.slice(0, 120)} is under ${top?.outerHTML.slice(0, 80)}`";
/// The layout shift since the page began to load.
const SHIFTS: &str = "return new Promise((done) => {
    let sum = 0;
    const add = (list) => list.getEntries().forEach((entry) => (sum += entry.value));
    new PerformanceObserver(add).observe({ type: 'layout-shift', buffered: true });
    requestAnimationFrame(() => setTimeout(() => done(sum)));
});";

async fn lists(browser: &Browser, inventory: &str) -> Vec<String> {
    browser.goto(&format!("{inventory}/admin/")).await;
    let lists = browser.script(LISTS).await;
    serde_json::from_value(lists).unwrap()
}

#[tokio::test]
async fn no_table_of_the_administration_is_cut_on_a_desk() {
    let (_demo, browser, inventory) = opened(Reader::default(), "admin").await;
    let mut paths = lists(&browser, &inventory).await;
    assert!(paths.len() > 10, "{paths:?}");
    paths.extend(
        ["products/1", "suppliers/1", "users/1"].map(|form| format!("/admin/{form}/change/")),
    );
    for path in paths {
        browser.goto(&format!("{inventory}{path}")).await;
        let cut: Vec<i64> = serde_json::from_value(browser.script(CUT).await).unwrap();
        assert!(cut.iter().all(|cut| *cut <= 0), "{path}: {cut:?}");
        assert!(!browser.is_too_wide().await, "{path}");
    }
}

#[tokio::test]
async fn filters_are_above_the_list_and_what_is_chosen_is_told_and_taken_back() {
    let (_demo, browser, inventory) = opened(english((1280, 900)), "admin").await;
    browser.goto(&format!("{inventory}/admin/products/")).await;
    let every = browser.text(".table-foot p").await;
    assert!(!browser.is_shown(".site-filters").await);
    browser.click(".filter-more summary").await;
    browser.check_accessibility().await;
    browser.click(".site-filters a[href*='category=']").await;
    let chip = ".site-rows > .chips .chip-set";
    browser.wait_text(chip, "Category: ").await;
    assert_ne!(browser.text(".table-foot p").await, every);
    browser.click(chip).await;
    browser.wait_gone(chip).await;
    assert_eq!(browser.text(".table-foot p").await, every);
}

#[tokio::test]
async fn on_a_phone_the_header_is_one_row_and_each_model_one_line() {
    let (_demo, browser, inventory) = opened(english((360, 740)), "admin").await;
    browser.goto(&format!("{inventory}/admin/")).await;
    let heights = "return ['.shell-top', ...[...document.querySelectorAll('.site-index tbody tr')]].map((row) =>
        (row.nodeType ? row : document.querySelector(row)).getBoundingClientRect().height)";
    let heights: Vec<f64> = serde_json::from_value(browser.script(heights).await).unwrap();
    assert!(heights.len() > 10, "{heights:?}");
    assert!(heights.iter().all(|height| *height < 65.0), "{heights:?}");
    assert!(!browser.is_too_wide().await);
    browser.check_accessibility().await;
    browser.click(".shell-tools summary").await;
    browser.check_accessibility().await;
    browser.click("a[href='/admin/password_change/']").await;
    browser.wait_for("#new_password").await;
    browser.goto(&format!("{inventory}/admin/")).await;
    browser.click(".shell-top a[href='#site-nav']").await;
    browser.click(".site-nav a[href='/admin/brands/']").await;
    browser.wait_text("h1", "Select brand to change").await;
}

#[tokio::test]
async fn the_focus_is_never_under_the_bars() {
    let (_demo, browser, inventory) = opened(english((1280, 500)), "admin").await;
    for (path, start) in [
        ("/admin/products/", "tbody tr:nth-child(12) a"),
        ("/admin/users/2/change/", "button[name=_save]"),
        ("/products/?page_size=50", "tbody tr:nth-child(30) a"),
    ] {
        browser.goto(&format!("{inventory}{path}")).await;
        browser
            .script(&format!("document.querySelector(`{start}`).focus()"))
            .await;
        for _ in 0..40 {
            browser.press_with(&[Key::Shift], Key::Tab).await;
            assert_eq!(browser.script(OVER).await, "", "upwards on {path}");
        }
        for _ in 0..20 {
            browser.press(Key::Tab).await;
            assert_eq!(browser.script(OVER).await, "", "downwards on {path}");
        }
    }
}

#[tokio::test]
async fn nothing_moves_while_a_page_of_the_administration_loads() {
    for window in [(1280, 900), (360, 740)] {
        let (_demo, browser, inventory) = opened(english(window), "admin").await;
        for path in [
            "/admin/",
            "/admin/products/",
            "/admin/products/1/change/",
            "/admin/users/2/change/",
            "/admin/groups/2/change/",
            "/admin/suppliers/1/change/",
        ] {
            browser.goto(&format!("{inventory}{path}")).await;
            // Columns still settle while rows come, more so on a busy machine. A page whose layout
            // shifts by less than this counts as good: https://web.dev/articles/cls
            let shifted = browser.script(SHIFTS).await.as_f64().unwrap();
            assert!(shifted < 0.1, "{path} {window:?}: {shifted}");
        }
    }
}
