//! An Arduino library: what the IDE's "Add .ZIP Library" takes.

use super::{File, Parts};

/// The sketch that classifies, which a PlatformIO project takes as well.
pub(super) fn classify(parts: &Parts) -> String {
    parts.fill(include_str!("../templates/arduino/Classify.ino"))
}

/// What the IDE's "More info" leads to, which must not be empty: the project's page, if it has one.
fn url() -> &'static str {
    match env!("CARGO_PKG_REPOSITORY") {
        "" => "https://www.arduino.cc/",
        page => page,
    }
}

/// The sketch that runs the self-test.
pub(super) fn self_test(parts: &Parts) -> String {
    parts.fill(include_str!("../templates/arduino/SelfTest.ino"))
}

pub(super) fn files(parts: &Parts) -> Vec<File> {
    let mut files = parts.c_files("src/");
    files.extend([
        File::new(
            "library.properties",
            parts.fill_with(include_str!("../templates/arduino/library.properties"), &[("url", url())]),
        ),
        File::new("keywords.txt", parts.fill(include_str!("../templates/arduino/keywords.txt"))),
        File::new("examples/Classify/Classify.ino", classify(parts)),
        File::new("examples/SelfTest/SelfTest.ino", self_test(parts)),
    ]);
    files
}
