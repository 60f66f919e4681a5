//! Sessions of the web interface: who is logged in where; deleting one logs its user out.

use db::Tx;

use crate::{
    State,
    accounts::{
        Caller, Model, Verb,
        users::manage::{self, OpenSession},
    },
    admin::{
        about::{
            About, Administered, Allowed, Application, By, Cell, Column, Filter, Record, Rows,
            Within, Words, Work,
        },
        listing::{Asked, shelf},
    },
};

pub(in crate::admin) struct Sessions;

pub(in crate::admin) static SESSIONS: Sessions = Sessions;

static ABOUT: About = About {
    path: "sessions",
    application: Application::Accounts,
    words: Words::feminine(("sessão", "session"), ("sessões", "sessions")),
    model: Model::Session,
    // A session begins by logging in and is not changed.
    allowed: Allowed::Only(&[Verb::View, Verb::Delete]),
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
    filters: &[Filter::related("user", "users")],
    ..About::PLAIN
};

impl Administered for Sessions {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn list<'a>(&'a self, state: &'a State, asked: &'a Asked) -> Work<'a, Rows> {
        let now = state.clock.now();
        Box::pin(async move {
            let read = manage::open_sessions(state, now, shelf::MOST);
            let rows = read.await?.into_iter().map(record).collect();
            Ok(shelf::select(rows, asked, &ABOUT))
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

    fn delete_within<'a>(&'a self, tx: &'a mut Tx, by: &'a By, id: i64) -> Within<'a, bool> {
        Box::pin(manage::end_session_within(tx, &by.caller, id, by.now))
    }
}

fn record(session: OpenSession) -> Record {
    Record::of(
        session.id,
        session.username.clone(),
        vec![
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
    )
}
