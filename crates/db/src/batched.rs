//! Changes that are made in batches.

use crate::{Error, Tx};

/// A change for [`Db::write_batched`](crate::Db::write_batched). On PostgreSQL, changes of one kind
/// that wait at the same time share a transaction, and ideally one statement. A row that many
/// callers change is then updated once, and the log is flushed once.
pub trait BatchedChange: Send + Sync + Sized + 'static {
    /// The result for the caller of one change.
    type Answer: Send + 'static;

    /// The row that it changes. While another transaction has it locked, changes of this row wait,
    /// and those of other rows go on.
    fn row(&self) -> i64;

    /// Makes all changes and returns the outcome of each, in their order. An error rolls all of
    /// them back, and then each is made alone. So a refusal that writes nothing, such as too little
    /// stock, is best returned as a value.
    fn make(
        all: &[Self],
        locks: Locks,
        tx: &mut Tx,
    ) -> impl Future<Output = Result<Vec<Outcome<Self::Answer>>, Error>>;
}

/// What happens to changes of rows that another transaction has locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locks {
    /// They are left out, and their outcome is [`Outcome::Locked`] (`SKIP LOCKED`).
    Skip,
    /// They wait for the lock.
    Wait,
}

/// How one change of a batch ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome<A> {
    /// It was made, with this result.
    Made(A),
    /// Nothing was changed: another transaction has its row locked.
    Locked,
}

/// Makes one change alone.
///
/// # Errors
///
/// Those of [`BatchedChange::make`], and when it returns no outcome.
pub(crate) async fn alone<B: BatchedChange>(
    change: &B,
    locks: Locks,
    tx: &mut Tx,
) -> Result<Outcome<B::Answer>, Error> {
    let outcomes = B::make(std::slice::from_ref(change), locks, tx).await?;
    outcomes.into_iter().next().ok_or_else(unanswered)
}

/// Makes one change alone, and waits for its row.
pub(crate) async fn alone_waiting<B: BatchedChange>(
    change: &B,
    tx: &mut Tx,
) -> Result<B::Answer, Error> {
    alone(change, Locks::Wait, tx).await?.after_waiting()
}

impl<A> Outcome<A> {
    /// The result of a change that was made with [`Locks::Wait`].
    pub(crate) fn after_waiting(self) -> Result<A, Error> {
        match self {
            Self::Made(answer) => Ok(answer),
            Self::Locked => Err(Error::other("a change did not wait for its row")),
        }
    }
}

pub(crate) fn unanswered() -> Error {
    Error::other("a change of a batch was not answered")
}
