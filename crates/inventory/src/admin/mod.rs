//! The administration at `/admin/`: every record of the shop and every account, for staff. Each model is described in one file of
//! `models` and listed in `registry`; lists, forms, deletion, history, actions and messages are the same for all of them.
//! Everything is written through the service functions that the API calls, so rules and audit log are theirs.

mod about;
mod listing;
mod messages;
mod models;
mod pages;
mod registry;
mod site;

pub(crate) use messages::short_permission;
pub(crate) use pages::routes;
