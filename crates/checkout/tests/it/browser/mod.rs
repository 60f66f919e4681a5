//! The checkout page in a browser, with the real service and the sandbox: what a buyer does and
//! sees.

mod orders;
mod outages;
mod paying;
mod readers;
mod reloads;
mod shop;
mod states;
mod typing;

use shop::{Buyer, ORDER, Shop};
