//! A shopkeeper's day with the keyboard alone: no mouse, no script of the test, and the focus is
//! always visible.

use std::ops::Deref;

use test_kit::{
    browser::{Browser, Key, Reader},
    process::Start,
};

use super::PASSWORD;

const TITLE: &str = "Arroz branco tipo 1 Bom Grão 1 kg";
const SERIE_NUMBER: &str = "7891000000007";
/// More stops of the Tab key than any page needs.
const FAR: usize = 90;

/// What is wrong with the focused element: none, outside the window, or without a focus ring. A
/// field in a box has the ring on its box.
const PLACE: &str = "const at = document.activeElement;
    if (!at || at === document.body) return '';
    const box = at.getBoundingClientRect();
    const isIn = box.width > 1 && box.height > 1 && box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth;
    const hasRing = [at, at.parentElement].some((part) => {
        const style = getComputedStyle(part);
        return (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2) || style.boxShadow !== 'none';
    });
    return isIn && hasRing ? '' : `${at.outerHTML.slice(0, 120)}: ${isIn ? 'no ring' : 'out of the window'}`;";

/// A user with a keyboard.
struct Typist(Browser);

impl Deref for Typist {
    type Target = Browser;

    fn deref(&self) -> &Browser {
        &self.0
    }
}

impl Typist {
    async fn types(&self, text: &str) {
        for sign in text.chars() {
            self.press(match sign {
                ' ' => Key::Space,
                sign => Key::Char(sign),
            })
            .await;
        }
    }

    /// Presses Tab until an element has the focus, and checks every stop.
    async fn goes_to(&self, css: &str) {
        let is_there = format!("return document.activeElement.matches(`{css}`)");
        for _ in 0..FAR {
            self.press(Key::Tab).await;
            let wrong = self.script(PLACE).await;
            assert_eq!(wrong, "", "on the way to {css} on {}", self.url().await);
            if self.script(&is_there).await == true {
                return;
            }
        }
        panic!("Tab does not lead to {css} on {}", self.url().await);
    }

    async fn is_at(&self, css: &str) {
        let expression = format!("document.activeElement.matches(`{css}`)");
        self.wait_until(&format!("the focus at {css}"), &expression)
            .await;
    }

    async fn is_told(&self, text: &str) {
        self.wait_text("#toasts", text).await;
    }

    async fn logs_in(&self) {
        self.is_at("#username").await;
        self.types("admin").await;
        self.press(Key::Tab).await;
        self.is_at("#password").await;
        self.types(PASSWORD).await;
        self.press(Key::Enter).await;
        self.wait_for(".shell-nav").await;
    }

    /// Finds a product by its code; returns its stock.
    async fn finds_a_product(&self) -> i64 {
        self.press(Key::Char('/')).await;
        self.is_at("#shell-search").await;
        self.types(SERIE_NUMBER).await;
        self.press(Key::Enter).await;
        self.wait_text("h1", TITLE).await;
        let units = self.text(".figure-value").await;
        units.replace(',', "").parse().unwrap()
    }

    /// The typed quantity replaces the suggested one.
    async fn books_in_five(&self, balance: i64) {
        self.press(Key::Char('e')).await;
        self.is_at("#dialog-supplier").await;
        self.types("a").await;
        self.wait_for("#dialog .picker-list:not([hidden]) [role=option]")
            .await;
        self.press(Key::Enter).await;
        self.is_at("#dialog-quantity").await;
        self.types("5").await;
        self.press(Key::Enter).await;
        self.is_told(&format!("Booked in: 5 × {TITLE}. New balance: {balance}."))
            .await;
    }

    async fn books_out_two(&self, balance: i64) {
        self.press(Key::Char('s')).await;
        self.is_at("#dialog-quantity").await;
        self.types("2").await;
        self.press(Key::Enter).await;
        self.is_told(&format!("Booked out: 2 × {TITLE}. New balance: {balance}."))
            .await;
    }

    async fn takes_it_back(&self, balance: i64) {
        self.press(Key::Char('u')).await;
        self.is_at("#toasts form button").await;
        assert_eq!(self.script(PLACE).await, "");
        self.press(Key::Enter).await;
        self.is_told(&format!(
            "Outflow undone: 2 × {TITLE}. New balance: {balance}."
        ))
        .await;
    }

    /// On a page with a form, typing goes to the form: its first field has the focus.
    async fn types_into_a_whole_page(&self) {
        let page = self.url().await;
        let form = page.split("/products/").next().unwrap().to_owned() + "/outflows/new/";
        self.goto(&form).await;
        self.is_at("#product").await;
        self.types("cafe").await;
        self.wait_until(
            "the text",
            "document.getElementById('product').value === 'cafe'",
        )
        .await;
        let acts = "const event = new KeyboardEvent('keydown', { key: 'e', bubbles: true, cancelable: true });
            document.body.dispatchEvent(event);
            return event.defaultPrevented;";
        assert_eq!(self.script(acts).await, false);
        self.goto(&page).await;
    }

    async fn corrects_the_record(&self) {
        self.goes_to("main a[href='edit/']").await;
        self.press(Key::Enter).await;
        self.is_at("#title").await;
        self.goes_to("#threshold").await;
        self.types("7").await;
        self.press(Key::Enter).await;
        self.is_told("Product changed").await;
    }

    async fn filters_the_list(&self) {
        self.goes_to(".shell-nav a[href='/products/']").await;
        self.press(Key::Enter).await;
        self.wait_for("#list-search").await;
        self.press(Key::Char('/')).await;
        self.is_at("#list-search").await;
        self.types("arroz").await;
        self.wait_until("the search", "location.search.includes('search=arroz')")
            .await;
        self.goes_to("main summary").await;
        self.press(Key::Enter).await;
        self.goes_to("#filter-category").await;
        self.types("merc").await;
        self.wait_for(".picker-list:not([hidden]) [role=option]")
            .await;
        self.press(Key::Enter).await;
        self.wait_until("the filter", "location.search.includes('category=')")
            .await;
        self.wait_text("#index tbody th", TITLE).await;
    }

    async fn logs_out(&self) {
        self.goes_to(".shell-tools summary").await;
        self.press(Key::Enter).await;
        self.goes_to("form[action='/logout/'] button").await;
        self.press(Key::Enter).await;
        self.is_at("#username").await;
    }
}

#[tokio::test]
async fn a_whole_day_needs_no_mouse() {
    let demo = Start::new(["demo"]).ready().await;
    let inventory = demo.url("inventory").await;
    let reader = Reader {
        language: "en".to_owned(),
        ..Reader::default()
    };
    let typist = Typist(Browser::open_as(reader).await);
    typist.goto(&format!("{inventory}/")).await;
    typist.logs_in().await;
    let units = typist.finds_a_product().await;
    typist.books_in_five(units + 5).await;
    typist.books_out_two(units + 3).await;
    typist.takes_it_back(units + 5).await;
    typist.types_into_a_whole_page().await;
    typist.corrects_the_record().await;
    typist.filters_the_list().await;
    typist.logs_out().await;
    let host = inventory.trim_start_matches("http://");
    typist.check_clean(&[host]).await;
}
