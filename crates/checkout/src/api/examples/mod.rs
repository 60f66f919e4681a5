//! The examples in the API's document. Tests send the requests, and hold the answers against their
//! schemas.

pub(crate) mod orders;
pub(crate) mod payments;
