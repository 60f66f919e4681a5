//! The program from outside: started as a process, called over sockets, stopped, killed, started
//! again. The answers of a service are tested in its own crate.

#![cfg(test)]

mod backup;
mod bench;
mod browser;
mod card_data;
mod clients;
mod configuration;
mod deliveries;
mod demo;
mod documents;
mod faults;
mod figures;
mod inventory;
mod inventory_commands;
mod kill;
mod orders;
mod output;
mod payment_news;
mod replicas;
mod serving;
mod stopping;
mod support;
mod trust;
mod users;
