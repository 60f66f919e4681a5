//! The REST conventions of the API: how request bodies and query strings are parsed, lists are
//! paged and errors are worded. The order of a request's checks is in `api`.

pub mod body;
mod charset;
pub mod fields;
pub mod indent;
pub mod json;
mod json_syntax;
pub mod list;
mod message;
pub mod number;
pub mod page;
pub mod query;
mod record_id;
pub(crate) mod refusal;
pub(crate) mod spreadsheet;
pub mod value;

pub use message::Message;
pub use record_id::RecordId;
pub(crate) use refusal::TOKEN_NOT_VALID;
pub use refusal::{InvalidPage, Refusal, Unauthorized};
