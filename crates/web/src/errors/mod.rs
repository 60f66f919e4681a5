//! Errors as HTTP answers: the text that a caller may read and the cause that only the log may,
//! kept apart by type.
//!
//! Handlers return [`Error`]; the middleware [`render()`] turns it, and every rejection, unknown
//! address and wrong method of the router, into the body of its router ([`Render`]: JSON or a page)
//! and logs it once. Which rule gives which status is decided by the features.

mod middleware;
mod pages;
mod render;

pub(crate) use middleware::Chain;
pub use middleware::{Facts, Renderer, render, render_with, wants_json};
pub use pages::{Explanation, ForReaders, Pages};
pub use render::{Conventional, ConventionalBody, Detailed, DetailedBody, Render};

pub use crate::error::{Error, INTERNAL, Public};
