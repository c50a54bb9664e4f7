//! The `fastgrnn` command.

fn main() {}
