//! Logging in and out with a form or with JSON, the length of sessions, redirects, and the
//! addresses of the service.

use std::time::Duration;

use http::Method;
use inventory::accounts::users;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use test_kit::html::has;

use crate::{
    app::{TestApp, app_on_both_engines},
    visitor::{PASSWORD, WITHOUT_PASSWORD, redirects},
};

pub(crate) const DAY: Duration = Duration::from_secs(86_400);

/// How many sessions there are.
async fn sessions(app: &TestApp) -> i64 {
    app.number("SELECT COUNT(*) FROM sessions").await
}

app_on_both_engines!(a_form_logs_in_and_leads_back, async |app| {
    let visitor = app.visitor();
    let anonymous = visitor.get("/").await;
    redirects(&anonymous, "/login/?next=/");
    assert!(anonymous.header("vary").contains("Cookie"));
    let form = visitor.get("/login/?next=/products/%3Fpage%3D2").await;
    assert_eq!(form.status, 200);
    test_kit::html::check(&form.text);
    assert_eq!(
        form.header("cache-control"),
        "max-age=0, no-cache, no-store, must-revalidate, private"
    );
    let [csrf] = form.set_cookies()[..] else {
        panic!("{form:?}")
    };
    assert!(csrf.starts_with("csrftoken="), "{csrf}");
    assert!(
        csrf.ends_with("; Path=/; Max-Age=31449600; SameSite=Lax"),
        "{csrf}"
    );
    let masked = |html: &str| {
        html.split("name=\"csrfmiddlewaretoken\" value=\"")
            .nth(1)
            .unwrap()[..64]
            .to_owned()
    };
    let (first, second) = (
        masked(&form.text),
        masked(&visitor.get("/login/").await.text),
    );
    assert_ne!(first, second, "the token changes at every render");
    has(&form.text, &["name=\"next\" value=\"/products/?page=2\""]);
    let before = visitor.cookie("csrftoken");
    let fields = [
        ("csrfmiddlewaretoken", first.as_str()),
        ("username", " admin "),
        ("password", PASSWORD),
        ("next", "/products/?page=2"),
    ];
    let answer = visitor.post_form("/login/", &fields).await;
    redirects(&answer, "/products/?page=2");
    let session = answer
        .set_cookies()
        .into_iter()
        .find(|line| line.starts_with("sessionid="))
        .unwrap();
    assert!(
        session.ends_with("; Path=/; Max-Age=1209600; HttpOnly; SameSite=Lax"),
        "{session}"
    );
    assert_ne!(
        visitor.cookie("csrftoken"),
        before,
        "the secret is another after a login"
    );
    let home = visitor.get("/").await;
    assert_eq!(home.status, 200);
    assert!(home.text.contains("<strong>admin</strong>"));
    redirects(&visitor.get("/login/?next=/brands/").await, "/brands/");
});

app_on_both_engines!(a_refused_login_shows_the_form_again, async |app| {
    app.execute(WITHOUT_PASSWORD).await;
    let mut visitor = app.visitor();
    visitor.get("/login/").await;
    let wrong = "Please enter a correct username and password. Note that both fields may be case-sensitive.";
    for (username, password) in [
        ("admin", "wrong password"),
        ("<b>\"nobody", PASSWORD),
        ("viewer", PASSWORD),
        ("a\0b", PASSWORD),
        ("Admin", PASSWORD),
    ] {
        let answer = visitor
            .submit("/login/", &[("username", username), ("password", password)])
            .await;
        assert_eq!(answer.status, 200);
        assert!(answer.text.contains(wrong), "{answer:?}");
        assert!(!answer.text.contains("<b>\""));
        if !username.contains('\0') {
            test_kit::html::check(&answer.text);
        }
    }
    let kept = visitor
        .submit("/login/", &[("username", "ana"), ("password", "x")])
        .await;
    assert!(kept.text.contains("value=\"ana\""));
    assert!(!kept.text.contains("value=\"x\""));
    let empty = visitor
        .submit("/login/", &[("username", "ana"), ("password", " ")])
        .await;
    assert_eq!(empty.text.matches("This field is required.").count(), 1);
    let empty = visitor.submit("/login/", &[]).await;
    assert_eq!(
        (
            empty.status,
            empty.text.matches("This field is required.").count()
        ),
        (200, 2)
    );
    visitor.language = "pt-BR";
    let empty = visitor.submit("/login/", &[]).await;
    assert!(empty.text.contains("Este campo é obrigatório."));
    test_kit::html::check(&empty.text);
    users::set_active(&app.state.db, app.clock.now(), "admin", false)
        .await
        .unwrap();
    visitor.language = "en";
    let inactive = visitor
        .submit("/login/", &[("username", "admin"), ("password", PASSWORD)])
        .await;
    assert!(inactive.text.contains(wrong));
    assert_eq!(sessions(&app).await, 0);
});

#[tokio::test(flavor = "multi_thread")]
async fn a_login_leads_to_no_other_site() {
    let database = test_kit::database::Database::new(test_kit::database::Engine::Sqlite);
    let app = TestApp::new(database.address()).await;
    for next in [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example",
        "javascript:alert(1)",
        "",
    ] {
        let visitor = app.visitor();
        visitor.get("/login/").await;
        let fields = [
            ("username", "admin"),
            ("password", PASSWORD),
            ("next", next),
        ];
        redirects(&visitor.submit("/login/", &fields).await, "/");
    }
}

app_on_both_engines!(only_the_digest_of_a_sessions_token_is_kept, async |app| {
    let visitor = app.logged_in("manager").await;
    let token = visitor.cookie("sessionid").unwrap();
    assert_eq!(token.len(), 43);
    let read = async |conn: &mut db::Conn| {
        conn.one("SELECT token_hash, address FROM sessions", &[], |row| {
            Ok((row.get::<String>(0)?, row.get::<String>(1)?))
        })
        .await
    };
    let (hash, address): (String, String) = app.state.db.read(read).await.unwrap();
    let digest = Sha256::digest(token.as_bytes());
    let digest = digest
        .iter()
        .fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
    assert_eq!((hash, address.as_str()), (digest, "127.0.0.1"));
    let forged = app.visitor();
    forged.set_cookie("sessionid", &"A".repeat(43));
    redirects(&forged.get("/").await, "/login/?next=/");
});

app_on_both_engines!(a_session_lasts_two_weeks_from_its_last_visit, async |app| {
    let visitor = app.logged_in("manager").await;
    let soon = visitor.get("/").await;
    assert!(
        !soon
            .set_cookies()
            .iter()
            .any(|line| line.starts_with("sessionid=")),
        "a visit is not written down at every turn"
    );
    for _ in 0..2 {
        app.clock.advance(DAY * 7);
        let answer = visitor.get("/").await;
        assert_eq!(answer.status, 200);
        assert!(
            answer
                .set_cookies()
                .iter()
                .any(|line| line.starts_with("sessionid=")),
            "the cookie lasts as long as the session"
        );
    }
    app.clock.advance(DAY * 14);
    redirects(&visitor.get("/").await, "/login/?next=/");
    visitor.get("/api/v1/brands/").await.has_status(401);
    assert_eq!(sessions(&app).await, 1);
    inventory::purge_expired(&app.state).await.unwrap();
    assert_eq!(sessions(&app).await, 0);
});

app_on_both_engines!(
    a_session_ends_with_its_account_and_its_password,
    async |app| {
        let visitor = app.logged_in("admin").await;
        let api = async || visitor.get("/api/v1/brands/").await.status;
        assert_eq!(api().await, 200);
        users::set_active(&app.state.db, app.clock.now(), "admin", false)
            .await
            .unwrap();
        assert_eq!(api().await, 401);
        redirects(&visitor.get("/").await, "/login/?next=/");
        users::set_active(&app.state.db, app.clock.now(), "admin", true)
            .await
            .unwrap();
        assert_eq!(api().await, 401, "sessions do not come back");
        let visitor = app.logged_in("admin").await;
        app.renew_password("admin").await;
        redirects(&visitor.get("/").await, "/login/?next=/");
        assert_eq!(sessions(&app).await, 0);
    }
);

app_on_both_engines!(logging_in_again_ends_the_session_before, async |app| {
    let visitor = app.logged_in("admin").await;
    let old = visitor.cookie("sessionid").unwrap();
    let fields = [("username", "admin"), ("password", PASSWORD)];
    redirects(&visitor.submit("/login/", &fields).await, "/");
    assert_eq!(sessions(&app).await, 1);
    visitor.set_cookie("sessionid", &old);
    redirects(&visitor.get("/").await, "/login/?next=/");
});

app_on_both_engines!(logging_out_ends_the_session, async |app| {
    let visitor = app.logged_in("admin").await;
    let session = visitor.cookie("sessionid").unwrap();
    for method in [Method::GET, Method::PUT] {
        let refused = visitor.send(method, "/logout/", "", &[]).await;
        assert_eq!(
            (
                refused.status,
                refused.text.as_str(),
                refused.header("allow")
            ),
            (405, "", "POST, OPTIONS")
        );
    }
    redirects(&visitor.submit("/logout/", &[]).await, "/login/");
    assert_eq!(visitor.cookie("sessionid"), None);
    assert_eq!(sessions(&app).await, 0);
    visitor.set_cookie("sessionid", &session);
    redirects(&visitor.get("/").await, "/login/?next=/");
});

app_on_both_engines!(a_program_logs_in_renews_and_logs_out, async |app| {
    let visitor = app.visitor();
    let credentials = json!({"username": "manager", "password": PASSWORD}).to_string();
    let answer = visitor
        .json(Method::POST, "/login/", &credentials, &[])
        .await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(answer.text.starts_with("{\"access\":\""));
    let mut body = answer.json();
    let permissions = body["user"]["permissions"].take();
    let permissions: Vec<&str> = permissions
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    for permission in [
        "add_brand",
        "change_product",
        "view_outflow",
        "view_analysis",
    ] {
        assert!(permissions.contains(&permission), "{permissions:?}");
    }
    assert!(
        !permissions
            .iter()
            .any(|permission| permission.starts_with("delete_"))
    );
    assert_eq!(
        body["user"],
        json!({"id": 2, "username": "manager", "email": "", "first_name": "", "last_name": "", "groups": ["Managers"], "permissions": null})
    );
    assert!(visitor.cookie("sessionid").is_some());
    assert_eq!(visitor.get("/api/v1/brands/").await.status, 200);
    let refresh = json!({"refresh": body["refresh"]}).to_string();
    let secret = visitor.cookie("csrftoken").unwrap();
    let proof = [("x-csrftoken", secret.as_str())];
    let renewed = visitor
        .json(Method::POST, "/token/refresh/", &refresh, &proof)
        .await;
    assert_eq!(renewed.status, 200, "{renewed:?}");
    let access = renewed.json()["access"].as_str().unwrap().to_owned();
    assert_eq!(renewed.json(), json!({"access": access}));
    let out = visitor
        .json(Method::POST, "/logout/", &refresh, &proof)
        .await;
    out.is(200, &json!({"detail": "Successfully logged out."}));
    assert_eq!(visitor.cookie("sessionid"), None);
    let blacklisted = json!({"detail": "Token is blacklisted", "code": "token_not_valid"});
    visitor
        .json(Method::POST, "/token/refresh/", &refresh, &[])
        .await
        .is(401, &blacklisted);
});

app_on_both_engines!(a_program_is_told_what_is_wrong_in_json, async |app| {
    let visitor = app.visitor();
    let post = async |path: &str, body: Value| {
        visitor
            .json(Method::POST, path, &body.to_string(), &[])
            .await
    };
    let no_account = json!({"detail": "No active account found with the given credentials"});
    post("/login/", json!({"username": "admin", "password": "wrong"}))
        .await
        .is(401, &no_account);
    let required = json!(["This field is required."]);
    post("/login/", json!({}))
        .await
        .is(400, &json!({"username": required, "password": required}));
    post("/token/refresh/", json!({}))
        .await
        .is(400, &json!({"refresh": required}));
    let invalid = json!({"detail": "Token is invalid", "code": "token_not_valid"});
    post("/token/refresh/", json!({"refresh": "x"}))
        .await
        .is(401, &invalid);
    let malformed = visitor.json(Method::POST, "/login/", "{", &[]).await;
    assert_eq!(malformed.status, 400);
    let refused = visitor
        .send(
            Method::GET,
            "/logout/",
            "",
            &[("accept", "application/json")],
        )
        .await;
    refused.is(405, &json!({"detail": "Method \"GET\" not allowed."}));
    let refused = visitor.get("/token/refresh/").await;
    refused.is(405, &json!({"detail": "Method \"GET\" not allowed."}));
    let text = [
        ("content-type", "text/plain"),
        ("accept", "application/json"),
    ];
    let refused = visitor.send(Method::POST, "/login/", "a=b", &text).await;
    refused.is(
        415,
        &json!({"detail": "Unsupported media type \"text/plain\" in request."}),
    );
    assert_eq!(sessions(&app).await, 0);
});

#[tokio::test(flavor = "multi_thread")]
async fn every_address_answers_in_its_own_shape() {
    let database = test_kit::database::Database::new(test_kit::database::Engine::Sqlite);
    let app = TestApp::new(database.address()).await;
    let visitor = app.visitor();
    for path in [
        "/api/v1/",
        "/api/v2/brands/",
        "/api/v1/Brands/",
        "/api/v1//brands/",
        "/api/v1/brands/1.0/x/",
    ] {
        visitor
            .get(path)
            .await
            .is(404, &json!({"detail": "Not found."}));
    }
    let page = visitor.get("/nowhere/").await;
    assert_eq!(
        (page.status, page.header("content-type")),
        (404, "text/html; charset=utf-8")
    );
    assert!(
        page.header("content-security-policy")
            .contains("style-src 'self'")
    );
    for (method, path, status, location) in [
        (
            Method::GET,
            "/api/v1/brands?page=2&search=a%20b",
            301,
            "/api/v1/brands/?page=2&search=a%20b",
        ),
        (Method::HEAD, "/login", 301, "/login/"),
        (Method::POST, "/api/v1/brands", 308, "/api/v1/brands/"),
        (
            Method::DELETE,
            "/api/v1/products/7",
            308,
            "/api/v1/products/7/",
        ),
        (
            Method::OPTIONS,
            "/api/v1/authentication/token",
            308,
            "/api/v1/authentication/token/",
        ),
    ] {
        let answer = visitor.send(method, path, "", &[]).await;
        assert_eq!(answer.redirect(), (status, location), "{path}");
        assert_eq!(answer.text, "");
    }
    let health = json!({"status": "healthy", "service": "inventory", "version": "1.0.0"});
    visitor.get("/health").await.is(200, &health);
    assert_eq!(visitor.get("/ready").await.status, 200);
    let large = "x".repeat(1024 * 1024 + 1);
    let refused = visitor
        .json(Method::POST, "/api/v1/authentication/token/", &large, &[])
        .await;
    assert_eq!(refused.status, 413);
}
