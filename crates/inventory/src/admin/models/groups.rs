//! Groups: sets of permissions that accounts share.

use std::sync::LazyLock;

use db::Tx;
use resource::Record as _;

use crate::{
    State,
    access::{Caller, Model, Verb},
    accounts::users::manage::{self, Group},
    admin::{
        about::{
            About, Administered, Application, By, FieldValue, Inline, Pending, Record, Rows,
            Target, Within, Words, Written,
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

impl Administered for Groups {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn list<'a>(&'a self, state: &'a State, asked: &'a Asked) -> Pending<'a, Rows> {
        Box::pin(async move {
            let read = manage::groups(state);
            let rows = read.await?.into_iter().map(|group| {
                // The list has their number, the form has their names.
                let count = i64::try_from(group.permissions.len()).unwrap_or(i64::MAX);
                Record::described(&group).with("permissions", FieldValue::Number(count))
            });
            Ok(shelf::select(rows.collect(), asked, &ABOUT))
        })
    }

    fn read<'a>(&'a self, state: &'a State, id: i64) -> Pending<'a, Option<Record>> {
        Box::pin(async move {
            let read = manage::group(state, id);
            Ok(read.await?.as_ref().map(Record::described))
        })
    }

    fn write_within<'a>(
        &'a self,
        tx: &'a mut Tx,
        by: &'a By,
        target: Target,
        members: &'a Members,
    ) -> Within<'a, Written> {
        Box::pin(async move {
            let work = &mut by.author.work(tx);
            let Some(id) = target.id() else {
                let made = manage::create_group(work, &by.caller, members).await?;
                return Ok(made.into());
            };
            let changed = manage::change_group(work, &by.caller, id, members).await?;
            changed.map(Written::from).ok_or(Refusal::NotFound)
        })
    }

    fn read_held<'a>(&'a self, tx: &'a mut Tx, id: i64) -> Within<'a, Option<Record>> {
        Box::pin(async move {
            let held = manage::find_group_locked(tx, id).await?;
            Ok(held.as_ref().map(Record::described))
        })
    }

    fn hindrance<'a>(
        &'a self,
        state: &'a State,
        caller: &'a Caller,
        _verb: Verb,
        id: i64,
    ) -> Pending<'a, Option<Message>> {
        Box::pin(manage::hindrance_of_group(state, caller, id))
    }

    fn delete<'a>(&'a self, state: &'a State, caller: &'a Caller, id: i64) -> Pending<'a, bool> {
        Box::pin(manage::delete_group(state, caller, id))
    }
}
