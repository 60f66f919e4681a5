//! The description of a model for the administration: everything that its pages need to know about it.

use async_trait::async_trait;
use db::{Timestamp, Tx};

use super::listing::ListParameters;
use crate::{
    State,
    access::{Caller, Verb},
    accounts::users::manage::NewAccount,
    catalogue::ReferenceCount,
    page::form_token::FormToken,
    rest::{
        Message, Refusal,
        fields::{FieldErrors, Members, Mode},
    },
    work::Author,
};

mod description;
mod inline;
mod records;

pub(super) use description::*;
pub(super) use inline::*;
pub(super) use records::*;

/// Portuguese and English.
pub(super) use resource::Both;

/// Who writes within a transaction, when, and under which rules of the shop.
#[derive(Clone)]
pub(super) struct Writer {
    pub(super) state: State,
    pub(super) caller: Caller,
    pub(super) author: Author,
    /// The new account, with its hashed password.
    pub(super) account: Option<NewAccount>,
}

impl Writer {
    /// Somebody, now.
    pub(super) fn now(state: &State, caller: &Caller) -> Self {
        Self {
            state: state.clone(),
            caller: caller.clone(),
            author: Author::new(state, caller),
            account: None,
        }
    }
}

/// Which record is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WriteTarget {
    /// One that is made.
    New,
    /// This one, from its whole form.
    Whole(i64),
    /// Some fields of this one.
    Part(i64),
}

impl WriteTarget {
    /// The record, when it is there already.
    pub(super) const fn id(self) -> Option<i64> {
        match self {
            Self::New => None,
            Self::Whole(id) | Self::Part(id) => Some(id),
        }
    }

    /// What an absent field means.
    pub(super) const fn mode(self) -> Mode {
        match self {
            Self::New | Self::Whole(_) => Mode::Whole,
            Self::Part(_) => Mode::Partial,
        }
    }
}

/// A model in the administration: its description, and the service functions that read and write it.
/// How the records of a model are written, within the transaction of a form or of a list.
#[async_trait(?Send)]
pub(super) trait AdminWrites: Send + Sync {
    /// The secret that a form has made, for a reader whose browser sent it twice and shows the second answer.
    async fn secret_of(
        &self,
        _tx: &mut Tx,
        _by: &Writer,
        _id: i64,
    ) -> Result<Option<String>, Refusal> {
        Ok(None)
    }

    /// Adds a record, or changes one, within the transaction of a form or of a list.
    async fn write_within(
        &self,
        _tx: &mut Tx,
        _by: &Writer,
        _target: WriteTarget,
        _members: &Members,
    ) -> Result<SavedRecord, Refusal> {
        Err(Refusal::forbidden())
    }

    /// Reads a record and locks it until the transaction ends: for models that are changed.
    async fn read_held(&self, _tx: &mut Tx, _id: i64) -> Result<Option<ModelRecord>, Refusal> {
        Err(Refusal::forbidden())
    }

    /// Deletes a record within such a transaction.
    async fn delete_within(&self, _tx: &mut Tx, _by: &Writer, _id: i64) -> Result<bool, Refusal> {
        Err(Refusal::forbidden())
    }
}

/// A model in the administration: its description, and the service functions that read it and act on it.
#[async_trait]
pub(super) trait AdminModel: AdminWrites {
    /// Its description.
    fn about(&self) -> &ModelDescription;

    /// One page of its list.
    async fn list(&self, state: &State, query: &ListParameters) -> Result<RecordPage, Refusal>;

    /// One record.
    async fn read(&self, state: &State, id: i64) -> Result<Option<ModelRecord>, Refusal>;

    /// The errors of a form that are known without the store. They are shown before anything is written.
    fn problems(&self, _target: WriteTarget, _members: &Members) -> FieldErrors {
        FieldErrors::default()
    }

    /// Prepares a new record before the transaction of its form: hashing a password takes too long to hold the writer.
    async fn prepare(
        &self,
        _state: &State,
        _members: &Members,
    ) -> Result<Option<NewAccount>, Refusal> {
        Ok(None)
    }

    /// Whether a form makes something, so that it counts once however often it is sent.
    fn makes_something(&self, target: WriteTarget, _members: &Members) -> bool {
        target == WriteTarget::New
    }

    /// Deletes a record; whether it was there.
    async fn delete(&self, _state: &State, _caller: &Caller, _id: i64) -> Result<bool, Refusal> {
        Err(Refusal::forbidden())
    }

    /// Whether some of its fields can be written without the others; else all are always written together.
    fn is_written_in_parts(&self) -> bool {
        false
    }

    /// Why somebody may not do this to a record, as far as it is known before they try: the text of the refusal.
    async fn hindrance(
        &self,
        _state: &State,
        _caller: &Caller,
        _verb: Verb,
        _id: i64,
    ) -> Result<Option<Message>, Refusal> {
        Ok(None)
    }

    /// What refers to a record, and keeps it from being deleted.
    async fn references_to(
        &self,
        _state: &State,
        _id: i64,
    ) -> Result<Vec<ReferenceCount>, Refusal> {
        Ok(Vec::new())
    }

    /// How many records of another model are deleted with a record, by the path of that model.
    async fn deleted_with(
        &self,
        _state: &State,
        _id: i64,
    ) -> Result<Option<(&'static str, u64)>, Refusal> {
        Ok(None)
    }

    /// Does one of the actions to one record; whether it was done. `once` is the form that asks for it.
    async fn act(
        &self,
        _state: &State,
        _caller: &Caller,
        _action: &str,
        _id: i64,
        _once: Option<FormToken>,
    ) -> Result<bool, Refusal> {
        Err(Refusal::forbidden())
    }

    /// The first and the last moment that the dates of the list can be narrowed to.
    async fn span(&self, _state: &State) -> Result<Option<(Timestamp, Timestamp)>, Refusal> {
        Ok(None)
    }
}
