//! The API's dispatcher: the order of a request's checks, the routing to a resource, and the
//! OpenAPI description of both. The parsing of bodies, queries and fields is in `rest`; each
//! resource has a folder of its own.

pub mod answer;
mod dispatch;
pub mod gate;
pub(crate) mod guard;
pub(crate) mod metadata;
pub mod openapi;
pub mod resource;
pub mod submission;
pub(crate) mod writes;

pub use dispatch::routes;
