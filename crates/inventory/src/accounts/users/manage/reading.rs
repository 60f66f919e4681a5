//! Reads accounts, groups and sessions for the administration, and the own sessions of users.

use db::{Conn, Error};

use super::store::{self, Details, Group, OpenSession};
use crate::{
    State,
    listing::{Condition, Selection, Test},
    rest::{
        Refusal,
        list::{Filters, OrderBy},
        page::Page,
        query::Parameters,
    },
};

/// An account with its groups, permissions and password hash.
pub(crate) async fn details(state: &State, id: i64) -> Result<Option<Details>, Error> {
    let read = async move |conn: &mut Conn| store::details(conn, id).await;
    state.db.read(read).await
}

pub(crate) async fn groups(state: &State, parameters: &Parameters) -> Result<Page<Group>, Refusal> {
    let groups = store::GROUP_LIST.select(parameters, "name_folded", []);
    groups.requested(state, parameters).await
}

pub(crate) async fn group(state: &State, id: i64) -> Result<Option<Group>, Error> {
    let read = async move |conn: &mut Conn| store::group(conn, id).await;
    state.db.read(read).await
}

pub(crate) async fn open_sessions(
    state: &State,
    parameters: &Parameters,
) -> Result<Page<OpenSession>, Refusal> {
    let mut filters = Filters::new(parameters);
    let conditions = open_conditions(state, filters.id("user"));
    filters.finish().into_result()?;
    let sessions = store::SESSION_LIST.select(parameters, "searched", conditions);
    sessions.requested(state, parameters).await
}

/// The open sessions of a user, the latest visit first.
pub(crate) async fn sessions_of(state: &State, user: i64) -> Result<Vec<OpenSession>, Error> {
    let by = |field| OrderBy {
        field,
        descending: true,
    };
    let sessions = Selection {
        list: &store::SESSION_LIST,
        conditions: open_conditions(state, Some(user)),
        order: vec![by("last_seen_at"), by("id")],
    };
    let read = async move |conn: &mut Conn| sessions.first(conn, i64::MAX).await;
    state.db.read(read).await
}

fn open_conditions(state: &State, user: Option<i64>) -> Vec<Condition> {
    let user = user.map(|id| Condition::new("user", "user_id", Test::is(id)));
    let now = Test::Above(state.clock.now().into());
    let is_open = Condition::new("expires_at", "expires_at", now);
    user.into_iter().chain([is_open]).collect()
}

pub(crate) async fn open_session(state: &State, id: i64) -> Result<Option<OpenSession>, Error> {
    let read = async move |conn: &mut Conn| store::SESSION_LIST.find(conn, id).await;
    state.db.read(read).await
}

/// The number of sessions of an account.
pub(crate) async fn count_sessions(state: &State, user: i64) -> Result<u64, Error> {
    let read = async move |conn: &mut Conn| store::count_sessions(conn, user).await;
    state.db.read(read).await
}
