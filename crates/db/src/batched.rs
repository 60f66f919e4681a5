//! Changes that are made in batches.

use crate::{Error, Tx};

/// A change of one kind. On PostgreSQL those that wait at the same time share a transaction, and best one statement: a row that
/// many callers change is then changed once, and the log is flushed once. For [`Db::write_batched`](crate::Db::write_batched).
pub trait Batched: Send + Sync + Sized + 'static {
    /// What the caller of one is answered.
    type Answer: Send + 'static;

    /// The row that it changes. While another transaction has it locked, changes of this row wait, and those of other rows go on.
    fn row(&self) -> i64;

    /// Makes all of them and answers each, in their order. An error rolls all of them back, and then each is made by itself. So a
    /// refusal that wrote nothing, such as too little stock, is best answered as a value.
    fn make(
        all: &[Self],
        locks: Locks,
        tx: &mut Tx,
    ) -> impl Future<Output = Result<Vec<Outcome<Self::Answer>>, Error>>;
}

/// How rows are treated that another transaction has locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locks {
    /// Their changes are left out, and answered with [`Outcome::Locked`] (`SKIP LOCKED`).
    Skip,
    /// The change waits for them.
    Wait,
}

/// How one change of a batch ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome<A> {
    /// With this answer.
    Made(A),
    /// Nothing was changed: another transaction has its row locked.
    Locked,
}

/// Makes one change by itself.
///
/// # Errors
/// Those of [`Batched::make`], and when it answers for none.
pub(crate) async fn alone<B: Batched>(
    change: &B,
    locks: Locks,
    tx: &mut Tx,
) -> Result<Outcome<B::Answer>, Error> {
    let outcomes = B::make(std::slice::from_ref(change), locks, tx).await?;
    outcomes.into_iter().next().ok_or_else(unanswered)
}

impl<A> Outcome<A> {
    /// The answer to a change that was told to wait for its row.
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
