//! Running a job's future on a database thread: it completes at its first poll, and a panic in it does not end the thread.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    task::{Context, Poll, Waker},
};

use crate::{Counters, Error};

/// Polls once. Over SQLite nothing ever waits, so a future that is not ready awaited something else than its
/// database, and will not be waited for.
///
/// A panic is answered like an error; the state that it may have left behind is rolled back by the caller.
pub(crate) fn finish_at_once<T, E: From<Error>>(
    future: impl Future<Output = Result<T, E>>,
    counters: &Counters,
) -> Result<T, E> {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(&mut context))) {
        Ok(Poll::Ready(result)) => result,
        Ok(Poll::Pending) => {
            Err(Error::other("a database job awaited something other than its database").into())
        }
        Err(_panic) => {
            counters.panic();
            Err(panicked().into())
        }
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
                counters.panic();
                Poll::Ready(Err(panicked().into()))
            }
        }
    })
    .await
}

fn panicked() -> Error {
    Error::other("a database job panicked")
}
