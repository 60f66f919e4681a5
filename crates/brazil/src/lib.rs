//! brazil
