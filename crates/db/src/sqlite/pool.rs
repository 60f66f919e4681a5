//! Connections for readings that the thread that asks does itself. They are opened when they are first needed.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::connection::Connection;
use crate::{Conn, Error};

/// So many connections at most, each lent to one reading at a time.
pub(crate) struct Pool {
    state: Mutex<State>,
    capacity: usize,
}

#[derive(Default)]
struct State {
    idle: Vec<Conn>,
    opened: usize,
    closed: bool,
}

/// What is lent.
pub(crate) enum Lent {
    Conn(Conn),
    /// One more may be opened, and is then given back like any other.
    Open,
    /// All are lent.
    None,
}

impl Pool {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            state: Mutex::default(),
            capacity,
        }
    }

    /// Nothing panics while the lock is held, so a poisoned one still guards a sound state.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lends a connection, if one is left.
    ///
    /// # Errors
    /// `Unavailable` once the pool is closed.
    pub(crate) fn lend(&self) -> Result<Lent, Error> {
        let mut state = self.lock();
        if state.closed {
            return Err(Error::unavailable("the database is closed"));
        }
        Ok(match state.idle.pop() {
            Some(conn) => Lent::Conn(conn),
            None if state.opened < self.capacity => {
                state.opened += 1;
                Lent::Open
            }
            None => Lent::None,
        })
    }

    /// Takes a connection back; one whose reading left a transaction open goes on without it.
    pub(crate) fn give_back(&self, mut conn: Conn) {
        if let Some(connection) = conn.as_sqlite() {
            Connection::roll_back(connection);
        }
        let mut state = self.lock();
        if !state.closed {
            state.idle.push(conn);
        }
    }

    /// Another may be opened in the place of one that could not be.
    pub(crate) fn forget_one(&self) {
        self.lock().opened -= 1;
    }

    /// Closes what is not lent now, and the rest when it comes back.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.idle.clear();
    }
}
