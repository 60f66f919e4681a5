//! The REST conventions that every resource of the API follows: how bodies and query strings are read, in which order
//! a request is checked, how lists are paged and errors are worded. The resources themselves are in their own folders.

pub mod body;
mod charset;
mod complaint;
pub mod fields;
pub mod gate;
pub(crate) mod guard;
pub mod indent;
pub mod json;
pub mod list;
mod message;
pub mod metadata;
pub mod number;
pub mod openapi;
pub mod query;
mod record_id;
mod refusal;
pub mod resource;
mod submission;
pub mod value;
pub(crate) mod writes;

pub use message::Message;
pub(crate) use refusal::TOKEN_NOT_VALID;
pub use refusal::{Refusal, Unknown};
