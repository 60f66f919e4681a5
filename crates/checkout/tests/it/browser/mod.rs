//! The checkout page in a browser, against the real service and the sandbox: what a buyer does,
//! sees and hears.

mod orders;
mod outages;
mod paying;
mod readers;
mod reloads;
mod shop;
mod states;
mod typing;

use shop::{Buyer, ORDER, Shop};
