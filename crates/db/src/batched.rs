//! Changes that several ask for at the same time, made for all of them together.

use crate::{Error, Tx};

/// A change of one kind. What waits of it at the same time shares a transaction on PostgreSQL, and best one statement, so that a row that
/// everybody wants is changed, and the log flushed, once for all. For [`Db::write_batched`](crate::Db::write_batched).
pub trait Batched: Send + Sync + Sized + 'static {
    /// What whoever asks for one hears.
    type Answer: Send + 'static;

    /// Makes all of them and answers for each, in their order. A failure costs all their transaction, and then each is made by itself: so
    /// a refusal that wrote nothing, such as too little stock, is best answered as a value.
    fn make(all: &[Self], tx: &mut Tx) -> impl Future<Output = Result<Vec<Self::Answer>, Error>>;
}

/// The answer to one that is made by itself.
///
/// # Errors
/// Those of [`Batched::make`], and when it answers for none.
pub(crate) async fn alone<B: Batched>(change: &B, tx: &mut Tx) -> Result<B::Answer, Error> {
    let answers = B::make(std::slice::from_ref(change), tx).await?;
    answers.into_iter().next().ok_or_else(unanswered)
}

pub(crate) fn unanswered() -> Error {
    Error::other("a change of a batch was not answered")
}
