//! Token pairs: obtained, refreshed, verified and used, and every invalid token.

use std::time::Duration;

use http::Method;
use inventory::accounts::{Claims, TokenKey, TokenType, revoke, users};
use serde_json::{Value, json};
use test_kit::logs::Logs;

use crate::{
    app::{Answer, SECRET, TestApp, app_on_both_engines},
    visitor::{PASSWORD, WITHOUT_PASSWORD},
};

const OBTAIN: &str = "/api/v1/authentication/token/";
const REFRESH: &str = "/api/v1/authentication/token/refresh/";
const VERIFY: &str = "/api/v1/authentication/token/verify/";

fn no_account() -> Value {
    json!({"detail": "No active account found with the given credentials"})
}

fn not_valid(detail: &str) -> Value {
    json!({"detail": detail, "code": "token_not_valid"})
}

fn not_given() -> Value {
    json!({"detail": "Authentication credentials were not provided."})
}

/// A token of user 1 with these claims, signed as ours.
fn token(app: &TestApp, token_type: TokenType, change: impl FnOnce(&mut Claims)) -> String {
    let iat = app.clock.now().micros() / 1_000_000;
    let mut claims = Claims {
        token_type,
        exp: iat + 600,
        iat,
        nbf: None,
        jti: "ab".repeat(16),
        user_id: Some("1".to_owned()),
    };
    change(&mut claims);
    app.state.token_key.sign(&claims)
}

async fn with_authorization(app: &TestApp, authorization: &str) -> Answer {
    let headers = [("authorization", authorization)];
    app.anonymous()
        .send_with(Method::GET, "/api/v1/brands/", None, &headers)
        .await
}

app_on_both_engines!(a_pair_is_given_for_a_password, async |app| {
    app.execute(WITHOUT_PASSWORD).await;
    let credentials =
        |username: Value, password: Value| json!({"username": username, "password": password});
    let anonymous = app.anonymous();
    let pair = anonymous
        .post(
            OBTAIN,
            credentials(json!(" admin "), json!(format!("  {PASSWORD} "))),
        )
        .await;
    assert_eq!(pair.status, 200, "{pair:?}");
    assert!(pair.text.starts_with("{\"refresh\":\""), "{pair:?}");
    let access = pair.json()["access"].as_str().unwrap().to_owned();
    with_authorization(&app, &format!("Bearer {access}"))
        .await
        .has_status(200);
    for username in [json!("ADMIN"), json!("nobody"), json!("viewer"), json!(12)] {
        let refused = anonymous
            .post(OBTAIN, credentials(username, json!(PASSWORD)))
            .await;
        refused.is(401, &no_account());
        assert_eq!(refused.header("www-authenticate"), "Bearer realm=\"api\"");
    }
    anonymous
        .post(
            OBTAIN,
            credentials(json!("admin"), json!("another password")),
        )
        .await
        .is(401, &no_account());
    let garbage = [("authorization", "Bearer garbage")];
    let body = credentials(json!("admin"), json!(PASSWORD)).to_string();
    let obtained = anonymous
        .send_with(Method::POST, OBTAIN, Some(body), &garbage)
        .await;
    assert_eq!(obtained.status, 200);
});

app_on_both_engines!(
    the_log_tells_whose_password_was_accepted_or_refused,
    async |app| {
        let (logs, _guard) = Logs::of_this_thread();
        for (username, password) in [
            ("admin", PASSWORD),
            ("admin", "another password"),
            ("a password by mistake", PASSWORD),
        ] {
            let body = json!({"username": username, "password": password});
            app.anonymous().post(OBTAIN, body).await;
        }
        let text = logs.text();
        let lines = |said: &str| text.lines().filter(|line| line.contains(said)).count();
        assert_eq!(lines("a password was accepted user=1"), 1);
        assert_eq!(lines("a password was refused user=1 active=true"), 1);
        assert_eq!(lines("a password was refused: nobody has the name"), 1);
        for secret in [PASSWORD, "another password", "a password by mistake"] {
            assert_eq!(lines(secret), 0, "{secret}");
        }
    }
);

app_on_both_engines!(what_is_no_name_or_password_is_told_by_field, async |app| {
    let anonymous = app.anonymous();
    let required = "This field is required.";
    anonymous.post(OBTAIN, json!({})).await.is(
        400,
        &json!({"username": [required], "password": [required]}),
    );
    for (value, message) in [
        (json!(" "), "This field may not be blank."),
        (json!(null), "This field may not be null."),
        (json!([]), "Not a valid string."),
        (json!({}), "Not a valid string."),
        (json!(true), "Not a valid string."),
        (json!("a\0b"), "Null characters are not allowed."),
    ] {
        let body = json!({"username": value.clone(), "password": value.clone()});
        let expected = json!({"username": [message], "password": [message]});
        anonymous.post(OBTAIN, body).await.is(400, &expected);
        for (path, field) in [(REFRESH, "refresh"), (VERIFY, "token")] {
            let expected = json!({field: [message]});
            anonymous
                .post(path, json!({field: value.clone()}))
                .await
                .is(400, &expected);
        }
    }
    for path in [OBTAIN, REFRESH, VERIFY] {
        let body = "Invalid data. Expected a dictionary, but got list.";
        anonymous
            .post(path, json!([]))
            .await
            .is(400, &json!({"non_field_errors": [body]}));
        for method in ["GET", "PUT", "PATCH", "DELETE"] {
            let refused = anonymous.send(method.parse().unwrap(), path, None).await;
            let detail = format!("Method \"{method}\" not allowed.");
            refused.is(405, &json!({"detail": detail}));
            assert_eq!(refused.header("allow"), "POST, OPTIONS");
        }
    }
});

app_on_both_engines!(a_refresh_token_yields_access_tokens, async |app| {
    let refresh = async |token: String| {
        app.anonymous()
            .post(REFRESH, json!({"refresh": token}))
            .await
    };
    let good = token(&app, TokenType::Refresh, |_| {});
    let answer = refresh(good.clone()).await;
    let access = answer.json()["access"].as_str().unwrap().to_owned();
    assert_eq!(answer.json(), json!({"access": access}));
    with_authorization(&app, &format!("Bearer {access}"))
        .await
        .has_status(200);
    let invalid = not_valid("Token is invalid");
    refresh("garbage".to_owned()).await.is(401, &invalid);
    refresh(good[..good.len() - 2].to_owned())
        .await
        .is(401, &invalid);
    app.anonymous()
        .post(REFRESH, json!({"refresh": 12}))
        .await
        .is(401, &invalid);
    let access = token(&app, TokenType::Access, |_| {});
    refresh(access)
        .await
        .is(401, &not_valid("Token has wrong type"));
    let expired = token(&app, TokenType::Refresh, |claims| claims.exp = claims.iat);
    refresh(expired)
        .await
        .is(401, &not_valid("Token is expired"));
    let gone = json!({"detail": "No active account found for the given token."});
    let unknown = token(&app, TokenType::Refresh, |claims| {
        claims.user_id = Some("99".to_owned());
    });
    refresh(unknown).await.is(401, &gone);
    users::set_active(&app.state.db, app.clock.now(), "admin", false)
        .await
        .unwrap();
    refresh(good).await.is(401, &gone);
});

app_on_both_engines!(a_revoked_refresh_token_opens_nothing, async |app| {
    let good = token(&app, TokenType::Refresh, |_| {});
    let verify = async |token: &str| app.anonymous().post(VERIFY, json!({"token": token})).await;
    verify(&good).await.is(200, &json!({}));
    revoke(&app.state, &good).await.unwrap();
    revoke(&app.state, &good).await.unwrap();
    let blacklisted = not_valid("Token is blacklisted");
    verify(&good).await.is(401, &blacklisted);
    app.anonymous()
        .post(REFRESH, json!({"refresh": good}))
        .await
        .is(401, &blacklisted);
});

app_on_both_engines!(tokens_of_both_types_are_verified, async |app| {
    let verify = async |token: &str| app.anonymous().post(VERIFY, json!({"token": token})).await;
    for token_type in [TokenType::Access, TokenType::Refresh] {
        verify(&token(&app, token_type, |_| {}))
            .await
            .is(200, &json!({}));
        let expired = token(&app, token_type, |claims| claims.exp = claims.iat);
        verify(&expired)
            .await
            .is(401, &not_valid("Token is expired"));
    }
    let claims = app
        .state
        .token_key
        .verify(&token(&app, TokenType::Access, |_| {}), app.clock.now());
    let forged = TokenKey::new(b"another secret of 32 characters!").sign(&claims.unwrap());
    for text in ["garbage", forged.as_str()] {
        verify(text).await.is(401, &not_valid("Token is invalid"));
    }
});

app_on_both_engines!(
    a_token_of_an_account_that_is_gone_or_deactivated_is_not_valid,
    async |app| {
        let gone = json!({"detail": "No active account found for the given token."});
        let verify =
            async |token: &str| app.anonymous().post(VERIFY, json!({"token": token})).await;
        let of = |token_type, user: Option<&str>| {
            token(&app, token_type, |claims| {
                claims.user_id = user.map(str::to_owned);
            })
        };
        for token_type in [TokenType::Access, TokenType::Refresh] {
            verify(&of(token_type, Some("2"))).await.is(200, &json!({}));
            for nobody in [Some("999"), None] {
                verify(&of(token_type, nobody)).await.is(401, &gone);
            }
        }
        let deactivate = async |tx: &mut db::Tx| {
            tx.execute("UPDATE users SET active = (1 = 0) WHERE id = 2", &[])
                .await
        };
        app.state
            .db
            .write::<_, db::Error, _>(deactivate)
            .await
            .unwrap();
        for token_type in [TokenType::Access, TokenType::Refresh] {
            verify(&of(token_type, Some("2"))).await.is(401, &gone);
        }
    }
);

#[tokio::test(flavor = "multi_thread")]
async fn the_bearer_header_is_read_as_the_conventions_say() {
    let database = test_kit::database::Database::new(test_kit::database::Engine::Sqlite);
    let app = TestApp::new(database.address()).await;
    let good = token(&app, TokenType::Access, |_| {});
    for authorization in ["", &format!("Token {good}"), "Basic YTpi"] {
        let refused = with_authorization(&app, authorization).await;
        refused.is(401, &not_given());
        assert_eq!(refused.header("www-authenticate"), "Bearer realm=\"api\"");
    }
    app.anonymous()
        .get("/api/v1/brands/")
        .await
        .is(401, &not_given());
    for authorization in ["Bearer", "Bearer ", "Bearer a b"] {
        let detail = "Authorization header must contain two space-delimited values";
        let expected = json!({"detail": detail, "code": "bad_authorization_header"});
        with_authorization(&app, authorization)
            .await
            .is(401, &expected);
    }
    for scheme in ["Bearer ", "bearer", "BEARER"] {
        let accepted = with_authorization(&app, &format!("{scheme} {good}")).await;
        assert_eq!(accepted.status, 200, "{scheme}");
    }
    let none = "eyJhbGciOiJub25lIn0.eyJ1c2VyX2lkIjoiMSJ9.";
    let refresh = token(&app, TokenType::Refresh, |_| {});
    let expired = token(&app, TokenType::Access, |claims| claims.exp = claims.iat);
    let other = TokenKey::new(b"another secret of 32 characters!").sign(
        &TokenKey::new(SECRET)
            .verify(&good, app.clock.now())
            .unwrap(),
    );
    for (sent, message) in [
        ("garbage", "Token is invalid"),
        (none, "Token is invalid"),
        (&good[..good.len() - 3], "Token is invalid"),
        (&other, "Token is invalid"),
        (&expired, "Token is expired"),
        (&refresh, "Token has wrong type"),
    ] {
        let expected = json!({
            "detail": "Given token not valid for any token type",
            "code": "token_not_valid",
            "messages": [{"token_class": "AccessToken", "token_type": "access", "message": message}],
        });
        let refused = with_authorization(&app, &format!("Bearer {sent}")).await;
        refused.is(401, &expected);
        assert_eq!(refused.header("www-authenticate"), "Bearer realm=\"api\"");
    }
    let nobody = token(&app, TokenType::Access, |claims| claims.user_id = None);
    let expected = not_valid("Token contained no recognizable user identification");
    with_authorization(&app, &format!("Bearer {nobody}"))
        .await
        .is(401, &expected);
    for id in ["99", "abc", "99999999999999999999"] {
        let unknown = token(&app, TokenType::Access, |claims| {
            claims.user_id = Some(id.to_owned());
        });
        let expected = json!({"detail": "User not found", "code": "user_not_found"});
        with_authorization(&app, &format!("Bearer {unknown}"))
            .await
            .is(401, &expected);
    }
}

app_on_both_engines!(a_deactivated_user_is_out_at_once, async |app| {
    let good = token(&app, TokenType::Access, |_| {});
    let bearer = format!("Bearer {good}");
    assert_eq!(with_authorization(&app, &bearer).await.status, 200);
    users::set_active(&app.state.db, app.clock.now(), "admin", false)
        .await
        .unwrap();
    let inactive = json!({"detail": "User is inactive", "code": "user_inactive"});
    with_authorization(&app, &bearer).await.is(401, &inactive);
    let credentials = json!({"username": "admin", "password": PASSWORD});
    app.anonymous()
        .post(OBTAIN, credentials)
        .await
        .is(401, &no_account());
    users::set_active(&app.state.db, app.clock.now(), "admin", true)
        .await
        .unwrap();
    let revoked = with_authorization(&app, &bearer).await;
    assert_eq!(revoked.status, 401, "tokens do not come back: {revoked:?}");
});

app_on_both_engines!(
    an_access_token_lives_a_day_and_a_refresh_token_a_week,
    async |app| {
        let credentials = json!({"username": "viewer", "password": PASSWORD});
        let pair = app.anonymous().post(OBTAIN, credentials).await.json();
        let bearer = format!("Bearer {}", pair["access"].as_str().unwrap());
        let refresh = async || {
            app.anonymous()
                .post(REFRESH, json!({"refresh": pair["refresh"]}))
                .await
        };
        app.clock.advance(Duration::from_secs(86_399));
        assert_eq!(with_authorization(&app, &bearer).await.status, 200);
        app.clock.advance(Duration::from_secs(1));
        let refused = with_authorization(&app, &bearer).await;
        assert_eq!(refused.status, 401);
        assert_eq!(refused.json()["messages"][0]["message"], "Token is expired");
        app.clock.advance(Duration::from_secs(6 * 86_400 - 1));
        assert_eq!(refresh().await.status, 200);
        app.clock.advance(Duration::from_secs(1));
        refresh().await.is(401, &not_valid("Token is expired"));
    }
);
