//! Answers that are given again without asking the database: the same question, while nothing was committed and the caller's token lasts,
//! has the same answer.
//!
//! A question is the whole head of a request, so an answer is given only to who asked for it, with the token that it was given for. Whatever
//! is committed, by a sale as by the deactivation of the caller's account, ends all answers. On PostgreSQL, where others may commit unheard
//! of, there are none; nor where reads are limited, as nobody asks often enough there. Only answers that depend on nothing else are
//! kept: [`lasting`] marks them.

use std::{
    collections::HashMap,
    mem,
    sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use axum::{
    body::Body,
    extract::Request,
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use db::{Edition, Timestamp};
use http::{HeaderMap, Method, StatusCode, uri::Authority};
use http_body_util::BodyExt as _;
use sha2::{Digest as _, Sha256};
use web::{Next, Step, client::Origin, request_id};

use crate::{State, accounts};

/// The most bytes of all answers that are kept. When they are reached no more are, until a commit ends all: were they forgotten then,
/// somebody who asks for one after the other of more than these would never be given one again.
const MOST_BYTES: usize = 16 * 1024 * 1024;
/// The most bytes of one answer: so that a few long ones do not drive out all others.
const MOST_OF_ONE: usize = 64 * 1024;
/// What an answer takes beside its body, about.
const AROUND: usize = 512;

/// Marks an answer that depends on the question, on what is stored and on the caller's token, and on nothing else.
#[derive(Clone, Copy)]
struct Lasting;

/// Marks an answer as one that may be given again.
pub(super) fn lasting(mut response: Response) -> Response {
    response.extensions_mut().insert(Lasting);
    response
}

/// The answers of one edition of the database.
#[derive(Default)]
pub(crate) struct Memory(RwLock<Kept>);

#[derive(Default)]
struct Kept {
    edition: Option<Edition>,
    answers: HashMap<Question, Answer>,
    bytes: usize,
}

/// The digest of a question, in which its token is not kept.
#[derive(PartialEq, Eq, Hash)]
struct Question([u8; 32]);

struct Answer {
    headers: HeaderMap,
    body: Bytes,
    /// When the token is no longer valid that it was given for.
    until: Timestamp,
}

impl Memory {
    fn find(&self, edition: Edition, question: &Question, now: Timestamp) -> Option<Response> {
        let kept = self.read();
        if kept.edition != Some(edition) {
            return None;
        }
        let answer = kept.answers.get(question)?;
        (now < answer.until).then(|| {
            let mut response = Response::new(Body::from(answer.body.clone()));
            *response.headers_mut() = answer.headers.clone();
            response
        })
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

    fn keep(&self, edition: Edition, question: Question, answer: Answer) {
        let bytes = answer.body.len() + AROUND;
        let mut kept = self.write();
        if kept.edition != Some(edition) || kept.bytes + bytes > MOST_BYTES {
            return;
        }
        // Two that asked at once have the same answer.
        if kept.answers.insert(question, answer).is_none() {
            kept.bytes += bytes;
        }
    }

    /// Nothing panics while the lock is held, so a poisoned one still guards a sound state.
    fn read(&self) -> RwLockReadGuard<'_, Kept> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Kept> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Question {
    /// What a program asks with a token. Nothing of the head is left out but its id, so that nothing that an answer may depend on is.
    fn of(request: &Request) -> Option<Self> {
        if *request.method() != Method::GET || !accounts::is_bearer(request.headers()) {
            return None;
        }
        let origin = Origin::known(request.extensions());
        let uri = request.uri();
        let mut digest = Sha256::new();
        digest.update([u8::from(origin.is_https), u8::from(origin.is_secure)]);
        digest.update(uri.authority().map_or("", Authority::as_str));
        digest.update(uri.path_and_query()?.as_str());
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
        Some(Self(digest.finalize().into()))
    }
}

/// The step that gives answers again.
pub(crate) fn remember(state: &State) -> Step {
    let state = state.clone();
    Step::new(move |request: Request, next: Next| {
        let state = state.clone();
        async move {
            let question = if state.config.rate_limit_read.is_off() {
                Question::of(&request)
            } else {
                None
            };
            let (Some(question), Some(edition)) = (question, state.db.edition()) else {
                return next.run(request).await;
            };
            let now = state.clock.now();
            if let Some(response) = state.memory.find(edition, &question, now) {
                return response;
            }
            if !state.memory.is_settled(edition) {
                return next.run(request).await;
            }
            let until = accounts::bearer_lasts_until(&state, request.headers());
            let response = next.run(request).await;
            match until {
                Some(until) if is_lasting(&response) => {
                    keep(&state, edition, question, until, response).await
                }
                _ => response,
            }
        }
    })
}

fn is_lasting(response: &Response) -> bool {
    response.status() == StatusCode::OK && response.extensions().get::<Lasting>().is_some()
}

/// Keeps an answer that was read in an edition: if that is the edition still, it was so all the while.
async fn keep(
    state: &State,
    edition: Edition,
    question: Question,
    until: Timestamp,
    response: Response,
) -> Response {
    let (parts, body) = response.into_parts();
    let body = match body.collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) => return web::Error::internal(error).into_response(),
    };
    if body.len() <= MOST_OF_ONE && state.db.edition() == Some(edition) {
        let answer = Answer {
            headers: parts.headers.clone(),
            body: body.clone(),
            until,
        };
        state.memory.keep(edition, question, answer);
    }
    Response::from_parts(parts, Body::from(body))
}

#[cfg(test)]
mod tests {
    use db::{Db, Options, Tx};

    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_000_000);

    fn answer(bytes: usize) -> Answer {
        Answer {
            headers: HeaderMap::new(),
            body: vec![b'x'; bytes].into(),
            until: Timestamp::from_micros(2_000_000),
        }
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
            db.edition().unwrap()
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
        let (memory, [edition, next]) = (Memory::default(), two_editions().await);
        assert!(!memory.is_settled(edition));
        assert!(memory.is_settled(edition));
        for number in 0..=255 {
            memory.keep(edition, question(number), answer(MOST_OF_ONE));
        }
        let kept =
            (0..=255).filter(|number| memory.find(edition, &question(*number), NOW).is_some());
        assert_eq!(kept.count(), MOST_BYTES / (MOST_OF_ONE + AROUND));
        assert!(memory.read().bytes <= MOST_BYTES);
        assert!(!memory.is_settled(next));
        assert_eq!(memory.read().bytes, 0);
    }

    #[tokio::test]
    async fn what_was_read_in_an_edition_that_is_over_is_not_kept() {
        let (memory, [before, now]) = (Memory::default(), two_editions().await);
        memory.is_settled(before);
        memory.is_settled(now);
        memory.keep(before, question(1), answer(1));
        for edition in [before, now] {
            assert!(memory.find(edition, &question(1), NOW).is_none());
        }
    }

    #[test]
    fn heads_that_differ_in_anything_but_their_id_are_different_questions() {
        let digest = |path: &str, headers: &[(&str, &str)]| {
            let mut request = Request::get(path).header("authorization", "Bearer x");
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            Question::of(&request.body(Body::empty()).unwrap())
                .unwrap()
                .0
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
        let without_token = Request::get("/a").body(Body::empty()).unwrap();
        assert!(Question::of(&without_token).is_none());
        let post = Request::post("/a").header("authorization", "Bearer x");
        assert!(Question::of(&post.body(Body::empty()).unwrap()).is_none());
    }
}
