//! Groups: sets of permissions that accounts share.

use crate::{
    State,
    accounts::{
        Caller, Model, Permission,
        users::manage::{self, Group},
    },
    admin::{
        about::{
            About, Administered, Application, Cell, Column, Field, FieldKind, Record, Row, Rows,
            Words, Work, Written,
        },
        listing::{Asked, shelf},
    },
    rest::{Refusal, fields::Members},
};

pub(in crate::admin) struct Groups;

pub(in crate::admin) static GROUPS: Groups = Groups;

static ABOUT: About = About {
    path: "groups",
    application: Application::Accounts,
    words: Words {
        singular: ("grupo", "group"),
        plural: ("grupos", "groups"),
        is_feminine: false,
    },
    model: Model::Group,
    permission: |verb| Some(Permission::new(verb, Model::Group)),
    columns: &[
        Column::sorted("name"),
        Column::sorted("members"),
        Column::sorted("permissions"),
    ],
    order: "1",
    search: Some(("nome", "name")),
    filters: &[],
    has_dates: false,
    fields: &[
        Field::required("name", FieldKind::Line),
        Field::optional("permissions", FieldKind::Permissions),
    ],
    in_two_steps: false,
    actions: &[],
    site: None,
};

impl Administered for Groups {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn list<'a>(&'a self, state: &'a State, asked: &'a Asked) -> Work<'a, Rows> {
        Box::pin(async move {
            let read = manage::groups(state);
            let rows = read.await?.into_iter().map(row).collect();
            Ok(shelf::select(rows, asked))
        })
    }

    fn read<'a>(&'a self, state: &'a State, id: i64) -> Work<'a, Option<Record>> {
        Box::pin(async move {
            let read = manage::group(state, id);
            Ok(read.await?.map(record))
        })
    }

    fn write<'a>(
        &'a self,
        state: &'a State,
        caller: &'a Caller,
        id: Option<i64>,
        members: Members,
    ) -> Work<'a, Written> {
        Box::pin(async move {
            match id {
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

fn row(group: Group) -> Row {
    let permissions = i64::try_from(group.permissions.len()).unwrap_or(i64::MAX);
    Row {
        id: group.id,
        text: group.name.clone(),
        cells: vec![
            Cell::Text(group.name),
            Cell::Number(group.members),
            Cell::Number(permissions),
        ],
        tags: Vec::new(),
    }
}

fn record(group: Group) -> Record {
    let permissions: Vec<String> = group
        .permissions
        .iter()
        .map(Permission::to_string)
        .collect();
    Record {
        id: group.id,
        text: group.name.clone(),
        values: vec![
            ("name", group.name.clone()),
            ("permissions", permissions.join(",")),
        ],
        facts: vec![
            ("name", Cell::Text(group.name)),
            ("permissions", Cell::text(Some(permissions.join(", ")))),
            ("members", Cell::Number(group.members)),
        ],
    }
}
