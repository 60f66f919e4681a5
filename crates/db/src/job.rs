//! Running a job's future on a database thread: it completes at its first poll, and a panic in it
//! does not end the thread.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
};

use crate::{Counters, Error};

/// Polls once. On SQLite no statement waits. So a future that is not ready awaits something other
/// than its database, and the job fails.
///
/// A panic becomes an error. The caller rolls back what the job had written.
pub(crate) fn finish_at_once<T, E: From<Error>>(
    future: impl Future<Output = Result<T, E>>,
    counters: &Counters,
) -> Result<T, E> {
    let future = pin!(future);
    let finished = pin!(finish(future, counters));
    match finished.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => {
            Err(Error::other("a database job awaited something other than its database").into())
        }
    }
}

/// A job with its result, which may run several times. The code that runs it does not depend on its
/// types, since that code would be compiled for each of some hundred jobs, several KiB each time.
pub(crate) struct Job<T, E, F> {
    body: F,
    result: Option<Result<T, E>>,
}

impl<T, E: From<Error>, F> Job<T, E, F> {
    pub(crate) const fn new(body: F) -> Self {
        Self { body, result: None }
    }

    /// The job's result, if the database has accepted it.
    pub(crate) fn into_result(self, ran: Result<(), Error>) -> Result<T, E> {
        ran?;
        let never = || Err(Error::other("a job was answered before it ran").into());
        self.result.unwrap_or_else(never)
    }
}

/// Work that runs on a connection `C`.
pub(crate) trait Work<C> {
    /// Runs it and returns whether it succeeded. The result of an earlier run is replaced.
    fn run<'a>(
        &'a mut self,
        conn: &'a mut C,
        counters: &'a Counters,
    ) -> Pin<Box<dyn Future<Output = bool> + 'a>>;
}

impl<C, T, E, F> Work<C> for Job<T, E, F>
where
    F: AsyncFn(&mut C) -> Result<T, E>,
    E: From<Error>,
{
    fn run<'a>(
        &'a mut self,
        conn: &'a mut C,
        counters: &'a Counters,
    ) -> Pin<Box<dyn Future<Output = bool> + 'a>> {
        Box::pin(async move {
            let result = finish((self.body)(conn), counters).await;
            let has_succeeded = result.is_ok();
            self.result = Some(result);
            has_succeeded
        })
    }
}

/// As [`finish_at_once`] where a future may wait: on PostgreSQL.
pub(crate) async fn finish<T, E: From<Error>>(
    future: impl Future<Output = Result<T, E>>,
    counters: &Counters,
) -> Result<T, E> {
    let mut future = pin!(future);
    std::future::poll_fn(|context| {
        match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
            Ok(poll) => poll,
            Err(_panic) => {
                counters.panics.increase();
                Poll::Ready(Err(Error::other("a database job panicked").into()))
            }
        }
    })
    .await
}
