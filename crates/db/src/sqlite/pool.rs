//! Connections for inline reads, which run on the calling thread. They are opened when they are
//! first needed.

use std::sync::Mutex;

use crate::{Conn, Error, lock_mutex};

/// A bounded pool of connections, each used by one read at a time.
pub(crate) struct Pool {
    state: Mutex<PoolState>,
    capacity: usize,
}

#[derive(Default)]
struct PoolState {
    idle: Vec<Conn>,
    opened: usize,
    closed: bool,
}

/// The result of [`Pool::acquire`].
pub(crate) enum Slot {
    Conn(Conn),
    /// No connection is idle, but the caller may open one, and release it like any other.
    Open,
    /// All are in use.
    None,
}

impl Pool {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            state: Mutex::default(),
            capacity,
        }
    }

    /// Takes a connection, if one is free.
    ///
    /// # Errors
    /// `Unavailable` once the pool is closed.
    pub(crate) fn acquire(&self) -> Result<Slot, Error> {
        let mut state = lock_mutex(&self.state);
        if state.closed {
            return Err(Error::unavailable("the database is closed"));
        }
        Ok(match state.idle.pop() {
            Some(conn) => Slot::Conn(conn),
            None if state.opened < self.capacity => {
                state.opened += 1;
                Slot::Open
            }
            None => Slot::None,
        })
    }

    /// Takes a connection back, and rolls back a transaction that its read left open.
    pub(crate) fn release(&self, conn: Conn) {
        if let Ok(connection) = conn.sqlite_connection() {
            connection.roll_back();
        }
        let mut state = lock_mutex(&self.state);
        if !state.closed {
            state.idle.push(conn);
        }
    }

    /// Frees the place of a connection that could not be opened.
    pub(crate) fn forget(&self) {
        lock_mutex(&self.state).opened -= 1;
    }

    /// Closes the connections that are not in use, and the others when they are released.
    pub(crate) fn close(&self) {
        let mut state = lock_mutex(&self.state);
        state.closed = true;
        state.idle.clear();
    }
}
