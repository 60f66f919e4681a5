//! Who may do what: the permission table of the specification for every role, method and resource,
//! the order of the checks, and what every page asks for.

use std::time::Duration;

use http::Method;
use inventory::RouteAddress;
use serde_json::{Value, json};
use test_kit::html;

use crate::app::{Answer, Client, app_on_both_engines};

const RESOURCES: [(&str, bool); 6] = [
    ("brands", true),
    ("categories", true),
    ("suppliers", true),
    ("products", true),
    ("inflows", false),
    ("outflows", false),
];

fn forbidden() -> Value {
    json!({"detail": "You do not have permission to perform this action."})
}

fn not_given() -> Value {
    json!({"detail": "Authentication credentials were not provided."})
}

/// Whether the permission checks let a request pass: every status but 401 and 403.
fn is_let_in(answer: &Answer) -> bool {
    ![401, 403].contains(&answer.status)
}

app_on_both_engines!(every_role_may_what_the_table_says, async |app| {
    let roles = [
        ("admin", app.admin()),
        ("manager", app.manager()),
        ("viewer", app.viewer()),
    ];
    for (resource, is_mutable) in RESOURCES {
        let (list, detail) = (
            format!("/api/v1/{resource}/"),
            format!("/api/v1/{resource}/99/"),
        );
        for (role, client) in &roles {
            // Ids are unknown and bodies are empty, so permitted requests get 400, 404 or 405 and
            // change nothing.
            for (method, path, who) in [
                (Method::GET, &list, "admin manager viewer"),
                (Method::GET, &detail, "admin manager viewer"),
                (Method::HEAD, &list, "admin manager viewer"),
                (Method::OPTIONS, &list, "admin manager viewer"),
                (Method::POST, &list, "admin manager"),
                (Method::PUT, &detail, "admin manager"),
                (Method::PATCH, &detail, "admin manager"),
                (Method::DELETE, &detail, "admin"),
            ] {
                let body = (method != Method::GET).then(|| json!({}));
                let answer = client.send(method.clone(), path, body).await;
                let may = who.contains(role);
                assert_eq!(
                    is_let_in(&answer),
                    may,
                    "{role} {method} {path}: {answer:?}"
                );
                if !may {
                    answer.is(403, &forbidden());
                } else if !is_mutable && [Method::PUT, Method::PATCH].contains(&method) {
                    assert_eq!(answer.status, 405, "{role} {method} {path}");
                }
            }
        }
        for method in [
            Method::GET,
            Method::POST,
            Method::PUT,
            Method::PATCH,
            Method::DELETE,
            Method::OPTIONS,
        ] {
            let answer = app.anonymous().send(method, &detail, None).await;
            answer.is(401, &not_given());
        }
    }
});

app_on_both_engines!(checks_come_in_their_order, async |app| {
    let (admin, manager, viewer, anonymous) =
        (app.admin(), app.manager(), app.viewer(), app.anonymous());
    let inflow = "/api/v1/inflows/99/";
    let brands = "/api/v1/brands/";
    let brand = "/api/v1/brands/99/";
    let table: [(&Client<'_>, &str, &str, u16); 19] = [
        (&anonymous, "PUT", inflow, 401),
        (&viewer, "PUT", inflow, 403),
        (&viewer, "PATCH", inflow, 403),
        (&manager, "PUT", inflow, 405),
        (&admin, "PATCH", inflow, 405),
        (&manager, "DELETE", brands, 403),
        (&admin, "DELETE", brands, 405),
        (&viewer, "POST", brand, 403),
        (&manager, "POST", brand, 405),
        (&viewer, "TRACE", brands, 405),
        (&viewer, "FOO", brands, 405),
        (&anonymous, "FOO", brands, 401),
        (&viewer, "PATCH", brand, 403),
        (&viewer, "DELETE", brand, 403),
        (&admin, "PATCH", brand, 404),
        (&admin, "DELETE", brand, 404),
        (&anonymous, "GET", brand, 401),
        (&anonymous, "OPTIONS", brands, 401),
        (&viewer, "GET", brand, 404),
    ];
    for (client, method, path, status) in table {
        let answer = client.send(method.parse().unwrap(), path, None).await;
        assert_eq!(answer.status, status, "{method} {path}: {answer:?}");
    }
    let malformed = Some("{".to_owned());
    for (client, method, path, status) in [
        (&anonymous, Method::POST, brands, 401),
        (&viewer, Method::POST, brands, 403),
        (&manager, Method::POST, brands, 400),
        (&manager, Method::PUT, brand, 404),
        (&admin, Method::DELETE, brand, 404),
    ] {
        let answer = client.send_with(method, path, malformed.clone(), &[]).await;
        assert_eq!(answer.status, status, "{path}: {answer:?}");
    }
    let unacceptable = [("accept", "text/html")];
    let answer = anonymous
        .send_with(Method::GET, brands, None, &unacceptable)
        .await;
    assert_eq!(
        answer.status, 406,
        "what cannot be answered is not asked for credentials"
    );
    anonymous
        .get("/api/v1/brands/?format=api")
        .await
        .is(404, &json!({"detail": "Not found."}));
});

app_on_both_engines!(a_user_or_a_group_may_be_allowed_more, async |app| {
    let is_refused =
        async |client: &Client<'_>| client.delete("/api/v1/brands/99/").await.status == 403;
    for (client, grant, withdraw) in [
        (
            app.viewer(),
            "INSERT INTO user_permissions (user_id, permission)
             SELECT id, 'delete_brand' FROM users WHERE username = 'viewer'",
            "DELETE FROM user_permissions WHERE permission = 'delete_brand'",
        ),
        (
            app.manager(),
            "INSERT INTO group_permissions (group_id, permission)
             SELECT id, 'delete_brand' FROM groups WHERE name = 'Managers'",
            "DELETE FROM group_permissions WHERE permission = 'delete_brand'",
        ),
    ] {
        assert!(is_refused(&client).await);
        app.execute(grant).await;
        assert!(!is_refused(&client).await);
        assert_eq!(client.delete("/api/v1/categories/99/").await.status, 403);
        app.execute(withdraw).await;
        assert!(is_refused(&client).await);
    }
});

/// The pages of a method, with 1 for each variable.
fn pages_with(method: &Method) -> impl Iterator<Item = String> {
    let pages = inventory::page_addresses().filter(|address| address.methods.contains(method));
    pages.map(|RouteAddress { path, .. }| {
        let segments = path.split('/');
        let filled = segments.map(|part| if part.starts_with('{') { "1" } else { part });
        filled.collect::<Vec<_>>().join("/")
    })
}

app_on_both_engines!(every_page_asks_strangers_to_log_in, async |app| {
    let stranger = app.visitor();
    let mut open = Vec::new();
    for path in pages_with(&Method::GET) {
        // One minute for each address, so that the rate limit of pages is not reached.
        app.clock.advance(Duration::from_secs(60));
        let page = stranger.open(Method::GET, &path).await;
        let location = page.headers().get("location");
        let location = location.map_or("", |location| location.to_str().unwrap());
        if !location.contains("/login/?next=") {
            open.push(path);
        }
    }
    assert_eq!(open, ["/login/code/", "/admin/login/"]);
});

app_on_both_engines!(every_form_refuses_who_may_only_look, async |app| {
    let viewer = app.logged_in("viewer").await;
    let is_own = |path: &String| path.starts_with("/account/") || path.contains("/login/");
    let mut accepted = Vec::new();
    for path in pages_with(&Method::POST).filter(|path| !is_own(path)) {
        app.clock.advance(Duration::from_secs(60));
        let answer = viewer.submit(&path, &[]).await;
        let is_led_away = answer.header("location").starts_with("/admin/login/");
        if ![403, 404].contains(&answer.status) && !is_led_away {
            accepted.push(path);
        }
    }
    assert_eq!(accepted, ["/shortcuts/", "/views/new/"]);
});

app_on_both_engines!(no_form_is_taken_from_another_site, async |app| {
    let root = app.superuser().await;
    let (token, before) = (root.cookie("csrftoken").unwrap(), app.audit_rows().await);
    let body = format!("csrfmiddlewaretoken={token}&name=x");
    let foreign = [
        ("content-type", "application/x-www-form-urlencoded"),
        ("origin", "https://evil.example"),
    ];
    for path in pages_with(&Method::POST) {
        app.clock.advance(Duration::from_secs(60));
        let without_token = root.post_form(&path, &[("name", "x")]).await;
        assert_eq!(without_token.status, 403, "{path}");
        html::check(&without_token.text);
        let from_elsewhere = root.send(Method::POST, &path, &body, &foreign).await;
        assert_eq!(from_elsewhere.status, 403, "{path}");
    }
    assert_eq!(app.audit_rows().await, before);
});
