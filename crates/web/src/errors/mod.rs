//! Errors as HTTP responses. The text for the caller and the cause for the log are separate by
//! type.
//!
//! Handlers return [`Error`]. The middleware [`render()`] turns it into a body of its router's kind
//! ([`Render`]: JSON or a page) and logs it once. It does the same for rejections, unknown
//! addresses and wrong methods. The features decide which rule has which status.

mod middleware;
mod pages;
mod render;

pub(crate) use middleware::Chain;
pub use middleware::{Facts, Renderer, render, render_with, wants_json};
pub use pages::{Explanation, ForReaders, PAST_END, Pages};
pub use render::{Render, RestErrorBody, RestErrors, TimestampedErrorBody, TimestampedErrors};

pub use crate::error::{Error, INTERNAL, Public};
