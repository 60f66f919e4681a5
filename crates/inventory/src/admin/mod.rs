//! The administration at `/admin/`: all records of the shop and all accounts, for staff. A file of
//! `models` describes each model, and `registry` lists the models. Lists, forms, deletion, history,
//! actions and messages are generic. Writes go through the service functions that the API uses, so
//! validation and audit log are the same.

mod about;
mod listing;
mod messages;
mod models;
mod pages;
mod registry;
mod site;

pub(crate) use pages::routes;
