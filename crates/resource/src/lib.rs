//! One description of each record: its fields with their kinds, bounds and labels, and the names of
//! its kind. The API's bodies and `OPTIONS`, its document, files, statements, pages and the
//! administration read these descriptions.
//!
//! This crate depends on descriptions alone. It has no HTTP, no rules of a shop and no pages.

mod control;
mod description;
mod lists;
mod row;
pub mod schema;
pub mod sql;
mod words;

pub use description::{
    choice::Choice,
    field::{
        Both, Field, Kind, Target, Typed, chosen, decimal, id, integer, price, reference, several,
        text, time, token, truth,
    },
    listed::Listed,
    record::{Input, Record, Source, differences, there},
    several::{Choosable, SEPARATOR, Several},
    value::{
        Amount, FieldType, Named, Naming, Reference, Refers, Sent, Setting, Text, Titled, Value,
        time_text,
    },
};
pub use lists::{filters, find, laid_out, listed};
pub use words::{Words, capitalized, in_a_sentence};
