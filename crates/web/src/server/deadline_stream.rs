//! A stream with deadlines: for the head of a request, from its first byte, and for a client that
//! reads nothing.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;
use tokio::time::{Instant, Sleep, sleep_until};

use super::Limits;

/// Counts the requests of a connection that have begun and ended.
#[derive(Clone, Debug, Default)]
pub(super) struct RequestCount(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    begun: AtomicUsize,
    ended: AtomicUsize,
    first: Notify,
}

/// A request that is being answered, until it is dropped.
#[derive(Debug)]
pub(super) struct RequestGuard(RequestCount);

impl RequestCount {
    pub(super) fn begin(&self) -> RequestGuard {
        if self.0.begun.fetch_add(1, Ordering::SeqCst) == 0 {
            self.0.first.notify_one();
        }
        RequestGuard(self.clone())
    }

    /// Waits for the connection's first request. For one caller.
    pub(super) async fn first_request(&self) {
        self.0.first.notified().await;
    }

    /// Whether a first request has begun.
    pub(super) fn has_begun(&self) -> bool {
        self.begun() > 0
    }

    fn begun(&self) -> usize {
        self.0.begun.load(Ordering::SeqCst)
    }

    pub(super) fn is_busy(&self) -> bool {
        self.begun() > self.0.ended.load(Ordering::SeqCst)
    }
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.0.0.ended.fetch_add(1, Ordering::SeqCst);
    }
}

/// A deadline that may be set and cleared. Its timer stays when it is cleared: to move a timer
/// costs less than to make one for each request.
#[derive(Debug, Default)]
struct Deadline {
    timer: Option<Pin<Box<Sleep>>>,
    is_set: bool,
}

impl Deadline {
    fn set(&mut self, after: Duration) {
        if std::mem::replace(&mut self.is_set, true) {
            return;
        }
        let at = Instant::now() + after;
        match &mut self.timer {
            Some(timer) => timer.as_mut().reset(at),
            None => self.timer = Some(Box::pin(sleep_until(at))),
        }
    }

    fn clear(&mut self) {
        self.is_set = false;
    }

    /// The timer while it counts.
    fn timer(&mut self) -> Option<Pin<&mut Sleep>> {
        let timer = self.timer.as_mut().filter(|_| self.is_set);
        timer.map(Pin::as_mut)
    }

    fn is_over(&mut self) -> bool {
        self.timer()
            .is_some_and(|timer| timer.deadline() <= Instant::now())
    }

    /// Ready with an error when the time is over; else the task is woken then.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<io::Error> {
        match self.timer() {
            Some(timer) => {
                ready!(timer.poll(context));
                Poll::Ready(io::ErrorKind::TimedOut.into())
            }
            None => Poll::Pending,
        }
    }
}

pub(super) struct DeadlineStream<S> {
    stream: S,
    requests: RequestCount,
    limits: Limits,
    /// The requests whose heads have arrived.
    heads: usize,
    head: Deadline,
    stall: Deadline,
}

impl<S> DeadlineStream<S> {
    pub(super) fn new(stream: S, requests: RequestCount, limits: Limits) -> Self {
        let mut head = Deadline::default();
        // A connection that never sends its first request is not idle but late.
        head.set(limits.head);
        Self {
            stream,
            requests,
            limits,
            heads: 0,
            head,
            stall: Deadline::default(),
        }
    }

    /// Passes the outcome of a write on, and fails when the client has read nothing for too long.
    fn written<T>(
        &mut self,
        outcome: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            self.stall.clear();
            return outcome;
        }
        self.stall.set(self.limits.stall);
        self.stall.poll(context).map(Err)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for DeadlineStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let before = buffer.filled().len();
        let outcome = Pin::new(&mut this.stream).poll_read(context, buffer);
        let heads = this.requests.begun();
        if this.heads != heads {
            this.heads = heads;
            this.head.clear();
        }
        if this.requests.is_busy() {
            return outcome;
        }
        if this.head.is_over() {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        if outcome.is_ready() {
            if buffer.filled().len() > before {
                this.head.set(this.limits.head);
            }
            return outcome;
        }
        this.head.poll(context).map(Err)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for DeadlineStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(context, data);
        self.written(outcome, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        data: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write_vectored(context, data);
        self.written(outcome, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.stream).poll_flush(context);
        self.written(outcome, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.stream).poll_shutdown(context);
        self.written(outcome, context)
    }
}
