//! The demo in a browser: accessibility and layout of every page, and what people do on them.

mod administration;
mod archiving;
mod counting;
mod counts;
mod dashboard;
mod documents;
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

// Most tests begin with these.
use test_kit::demo::{PASSWORD, english, log_in, opened};
