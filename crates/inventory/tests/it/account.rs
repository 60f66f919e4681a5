//! `/account/`: users change their own profile, password, sessions and tokens, and the audit log
//! records it.

use std::time::Duration;

use http::Method;
use serde_json::{Value, json};
use test_kit::html::has;

use crate::{
    app::{Answer, TestApp, app_on_both_engines},
    visitor::{PASSWORD, leads_to},
};

const OBTAIN: &str = "/api/v1/authentication/token/";

/// The fields of the audit rows of one user, oldest first.
async fn changes(app: &TestApp, user: i64) -> Vec<String> {
    let wanted = inventory::rest::page::PageRequest {
        page: inventory::rest::list::PageNumber::Last,
        size: 100,
    };
    let page = inventory::audit::history(&app.state, inventory::access::Model::User, user, wanted)
        .await
        .unwrap();
    page.results
        .iter()
        .rev()
        .map(|entry| entry.fields.names().join(","))
        .collect()
}

/// Calls the API with this access token.
async fn call_with(app: &TestApp, access: &Value) -> Answer {
    let bearer = format!("Bearer {}", access.as_str().unwrap());
    let headers = [("authorization", bearer.as_str())];
    let program = app.visitor();
    program
        .send(Method::GET, "/api/v1/brands/", "", &headers)
        .await
}

app_on_both_engines!(people_change_how_they_are_called, async |app| {
    let mut visitor = app.logged_in("viewer").await;
    let fields = [
        ("first_name", " Ana "),
        ("last_name", "Souza"),
        ("email", "ana@loja.example"),
    ];
    leads_to(&visitor.submit("/account/", &fields).await, "/account/");
    let page = visitor.page("/account/").await;
    for text in [
        "value=\"Ana\"",
        "value=\"Souza\"",
        "ana@loja.example",
        "Your details were saved.",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert_eq!(
        changes(&app, 3).await.last().unwrap(),
        "first_name,last_name,email"
    );
    visitor.language = "pt-BR";
    let refused = visitor
        .submit("/account/", &[("first_name", "<b>"), ("email", "nowhere")])
        .await;
    assert_eq!(refused.status, 422);
    has(&refused.text, &["Digite um endereço de e-mail válido."]);
    assert!(refused.text.contains("value=\"&#60;b&#62;\""));
    test_kit::html::check(&refused.text);
    let forged = visitor.post_form("/account/", &fields).await;
    assert_eq!(forged.status, 403);
    let stranger = app.visitor();
    assert_eq!(
        stranger.get("/account/").await.header("location"),
        "/login/?next=/account/"
    );
});

app_on_both_engines!(
    another_password_needs_the_one_before_and_ends_other_sessions,
    async |app| {
        let here = app.logged_in("viewer").await;
        let there = app.visitor();
        there.get("/login/").await;
        there
            .submit("/login/", &[("username", "viewer"), ("password", PASSWORD)])
            .await;
        let new = "quatro gatos pretos";
        let change = async |old: &str, new: &str, again: &str| {
            let fields = [
                ("old_password", old),
                ("new_password", new),
                ("new_password_again", again),
            ];
            here.submit("/account/password/", &fields).await
        };
        here.page("/account/password/").await;
        for (old, new, again, text) in [
            ("", "", "", "This field is required."),
            (
                "wrong password",
                new,
                new,
                "This is not your current password.",
            ),
            (PASSWORD, new, "quatro gatos", "The two passwords differ."),
            (PASSWORD, "short", "short", "at least 12 characters"),
            (
                PASSWORD,
                "viewer-viewer-1",
                "viewer-viewer-1",
                "too similar to the username",
            ),
            (PASSWORD, "password1234", "password1234", "too common"),
        ] {
            let refused = change(old, new, again).await;
            assert_eq!(refused.status, 422, "{text}");
            assert!(refused.text.contains(text), "{text}: {refused:?}");
            assert!(old.is_empty() || !refused.text.contains(PASSWORD));
            test_kit::html::check(&refused.text);
        }
        assert_eq!(there.get("/").await.status, 200);
        let before = here.cookie("sessionid").unwrap();
        leads_to(&change(PASSWORD, new, new).await, "/account/");
        has(
            &here.get("/account/").await.text,
            &["The password was changed."],
        );
        assert_eq!(there.get("/").await.status, 302, "other sessions end");
        there.set_cookie("sessionid", &before);
        assert_eq!(
            there.get("/").await.status,
            302,
            "this one has another token"
        );
        let credentials = |password: &str| json!({"username": "viewer", "password": password});
        let program = app.anonymous();
        program
            .post(OBTAIN, credentials(PASSWORD))
            .await
            .has_status(401);
        assert_eq!(program.post(OBTAIN, credentials(new)).await.status, 200);
        assert_eq!(changes(&app, 3).await.last().unwrap(), "password");
    }
);

app_on_both_engines!(
    another_password_revokes_the_tokens_of_programs_if_that_is_wished,
    async |app| {
        let here = app.logged_in("viewer").await;
        let program = app.anonymous();
        let log_in = async |password: &str| {
            let credentials = json!({"username": "viewer", "password": password});
            program.post(OBTAIN, credentials).await.json()
        };
        let status = async |pair: &Value| {
            let used = call_with(&app, &pair["access"]).await;
            let token = json!({"refresh": pair["refresh"]});
            let refreshed = program.post(&format!("{OBTAIN}refresh/"), token).await;
            (used.status, refreshed.status)
        };
        let change = async |old: &str, new: &str, is_ticked: bool| {
            let fields = [
                ("old_password", old),
                ("new_password", new),
                ("new_password_again", new),
                ("revoke_tokens", "1"),
            ];
            let count = if is_ticked { 4 } else { 3 };
            here.submit("/account/password/", &fields[..count]).await
        };
        let (second, third) = ("quatro gatos pretos", "cinco gatos brancos");
        let form = here.page("/account/password/").await;
        // Password managers need the username beside the password fields.
        assert!(form.contains("autocomplete=\"username\""), "{form}");
        let ticked = "name=\"revoke_tokens\" value=\"1\" checked";
        assert!(form.contains(ticked), "{form}");
        let first_pair = log_in(PASSWORD).await;
        leads_to(&change(PASSWORD, second, false).await, "/account/");
        assert_eq!(status(&first_pair).await, (200, 200));
        let refused = change("not the password", third, true).await.text;
        assert!(refused.contains(ticked), "{refused}");
        assert_eq!(status(&first_pair).await, (200, 200));
        let second_pair = log_in(second).await;
        leads_to(&change(second, third, true).await, "/account/");
        for pair in [first_pair, second_pair] {
            assert_eq!(status(&pair).await, (401, 401));
        }
        has(&here.page("/account/").await, &["the API tokens revoked"]);
        // A login within the same second gives tokens that are valid.
        assert_eq!(status(&log_in(third).await).await, (200, 200));
        let changes = changes(&app, 3).await;
        assert!(changes.ends_with(&["password".to_owned(), "password,tokens".to_owned()]));
    }
);

app_on_both_engines!(sessions_are_seen_and_ended, async |app| {
    let here = app.logged_in("viewer").await;
    let elsewhere = async |agent: &str| {
        let visitor = app.visitor();
        visitor.get("/login/").await;
        let token = visitor.cookie("csrftoken").unwrap();
        let body = format!(
            "csrfmiddlewaretoken={token}&username=viewer&password={}",
            PASSWORD.replace(' ', "+")
        );
        let headers = [
            ("content-type", "application/x-www-form-urlencoded"),
            ("user-agent", agent),
        ];
        visitor.send(Method::POST, "/login/", &body, &headers).await;
        visitor
    };
    let phone =
        elsewhere("Mozilla/5.0 (Linux; Android 15) Chrome/142.0 Mobile Safari/537.36").await;
    let desk = elsewhere("Mozilla/5.0 (Windows NT 10.0) Firefox/140.0").await;
    let page = here.get("/account/sessions/").await;
    test_kit::html::check(&page.text);
    for text in [
        "Chrome on Android",
        "Firefox on Windows",
        "127.0.0.1",
        "This session",
    ] {
        assert!(page.text.contains(text), "{text}");
    }
    assert_eq!(page.text.matches("This session").count(), 1);
    let ends: Vec<&str> = page
        .text
        .split("action=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
        .filter(|action| action.ends_with("/end/"))
        .collect();
    assert_eq!(ends.len(), 2);
    let stranger = app.logged_in("manager").await;
    leads_to(&stranger.submit(ends[0], &[]).await, "/account/sessions/");
    assert_eq!(desk.get("/").await.status, 200, "only one's own");
    leads_to(&here.submit(ends[0], &[]).await, "/account/sessions/");
    assert_eq!(desk.get("/").await.status, 302, "the newest stands first");
    assert_eq!(phone.get("/").await.status, 200);
    leads_to(
        &here.submit("/account/sessions/end-others/", &[]).await,
        "/account/sessions/",
    );
    assert_eq!(phone.get("/").await.status, 302);
    assert_eq!(here.get("/").await.status, 200);
    let none = here.submit("/account/sessions/x/end/", &[]).await;
    assert_eq!(none.status, 404);
});

app_on_both_engines!(tokens_are_revoked_all_at_once, async |app| {
    let visitor = app.logged_in("viewer").await;
    let program = app.anonymous();
    let credentials = json!({"username": "viewer", "password": PASSWORD});
    let old = program.post(OBTAIN, credentials.clone()).await.json();
    let revoked = visitor.submit("/account/tokens/revoke/", &[]).await;
    leads_to(&revoked, "/account/sessions/");
    let new = program.post(OBTAIN, credentials).await.json();
    let refused = call_with(&app, &old["access"]).await;
    assert_eq!(refused.status, 401);
    assert_eq!(
        refused.json()["messages"][0]["message"],
        "Token is blacklisted"
    );
    assert_eq!(
        call_with(&app, &new["access"]).await.status,
        200,
        "in the same second"
    );
    for (name, path) in [("refresh", "refresh"), ("token", "verify")] {
        let path = format!("{OBTAIN}{path}/");
        let status = async |token: &Value| program.post(&path, json!({name: token})).await.status;
        assert_eq!(status(&old["refresh"]).await, 401, "{path}");
        assert_eq!(status(&new["refresh"]).await, 200, "{path}");
    }
    assert_eq!(visitor.get("/").await.status, 200, "sessions go on");
});

app_on_both_engines!(
    a_session_that_is_not_remembered_ends_with_the_day,
    async |app| {
        let visitor = app.visitor();
        visitor.get("/login/").await;
        let fields = [
            ("username", "viewer"),
            ("password", PASSWORD),
            ("remember", "no"),
        ];
        let answer = visitor.submit("/login/", &fields).await;
        let line = answer
            .set_cookies()
            .into_iter()
            .find(|line| line.starts_with("sessionid="))
            .unwrap();
        assert!(line.ends_with("; Path=/; HttpOnly; SameSite=Lax"), "{line}");
        for _ in 0..3 {
            app.clock.advance(Duration::from_secs(11 * 3600));
            let visit = visitor.get("/").await;
            assert_eq!(visit.status, 200);
            let cookies = visit.set_cookies();
            assert!(
                !cookies.iter().any(|line| line.starts_with("sessionid=")),
                "{cookies:?}"
            );
        }
        app.clock.advance(Duration::from_secs(12 * 3600));
        assert_eq!(visitor.get("/").await.status, 302);
        let ticked = [
            ("username", "viewer"),
            ("password", PASSWORD),
            ("remember", "no"),
            ("remember", "yes"),
        ];
        let answer = visitor.submit("/login/", &ticked).await;
        assert!(
            answer
                .set_cookies()
                .iter()
                .any(|line| line.contains("Max-Age=1209600"))
        );
    }
);

app_on_both_engines!(
    what_goes_wrong_stands_in_the_frame_and_helps_on,
    async |app| {
        let mut visitor = app.logged_in("viewer").await;
        for (language, title) in [("en", "Page not found"), ("pt-BR", "Página não encontrada")] {
            visitor.language = language;
            let answer = visitor.get("/nowhere/").await;
            assert_eq!(answer.status, 404);
            for part in [
                title,
                "shell-nav",
                "name=\"search\"",
                answer.header("x-request-id"),
            ] {
                assert!(answer.text.contains(part), "{part}: {answer:?}");
            }
            test_kit::html::check(&answer.text);
        }
        let stranger = app.visitor().get("/nowhere/").await;
        assert_eq!(stranger.status, 404);
        assert!(!stranger.text.contains("shell-nav"));
        let program = [("accept", "application/json")];
        let answer = visitor.send(Method::GET, "/nowhere/", "", &program).await;
        answer.is(404, &json!({"detail": "Not found."}));
    }
);
