//! The kit's own tests that need a browser or look at the whole repository.

#![cfg(test)]

mod browser;
mod conformance;
mod tidy;
