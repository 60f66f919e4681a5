//! The pages of the web interface over plain HTTP: their layout, what each user is offered, and
//! their forms.

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
