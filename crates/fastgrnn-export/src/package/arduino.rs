//! An Arduino library: what the IDE's "Add .ZIP Library" takes.

use super::{File, Parts, sound};

/// The sketch that classifies, which a PlatformIO project takes as well.
pub(super) fn classify(parts: &Parts) -> String {
    sound::example(
        parts,
        include_str!("../templates/sound/Listen.ino"),
        include_str!("../templates/arduino/Classify.ino"),
    )
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

/// What the IDE colours.
fn keywords(parts: &Parts) -> String {
    let mut text = parts.fill(include_str!("../templates/arduino/keywords.txt"));
    if sound::front(parts).is_some() {
        text.push_str(&parts.fill(include_str!("../templates/sound/keywords.txt")));
    }
    text
}

pub(super) fn files(parts: &Parts) -> Vec<File> {
    let mut files = parts.c_files("src/");
    files.extend([
        File::new(
            "library.properties",
            parts.fill_with(include_str!("../templates/arduino/library.properties"), &[("url", url())]),
        ),
        File::new("keywords.txt", keywords(parts)),
        File::new("examples/Classify/Classify.ino", classify(parts)),
        File::new("examples/SelfTest/SelfTest.ino", self_test(parts)),
    ]);
    files
}
