//! The sandbox over real sockets, as a client of the provider meets it.

mod artefacts;
mod card;
mod support;
