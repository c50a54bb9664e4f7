//! Plain C: the core, its self-test, a program for the host and a Makefile.

use super::{File, Parts, sound};

pub(super) fn files(parts: &Parts) -> Vec<File> {
    let mut files = parts.c_files("");
    files.extend([
        File::new(
            "main.c",
            sound::example(
                parts,
                include_str!("../templates/sound/main.c"),
                include_str!("../templates/c/main.c"),
            ),
        ),
        File::new("selftest_main.c", parts.fill(include_str!("../templates/c/selftest_main.c"))),
        File::new("Makefile", parts.fill(include_str!("../templates/c/Makefile"))),
    ]);
    files
}
