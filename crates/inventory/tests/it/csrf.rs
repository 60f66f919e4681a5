//! Requests that pages of other sites could send are refused wherever a session cookie or a form is
//! accepted.

use std::net::SocketAddr;

use axum::{body::Body, extract::ConnectInfo};
use http::{HeaderValue, Method, Request};
use inventory::Config;
use serde_json::json;
use test_kit::database::{Database, Engine};

use crate::{
    app::{TestApp, app_on_both_engines, unlimited},
    visitor::{PASSWORD, redirects},
};

const BRANDS: &str = "/api/v1/brands/";
const BRAND: &str = "{\"name\":\"Camil\"}";

app_on_both_engines!(an_unsafe_call_by_session_needs_its_token, async |app| {
    let visitor = app.logged_in("manager").await;
    let secret = visitor.cookie("csrftoken").unwrap();
    let place = "CSRF Failed: CSRF token from the 'X-Csrftoken' HTTP header";
    let other = "0".repeat(32);
    for (headers, detail) in [
        (vec![], "CSRF Failed: CSRF token missing.".to_owned()),
        (vec![("x-csrftoken", other.as_str())], format!("{place} incorrect.")),
        (vec![("x-csrftoken", "short")], format!("{place} has incorrect length.")),
        (
            vec![("x-csrftoken", secret.as_str()), ("origin", "http://evil.example")],
            "CSRF Failed: Origin checking failed - http://evil.example does not match any trusted origins.".to_owned(),
        ),
        (
            vec![("x-csrftoken", secret.as_str()), ("sec-fetch-site", "cross-site")],
            "CSRF Failed: Origin checking failed - the request comes from another site.".to_owned(),
        ),
    ] {
        let refused = visitor.json(Method::POST, BRANDS, BRAND, &headers).await;
        refused.is(403, &json!({"detail": detail}));
    }
    for origin in ["http://shop.example", "https://shop.example"] {
        let headers = [("x-csrftoken", secret.as_str()), ("origin", origin)];
        let created = visitor.json(Method::POST, BRANDS, BRAND, &headers).await;
        assert_eq!(created.status, 201, "{created:?}");
        assert_eq!(created.header("vary"), "Accept, Cookie");
    }
    let foreign = [("origin", "http://evil.example")];
    visitor
        .send(Method::GET, BRANDS, "", &foreign)
        .await
        .has_status(200);
});

app_on_both_engines!(
    a_planted_cookie_is_of_no_use_against_a_session,
    async |app| {
        let visitor = app.logged_in("manager").await;
        let planted = "a".repeat(32);
        visitor.set_cookie("csrftoken", &planted);
        let headers = [("x-csrftoken", planted.as_str())];
        visitor
            .json(Method::POST, BRANDS, BRAND, &headers)
            .await
            .has_status(403);
    }
);

app_on_both_engines!(forgery_is_told_before_anything_else, async |app| {
    let visitor = app.logged_in("viewer").await;
    let secret = visitor.cookie("csrftoken").unwrap();
    let proof = [("x-csrftoken", secret.as_str())];
    let missing = json!({"detail": "CSRF Failed: CSRF token missing."});
    visitor
        .json(Method::POST, BRANDS, "{", &[])
        .await
        .is(403, &missing);
    let forbidden = json!({"detail": "You do not have permission to perform this action."});
    visitor
        .json(Method::POST, BRANDS, "{", &proof)
        .await
        .is(403, &forbidden);
    visitor.set_cookie("sessionid", "ended");
    visitor
        .json(Method::POST, BRANDS, "{", &[])
        .await
        .is(403, &missing);
    let unknown = json!({"detail": "Authentication credentials were not provided."});
    visitor
        .json(Method::POST, BRANDS, "{", &proof)
        .await
        .is(401, &unknown);
    visitor.forget("sessionid");
    visitor
        .json(Method::POST, BRANDS, "{", &[])
        .await
        .is(401, &unknown);
});

app_on_both_engines!(a_bearer_call_is_never_checked, async |app| {
    let visitor = app.logged_in("viewer").await;
    let body = json!({"username": "viewer", "password": PASSWORD}).to_string();
    let secret = visitor.cookie("csrftoken").unwrap();
    let login = visitor
        .json(
            Method::POST,
            "/login/",
            &body,
            &[("x-csrftoken", secret.as_str())],
        )
        .await;
    let bearer = format!("Bearer {}", login.json()["access"].as_str().unwrap());
    let headers = [
        ("authorization", bearer.as_str()),
        ("origin", "http://evil.example"),
    ];
    let forbidden = json!({"detail": "You do not have permission to perform this action."});
    visitor
        .json(Method::POST, BRANDS, BRAND, &headers)
        .await
        .is(403, &forbidden);
});

app_on_both_engines!(
    a_form_without_its_token_is_answered_with_a_page,
    async |app| {
        let mut visitor = app.visitor();
        let credentials = [("username", "admin"), ("password", PASSWORD)];
        let without_cookie = visitor.post_form("/login/", &credentials).await;
        assert_eq!(without_cookie.status, 403);
        visitor.get("/login/").await;
        let secret = visitor.cookie("csrftoken").unwrap();
        let wrong = ["", "short", &"0".repeat(32), &"f".repeat(64)].map(str::to_owned);
        for token in wrong {
            let mut fields = vec![("csrfmiddlewaretoken", token.as_str())];
            fields.extend(credentials);
            let refused = visitor.post_form("/login/", &fields).await;
            assert_eq!(refused.status, 403);
            for text in [
                "<title>403 Forbidden</title>",
                "<h1>Forbidden (403)</h1>",
                "CSRF verification failed. Request aborted.",
            ] {
                assert!(refused.text.contains(text), "{refused:?}");
            }
            test_kit::html::check(&refused.text);
        }
        let form = [
            ("content-type", "application/x-www-form-urlencoded"),
            ("origin", "https://evil.example"),
        ];
        let body = format!("csrfmiddlewaretoken={secret}&username=admin&password=x");
        visitor
            .send(Method::POST, "/login/", &body, &form)
            .await
            .has_status(403);
        visitor
            .send(Method::POST, "/login/", "", &[])
            .await
            .has_status(403);
        visitor.language = "pt-BR";
        let refused = visitor.post_form("/login/", &credentials).await;
        assert!(refused.text.contains("<h1>O formulário expirou</h1>"));
        test_kit::html::check(&refused.text);
        assert_eq!(visitor.cookie("sessionid"), None);
    }
);

app_on_both_engines!(a_forged_logout_does_nothing, async |app| {
    let visitor = app.logged_in("admin").await;
    assert_eq!(visitor.post_form("/logout/", &[]).await.status, 403);
    visitor
        .json(Method::POST, "/logout/", "{}", &[])
        .await
        .has_status(403);
    assert_eq!(visitor.get("/").await.status, 200);
});

app_on_both_engines!(
    a_bearer_that_authenticates_nobody_proves_nothing_of_a_form,
    async |app| {
        let visitor = app.logged_in("admin").await;
        for (content_type, body) in [
            ("application/json", "{}"),
            ("application/x-www-form-urlencoded", "next=/"),
        ] {
            let headers = [
                ("authorization", "Bearer garbage"),
                ("content-type", content_type),
                ("origin", "http://evil.example"),
            ];
            let refused = visitor.send(Method::POST, "/logout/", body, &headers).await;
            assert_eq!(refused.status, 403, "{refused:?}");
        }
        assert_eq!(visitor.get("/").await.status, 200);
    }
);

app_on_both_engines!(
    json_without_a_session_needs_no_token_but_an_origin_of_ours,
    async |app| {
        let visitor = app.logged_in("admin").await;
        let credentials = json!({"username": "admin", "password": PASSWORD}).to_string();
        let missing = json!({"detail": "CSRF Failed: CSRF token missing."});
        for path in ["/login/", "/token/refresh/"] {
            visitor
                .json(Method::POST, path, &credentials, &[])
                .await
                .is(403, &missing);
        }
        let program = app.visitor();
        let foreign = [("origin", "http://evil.example")];
        let detail = "CSRF Failed: Origin checking failed - http://evil.example does not match any trusted origins.";
        for path in ["/login/", "/token/refresh/"] {
            program
                .json(Method::POST, path, &credentials, &foreign)
                .await
                .is(403, &json!({"detail": detail}));
        }
        program
            .json(Method::POST, "/login/", &credentials, &[])
            .await
            .has_status(200);
    }
);

#[tokio::test(flavor = "multi_thread")]
async fn a_public_services_pages_are_served_over_https_alone() {
    let database = Database::new(Engine::Sqlite);
    let config = Config {
        public_url: "https://shop.example".parse().ok(),
        ..unlimited()
    };
    let app = TestApp::with(database.address(), config).await;
    let send = async |method: Method, peer: [u8; 4]| {
        let request = Request::builder().method(method).uri("/brands/?page=2");
        let request = request
            .header("host", "shop.example")
            .header("x-forwarded-proto", "http")
            .header("x-forwarded-for", "203.0.113.7")
            .extension(ConnectInfo(SocketAddr::from((peer, 4000))));
        let answer = app.open(request.body(Body::empty()).unwrap()).await;
        assert!(!answer.headers().contains_key("set-cookie"));
        let location = answer.headers().get("location").cloned();
        (answer.status().as_u16(), location)
    };
    let here = [127, 0, 0, 1];
    let secure = HeaderValue::from_static("https://shop.example/brands/?page=2");
    assert_eq!(send(Method::GET, here).await, (308, Some(secure)));
    let form = send(Method::POST, here).await;
    assert_eq!(form, (400, None), "a form is not repeated");
    // What the client of a proxy speaks that is not trusted, nobody knows: the redirect would lead to
    // itself for ever.
    let (status, _) = send(Method::GET, [203, 0, 113, 9]).await;
    assert_eq!(status, 302, "to the login");
}

app_on_both_engines!(
    over_https_no_other_host_of_the_domain_can_set_a_sessions_cookies,
    async |app| {
        let visitor = app.visitor();
        let https = [
            ("x-forwarded-proto", "https"),
            ("x-forwarded-for", "203.0.113.7"),
            ("content-type", "application/x-www-form-urlencoded"),
        ];
        visitor.send(Method::GET, "/login/", "", &https).await;
        let log_in = async |token: &str| {
            let body = format!("csrfmiddlewaretoken={token}&username=admin&password=")
                + &PASSWORD.replace(' ', "+");
            visitor.send(Method::POST, "/login/", &body, &https).await
        };
        let own = visitor.cookie("__Host-csrftoken").unwrap();
        let planted = "a".repeat(32);
        visitor.set_cookie("csrftoken", &planted);
        assert_eq!(log_in(&planted).await.status, 403);
        let answer = log_in(&own).await;
        redirects(&answer, "/");
        let lines = answer.set_cookies();
        let line = lines
            .iter()
            .find(|line| line.contains("sessionid="))
            .unwrap();
        assert!(line.starts_with("__Host-sessionid="), "{line}");
        assert!(
            line.contains("; Path=/;") && line.ends_with("; Secure"),
            "{line}"
        );
        let home = visitor.send(Method::GET, "/", "", &https).await;
        assert_eq!(home.status, 200);
        let own = visitor.cookie("__Host-csrftoken").unwrap();
        let body = format!("csrfmiddlewaretoken={own}&name=Alfa");
        let saved = visitor.send(Method::POST, "/brands/new/", &body, &https);
        let next = saved.await.header("location").to_owned();
        assert!(visitor.cookie("__Host-balcao_flash").is_some());
        visitor.send(Method::GET, &next, "", &https).await;
        assert_eq!(visitor.cookie("__Host-balcao_flash"), None, "it was read");
        // The session cookie is not accepted under the name that another host could set.
        let session = visitor.cookie("__Host-sessionid").unwrap();
        visitor.forget("__Host-sessionid");
        visitor.set_cookie("sessionid", &session);
        let home = visitor.send(Method::GET, "/", "", &https).await;
        redirects(&home, "/login/?next=/");
        let called = visitor.send(Method::GET, "/api/v1/brands/", "", &https[..2]);
        assert_eq!(called.await.status, 401);
    }
);
