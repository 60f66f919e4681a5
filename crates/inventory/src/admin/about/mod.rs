//! The description of a model for the administration, and the traits of its functions.

use async_trait::async_trait;
use db::{Timestamp, Tx};

use super::listing::ListParameters;
use crate::{
    State,
    access::{Caller, Verb},
    accounts::users::manage::NewAccount,
    catalogue::ReferenceCount,
    events::Secret,
    idempotency::IdempotencyKey,
    page::form_token::FormToken,
    rest::{
        Message, Refusal,
        fields::{Members, Mode},
    },
    work::Work,
};

mod description;
mod inline;
mod records;

pub(super) use description::*;
pub(super) use inline::*;
pub(super) use records::*;

/// Portuguese and English.
pub(super) use resource::Both;

/// The state and the caller of a write.
#[derive(Clone)]
pub(super) struct Writer {
    pub(super) state: State,
    pub(super) caller: Caller,
    /// The account to create. Only the form of a new account has one.
    pub(super) account: Option<NewAccount>,
}

impl Writer {
    pub(super) fn new(state: &State, caller: &Caller) -> Self {
        Self {
            state: state.clone(),
            caller: caller.clone(),
            account: None,
        }
    }
}

/// The record to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WriteTarget {
    /// A new record.
    New,
    /// An existing record, with all fields of its form.
    Whole(i64),
    /// Some fields of an existing record.
    Part(i64),
}

impl WriteTarget {
    /// The id of an existing record.
    pub(super) const fn id(self) -> Option<i64> {
        match self {
            Self::New => None,
            Self::Whole(id) | Self::Part(id) => Some(id),
        }
    }

    /// The meaning of absent fields.
    pub(super) const fn mode(self) -> Mode {
        match self {
            Self::New | Self::Whole(_) => Mode::Whole,
            Self::Part(_) => Mode::Partial,
        }
    }
}

/// The creation or change of a record.
pub(super) struct Write<'a> {
    pub(super) by: &'a Writer,
    pub(super) target: WriteTarget,
    pub(super) members: &'a Members,
}

/// An action on a selected record.
pub(super) struct ActionRequest<'a> {
    pub(super) state: &'a State,
    pub(super) caller: &'a Caller,
    /// The name of a [`ModelAction`].
    pub(super) action: &'a str,
    pub(super) id: i64,
    pub(super) form_token: Option<FormToken>,
}

impl ActionRequest<'_> {
    /// The idempotency key, for an action that must not be repeated when the same form is submitted
    /// twice.
    pub(super) fn key(&self, path: &'static str) -> Option<IdempotencyKey> {
        let token = self.form_token.clone()?;
        Some(token.for_record(self.id).by(self.caller.id, path))
    }
}

/// Writes records of a model within the transaction of a form or of a list.
#[async_trait(?Send)]
pub(super) trait AdminWrites: Send + Sync {
    /// The secret of a record, to repeat the response when the browser submits the same form twice.
    async fn secret_of(
        &self,
        _work: &mut Work<'_>,
        _by: &Writer,
        _id: i64,
    ) -> Result<Option<Secret>, Refusal> {
        Ok(None)
    }

    /// Creates or changes a record.
    async fn write(
        &self,
        _work: &mut Work<'_>,
        _write: &Write<'_>,
    ) -> Result<SavedRecord, Refusal> {
        Err(Refusal::forbidden())
    }

    /// Reads a record and locks it until the end of the transaction.
    async fn find_locked(&self, _tx: &mut Tx, _id: i64) -> Result<Option<ModelRecord>, Refusal> {
        Err(Refusal::forbidden())
    }

    /// Deletes a record. Returns whether it existed.
    async fn delete(&self, _work: &mut Work<'_>, _by: &Caller, _id: i64) -> Result<bool, Refusal> {
        Err(Refusal::forbidden())
    }
}

/// A model of the administration: its description, and the service functions of its pages.
#[async_trait]
pub(super) trait AdminModel: AdminWrites {
    /// The description, which is built once.
    fn describe(&self) -> ModelDescription;

    /// One page of the list.
    async fn list(&self, state: &State, query: &ListParameters) -> Result<RecordPage, Refusal>;

    async fn read(&self, state: &State, id: i64) -> Result<Option<ModelRecord>, Refusal>;

    /// Prepares a new record before the transaction: hashing a password would block other writers
    /// for too long.
    async fn prepare(
        &self,
        _state: &State,
        _members: &Members,
    ) -> Result<Option<NewAccount>, Refusal> {
        Ok(None)
    }

    /// Whether a form creates something, so that submitting it twice must not repeat it.
    fn makes_something(&self, target: WriteTarget, _members: &Members) -> bool {
        target == WriteTarget::New
    }

    /// The reason why an operation on a record will be refused, if it can be known in advance.
    async fn refusal_reason(
        &self,
        _state: &State,
        _caller: &Caller,
        _verb: Verb,
        _id: i64,
    ) -> Result<Option<Message>, Refusal> {
        Ok(None)
    }

    /// The numbers of references that prevent a record's deletion.
    async fn references_to(
        &self,
        _state: &State,
        _id: i64,
    ) -> Result<Vec<ReferenceCount>, Refusal> {
        Ok(Vec::new())
    }

    /// The path of a model whose records are deleted with the record, and their number.
    async fn deleted_with(
        &self,
        _state: &State,
        _id: i64,
    ) -> Result<Option<(&'static str, u64)>, Refusal> {
        Ok(None)
    }

    /// Performs an action on a record. Returns whether it was done.
    async fn act(&self, _request: ActionRequest<'_>) -> Result<bool, Refusal> {
        Err(Refusal::forbidden())
    }

    /// The range of the date drill-down: the first and the last creation time.
    async fn span(&self, _state: &State) -> Result<Option<(Timestamp, Timestamp)>, Refusal> {
        Ok(None)
    }
}
