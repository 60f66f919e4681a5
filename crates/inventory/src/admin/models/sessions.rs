//! Sessions of the web interface: who is logged in where; deleting one logs its user out.

use std::sync::LazyLock;

use db::Tx;
use resource::Record as _;

use crate::{
    State,
    access::{Caller, Model, Verb},
    accounts::users::manage::{self, OpenSession},
    admin::{
        about::{
            About, Administered, Allowed, Application, By, FieldValue, Pending, Record, Rows,
            Within, Words,
        },
        listing::{Asked, shelf},
    },
    work::{Work, write},
};

pub(in crate::admin) struct Sessions;

pub(in crate::admin) static SESSIONS: Sessions = Sessions;

static ABOUT: LazyLock<About> = LazyLock::new(|| About {
    path: "sessions",
    application: Application::Accounts,
    words: Words::feminine(("sessão", "session"), ("sessões", "sessions")),
    model: Model::Session,
    // A session begins by logging in and is not changed.
    allowed: Allowed::Only(&[Verb::View, Verb::Delete]),
    order: "-5",
    search: Some(("usuário, navegador, endereço", "user, browser, address")),
    ..About::of(OpenSession::FIELDS)
});

impl Administered for Sessions {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn list<'a>(&'a self, state: &'a State, asked: &'a Asked) -> Pending<'a, Rows> {
        let now = state.clock.now();
        Box::pin(async move {
            let read = manage::open_sessions(state, now, shelf::MOST);
            let rows = read.await?.iter().map(record).collect();
            Ok(shelf::select(rows, asked, &ABOUT))
        })
    }

    fn read<'a>(&'a self, state: &'a State, id: i64) -> Pending<'a, Option<Record>> {
        Box::pin(async move {
            let read = manage::open_session(state, id);
            Ok(read.await?.as_ref().map(record))
        })
    }

    fn delete<'a>(&'a self, state: &'a State, caller: &'a Caller, id: i64) -> Pending<'a, bool> {
        Box::pin(async move {
            let by = caller.clone();
            let job = async move |work: &mut Work<'_>| manage::end_session(work, &by, id).await;
            write(state, caller, job).await
        })
    }

    fn delete_within<'a>(&'a self, tx: &'a mut Tx, by: &'a By, id: i64) -> Within<'a, bool> {
        Box::pin(async move { manage::end_session(&mut by.author.work(tx), &by.caller, id).await })
    }
}

fn record(session: &OpenSession) -> Record {
    let agent = FieldValue::Agent(session.agent.clone());
    Record::described(session).with("agent", agent)
}
