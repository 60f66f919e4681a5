//! What a record is, described once: its fields with their kinds, bounds and names, and what its kind is called. The API's bodies and
//! `OPTIONS`, the API's document, files, statements, pages and the administration read these descriptions; how they do is theirs.

mod field;
mod record;
pub(crate) mod schema;
pub(crate) mod sql;
mod value;
mod words;

pub use field::{
    Both, Field, Kind, Listed, Typed, id, integer, names, price, reference, text, time, token,
};
pub(crate) use record::resource;
pub use record::{Input, Record, Source, changed};
pub use value::{FieldType, Setting, Value};
pub use words::{Words, capitalized, in_a_sentence};
