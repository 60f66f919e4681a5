//! Groups: sets of permissions that accounts share.

use std::sync::LazyLock;

use async_trait::async_trait;
use db::Tx;
use resource::Record as _;

use crate::{
    State,
    access::{Caller, Model, Verb},
    accounts::users::manage::{self, Group},
    admin::{
        about::{
            About, AdminModel, AdminWrites, Application, By, FieldValue, Inline, Record, Rows,
            Target, Words, Written,
        },
        listing::{Asked, shelf},
    },
    rest::{Message, Refusal, fields::Members},
};

pub(in crate::admin) struct Groups;

pub(in crate::admin) static GROUPS: Groups = Groups;

static ABOUT: LazyLock<About> = LazyLock::new(|| About {
    path: "groups",
    application: Application::Accounts,
    words: Words::masculine(("grupo", "group"), ("grupos", "groups")),
    model: Model::Group,
    order: "1",
    search: Some(("nome", "name")),
    inlines: &INLINES,
    saves_as_new: true,
    ..About::of(Group::FIELDS)
});

const INLINES: [Inline; 1] = [Inline::read(
    "users",
    "groups",
    &["username", "first_name", "last_name", "active"],
)];

#[async_trait]
impl AdminModel for Groups {
    fn about(&self) -> &About {
        &ABOUT
    }

    async fn list(&self, state: &State, asked: &Asked) -> Result<Rows, Refusal> {
        let read = manage::groups(state);
        let rows = read.await?.into_iter().map(|group| {
            // The list has their number, the form has their names.
            let count = i64::try_from(group.permissions.len()).unwrap_or(i64::MAX);
            Record::described(&group).with("permissions", FieldValue::Number(count))
        });
        Ok(shelf::select(rows.collect(), asked, &ABOUT))
    }

    async fn read(&self, state: &State, id: i64) -> Result<Option<Record>, Refusal> {
        let read = manage::group(state, id);
        Ok(read.await?.as_ref().map(Record::described))
    }

    async fn hindrance(
        &self,
        state: &State,
        caller: &Caller,
        _verb: Verb,
        id: i64,
    ) -> Result<Option<Message>, Refusal> {
        manage::hindrance_of_group(state, caller, id).await
    }

    async fn delete(&self, state: &State, caller: &Caller, id: i64) -> Result<bool, Refusal> {
        manage::delete_group(state, caller, id).await
    }
}

#[async_trait(?Send)]
impl AdminWrites for Groups {
    async fn write_within(
        &self,
        tx: &mut Tx,
        by: &By,
        target: Target,
        members: &Members,
    ) -> Result<Written, Refusal> {
        let work = &mut by.author.work(tx);
        let Some(id) = target.id() else {
            let made = manage::create_group(work, &by.caller, members).await?;
            return Ok(made.into());
        };
        let changed = manage::change_group(work, &by.caller, id, members).await?;
        changed.map(Written::from).ok_or(Refusal::NotFound)
    }

    async fn read_held(&self, tx: &mut Tx, id: i64) -> Result<Option<Record>, Refusal> {
        let held = manage::find_group_locked(tx, id).await?;
        Ok(held.as_ref().map(Record::described))
    }
}
