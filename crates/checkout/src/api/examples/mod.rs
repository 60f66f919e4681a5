//! The examples in the OpenAPI document. Tests send the requests and validate the responses against
//! their schemas.

pub(crate) mod orders;
pub(crate) mod payments;
