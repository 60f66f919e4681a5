//! Changes that several ask for at the same time, made for all of them together.

use crate::{Error, Tx};

/// A change of one kind. What waits of it at the same time shares a transaction on PostgreSQL, and best one statement, so that a row that
/// everybody wants is changed, and the log flushed, once for all. For [`Db::write_batched`](crate::Db::write_batched).
pub trait Batched: Send + Sync + Sized + 'static {
    /// What whoever asks for one hears.
    type Answer: Send + 'static;

    /// The row that it changes. While another transaction has it locked, changes of this row wait by themselves, and those of other rows
    /// go on.
    fn row(&self) -> i64;

    /// Makes all of them and answers for each, in their order. A failure costs all their transaction, and then each is made by itself: so
    /// a refusal that wrote nothing, such as too little stock, is best answered as a value.
    fn make(
        all: &[Self],
        locks: Locks,
        tx: &mut Tx,
    ) -> impl Future<Output = Result<Vec<Outcome<Self::Answer>>, Error>>;
}

/// What is done about rows that another transaction has locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locks {
    /// Their changes are left out, and answered with [`Outcome::Locked`] (`SKIP LOCKED`).
    Skip,
    /// They are waited for.
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

/// The outcome of one that is made by itself.
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
    /// The answer to one whose row was to be waited for.
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
