//! What a record is, described once: its fields with their kinds, bounds and names, and what its kind is called. The API's bodies and
//! `OPTIONS`, its document, files, statements, pages and the administration read these descriptions.
//!
//! What is here follows from a description alone. It knows no HTTP, no rules of a shop and no page.

mod choice;
mod control;
mod field;
mod listed;
mod lists;
mod record;
mod row;
pub mod schema;
mod several;
pub mod sql;
mod value;
mod words;

pub use choice::Choice;
pub use field::{
    Both, Field, Kind, Target, Typed, chosen, decimal, id, integer, price, reference, several,
    text, time, token, truth,
};
pub use listed::Listed;
pub use lists::{filters, find, laid_out, listed};
pub use record::{Input, Record, Source, differences, there};
pub use several::{Choosable, SEPARATOR, Several};
pub use value::{
    Amount, FieldType, Named, Naming, Reference, Refers, Sent, Setting, Text, Titled, Value,
    time_text,
};
pub use words::{Words, capitalized, in_a_sentence};
