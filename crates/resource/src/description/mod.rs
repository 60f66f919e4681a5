//! The description of a record: its fields with their Rust types, values and inputs. These types
//! refer to each other. The other modules derive statements, lists, schemas and texts from them.

pub(crate) mod choice;
pub(crate) mod field;
pub(crate) mod record;
pub(crate) mod several;
pub(crate) mod value;
