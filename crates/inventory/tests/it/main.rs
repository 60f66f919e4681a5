//! The inventory service as its clients meet it: the real application on a fresh database of each engine.

mod app;
mod catalogue;
mod movements;
