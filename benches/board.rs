//! How long a frame of the terminal board takes.
fn main() {}
