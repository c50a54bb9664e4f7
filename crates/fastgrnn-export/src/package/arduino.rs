//! An Arduino library, as the IDE's "Add .ZIP Library" expects it.

use super::context::PackageContext;
use super::parts::File;
use super::sound;

/// The sketch that classifies, which the PlatformIO project uses as well.
pub(super) fn classify(context: &PackageContext) -> String {
    sound::example(
        context,
        include_str!("../templates/sound/Listen.ino"),
        include_str!("../templates/arduino/Classify.ino"),
    )
}

/// The address behind the IDE's "More info", which must not be empty: the project's page, if it has one.
fn url() -> &'static str {
    match env!("CARGO_PKG_REPOSITORY") {
        "" => "https://www.arduino.cc/",
        page => page,
    }
}

/// The sketch that runs the self-test.
pub(super) fn self_test(context: &PackageContext) -> String {
    context.fill(include_str!("../templates/arduino/SelfTest.ino"))
}

/// The keywords that the IDE colours.
fn keywords(context: &PackageContext) -> String {
    let mut text = context.fill(include_str!("../templates/arduino/keywords.txt"));
    if sound::front(context).is_some() {
        text.push_str(&context.fill(include_str!("../templates/sound/keywords.txt")));
    }
    text
}

pub(super) fn files(context: &PackageContext) -> Vec<File> {
    let mut files = context.c_files("src/");
    files.extend([
        File::new(
            "library.properties",
            context.fill_with(include_str!("../templates/arduino/library.properties"), &[("url", url())]),
        ),
        File::new("keywords.txt", keywords(context)),
        File::new("examples/Classify/Classify.ino", classify(context)),
        File::new("examples/SelfTest/SelfTest.ino", self_test(context)),
    ]);
    files
}
