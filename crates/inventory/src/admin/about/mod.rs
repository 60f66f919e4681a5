//! The description of a model for the administration: everything that its pages need to know about it.

use std::{future::Future, pin::Pin};

use db::{Timestamp, Tx};

use super::listing::Asked;
use crate::{
    State,
    accounts::Caller,
    rest::{
        Refusal,
        fields::{FieldErrors, Members, Mode},
    },
    stock::{Actor, Policy},
};

mod description;
mod records;

pub(super) use description::*;
pub(super) use records::*;

/// Portuguese and English.
pub(super) type Text = (&'static str, &'static str);

/// What the functions of a model answer.
pub(super) type Work<'a, T> = Pin<Box<dyn Future<Output = Result<T, Refusal>> + Send + 'a>>;

/// What they answer within a transaction that is running.
pub(super) type Within<'a, T> = Pin<Box<dyn Future<Output = Result<T, Refusal>> + 'a>>;

/// Who writes within a transaction, when, and under which rules of the shop.
#[derive(Debug, Clone)]
pub(super) struct By {
    pub(super) caller: Caller,
    pub(super) actor: Actor,
    pub(super) policy: Policy,
    pub(super) now: Timestamp,
}

impl By {
    /// Somebody, now.
    pub(super) fn now(state: &State, caller: &Caller) -> Self {
        Self {
            caller: caller.clone(),
            actor: Actor::from(caller),
            policy: Policy::from(&state.config),
            now: state.clock.now(),
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
    fn list<'a>(&'a self, state: &'a State, asked: &'a Asked) -> Work<'a, Rows>;

    /// One record.
    fn read<'a>(&'a self, state: &'a State, id: i64) -> Work<'a, Option<Record>>;

    /// What is wrong with a form, as far as it can be told without the store: what can be told is told before anything is written.
    fn problems(&self, _target: Target, _members: &Members) -> FieldErrors {
        FieldErrors::default()
    }

    /// Adds a record, or changes one; its id and text.
    fn write<'a>(
        &'a self,
        _state: &'a State,
        _caller: &'a Caller,
        _target: Target,
        _members: Members,
    ) -> Work<'a, Written> {
        Box::pin(async { Err(Refusal::forbidden()) })
    }

    /// Deletes a record; whether it was there.
    fn delete<'a>(&'a self, _state: &'a State, _caller: &'a Caller, _id: i64) -> Work<'a, bool> {
        Box::pin(async { Err(Refusal::forbidden()) })
    }

    /// As [`write`](Self::write), within the transaction of a form that has rows of another model, or of a list: for models that have such
    /// forms, are such rows, or have columns that are written in the list.
    fn write_within<'a>(
        &'a self,
        _tx: &'a mut Tx,
        _by: &'a By,
        _target: Target,
        _members: &'a Members,
    ) -> Within<'a, Written> {
        Box::pin(async { Err(Refusal::forbidden()) })
    }

    /// As [`read`](Self::read), within a transaction until whose end nobody else changes the record: for models with columns that are
    /// written in the list.
    fn read_held<'a>(&'a self, _tx: &'a mut Tx, _id: i64) -> Within<'a, Option<Record>> {
        Box::pin(async { Err(Refusal::forbidden()) })
    }

    /// As [`delete`](Self::delete), within such a transaction.
    fn delete_within<'a>(&'a self, _tx: &'a mut Tx, _by: &'a By, _id: i64) -> Within<'a, bool> {
        Box::pin(async { Err(Refusal::forbidden()) })
    }

    /// What refers to a record.
    fn related<'a>(&'a self, _state: &'a State, _id: i64) -> Work<'a, Vec<Related>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    /// Does one of the actions to one record; whether it was done.
    fn act<'a>(
        &'a self,
        _state: &'a State,
        _caller: &'a Caller,
        _action: &'a str,
        _id: i64,
    ) -> Work<'a, bool> {
        Box::pin(async { Err(Refusal::forbidden()) })
    }

    /// The first and the last moment that the dates of the list can be narrowed to.
    fn span<'a>(&'a self, _state: &'a State) -> Work<'a, Option<(Timestamp, Timestamp)>> {
        Box::pin(async { Ok(None) })
    }
}
