//! Answers that are given again without asking the database for them: the same question, while nothing was committed and the caller's token
//! lasts, has the same answer.
//!
//! A question is the whole head of a request, so an answer is given only to who asked for it, with the token that it was given for. Whatever
//! is committed, by a sale as by the deactivation of the caller's account, ends all answers: before one is given, the database tells
//! whether it is in the same edition still. Only answers that depend on nothing else are kept: [`lasting`] marks them.

use std::{
    collections::HashMap,
    mem,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use axum::{
    body::Body,
    extract::{MatchedPath, Request},
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use db::{Edition, Timestamp};
use http::{
    HeaderMap, Method, Version,
    header::CONTENT_LENGTH,
    uri::{Authority, PathAndQuery},
};
use http_body_util::BodyExt as _;
use prometheus_client::metrics::counter::Counter;
use sha2::{Digest as _, Sha256};
use web::{Next, Step, access::Watch, client::Origin, metrics::Metrics, rate, request_id};

use super::{gate, worth::Worth};
use crate::{State, accounts};

/// The most bytes of all answers that are kept. When they are reached no more are, until a commit ends all: were they forgotten then,
/// somebody who asks for one after the other of more than these would never be given one again.
const MOST_BYTES: usize = 16 * 1024 * 1024;
/// The most bytes of one answer: so that a few long ones do not drive out all others.
const MOST_OF_ONE: usize = 64 * 1024;
/// What an answer takes beside its body and its headers, about.
const AROUND: usize = 512;
/// What a header takes, about.
const OF_HEADER: usize = 128;
/// The most sets of headers that answers share: more than addresses have.
const MOST_SHARED: usize = 64;

/// Marks an answer that depends on the question, on what is stored and on the caller's token, and on nothing else; with its route.
#[derive(Clone)]
struct Lasting(MatchedPath);

/// Marks an answer as one that may be given again.
pub(super) fn lasting(route: Option<MatchedPath>, mut response: Response) -> Response {
    if let Some(route) = route {
        response.extensions_mut().insert(Lasting(route));
    }
    response
}

/// The answers of one edition of the database.
pub(crate) struct Memory {
    kept: RwLock<Kept>,
    worth: Worth,
    /// How many answers were given again.
    repeated: Counter,
}

#[derive(Default)]
struct Kept {
    edition: Option<Edition>,
    answers: HashMap<Question, Arc<Answer>>,
    /// The headers of the answers, each once: most answers have the same.
    headers: Vec<Arc<HeaderMap>>,
    bytes: usize,
}

/// The digest of a question, in which its token is not kept.
#[derive(PartialEq, Eq, Hash)]
struct Question([u8; 32]);

struct Answer {
    route: MatchedPath,
    /// But those of the request, such as its id.
    headers: Arc<HeaderMap>,
    body: Bytes,
    /// Whom it was given.
    user: i64,
    /// When the token is no longer valid that it was given for.
    until: Timestamp,
}

impl Memory {
    /// Nothing is kept yet.
    pub(crate) fn new(metrics: &Metrics) -> Self {
        Self {
            kept: RwLock::default(),
            worth: Worth::default(),
            repeated: metrics.register(
                "answers_repeated",
                "Answers of the API given again without reading the database for them",
                Counter::default(),
            ),
        }
    }

    fn find(&self, edition: Edition, question: &Question, now: Timestamp) -> Option<Arc<Answer>> {
        let kept = self.read();
        if kept.edition != Some(edition) {
            return None;
        }
        let answer = kept.answers.get(question)?;
        (now < answer.until).then(|| Arc::clone(answer))
    }

    /// Whether this is not the first question in an edition, which may be over with the next.
    fn is_settled(&self, edition: Edition) -> bool {
        if self.read().edition == Some(edition) {
            return true;
        }
        let anew = Kept {
            edition: Some(edition),
            ..Kept::default()
        };
        // Many answers take a moment to go, in which nobody shall wait for the lock.
        let forgotten = mem::replace(&mut *self.write(), anew);
        drop(forgotten);
        false
    }

    fn keep(&self, edition: Edition, question: Question, mut answer: Answer) {
        let bytes = answer.body.len() + AROUND;
        let mut kept = self.write();
        if kept.edition != Some(edition) || kept.bytes + bytes > MOST_BYTES {
            return;
        }
        answer.headers = kept.shared(answer.headers);
        // Two that asked at once have the same answer.
        if kept.answers.insert(question, Arc::new(answer)).is_none() {
            kept.bytes += bytes;
        }
    }

    /// Nothing panics while the lock is held, so a poisoned one still guards a sound state.
    fn read(&self) -> RwLockReadGuard<'_, Kept> {
        self.kept.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Kept> {
        self.kept.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// These headers, as other answers have them.
    fn shared(&mut self, headers: Arc<HeaderMap>) -> Arc<HeaderMap> {
        if let Some(known) = self.headers.iter().find(|known| **known == headers) {
            return Arc::clone(known);
        }
        self.bytes += headers.len() * OF_HEADER;
        if self.headers.len() < MOST_SHARED {
            self.headers.push(Arc::clone(&headers));
        }
        headers
    }
}

impl Question {
    /// Nothing of the head is left out but its id, so that nothing that an answer may depend on is; and of where it came from nothing
    /// that any answer depends on.
    fn of(request: &Request, origin: Origin) -> Self {
        let uri = request.uri();
        let mut digest = Sha256::new();
        let facts = [
            request.version() == Version::HTTP_11,
            origin.is_https,
            origin.is_secure,
            origin.address.is_loopback(),
        ];
        digest.update(facts.map(u8::from));
        digest.update(uri.authority().map_or("", Authority::as_str));
        digest.update(uri.path_and_query().map_or("", PathAndQuery::as_str));
        for (name, value) in request.headers() {
            if *name == request_id::HEADER {
                continue;
            }
            // Neither has line ends, and names have no colons.
            digest.update(b"\n");
            digest.update(name);
            digest.update(b":");
            digest.update(value);
        }
        Self(digest.finalize().into())
    }
}

impl Answer {
    /// What an answer is made of that was read in an edition, and that answer.
    async fn of(
        response: Response,
        route: MatchedPath,
        user: i64,
        until: Timestamp,
    ) -> (Option<Self>, Response) {
        let (parts, body) = response.into_parts();
        let body = match body.collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) => return (None, web::Error::internal(error).into_response()),
        };
        let mut headers = parts.headers.clone();
        headers.remove(CONTENT_LENGTH);
        headers.remove(request_id::HEADER);
        rate::untell(&mut headers);
        let answer = Self {
            route,
            headers: Arc::new(headers),
            body: body.clone(),
            user,
            until,
        };
        (Some(answer), Response::from_parts(parts, Body::from(body)))
    }

    fn response(&self) -> Response {
        let mut response = Response::new(Body::from(self.body.clone()));
        let headers = response.headers_mut();
        headers.clone_from(&self.headers);
        headers.insert(CONTENT_LENGTH, self.body.len().into());
        response
    }
}

/// Whether a program asks something with a token.
fn is_question(request: &Request) -> bool {
    *request.method() == Method::GET && accounts::is_bearer(request.headers())
}

/// The step that gives answers again, around the service's edge.
pub(crate) fn remember(state: &State, watch: Watch) -> Step {
    let state = state.clone();
    Step::new(move |request: Request, next: Next| {
        let (state, watch) = (state.clone(), watch.clone());
        async move {
            if !is_question(&request) || !state.memory.worth.is_given() {
                return next.run(request).await;
            }
            let arrival = watch.arrival(&request);
            let question = Question::of(&request, arrival.origin);
            let Some(edition) = state.db.edition().await else {
                state.memory.worth.note(false);
                return next.run(request).await;
            };
            let found = state.memory.find(edition, &question, state.clock.now());
            state.memory.worth.note(found.is_some());
            if let Some(answer) = found
                && let Some(mut response) = again(&state, &answer).await
            {
                watch.write_down(&request, arrival, answer.route.as_str(), &mut response);
                return response;
            }
            if !state.memory.is_settled(edition) {
                return next.run(request).await;
            }
            let bearer = accounts::bearer_until(&state, request.headers());
            let response = next.run(request).await;
            let route = response
                .extensions()
                .get::<Lasting>()
                .map(|lasting| lasting.0.clone());
            match (bearer, route) {
                (Some((user, until)), Some(route)) => {
                    let (answer, response) = Answer::of(response, route, user, until).await;
                    if let Some(answer) = answer {
                        // Nobody waits for the database to tell whether it may be kept.
                        tokio::spawn(keep(state, edition, question, answer));
                    }
                    response
                }
                _ => response,
            }
        }
    })
}

/// An answer once more, if the limit of whom it is for allows it. Where it does not, what would have read it anew says so.
async fn again(state: &State, answer: &Answer) -> Option<Response> {
    let standing = gate::count_read(state, answer.user).await.ok()?;
    state.memory.repeated.inc();
    let response = answer.response();
    Some(match standing {
        Some(standing) => standing.tell(response),
        None => response,
    })
}

/// Keeps an answer that was read in an edition: if that is the edition still, it was so all the while.
async fn keep(state: State, edition: Edition, question: Question, answer: Answer) {
    if answer.body.len() <= MOST_OF_ONE && state.db.edition().await == Some(edition) {
        state.memory.keep(edition, question, answer);
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use axum::{Router, routing::get};
    use db::{Db, Options, Tx};
    use tower::ServiceExt as _;

    use super::*;

    const ORIGIN: Origin = Origin {
        address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        is_https: false,
        is_secure: true,
    };
    const NOW: Timestamp = Timestamp::from_micros(1_000_000);

    /// An answer of so many bytes, as the route of a router gave it.
    async fn answer(bytes: usize) -> Answer {
        let give =
            async move |route: MatchedPath| lasting(Some(route), "x".repeat(bytes).into_response());
        let router = Router::new().route("/a", get(give));
        let request = Request::get("/a").body(Body::empty()).unwrap();
        let Ok(response) = router.oneshot(request).await;
        let Lasting(route) = response.extensions().get().cloned().unwrap();
        let until = Timestamp::from_micros(2_000_000);
        Answer::of(response, route, 1, until).await.0.unwrap()
    }

    /// The editions of a database before and after something is committed.
    async fn two_editions() -> [Edition; 2] {
        let folder = tempfile::tempdir().unwrap();
        let address = format!("sqlite:{}", folder.path().join("shop.sqlite").display());
        let db = Db::open(&address.parse().unwrap(), &Options::default())
            .await
            .unwrap();
        let after = async |sql: &'static str| {
            let done = db.write(async move |tx: &mut Tx| tx.execute(sql, &[]).await);
            done.await.unwrap();
            db.edition().await.unwrap()
        };
        [
            after("CREATE TABLE shelf (units INTEGER) STRICT").await,
            after("INSERT INTO shelf (units) VALUES (1)").await,
        ]
    }

    fn question(number: u8) -> Question {
        Question([number; 32])
    }

    #[tokio::test]
    async fn no_more_is_kept_than_there_is_room_for() {
        let (memory, [edition, next]) = (Memory::new(&Metrics::new()), two_editions().await);
        assert!(!memory.is_settled(edition));
        assert!(memory.is_settled(edition));
        for number in 0..=255 {
            memory.keep(edition, question(number), answer(MOST_OF_ONE).await);
        }
        let kept =
            (0..=255).filter(|number| memory.find(edition, &question(*number), NOW).is_some());
        assert_eq!(kept.count(), MOST_BYTES / (MOST_OF_ONE + AROUND));
        assert!(memory.read().bytes <= MOST_BYTES);
        assert_eq!(memory.read().headers.len(), 1);
        assert!(!memory.is_settled(next));
        assert_eq!(memory.read().bytes, 0);
    }

    #[tokio::test]
    async fn what_was_read_in_an_edition_that_is_over_is_not_kept() {
        let (memory, [before, now]) = (Memory::new(&Metrics::new()), two_editions().await);
        memory.is_settled(before);
        memory.is_settled(now);
        memory.keep(before, question(1), answer(1).await);
        for edition in [before, now] {
            assert!(memory.find(edition, &question(1), NOW).is_none());
        }
    }

    #[test]
    fn requests_that_differ_in_anything_but_their_id_are_different_questions() {
        let digest = |path: &str, headers: &[(&str, &str)]| {
            let mut request = Request::get(path).header("authorization", "Bearer x");
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            Question::of(&request.body(Body::empty()).unwrap(), ORIGIN).0
        };
        let plain = digest("/a", &[]);
        assert_eq!(digest("/a", &[("x-request-id", "1")]), plain);
        let mut seen = vec![plain];
        for (path, headers) in [
            ("/b", &[][..]),
            ("http://shop.example/a", &[]),
            ("/a?b", &[]),
            ("/a", &[("b", "c")]),
            ("/a", &[("b", ""), ("c", "")]),
            ("/a", &[("bc", "")]),
            ("/a", &[("b", ":c:")]),
            ("/a", &[("b", "c"), ("b", "d")]),
        ] {
            let other = digest(path, headers);
            assert!(!seen.contains(&other), "{path} {headers:?}");
            seen.push(other);
        }
        let elsewhere = Origin {
            address: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
            ..ORIGIN
        };
        let by_https = Origin {
            is_https: true,
            ..ORIGIN
        };
        let insecure = Origin {
            is_secure: false,
            ..ORIGIN
        };
        for (version, origin) in [
            (Version::HTTP_10, ORIGIN),
            (Version::HTTP_11, elsewhere),
            (Version::HTTP_11, by_https),
            (Version::HTTP_11, insecure),
        ] {
            let request = Request::get("/a").version(version);
            let request = request.header("authorization", "Bearer x");
            let other = Question::of(&request.body(Body::empty()).unwrap(), origin).0;
            assert!(!seen.contains(&other), "{version:?} {origin:?}");
            seen.push(other);
        }
        let without_token = Request::get("/a").body(Body::empty()).unwrap();
        assert!(!is_question(&without_token));
        let post = Request::post("/a").header("authorization", "Bearer x");
        assert!(!is_question(&post.body(Body::empty()).unwrap()));
    }
}
