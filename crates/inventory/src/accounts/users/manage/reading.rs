//! What the administration reads of accounts, groups and sessions.

use db::{Conn, Error, Timestamp};

use super::store::{self, Details, Group, OpenSession};
use crate::State;

/// An account with its groups, its permissions and how its password is kept.
pub(crate) async fn details(state: &State, id: i64) -> Result<Option<Details>, Error> {
    let read = async move |conn: &mut Conn| store::details(conn, id).await;
    state.db.read(read).await
}

/// Every group, by name.
pub(crate) async fn groups(state: &State) -> Result<Vec<Group>, Error> {
    let read = async |conn: &mut Conn| store::groups(conn, None).await;
    state.db.read(read).await
}

/// One group.
pub(crate) async fn group(state: &State, id: i64) -> Result<Option<Group>, Error> {
    let read = async move |conn: &mut Conn| store::group(conn, id).await;
    state.db.read(read).await
}

/// The sessions that are open at a moment, so many at most.
pub(crate) async fn open_sessions(
    state: &State,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<OpenSession>, Error> {
    let read = async move |conn: &mut Conn| store::open_sessions(conn, now, limit).await;
    state.db.read(read).await
}

/// One session.
pub(crate) async fn open_session(state: &State, id: i64) -> Result<Option<OpenSession>, Error> {
    let read = async move |conn: &mut Conn| store::open_session(conn, id).await;
    state.db.read(read).await
}

/// How many sessions an account has.
pub(crate) async fn count_sessions(state: &State, user: i64) -> Result<u64, Error> {
    let read = async move |conn: &mut Conn| store::count_sessions(conn, user).await;
    state.db.read(read).await
}
