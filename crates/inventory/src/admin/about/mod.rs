//! The description of a model for the administration: everything that its pages need to know about it.

use std::{future::Future, pin::Pin};

use db::{Timestamp, Tx};

use super::listing::Asked;
use crate::{
    State,
    access::{Caller, Verb},
    accounts::users::manage::NewAccount,
    page::once::Once,
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
pub(super) type Text = (&'static str, &'static str);

/// What the functions of a model answer.
pub(super) type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, Refusal>> + Send + 'a>>;

/// What they answer within a transaction that is running.
pub(super) type Within<'a, T> = Pin<Box<dyn Future<Output = Result<T, Refusal>> + 'a>>;

/// Who writes within a transaction, when, and under which rules of the shop.
#[derive(Clone)]
pub(super) struct By {
    pub(super) state: State,
    pub(super) caller: Caller,
    pub(super) author: Author,
    /// What was prepared of a new account.
    pub(super) account: Option<NewAccount>,
}

impl By {
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
pub(super) enum Target {
    /// One that is made.
    New,
    /// This one, from its whole form.
    Whole(i64),
    /// Some fields of this one.
    Part(i64),
}

impl Target {
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
pub(super) trait Administered: Send + Sync {
    /// Its description.
    fn about(&self) -> &About;

    /// One page of its list.
    fn list<'a>(&'a self, state: &'a State, asked: &'a Asked) -> Pending<'a, Rows>;

    /// One record.
    fn read<'a>(&'a self, state: &'a State, id: i64) -> Pending<'a, Option<Record>>;

    /// What is wrong with a form, as far as it can be told without the store: what can be told is told before anything is written.
    fn problems(&self, _target: Target, _members: &Members) -> FieldErrors {
        FieldErrors::default()
    }

    /// Prepares a new record before the transaction of its form: hashing a password takes too long to hold a writer meanwhile.
    fn prepare<'a>(
        &'a self,
        _state: &'a State,
        _members: &'a Members,
    ) -> Pending<'a, Option<NewAccount>> {
        Box::pin(async { Ok(None) })
    }

    /// Whether a form makes something, so that it counts once however often it is sent.
    fn makes_something(&self, target: Target, _members: &Members) -> bool {
        target == Target::New
    }

    /// The secret that a form has made, for a reader whose browser sent it twice and shows the second answer.
    fn secret_of<'a>(
        &'a self,
        _tx: &'a mut Tx,
        _by: &'a By,
        _id: i64,
    ) -> Within<'a, Option<String>> {
        Box::pin(async { Ok(None) })
    }

    /// Deletes a record; whether it was there.
    fn delete<'a>(&'a self, _state: &'a State, _caller: &'a Caller, _id: i64) -> Pending<'a, bool> {
        Box::pin(async { Err(Refusal::forbidden()) })
    }

    /// Adds a record, or changes one, within the transaction of a form or of a list.
    fn write_within<'a>(
        &'a self,
        _tx: &'a mut Tx,
        _by: &'a By,
        _target: Target,
        _members: &'a Members,
    ) -> Within<'a, Written> {
        Box::pin(async { Err(Refusal::forbidden()) })
    }

    /// Whether some of its fields can be written without the others; else all are always written together.
    fn is_written_in_parts(&self) -> bool {
        false
    }

    /// As [`read`](Self::read), within a transaction until whose end nobody else changes the record: for models that are changed.
    fn read_held<'a>(&'a self, _tx: &'a mut Tx, _id: i64) -> Within<'a, Option<Record>> {
        Box::pin(async { Err(Refusal::forbidden()) })
    }

    /// As [`delete`](Self::delete), within such a transaction.
    fn delete_within<'a>(&'a self, _tx: &'a mut Tx, _by: &'a By, _id: i64) -> Within<'a, bool> {
        Box::pin(async { Err(Refusal::forbidden()) })
    }

    /// Why somebody may not do this to a record, as far as it is known before they try: the text of the refusal.
    fn hindrance<'a>(
        &'a self,
        _state: &'a State,
        _caller: &'a Caller,
        _verb: Verb,
        _id: i64,
    ) -> Pending<'a, Option<Message>> {
        Box::pin(async { Ok(None) })
    }

    /// What refers to a record.
    fn related<'a>(&'a self, _state: &'a State, _id: i64) -> Pending<'a, Vec<Related>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    /// Does one of the actions to one record; whether it was done. `once` is the form that asks for it.
    fn act<'a>(
        &'a self,
        _state: &'a State,
        _caller: &'a Caller,
        _action: &'a str,
        _id: i64,
        _once: Option<Once>,
    ) -> Pending<'a, bool> {
        Box::pin(async { Err(Refusal::forbidden()) })
    }

    /// The first and the last moment that the dates of the list can be narrowed to.
    fn span<'a>(&'a self, _state: &'a State) -> Pending<'a, Option<(Timestamp, Timestamp)>> {
        Box::pin(async { Ok(None) })
    }
}
