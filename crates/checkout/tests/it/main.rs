//! The checkout service from outside: its client of the provider, its API, its pages and its
//! documents.

#![cfg(test)]

mod browser;
mod lists;
mod openapi;
mod orders;
mod page;
mod payments;
mod provider;
mod receipts;
mod refusals;
mod stored;
mod webhooks;
