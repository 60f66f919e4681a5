//! The simulation itself: that it repeats exactly, and that the shops of many seeds keep their
//! promises.

mod faults;
mod runs;
