//! Sessions of the web interface: who is logged in where; deleting one puts its reader out.

use crate::{
    State,
    accounts::{
        Caller, Model, Permission, Verb,
        users::manage::{self, OpenSession},
    },
    admin::{
        about::{
            About, Administered, Application, Cell, Column, Filter, FilterKind, Record, Row, Rows,
            Words, Work,
        },
        listing::{Asked, shelf},
    },
};

pub(in crate::admin) struct Sessions;

pub(in crate::admin) static SESSIONS: Sessions = Sessions;

/// A session begins by logging in and is not changed.
fn permission(verb: Verb) -> Option<Permission> {
    matches!(verb, Verb::View | Verb::Delete).then_some(Permission::new(verb, Model::Session))
}

static ABOUT: About = About {
    path: "sessions",
    application: Application::Accounts,
    words: Words {
        singular: ("sessão", "session"),
        plural: ("sessões", "sessions"),
        is_feminine: true,
    },
    model: Model::Session,
    permission,
    columns: &[
        Column::sorted("user"),
        Column::sorted("agent"),
        Column::sorted("address"),
        Column::sorted("created_at"),
        Column::sorted("last_seen_at"),
        Column::sorted("expires_at"),
    ],
    order: "-5",
    search: Some(("usuário, navegador, endereço", "user, browser, address")),
    filters: &[Filter {
        name: "user",
        kind: FilterKind::Related("users"),
    }],
    has_dates: false,
    fields: &[],
    in_two_steps: false,
    actions: &[],
    site: None,
};

impl Administered for Sessions {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn list<'a>(&'a self, state: &'a State, asked: &'a Asked) -> Work<'a, Rows> {
        let now = state.clock.now();
        Box::pin(async move {
            let read = manage::open_sessions(state, now, shelf::MOST);
            let rows = read.await?.into_iter().map(row).collect();
            Ok(shelf::select(rows, asked))
        })
    }

    fn read<'a>(&'a self, state: &'a State, id: i64) -> Work<'a, Option<Record>> {
        Box::pin(async move {
            let read = manage::open_session(state, id);
            Ok(read.await?.map(record))
        })
    }

    fn delete<'a>(&'a self, state: &'a State, caller: &'a Caller, id: i64) -> Work<'a, bool> {
        Box::pin(manage::end_session(state, caller, id))
    }
}

fn row(session: OpenSession) -> Row {
    Row {
        id: session.id,
        text: session.username.clone(),
        tags: vec![("user", session.user.to_string())],
        cells: vec![
            Cell::Text(session.username),
            Cell::Agent(session.agent),
            Cell::text(Some(session.address)),
            Cell::Time(session.created_at),
            Cell::Time(session.last_seen_at),
            Cell::Time(session.expires_at),
        ],
    }
}

fn record(session: OpenSession) -> Record {
    Record {
        id: session.id,
        text: session.username.clone(),
        values: Vec::new(),
        facts: vec![
            (
                "user",
                Cell::Record("users", session.user, session.username),
            ),
            ("agent", Cell::Agent(session.agent)),
            ("address", Cell::text(Some(session.address))),
            ("created_at", Cell::Time(session.created_at)),
            ("last_seen_at", Cell::Time(session.last_seen_at)),
            ("expires_at", Cell::Time(session.expires_at)),
        ],
    }
}
