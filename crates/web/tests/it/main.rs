//! The HTTP stack over real sockets, and its parts that need a browser, Redis or a temporary
//! folder.

#![cfg(test)]

mod assets;
mod browser;
mod documents;
mod errors;
mod origin;
mod pages;
mod rate;
mod redis;
mod server;
mod support;
mod tls;
mod workers;
