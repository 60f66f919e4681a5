//! The pages of the web interface as plain HTTP gives them: their frame, what each reader is
//! offered, forms and what becomes of them.

mod adjusting;
mod booking;
mod counts;
pub(crate) mod files;
mod lists;
mod new_names;
mod offers;
mod receiving;
mod records;
mod round_trip;
mod shell;
mod views;
