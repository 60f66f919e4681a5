//! Scrolling and sorting lists, on a desktop and on a phone.

use super::{english, opened};

#[tokio::test]
async fn the_head_of_a_list_stays_below_the_bar_while_the_page_scrolls() {
    let (_demo, browser, inventory) = opened(english((1280, 700)), "admin").await;
    for (path, bar) in [
        ("/products/?page_size=50", ".shell-top"),
        ("/outflows/?page_size=50", ".shell-top"),
        ("/admin/brands/", ".shell-top"),
    ] {
        browser.goto(&format!("{inventory}{path}")).await;
        browser.wait_for(".table-scroll.fits").await;
        browser.script("scrollTo(0, 500)").await;
        let stuck = format!(
            "scrollY > 100 && Math.abs(document.querySelector('.fits thead th').getBoundingClientRect().top
                      - document.querySelector('{bar}').getBoundingClientRect().bottom) < 2"
        );
        browser
            .wait_until(&format!("the head at {path}"), &stuck)
            .await;
        // No other element covers it.
        let seen =
            "return document.querySelector('.fits thead th').contains(document.elementFromPoint(
            document.querySelector('.fits thead th').getBoundingClientRect().left + 8,
            document.querySelector('.fits thead th').getBoundingClientRect().top + 8))";
        assert_eq!(browser.script(seen).await, true, "{path}");
        assert!(!browser.is_too_wide().await, "{path}");
    }
}

/// The height of the first card, in pixels.
const CARD: &str =
    "return document.querySelector('#index tbody tr').getBoundingClientRect().height";

#[tokio::test]
async fn a_list_on_a_phone_is_sorted_by_a_menu_and_its_cards_are_low() {
    let (_demo, browser, inventory) = opened(english((390, 740)), "admin").await;
    for (path, most) in [
        ("/products/", 140.0),
        ("/categories/", 80.0),
        ("/outflows/", 140.0),
    ] {
        browser.goto(&format!("{inventory}{path}")).await;
        browser.wait_for("#index tbody tr").await;
        let height = browser.script(CARD).await.as_f64().unwrap();
        assert!(height <= most, "{path}: {height}");
        assert!(!browser.is_too_wide().await, "{path}");
        browser.check_accessibility().await;
    }
    // The actions are beside the title.
    browser.goto(&format!("{inventory}/products/")).await;
    let beside = "const [title, action] = ['th', '.actions a'].map((css) => document.querySelector(`#index tbody tr ${css}`).getBoundingClientRect());
        return action.left >= title.right - 1 && action.top < title.bottom && action.bottom > title.top";
    assert_eq!(browser.script(beside).await, true);

    browser.click(".index-sort summary").await;
    browser.check_accessibility().await;
    browser
        .click(".index-sort a[href*='ordering=quantity']")
        .await;
    browser
        .wait_until("the order", "location.search.includes('ordering=quantity')")
        .await;
    browser.wait_text(".index-sort summary", "Stock ↑").await;
}

#[tokio::test]
async fn filters_by_day_say_whose_days_they_are() {
    let (_demo, browser, inventory) = opened(english((1280, 900)), "admin").await;
    for (path, label, chip) in [
        ("/inflows/", "From (UTC day)", "From 20 Nov 2026 (UTC)"),
        ("/outflows/", "From (UTC day)", "From 20 Nov 2026 (UTC)"),
        ("/payments/", "From (São Paulo day)", "From 20 Nov 2026"),
        (
            "/payments/received/",
            "From (São Paulo day)",
            "From 20 Nov 2026",
        ),
    ] {
        browser.goto(&format!("{inventory}{path}")).await;
        browser.click("#filters summary").await;
        browser.wait_text("[for=filter-date_from]", label).await;
        browser.type_text("#filter-date_from", "11202026").await;
        let shown = browser.wait_text(".index-chips", chip).await;
        assert_eq!(shown.contains("UTC"), chip.contains("UTC"), "{path}");
        browser.check_accessibility().await;
    }
    browser.goto(&format!("{inventory}/admin/inflows/")).await;
    browser.wait_text(".site-dates", "By date (UTC)").await;
}
