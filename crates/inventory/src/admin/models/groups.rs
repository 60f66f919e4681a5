//! Groups: sets of permissions that accounts share.

use db::Tx;

use crate::{
    State,
    accounts::{
        Caller, Model, Verb,
        users::manage::{self, Group},
    },
    admin::{
        about::{
            About, Administered, Application, By, Cell, Column, Field, FieldKind, Inline, Record,
            Rows, Target, Within, Words, Work, Written,
        },
        listing::{Asked, shelf},
        models::permissions,
    },
    rest::{Message, Refusal, fields::Members},
};

pub(in crate::admin) struct Groups;

pub(in crate::admin) static GROUPS: Groups = Groups;

static ABOUT: About = About {
    path: "groups",
    application: Application::Accounts,
    words: Words::masculine(("grupo", "group"), ("grupos", "groups")),
    model: Model::Group,
    columns: &[
        Column::sorted("name"),
        Column::sorted("members"),
        Column::sorted("permissions"),
    ],
    order: "1",
    search: Some(("nome", "name")),
    fields: &[
        Field::required("name", FieldKind::Line),
        Field::optional("permissions", FieldKind::Permissions),
    ],
    inlines: &[Inline::read(
        "users",
        "groups",
        &["username", "first_name", "last_name", "active"],
    )],
    saves_as_new: true,
    ..About::PLAIN
};

impl Administered for Groups {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn list<'a>(&'a self, state: &'a State, asked: &'a Asked) -> Work<'a, Rows> {
        Box::pin(async move {
            let read = manage::groups(state);
            let rows = read.await?.into_iter().map(|group| {
                // The list has their number, the form has their names.
                let count = i64::try_from(group.permissions.len()).unwrap_or(i64::MAX);
                record(group, Cell::Number(count))
            });
            Ok(shelf::select(rows.collect(), asked, &ABOUT))
        })
    }

    fn read<'a>(&'a self, state: &'a State, id: i64) -> Work<'a, Option<Record>> {
        Box::pin(async move {
            let read = manage::group(state, id);
            Ok(read.await?.map(whole))
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
            let Some(id) = target.id() else {
                let made = manage::create_group(tx, &by.caller, members, by.now).await?;
                return Ok(made.into());
            };
            let changed = manage::change_group(tx, &by.caller, id, members, by.now).await?;
            changed.map(Written::from).ok_or(Refusal::NotFound)
        })
    }

    fn read_held<'a>(&'a self, tx: &'a mut Tx, id: i64) -> Within<'a, Option<Record>> {
        Box::pin(async move { Ok(manage::held_group(tx, id).await?.map(whole)) })
    }

    fn hindrance<'a>(
        &'a self,
        state: &'a State,
        caller: &'a Caller,
        _verb: Verb,
        id: i64,
    ) -> Work<'a, Option<Message>> {
        Box::pin(manage::hindrance_of_group(state, caller, id))
    }

    fn delete<'a>(&'a self, state: &'a State, caller: &'a Caller, id: i64) -> Work<'a, bool> {
        Box::pin(manage::delete_group(state, caller, id))
    }
}

/// A group with the names of its permissions.
fn whole(group: Group) -> Record {
    let chosen = permissions(&group.permissions);
    record(group, chosen)
}

fn record(group: Group, permissions: Cell) -> Record {
    Record::of(
        group.id,
        group.name.clone(),
        vec![
            ("name", Cell::Text(group.name)),
            ("permissions", permissions),
            ("members", Cell::Number(group.members)),
        ],
    )
}
