//! Forms: the width of their fields, all errors at once, a link out of each, and the fields of
//! passwords.

use test_kit::browser::{Browser, Key};

use super::{PASSWORD, english, opened};

const SAVE: &str = "main .form-card button[type=submit]:not([name])";

/// Every form with a page of its own, and the address of its Cancel link.
const FORMS: [(&str, &str); 9] = [
    ("/products/new/", "/products/"),
    ("/products/1/edit/", "/products/1/"),
    ("/products/1/adjust/", "/products/1/"),
    ("/inflows/new/?next=/products/1/", "/products/1/"),
    ("/outflows/new/", "/outflows/"),
    ("/brands/new/", "/brands/"),
    ("/brands/1/edit/", "/brands/1/"),
    ("/webhooks/new/", "/webhooks/"),
    ("/admin/brands/1/change/", "/admin/brands/"),
];

async fn width(browser: &Browser, css: &str) -> f64 {
    let script = format!(
        "return document.querySelector(`{css}`).getBoundingClientRect().width
            / parseFloat(getComputedStyle(document.documentElement).fontSize)"
    );
    browser.script(&script).await.as_f64().unwrap()
}

#[tokio::test]
async fn forms_are_as_wide_as_they_are_read_and_each_has_a_way_out() {
    let (_demo, browser, inventory) = opened(english((1280, 900)), "admin").await;
    for (form, back) in FORMS {
        browser.goto(&format!("{inventory}{form}")).await;
        let wide = width(&browser, "main .form-card").await;
        assert!((39.0..=40.5).contains(&wide), "{form}: {wide} rem");
        assert!(!browser.is_too_wide().await, "{form}");
        browser.click("main a[data-cancel]").await;
        browser
            .wait_until(
                &format!("{back} from {form}"),
                &format!("location.pathname === '{back}'"),
            )
            .await;
    }
    // Fields of numbers are narrow.
    browser.goto(&format!("{inventory}/products/new/")).await;
    for number in ["#cost_price", "#quantity", "#threshold"] {
        assert!(width(&browser, number).await <= 11.1, "{number}");
    }
    // In a dialog, Cancel closes it.
    browser.goto(&format!("{inventory}/products/1/")).await;
    browser.press(Key::Char('s')).await;
    browser.wait_for("#dialog a[data-cancel]").await;
    browser.click("#dialog a[data-cancel]").await;
    browser.wait_gone("#dialog").await;
    assert!(browser.url().await.ends_with("/products/1/"));
    browser
        .check_clean(&[&inventory.replace("http://", "")])
        .await;
}

#[tokio::test]
async fn whatever_is_wrong_with_a_form_is_told_in_one_round() {
    let (_demo, browser, inventory) = opened(english((1280, 900)), "admin").await;
    browser.goto(&format!("{inventory}/products/new/")).await;
    browser.click(SAVE).await;
    let problems = browser.wait_text("#problems", "Title").await;
    for field in ["Category", "Brand", "Cost price", "Selling price"] {
        assert!(problems.contains(field), "{field}: {problems}");
    }
    assert_eq!(browser.focused().await, "#problems");
    browser.check_accessibility().await;

    // Errors that need the database are shown with the others.
    browser.fill("#category", "no such category").await;
    browser.fill("#brand", "no such brand").await;
    browser.fill("#serie_number", "7891000000007").await;
    browser.click(SAVE).await;
    let problems = browser.wait_text("#problems", "no such category").await;
    for wrong in ["Title", "no such brand", "already exists", "Cost price"] {
        assert!(problems.contains(wrong), "{wrong}: {problems}");
    }
    browser.click("#problems a[href='#category']").await;
    assert_eq!(browser.focused().await, "#category");
}

/// Waits for a form in the dialog.
async fn shown(browser: &Browser, title: &str) {
    browser.wait_text("#dialog-title", title).await;
}

#[tokio::test]
async fn what_is_missing_is_created_over_a_dialog_that_keeps_what_was_typed() {
    let (_demo, browser, inventory) = opened(english((1280, 900)), "admin").await;
    browser.goto(&format!("{inventory}/products/1/")).await;
    browser.press(Key::Char('e')).await;
    shown(&browser, "New inflow").await;
    browser.fill("#dialog-quantity", "12").await;
    browser.fill("#dialog-description", "from the market").await;

    // With the button: the form keeps its values.
    browser.click("#dialog [data-add=dialog-supplier]").await;
    shown(&browser, "New supplier").await;
    browser.check_accessibility().await;
    browser.press(Key::Escape).await;
    shown(&browser, "New inflow").await;
    assert_eq!(browser.value("#dialog-quantity").await, "12");

    // With a text that was not found: Enter of a scanner creates nothing. An arrow key and Enter
    // open the form with the name filled in.
    browser.fill("#dialog-supplier", "Sítio Novo").await;
    browser
        .wait_text(".picker-way", "Create “Sítio Novo”")
        .await;
    browser.press(Key::Enter).await;
    shown(&browser, "New inflow").await;
    browser.press(Key::Down).await;
    browser.press(Key::Enter).await;
    shown(&browser, "New supplier").await;
    assert_eq!(browser.value("#dialog-name").await, "Sítio Novo");
    browser.click("#dialog button[type=submit]").await;
    shown(&browser, "New inflow").await;
    assert_eq!(browser.value("#dialog-supplier").await, "Sítio Novo");
    assert_eq!(browser.value("#dialog-quantity").await, "12");
    assert_eq!(
        browser.value("#dialog-description").await,
        "from the market"
    );
    browser.click("#dialog button[type=submit]").await;
    browser.wait_text("#toasts", "Booked in: 12 ×").await;
    browser
        .goto(&format!("{inventory}/suppliers/?search=sitio"))
        .await;
    browser.wait_text("#index", "Sítio Novo").await;
}

#[tokio::test]
async fn a_summary_of_errors_keeps_its_distance_from_the_list() {
    let (_demo, browser, inventory) = opened(english((1280, 900)), "manager").await;
    browser.goto(&format!("{inventory}/low-stock/")).await;
    browser.fill("#index .cell-form .control", "many").await;
    browser.press(Key::Enter).await;
    browser.wait_for("#problems").await;
    let distance = "const [above, below] = ['#problems', '#index'].map((css) => document.querySelector(css).getBoundingClientRect());
        return below.top - above.bottom";
    assert!(browser.script(distance).await.as_f64().unwrap() >= 12.0);
}

/// Shows a password and hides it again.
async fn look_at(browser: &Browser, field: &str) {
    let show = format!(".control-box:has({field}) [data-reveal]");
    let kind = async || browser.attribute(field, "type").await;
    assert_eq!(kind().await.as_deref(), Some("password"));
    browser.click(&show).await;
    assert_eq!(kind().await.as_deref(), Some("text"));
    let label = browser.accessible_name(&show).await;
    assert!(label.starts_with("Hide"), "{label}");
    browser.check_accessibility().await;
    browser.click(&show).await;
    assert_eq!(kind().await.as_deref(), Some("password"));
}

#[tokio::test]
async fn a_password_is_shown_on_demand_and_the_cursor_is_where_the_mistake_was() {
    let (_demo, browser, inventory) = opened(english((1280, 900)), "admin").await;
    browser.clear_cookies().await;
    for (login, inside) in [("/admin/login/", ".site-nav"), ("/login/", ".shell-nav")] {
        browser.goto(&format!("{inventory}{login}")).await;
        assert_eq!(browser.focused().await, "#username", "{login}");
        let middle = "const card = document.querySelector('.login').getBoundingClientRect();
            return Math.abs(card.left + card.right - document.body.getBoundingClientRect().width)";
        assert!(browser.script(middle).await.as_f64().unwrap() < 2.0);
        browser.fill("#username", "manager").await;
        browser.fill("#password", "not the password").await;
        look_at(&browser, "#password").await;
        browser.click("main form button[type=submit]").await;
        browser.wait_for("[role=alert]").await;
        assert_eq!(browser.value("#username").await, "manager");
        assert_eq!(browser.focused().await, "#password", "{login}");
        if inside == ".shell-nav" {
            browser.type_text("#password", PASSWORD).await;
            browser.click(".control-box [data-reveal]").await;
            browser.click("main form button[type=submit]").await;
            browser.wait_for(inside).await;
        }
    }
    browser
        .goto(&format!("{inventory}/account/password/"))
        .await;
    let name = "form:has(#new_password) input[autocomplete=username]";
    assert_eq!(browser.value(name).await, "manager");
    browser.fill("#old_password", "something").await;
    look_at(&browser, "#old_password").await;
    browser
        .check_clean(&[&inventory.replace("http://", "")])
        .await;
}

#[tokio::test]
async fn what_only_a_script_can_do_is_not_offered_without_one() {
    let reader = english((360, 740)).without_scripts();
    let (_demo, browser, inventory) = opened(reader, "admin").await;
    for (path, absent) in [
        ("/account/password/", "[data-reveal]"),
        ("/admin/groups/1/change/", ".site-pane [type=search]"),
        ("/admin/suppliers/1/change/", "[data-add-row]"),
        ("/admin/products/", "[data-select-all]"),
    ] {
        browser.goto(&format!("{inventory}{path}")).await;
        assert!(browser.has(absent).await, "{path}");
        assert!(!browser.is_shown(absent).await, "{path}");
    }
    // A permission is granted and revoked by its checkbox alone.
    browser
        .goto(&format!("{inventory}/admin/groups/2/change/"))
        .await;
    browser
        .click("input[name='permissions:delete_brand']")
        .await;
    browser.click("button[name=_save]").await;
    browser.wait_for(".site-message").await;
}
