//! A request whose body is held back has at its end the rights that its sender then has.

use std::{convert::Infallible, time::Duration};

use axum::body::{Body, Bytes};
use http::{Request, request::Builder};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use crate::app::{Answer, TestApp, app_on_both_engines};

/// Sends a request whose body ends two seconds after its beginning, and what happened `meanwhile`.
async fn held_back(
    app: &TestApp,
    request: Builder,
    body: String,
    meanwhile: impl AsyncFnOnce(),
) -> Answer {
    let (parts, arrived) = mpsc::channel::<Result<Bytes, Infallible>>(1);
    let request = request.header("host", "shop.example");
    let request = request.body(Body::from_stream(ReceiverStream::new(arrived)));
    let app = app.clone();
    let clock = app.clock.clone();
    let answer = tokio::spawn(async move { app.call(request.unwrap()).await });
    let mut beginning = Bytes::from(body);
    let end = beginning.split_off(1);
    parts.send(Ok(beginning)).await.unwrap();
    // There is room for the end once the beginning was read, and so its sender was authenticated.
    let room = parts.reserve_owned().await.unwrap();
    meanwhile().await;
    clock.advance(Duration::from_secs(2));
    drop(room.send(Ok(end)));
    answer.await.unwrap()
}

const DEACTIVATE: &str = "UPDATE users SET active = FALSE WHERE username = 'manager'";
const ACTIVATE: &str = "UPDATE users SET active = TRUE";
const NO_GROUP: &str = "DELETE FROM user_groups";

app_on_both_engines!(
    a_call_is_refused_whose_sender_lost_the_right_before_its_body_arrived,
    async |app| {
        let authorization = app.manager().authorization();
        let create = async |meanwhile: Option<&'static str>| {
            let request = Request::post("/api/v1/brands/")
                .header("authorization", &authorization)
                .header("content-type", "application/json");
            let body = "{\"name\":\"Camil\"}".to_owned();
            let happens = async || {
                if let Some(sql) = meanwhile {
                    app.execute(sql).await;
                }
            };
            held_back(&app, request, body, happens).await.status
        };
        assert_eq!(create(None).await, 201, "slowness alone is no reason");
        assert_eq!(create(Some(DEACTIVATE)).await, 401);
        app.execute(ACTIVATE).await;
        assert_eq!(create(Some(NO_GROUP)).await, 403);
        assert_eq!(app.count("brands").await, 1);
    }
);

app_on_both_engines!(
    a_form_is_refused_whose_session_ended_before_its_body_arrived,
    async |app| {
        let manager = app.logged_in("manager").await;
        let [session, token] = ["sessionid", "csrftoken"].map(|name| manager.cookie(name).unwrap());
        let save = async |name: &str, meanwhile: Option<&'static str>| {
            let request = Request::post("/brands/new/")
                .header("cookie", format!("sessionid={session}; csrftoken={token}"))
                .header("content-type", "application/x-www-form-urlencoded");
            let body = format!("name={name}&csrfmiddlewaretoken={token}");
            let happens = async || {
                if let Some(sql) = meanwhile {
                    app.execute(sql).await;
                }
            };
            held_back(&app, request, body, happens).await.status
        };
        assert_eq!(save("Camil", None).await, 303);
        assert_eq!(save("Urbano", Some(DEACTIVATE)).await, 403);
        app.execute(ACTIVATE).await;
        assert_eq!(save("Urbano", Some(NO_GROUP)).await, 403);
        assert_eq!(app.count("brands").await, 1);
    }
);
