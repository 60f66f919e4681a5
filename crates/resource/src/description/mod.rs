//! The description of a record: its fields, the Rust types that they have, and what is read and set
//! of them. These types refer to each other; what follows from a description is in the rooms above.

pub(crate) mod choice;
pub(crate) mod field;
pub(crate) mod listed;
pub(crate) mod record;
pub(crate) mod several;
pub(crate) mod value;
