//! Shared tools of all tests: fresh databases on both engines, PostgreSQL servers to kill and to
//! promote, the program as a process, a browser, clients in other languages, a mail server, a
//! receiver of webhooks, a client of the sandbox, stubs of HTTP servers, closed ports, certificates, strict checks of HTML and of API documents,
//! and captured logs.
//!
//! It is a dev-dependency only, and depends on none of the crates that use it, so databases are
//! passed as address strings. A missing server, browser or program is a panic that says what to do,
//! never a skipped test.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::panic,
    reason = "a failure of the kit is the failure of the test that uses it"
)]

pub mod browser;
pub mod clients;
pub mod closed_port;
pub mod database;
pub mod demo;
pub mod html;
mod lines;
pub mod logs;
pub mod mail;
pub mod openapi;
pub mod postgres;
pub mod process;
pub mod receiver;
pub mod sandbox;
pub mod stub;
pub mod tls;
mod wait;

pub use database::{postgres_url, redis_url};
pub use wait::until;

/// One variable of the tests' environment, or a panic that says how to get it.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place where tests read the environment"
)]
fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
