//! The body of a request: not waited for without end once the server stops.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::{Sleep, sleep};

use super::Shutdown;

/// A body that ends with an error when the shutdown has begun and nothing of it has come for a while. Who still sends is waited for.
pub(super) struct Sent {
    body: Incoming,
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

impl Sent {
    pub(super) const fn new(body: Incoming, shutdown: Shutdown, patience: Duration) -> Self {
        Self {
            body,
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

impl HttpBody for Sent {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        if frame.is_ready() {
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
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
