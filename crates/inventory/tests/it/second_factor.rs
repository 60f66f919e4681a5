//! The second factor: a second step for people, `otp` for programs, each code valid once, few
//! attempts, and recovery codes for a lost device.

use std::time::Duration;

use http::Method;
use inventory::{
    Config,
    access::Actor,
    accounts::second_factor::{self, MandatoryFor, totp::TotpSecret},
};
use serde_json::{Value, json};
use test_kit::{
    database::{Database, Engine},
    html::{has, has_not},
    logs::Logs,
    on_both_engines,
};

use crate::{
    app::{Answer, TestApp, app_on_both_engines},
    visitor::{PASSWORD, Visitor, hidden, leads_to, redirects},
};

const HERE: &str = "/account/second-factor/";
const RENEW: &str = "/account/second-factor/recovery-codes/";
const OBTAIN: &str = "/api/v1/authentication/token/";

/// The texts of the `<li><code>` elements of a page.
fn codes(html: &str) -> Vec<String> {
    let items = html.split("<li><code>").skip(1);
    items
        .map(|item| item.split('<').next().unwrap().to_owned())
        .collect()
}

/// Turns the second factor of `manager` on: the secret, and the recovery codes.
async fn turned_on(app: &TestApp) -> (TotpSecret, Vec<String>) {
    let visitor = app.logged_in("manager").await;
    let page = visitor.get(HERE).await;
    test_kit::html::check(&page.text);
    assert!(page.header("cache-control").contains("no-store"));
    let secret = hidden(&page.text, "secret");
    let shared = TotpSecret::parse(&secret).unwrap();
    let code = shared.code_at(app.clock.now());
    for (password, code) in [("wrong password", code.as_str()), (PASSWORD, "000000")] {
        let fields = [
            ("secret", secret.as_str()),
            ("password", password),
            ("code", code),
        ];
        let refused = visitor.submit(HERE, &fields).await;
        assert_eq!(refused.status, 422, "{refused:?}");
        assert_eq!(
            hidden(&refused.text, "secret"),
            secret,
            "the device keeps its secret"
        );
        test_kit::html::check(&refused.text);
    }
    let before = visitor.cookie("sessionid");
    let fields = [
        ("secret", secret.as_str()),
        ("password", PASSWORD),
        ("code", &code),
    ];
    let done = visitor.submit(HERE, &fields).await;
    assert_eq!(done.status, 200, "{done:?}");
    assert_ne!(
        visitor.cookie("sessionid"),
        before,
        "the session goes on under another token"
    );
    test_kit::html::check(&done.text);
    let on = visitor.get(HERE).await;
    test_kit::html::check(&on.text);
    assert!(on.text.contains("Recovery codes left: 10"), "{on:?}");
    visitor.submit("/logout/", &[]).await;
    // The code that turned it on is used up.
    app.clock.advance(Duration::from_secs(60));
    (shared, codes(&done.text))
}

/// A browser that has sent the username and the password.
async fn after_password(app: &TestApp) -> Visitor<'_> {
    let visitor = app.visitor();
    visitor.get("/login/").await;
    let fields = [
        ("username", "manager"),
        ("password", PASSWORD),
        ("next", "/shortcuts/"),
    ];
    redirects(&visitor.submit("/login/", &fields).await, "/login/code/");
    assert_eq!(visitor.cookie("sessionid"), None);
    visitor
}

/// Sends a code in the second step.
async fn enter(visitor: &Visitor<'_>, code: &str) -> Answer {
    visitor.submit("/login/code/", &[("code", code)]).await
}

app_on_both_engines!(a_person_brings_a_code_after_the_password, async |app| {
    let (secret, _) = turned_on(&app).await;
    let visitor = after_password(&app).await;
    redirects(&visitor.get("/").await, "/login/?next=/");
    let form = visitor.get("/login/code/").await;
    test_kit::html::check(&form.text);
    let refused = enter(&visitor, "123").await;
    assert_eq!(refused.status, 200);
    assert!(refused.text.contains("This code is not valid"));
    let code = secret.code_at(app.clock.now());
    let spaced = format!(" {} {} ", &code[..3], &code[3..]);
    let entered = enter(&visitor, &spaced).await;
    redirects(&entered, "/shortcuts/");
    assert_eq!(visitor.cookie("login_step"), None);
    assert_eq!(visitor.get("/").await.status, 200);

    let again = after_password(&app).await;
    let replayed = enter(&again, &code).await;
    assert_eq!(replayed.status, 200, "a code is taken once");
    app.clock.advance(Duration::from_secs(30));
    let code = secret.code_at(app.clock.now());
    redirects(&enter(&again, &code).await, "/shortcuts/");
});

app_on_both_engines!(whoever_taps_twice_sees_codes_that_hold, async |app| {
    let visitor = app.logged_in("manager").await;
    let html = visitor.page(HERE).await;
    let (secret, token) = (hidden(&html, "secret"), hidden(&html, "form_token"));
    let code = TotpSecret::parse(&secret).unwrap().code_at(app.clock.now());
    let fields = [
        ("form_token", token.as_str()),
        ("secret", secret.as_str()),
        ("password", PASSWORD),
        ("code", code.as_str()),
    ];
    // When the button is tapped again, a browser drops the first answer with its cookies.
    let before = visitor.cookies.lock().unwrap().clone();
    let first = visitor.submit(HERE, &fields).await;
    let first = codes(&first.text);
    assert_eq!(first.len(), 10);
    *visitor.cookies.lock().unwrap() = before;
    let second = visitor.submit(HERE, &fields).await;
    assert_eq!(codes(&second.text), first, "{second:?}");
    app.clock.advance(Duration::from_secs(61));
    let page = visitor.page("/account/sessions/").await;
    assert_eq!(page.matches("/end/\"").count(), 0, "{page}");

    let token = hidden(&visitor.page(HERE).await, "form_token");
    let secret = TotpSecret::parse(&secret).unwrap();
    let code = secret.code_at(app.clock.now());
    let fields = [
        ("form_token", token.as_str()),
        ("password", PASSWORD),
        ("code", code.as_str()),
    ];
    let (one, other) = tokio::join!(
        visitor.submit(RENEW, &fields),
        visitor.submit(RENEW, &fields)
    );
    let renewed = codes(&one.text);
    assert_eq!(renewed.len(), 10, "{one:?}");
    assert_eq!(codes(&other.text), renewed, "{other:?}");
    assert_ne!(renewed, first);
    // A recovery code that was used meanwhile is not shown again.
    app.clock.advance(Duration::from_secs(61));
    let elsewhere = after_password(&app).await;
    enter(&elsewhere, &renewed[0]).await;
    let again = elsewhere.submit(RENEW, &fields).await;
    assert_eq!(codes(&again.text), renewed[1..], "{again:?}");
});

app_on_both_engines!(
    what_opens_an_account_anew_ends_the_session_before_within_a_minute,
    async |app| {
        let visitor = app.logged_in("manager").await;
        let page = visitor.page(HERE).await;
        let secret = hidden(&page, "secret");
        let code = TotpSecret::parse(&secret).unwrap().code_at(app.clock.now());
        let stolen = visitor.cookie("sessionid").unwrap();
        // The stolen session's visit would have extended it.
        app.clock.advance(Duration::from_secs(2));
        let fields = [
            ("secret", secret.as_str()),
            ("password", PASSWORD),
            ("code", code.as_str()),
        ];
        assert_eq!(visitor.submit(HERE, &fields).await.status, 200);
        let thief = app.visitor();
        thief.set_cookie("sessionid", &stolen);
        assert_eq!(thief.get("/").await.status, 200);
        app.clock.advance(Duration::from_secs(60));
        redirects(&thief.get("/").await, "/login/?next=/");
        assert_eq!(visitor.get("/").await.status, 200);
        // A second request by another form gets a message.
        let again = visitor.submit(HERE, &fields).await;
        assert_eq!(again.status, 422, "{again:?}");
        assert!(again.text.contains("Two-step verification is already on."));
    }
);

app_on_both_engines!(a_recovery_code_opens_once, async |app| {
    let (_, codes) = turned_on(&app).await;
    assert_eq!(codes.len(), 10);
    let typed = codes[3].to_uppercase().replace('-', " ");
    let visitor = after_password(&app).await;
    redirects(&enter(&visitor, &typed).await, "/shortcuts/");
    let status = second_factor::status(&app.state.db, 2)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(status.recovery_codes, 9);
    let again = after_password(&app).await;
    let refused = enter(&again, &codes[3]).await;
    assert_eq!(refused.status, 200);
    // A stolen session and the password make no new codes.
    for code in ["", "000000", codes[3].as_str()] {
        let refused = visitor
            .submit(RENEW, &[("password", PASSWORD), ("code", code)])
            .await;
        assert_eq!(refused.status, 422, "{refused:?}");
        assert!(refused.text.contains("This code is not valid now."));
    }
    let renewed = visitor
        .submit(RENEW, &[("password", PASSWORD), ("code", &codes[5])])
        .await;
    assert_eq!(self::codes(&renewed.text).len(), 10, "{renewed:?}");
    let old = enter(&again, &codes[4]).await;
    assert_eq!(old.status, 200, "the codes before are of no use any more");
});

app_on_both_engines!(
    a_new_password_ends_a_login_between_its_two_steps,
    async |app| {
        let (secret, codes) = turned_on(&app).await;
        let visitor = after_password(&app).await;
        app.renew_password("manager").await;
        let code = secret.code_at(app.clock.now());
        for code in [&code, &codes[0]] {
            let refused = enter(&visitor, code).await;
            assert_eq!(refused.status, 200, "{refused:?}");
            assert_eq!(visitor.cookie("sessionid"), None);
        }
    }
);

app_on_both_engines!(
    a_form_that_is_sent_again_after_days_makes_other_recovery_codes,
    async |app| {
        let (secret, _) = turned_on(&app).await;
        let mut renewed = Vec::new();
        for _ in 0..2 {
            let visitor = after_password(&app).await;
            let code = secret.code_at(app.clock.now());
            enter(&visitor, &code).await;
            app.clock.advance(Duration::from_secs(30));
            let code = secret.code_at(app.clock.now());
            let fields = [
                ("password", PASSWORD),
                ("form_token", "once"),
                ("code", code.as_str()),
            ];
            renewed.push(codes(&visitor.submit(RENEW, &fields).await.text));
            app.clock.advance(Duration::from_secs(73 * 60 * 60));
        }
        assert_eq!((renewed[0].len(), renewed[1].len()), (10, 10));
        assert!(renewed[1].iter().all(|code| !renewed[0].contains(code)));
    }
);

app_on_both_engines!(a_login_of_two_steps_has_five_minutes, async |app| {
    let (secret, _) = turned_on(&app).await;
    let visitor = after_password(&app).await;
    app.clock.advance(Duration::from_secs(300));
    let code = secret.code_at(app.clock.now());
    redirects(&enter(&visitor, &code).await, "/login/");
    redirects(&visitor.get("/login/code/").await, "/login/");
    visitor.set_cookie("login_step", "AAAA");
    redirects(&visitor.get("/login/code/").await, "/login/");
});

app_on_both_engines!(a_program_brings_its_code_with_the_password, async |app| {
    let (secret, codes) = turned_on(&app).await;
    let post = async |path: &str, body: Value| {
        let program = app.visitor();
        program
            .json(Method::POST, path, &body.to_string(), &[])
            .await
    };
    for (path, step) in [(OBTAIN, 0), ("/login/", 1)] {
        app.clock.advance(Duration::from_secs(60));
        let missing = json!({"username": "manager", "password": PASSWORD});
        let refused = post(path, missing).await;
        assert_eq!(refused.status, 401, "{refused:?}");
        assert_eq!(refused.json()["code"], "otp_required");
        let wrong = json!({"username": "manager", "password": PASSWORD, "otp": "000000"});
        assert_eq!(post(path, wrong).await.json()["code"], "otp_invalid");
        let unknown = json!({"username": "manager", "password": "wrong", "otp": "000000"});
        let detail = json!({"detail": "No active account found with the given credentials"});
        post(path, unknown).await.is(401, &detail);
        let code = secret.code_at(app.clock.now());
        let right = json!({"username": "manager", "password": PASSWORD, "otp": code});
        assert_eq!(post(path, right.clone()).await.status, 200);
        assert_eq!(
            post(path, right).await.json()["code"],
            "otp_invalid",
            "once"
        );
        let recovery = json!({"username": "manager", "password": PASSWORD, "otp": codes[step]});
        assert_eq!(post(path, recovery).await.status, 200);
        let without = json!({"username": "viewer", "password": PASSWORD, "otp": "1"});
        assert_eq!(post(path, without).await.status, 200);
    }
});

app_on_both_engines!(wrong_codes_count_over_a_restart, async |app| {
    let (secret, _) = turned_on(&app).await;
    let guess = async |app: &TestApp, code: &str| {
        let body = json!({"username": "manager", "password": PASSWORD, "otp": code}).to_string();
        let stranger = [("x-forwarded-for", "203.0.113.9")];
        let program = app.visitor();
        let answer = program.json(Method::POST, OBTAIN, &body, &stranger).await;
        answer.status
    };
    for _ in 0..5 {
        assert_eq!(guess(&app, "000000").await, 401);
    }
    let config = app.state.config.clone();
    let restarted = app.restarted(config).await;
    app.clock.advance(Duration::from_secs(59));
    let code = secret.code_at(app.clock.now());
    assert_eq!(guess(&restarted, &code).await, 429);
    app.clock.advance(Duration::from_secs(1));
    let code = secret.code_at(app.clock.now());
    assert_eq!(guess(&restarted, &code).await, 200);
});

#[tokio::test(flavor = "multi_thread")]
async fn codes_cannot_be_guessed() {
    let database = Database::new(Engine::Sqlite);
    let app = TestApp::new(database.address()).await;
    let (secret, _) = turned_on(&app).await;
    let visitor = after_password(&app).await;
    let (logs, guard) = Logs::of_this_thread();
    for _ in 0..5 {
        let refused = enter(&visitor, "000000").await;
        assert_eq!(refused.status, 200);
    }
    drop(guard);
    let text = logs.text();
    let told = text.matches("a one-time code was refused user=2").count();
    assert_eq!(told, 5, "{text}");
    assert!(!text.contains("000000"), "{text}");
    let code = secret.code_at(app.clock.now());
    let throttled = enter(&visitor, &code).await;
    assert_eq!(throttled.status, 429, "the right one neither");
    assert_eq!(throttled.header("retry-after"), "60");
    test_kit::html::check(&throttled.text);
    let body = json!({"username": "manager", "password": PASSWORD, "otp": code}).to_string();
    let program = app.visitor();
    let throttled = program.json(Method::POST, OBTAIN, &body, &[]).await;
    assert_eq!(throttled.status, 429, "from wherever it comes");
}

app_on_both_engines!(
    a_second_factor_is_taken_off_with_password_and_code_or_by_an_operator,
    async |app| {
        let (secret, _) = turned_on(&app).await;
        let visitor = after_password(&app).await;
        let code = secret.code_at(app.clock.now());
        enter(&visitor, &code).await;
        let off = "/account/second-factor/off/";
        app.clock.advance(Duration::from_secs(60));
        let code = secret.code_at(app.clock.now());
        for (password, code) in [
            ("wrong password", code.as_str()),
            (PASSWORD, ""),
            (PASSWORD, "000000"),
        ] {
            let fields = [("off_password", password), ("off_code", code)];
            let refused = visitor.submit(off, &fields).await;
            assert_eq!(refused.status, 422, "{refused:?}");
            test_kit::html::check(&refused.text);
        }
        let fields = [("off_password", PASSWORD), ("off_code", &code)];
        leads_to(&visitor.submit(off, &fields).await, HERE);
        assert_eq!(second_factor::status(&app.state.db, 2).await.unwrap(), None);
        has(
            &visitor.get(HERE).await.text,
            &["Two-step verification was turned off."],
        );

        turned_on(&app).await;
        let (db, now) = (&app.state.db, app.clock.now());
        assert!(
            second_factor::reset(db, &Actor(None), 2, now)
                .await
                .unwrap()
        );
        assert!(
            !second_factor::reset(db, &Actor(None), 2, now)
                .await
                .unwrap()
        );
        app.logged_in("manager").await;
    }
);

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_of_the_database_makes_no_codes() {
    let database = Database::new(Engine::Sqlite);
    let app = TestApp::new(database.address()).await;
    let (secret, codes) = turned_on(&app).await;
    let read = async |conn: &mut db::Conn| {
        let kept =
            "SELECT secret FROM second_factors UNION ALL SELECT code_hash FROM recovery_codes";
        conn.all(kept, &[], |row| row.get::<String>(0)).await
    };
    let kept = app.state.db.read(read).await.unwrap().join("\n");
    assert!(!kept.contains(&secret.base32()));
    assert!(codes.iter().all(|code| !kept.contains(code)));
}

on_both_engines!(
    an_account_that_must_have_a_second_factor_opens_nothing_before_it_has_one,
    async |address| {
        let mandatory = Config {
            second_factor: MandatoryFor::Writers,
            ..Config::default()
        };
        let app = TestApp::with(&address, mandatory).await;
        let visitor = app.logged_in("manager").await;
        for path in ["/", "/products/new/", "/account/password/"] {
            redirects(&visitor.get(path).await, HERE);
        }
        let told = json!({"detail": "This account must have a second factor: turn it on at /account/second-factor/."});
        let by_session = visitor.get("/api/v1/brands/").await;
        by_session.is(403, &told);
        app.manager().get("/api/v1/brands/").await.is(403, &told);
        let credentials = json!({"username": "manager", "password": PASSWORD});
        let mut expected = told.clone();
        expected["code"] = "otp_setup_required".into();
        app.anonymous()
            .post(OBTAIN, credentials)
            .await
            .is(401, &expected);
        has(&visitor.page(HERE).await, &["Turn it on to continue."]);

        let (secret, _) = turned_on(&app).await;
        let inside = after_password(&app).await;
        let code = secret.code_at(app.clock.now());
        redirects(&enter(&inside, &code).await, "/shortcuts/");
        assert_eq!(inside.get("/").await.status, 200);
        assert_eq!(app.manager().get("/api/v1/brands/").await.status, 200);
        // It stays on.
        has_not(&inside.page(HERE).await, &["off_code"]);
        app.clock.advance(Duration::from_secs(60));
        let code = secret.code_at(app.clock.now());
        let fields = [("off_password", PASSWORD), ("off_code", code.as_str())];
        let refused = inside.submit(&format!("{HERE}off/"), &fields).await;
        assert_eq!(refused.status, 422, "{refused:?}");
        // A user who only reads needs none.
        let viewer = app.logged_in("viewer").await;
        assert_eq!(viewer.get("/").await.status, 200);
    }
);

on_both_engines!(staff_may_have_to_have_a_second_factor, async |address| {
    let mandatory = Config {
        second_factor: MandatoryFor::Staff,
        ..Config::default()
    };
    let app = TestApp::with(&address, mandatory).await;
    for (visitor, path) in [
        (app.superuser().await, "/admin/"),
        (app.staff("clerk", &["view_brand"]).await, "/admin/"),
        (app.staff("helper", &["view_brand"]).await, "/"),
    ] {
        assert_eq!(visitor.get(path).await.header("location"), HERE, "{path}");
    }
    let manager = app.logged_in("manager").await;
    assert_eq!(manager.get("/").await.status, 200);
});
