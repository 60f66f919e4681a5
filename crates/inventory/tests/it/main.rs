//! The inventory service as its clients use it: the real application on a fresh database of each
//! engine.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on says where"
)]

mod account;
mod accounts;
mod admin;
mod aggregates;
mod analyses;
mod app;
mod archive;
mod at_once;
mod audit;
mod catalogue;
mod conventions;
mod csrf;
mod dashboard;
mod edit_conflict;
mod generate;
mod held_back;
mod hostile;
mod imports;
mod interrupted_imports;
mod late_movements;
mod ledger;
mod lists;
mod low;
mod model;
mod movements;
mod openapi;
mod orders;
mod pages;
mod parts;
mod payments;
mod permissions;
mod races;
mod reorder;
mod resources;
mod search;
mod second_factor;
mod session_end;
mod sessions;
mod snapshots;
mod statements;
mod throttle;
mod tokens;
mod transfer;
mod visitor;
mod webhooks;
