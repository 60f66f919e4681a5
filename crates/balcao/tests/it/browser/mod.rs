//! The demo in a browser: every page of every service as the accessibility checker and a strict
//! reader see it, and logging in.

mod administration;
mod archiving;
mod counting;
mod counts;
mod dashboard;
mod faults;
mod forms;
mod importing;
mod keyboard;
mod late;
mod lists;
mod login;
mod orders;
mod paper;
mod payments;
mod receiving;
mod reordering;
mod search;
mod shelves;
mod staff;
mod views;
mod walk;
mod webhooks;
mod without_scripts;
mod zoom;

// What most of them begin with.
use test_kit::demo::{PASSWORD, english, log_in, opened};
