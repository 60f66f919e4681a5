//! The dispatcher of the API: in which order a request is checked, how it reaches its resource, and
//! what the API's document says of both. How bodies, queries and fields are read is in `rest`; the
//! resources themselves are in their own folders.

pub mod gate;
pub(crate) mod guard;
pub(crate) mod metadata;
pub mod openapi;
pub mod resource;
mod submission;
pub(crate) mod writes;
