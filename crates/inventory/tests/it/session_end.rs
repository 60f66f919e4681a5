//! A session ends at its absolute limit, although it is used.

use http::Method;
use inventory::Config;

use crate::{
    app::app_on_both_engines,
    sessions::DAY,
    visitor::{hidden, redirects},
};

app_on_both_engines!(
    a_session_ends_a_month_after_it_began_however_often_it_is_used,
    async |app| {
        let visitor = app.logged_in("admin").await;
        for _ in 1..30 {
            app.clock.advance(DAY);
            assert_eq!(visitor.get("/").await.status, 200);
        }
        app.clock.advance(DAY);
        redirects(&visitor.get("/").await, "/login/?next=/");
    }
);

app_on_both_engines!(
    a_shorter_end_of_sessions_holds_for_those_that_run,
    async |app| {
        let visitor = app.logged_in("admin").await;
        let config = Config {
            session_lifetime: DAY,
            ..app.state.config.clone()
        };
        let restarted = app.restarted(config).await;
        let session = visitor.cookie("sessionid").unwrap();
        let visitor = restarted.visitor();
        visitor.set_cookie("sessionid", &session);
        assert_eq!(visitor.get("/").await.status, 200);
        app.clock.advance(DAY);
        redirects(&visitor.get("/").await, "/login/?next=/");
    }
);

app_on_both_engines!(
    a_form_that_is_sent_after_the_end_of_its_session_leads_back_to_its_page_and_says_so,
    async |app| {
        app.admin().a_product("Café", 5).await;
        let mut visitor = app.logged_in("admin").await;
        visitor.forget("sessionid");
        let sent = visitor.submit("/products/1/archive/", &[]).await;
        let login = "/login/?next=/products/1/archive/&ended=yes";
        redirects(&sent, login);
        for (language, told) in [
            ("en", "Your session has ended and nothing was saved."),
            ("pt-BR", "Sua sessão terminou e nada foi salvo."),
        ] {
            visitor.language = language;
            let page = visitor.page(login).await;
            assert!(page.contains(told), "{page}");
            let next = "name=\"next\" value=\"/products/1/archive/\"";
            assert!(page.contains(next), "{page}");
        }
        for (referrer, next) in [
            (
                "http://shop.example/products/?page=1",
                "/products/%3Fpage%3D1",
            ),
            ("https://evil.example/brands/", "/products/1/archive/"),
            ("http://shop.example//evil.example/", "/products/1/archive/"),
        ] {
            let path = "/products/1/archive/";
            let sent = visitor
                .send(Method::POST, path, "", &[("referer", referrer)])
                .await;
            redirects(&sent, &format!("/login/?next={next}&ended=yes"));
        }
    }
);

app_on_both_engines!(
    the_address_of_a_button_leads_to_the_page_of_the_button,
    async |app| {
        let visitor = app.logged_in("admin").await;
        for (path, page) in [
            ("/products/1/archive/", "../"),
            ("/low-stock/1/threshold/", "../../"),
            ("/account/tokens/revoke/", "../../sessions/"),
        ] {
            redirects(&visitor.get(path).await, page);
        }
        app.admin().a_product("Café", 5).await;
        let refused = visitor
            .submit("/low-stock/1/threshold/", &[("threshold", "abc")])
            .await;
        assert_eq!(refused.status, 422);
        assert_eq!(hidden(&refused.text, "next"), "/low-stock/1/threshold/");
    }
);
