//! Descriptions of records: their fields with kinds, bounds and labels, and the names of their
//! kinds. The API's bodies, `OPTIONS` and OpenAPI document, files, statements, pages and the
//! administration are derived from them.
//!
//! This crate knows only descriptions. It contains no HTTP, no business rules and no pages.

mod control;
mod description;
mod lists;
mod row;
pub mod schema;
pub mod sql;
mod words;

pub use db::stored_enum;

pub use description::{
    choice::Choice,
    field::{
        Both, Field, FieldOf, Kind, ListedIn, Target, chosen, decimal, id, integer, price,
        reference, several, text, time, token, truth,
    },
    record::{Input, Record, Source, differences, there},
    several::{Choosable, SEPARATOR, Several},
    value::{FieldType, Named, Reference, Refers, Submitted, Titled, Value, time_text},
};
pub use lists::{filters, find, laid_out, listed};
pub use words::{Words, capitalized, in_a_sentence};
