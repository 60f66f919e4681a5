//! The sandbox over real sockets, as a client of the provider uses it.

#![cfg(test)]

mod artefacts;
mod card;
mod faults;
mod idempotency;
mod journal;
mod methods;
mod notifications;
mod pages;
mod refunds;
mod refusals;
mod search;
mod secrecy;
mod states;
mod support;
