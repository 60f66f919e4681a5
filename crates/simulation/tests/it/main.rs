//! The simulation itself: runs are reproducible, and the invariants hold for many seeds.

mod faults;
mod runs;
