//! A PlatformIO library with two projects that use it.

use super::{File, Parts, arduino, sound};

pub(super) fn files(parts: &Parts) -> Vec<File> {
    let mut files = parts.c_files("src/");
    let project = parts.fill(include_str!("../templates/platformio/platformio.ini"));
    files.extend([
        File::new("library.json", parts.fill(include_str!("../templates/platformio/library.json"))),
        File::new(
            "examples/classify/platformio.ini",
            sound::example(parts, include_str!("../templates/sound/platformio.ini"), &project),
        ),
        File::new("examples/classify/src/main.cpp", arduino::classify(parts)),
        File::new("examples/selftest/platformio.ini", project),
        File::new("examples/selftest/src/main.cpp", arduino::self_test(parts)),
    ]);
    files
}
