//! A client of the service. Requests pass a load balancer that knows the running replicas, and a
//! network that loses responses.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::ConnectInfo;
use http::{HeaderName, HeaderValue, Method, Request, Uri};
use http_body_util::BodyExt;
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout};
use tower::ServiceExt;

use crate::provider::member;
use crate::settings::CALL_TIMEOUT;
use crate::world::World;

/// How long a client waits for a response.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(120);

/// The service's own timeout of a request.
const SERVICE_TIMEOUT: Duration = Duration::from_secs(4 * CALL_TIMEOUT.as_secs() + 10);

/// A response that reached the client.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Value,
    /// Whether the response came no sooner than the service's timeout. Then the request may still
    /// be running.
    pub(crate) is_late: bool,
}

impl Answer {
    /// A text member of the body.
    pub(crate) fn text(&self, name: &str) -> &str {
        member(&self.body, name).as_str().unwrap_or_default()
    }
}

/// A request with a JSON body.
pub(crate) fn request(method: Method, path: &str, body: &Value) -> Request<Body> {
    let mut request = Request::new(Body::from(if body.is_null() {
        String::new()
    } else {
        body.to_string()
    }));
    *request.method_mut() = method;
    *request.uri_mut() = address(path);
    set(&mut request, "content-type", "application/json");
    request
}

pub(crate) fn address(path: &str) -> Uri {
    path.parse().unwrap_or_default()
}

pub(crate) fn set(request: &mut Request<Body>, name: &'static str, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        let name = HeaderName::from_static(name);
        request.headers_mut().insert(name, value);
    }
}

/// Sends a request to one of the replicas. `None` if no response came; the request may have had an
/// effect.
pub(crate) async fn send(world: &Arc<World>, mut request: Request<Body>) -> Option<Answer> {
    let _busy = world.busy();
    let running = world.replicas.running();
    let place = usize::try_from(world.dice.below(running.len() as u64)).unwrap_or(0);
    let Some(replica) = running.get(place) else {
        sleep(world.dice.millis(1, 1000)).await;
        return None;
    };
    let peer = SocketAddr::from(([127, 0, 0, 1], 40_000));
    request.extensions_mut().insert(ConnectInfo(peer));
    let name = format!("{} {}", request.method(), request.uri());
    let answering = timeout(ANSWER_TIMEOUT, exchange(replica.router.clone(), request));
    let answer = tokio::select! {
        biased;
        answer = answering => answer.ok().flatten(),
        () = replica.life.died() => None,
    };
    let number = replica.life.number;
    let Some(answer) = answer else {
        world.note(|| format!("client -> replica {number}: {name}: no answer"));
        return None;
    };
    world.note(|| {
        format!(
            "client -> replica {number}: {name}: {} {}",
            answer.status, answer.body
        )
    });
    if answer.status == 500 {
        world.violated(format!("{name} was answered 500"));
    }
    sleep(world.dice.millis(1, 50)).await;
    if world.happens(|faults| faults.lost_replies) {
        world.note(|| format!("client -> replica {number}: {name}: the answer is lost"));
        return None;
    }
    Some(answer)
}

async fn exchange(router: axum::Router, request: Request<Body>) -> Option<Answer> {
    let begun = Instant::now();
    let response = router.oneshot(request).await.ok()?;
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.ok()?.to_bytes();
    Some(Answer {
        status,
        body: serde_json::from_slice(&body).unwrap_or_default(),
        is_late: begun.elapsed() >= SERVICE_TIMEOUT,
    })
}
