//! The login of users and programs, and the pages of a user's own account: the API's tokens and the
//! web flow. Credentials are checked in `accounts`.

pub(crate) mod api;
pub(crate) mod pages;
