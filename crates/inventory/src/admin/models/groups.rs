//! Groups: sets of permissions that accounts share.

use crate::{
    State,
    accounts::{
        Caller, Model,
        users::manage::{self, Group},
    },
    admin::{
        about::{
            About, Administered, Application, Cell, Column, Field, FieldKind, Inline, Record, Rows,
            Target, Words, Work, Written,
        },
        listing::{Asked, shelf},
        models::permissions,
    },
    rest::{Refusal, fields::Members},
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
            Ok(read.await?.map(|group| {
                let chosen = permissions(&group.permissions);
                record(group, chosen)
            }))
        })
    }

    fn write<'a>(
        &'a self,
        state: &'a State,
        caller: &'a Caller,
        target: Target,
        members: Members,
    ) -> Work<'a, Written> {
        Box::pin(async move {
            match target.id() {
                None => Ok(manage::create_group(state, caller, &members).await?.into()),
                Some(id) => manage::change_group(state, caller, id, &members)
                    .await?
                    .map(Written::from)
                    .ok_or(Refusal::NotFound),
            }
        })
    }

    fn delete<'a>(&'a self, state: &'a State, caller: &'a Caller, id: i64) -> Work<'a, bool> {
        Box::pin(manage::delete_group(state, caller, id))
    }
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
