//! Plain C: the core, its self-test, a program for the host and a Makefile.

use super::context::PackageContext;
use super::parts::File;
use super::{sound, text};

pub(super) fn files(context: &PackageContext) -> Vec<File> {
    let mut files = context.c_files("");
    files.extend([
        File::new(
            "main.c",
            text::example(context).unwrap_or_else(|| {
                sound::example(
                    context,
                    include_str!("../templates/sound/main.c"),
                    include_str!("../templates/c/main.c"),
                )
            }),
        ),
        File::new("selftest_main.c", context.fill(include_str!("../templates/c/selftest_main.c"))),
        File::new("Makefile", context.fill(include_str!("../templates/c/Makefile"))),
    ]);
    files.extend(text::vocabulary(context));
    files
}
