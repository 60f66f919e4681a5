//! How people and programs log in, and what they see and change of their own account: the API's
//! tokens, the web flow, the pages of an account. What makes a login right is decided in
//! `accounts`.

pub(crate) mod api;
pub(crate) mod pages;
