//! The body of a request. It is drained when it is dropped before its end, and fails when it stalls
//! while the server stops.

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

/// The most bytes that are drained: somewhat more than any service accepts.
const MOST_DRAINED: usize = 8 * 1024 * 1024;

/// A body that ends with an error when the shutdown has begun and no more of it has arrived for a
/// while.
///
/// When it is dropped before its end, the rest is read and discarded. Closing a connection with
/// unread data resets it, and the client may lose the response: a proxy would answer 502 instead.
pub(super) struct DrainingBody {
    /// Until it has ended.
    body: Option<Incoming>,
    /// Whether the sender sends it without being asked (no `Expect`).
    comes_unasked: bool,
    patience: Duration,
    wait: Wait,
    shutdown: Shutdown,
}

enum Wait {
    /// Not waiting yet: most bodies arrive with their head.
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

    /// Ready when waiting for the sender is over.
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
            // The patience begins anew with each frame.
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
            && body.size_hint().lower() <= MOST_DRAINED as u64
            && !self.shutdown.has_begun();
        if is_worth_it && let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(drain(body, self.shutdown.clone(), self.patience));
        }
    }
}

/// Reads and discards the rest of a body, until its sender stalls or takes too long.
async fn drain(mut body: Incoming, shutdown: Shutdown, patience: Duration) {
    let reading = async {
        let mut left = MOST_DRAINED;
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
