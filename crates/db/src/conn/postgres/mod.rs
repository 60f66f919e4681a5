//! A connection to a PostgreSQL server: how it is opened, its prepared statements, the transaction
//! of a job, and reads of several jobs in one statement.

mod connect;
mod connection;
pub(crate) mod errors;
mod loader_queues;
mod session;

pub(crate) use self::{
    connect::Connector,
    connection::{Epoch, PgManager},
    loader_queues::LoaderQueues,
    session::Session,
};
