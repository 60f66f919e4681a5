//! What a record is, described once: its fields with their kinds, bounds and names, and what its kind is called. The API's bodies and
//! `OPTIONS`, its document, files, statements, pages and the administration read these descriptions.
//!
//! What is here follows from a description alone. It knows no HTTP, no rules of a shop and no page.

mod choice;
mod field;
mod record;
pub mod schema;
pub mod sql;
mod value;
mod words;

pub use choice::Choice;
pub use field::{
    Both, Field, Kind, Listed, Target, Typed, chosen, decimal, filters, find, id, integer,
    laid_out, listed, price, reference, several, text, time, token, truth,
};
pub use record::{Input, Record, Source, changed, there};
pub use value::{
    Amount, Choosable, FieldType, Named, Naming, Reference, Refers, SEPARATOR, Sent, Setting,
    Several, Text, Titled, Value, time_text,
};
pub use words::{Words, capitalized, in_a_sentence};
