//! balcao
fn main() {}
