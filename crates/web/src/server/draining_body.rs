//! The body of a request: not waited for without end once the server stops, and read to its end when nobody wants it.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use tokio::time::{Sleep, sleep, timeout};

use super::Shutdown;

/// The most that is read of a body that nobody wants: somewhat more than any service takes.
const LEFT_OVER: usize = 8 * 1024 * 1024;

/// A body that ends with an error when the shutdown has begun and nothing of it has come for a while. Who still sends is waited for.
///
/// When it is dropped before its end, because the answer did not depend on it, the rest is read and thrown away. A connection that is
/// closed over an unread body is reset, and the sender may lose the answer: a proxy that passes a body on tells its client 502 instead.
pub(super) struct DrainingBody {
    /// Until it has ended.
    body: Option<Incoming>,
    /// Whether the sender sends it whether it is wanted or not.
    comes_unasked: bool,
    patience: Duration,
    wait: Wait,
    shutdown: Shutdown,
}

enum Wait {
    /// Nothing was waited for yet: most bodies come with their head.
    NotYet,
    ForShutdown(Pin<Box<dyn Future<Output = ()> + Send>>),
    ForSender(Pin<Box<Sleep>>),
}

impl DrainingBody {
    pub(super) const fn new(
        body: Incoming,
        comes_unasked: bool,
        shutdown: Shutdown,
        patience: Duration,
    ) -> Self {
        Self {
            body: Some(body),
            comes_unasked,
            patience,
            wait: Wait::NotYet,
            shutdown,
        }
    }

    /// Ready when the sender is no longer waited for.
    fn poll_wait(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if matches!(self.wait, Wait::NotYet) {
            let shutdown = self.shutdown.clone();
            self.wait = Wait::ForShutdown(Box::pin(async move { shutdown.begun().await }));
        }
        if let Wait::ForShutdown(begun) = &mut self.wait {
            ready!(begun.as_mut().poll(context));
            self.wait = Wait::ForSender(Box::pin(sleep(self.patience)));
        }
        match &mut self.wait {
            Wait::ForSender(sleep) => sleep.as_mut().poll(context),
            Wait::NotYet | Wait::ForShutdown(_) => Poll::Pending,
        }
    }
}

impl HttpBody for DrainingBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Some(body) = &mut self.body else {
            return Poll::Ready(None);
        };
        let frame = Pin::new(body).poll_frame(context);
        if let Poll::Ready(next) = &frame {
            if !matches!(next, Some(Ok(_))) {
                self.body = None;
            }
            // What comes next has the whole patience again.
            self.wait = Wait::NotYet;
            return frame.map_err(axum::Error::new);
        }
        ready!(self.poll_wait(context));
        let error = io::Error::new(
            io::ErrorKind::TimedOut,
            "the server stops, and the rest of the body does not come",
        );
        Poll::Ready(Some(Err(axum::Error::new(error))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        let size = self.body.as_ref().map(HttpBody::size_hint);
        size.unwrap_or_else(|| SizeHint::with_exact(0))
    }
}

impl Drop for DrainingBody {
    fn drop(&mut self) {
        let Some(body) = self.body.take() else { return };
        let is_worth_it = self.comes_unasked
            && !body.is_end_stream()
            && body.size_hint().lower() <= LEFT_OVER as u64
            && !self.shutdown.has_begun();
        if is_worth_it && let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(read_off(body, self.shutdown.clone(), self.patience));
        }
    }
}

/// Reads the rest of a body for nobody, until its sender says nothing for a while, or says it too slowly.
async fn read_off(mut body: Incoming, shutdown: Shutdown, patience: Duration) {
    let reading = async {
        let mut left = LEFT_OVER;
        while let Ok(Some(Ok(frame))) = timeout(patience, body.frame()).await {
            let length = frame.data_ref().map_or(0, Bytes::len);
            match left.checked_sub(length) {
                Some(rest) => left = rest,
                None => return,
            }
        }
    };
    tokio::select! {
        _late = timeout(patience * 6, reading) => {}
        () = shutdown.begun() => {}
    }
}
