//! A PlatformIO library with two projects that use it.

use super::context::PackageContext;
use super::parts::File;
use super::{arduino, sound};

pub(super) fn files(context: &PackageContext) -> Vec<File> {
    let mut files = context.c_files("src/");
    let project = context.fill(include_str!("../templates/platformio/platformio.ini"));
    files.extend([
        File::new("library.json", context.fill(include_str!("../templates/platformio/library.json"))),
        File::new(
            "examples/classify/platformio.ini",
            sound::example(context, include_str!("../templates/sound/platformio.ini"), &project),
        ),
        File::new("examples/classify/src/main.cpp", arduino::classify(context)),
        File::new("examples/selftest/platformio.ini", project),
        File::new("examples/selftest/src/main.cpp", arduino::self_test(context)),
    ]);
    files
}
