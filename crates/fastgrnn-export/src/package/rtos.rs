//! The example programs for real-time operating systems: ESP-IDF and Zephyr.
//!
//! A program is a layer over the system (time, the console, waiting) and a body that is the same on
//! every system.

use super::context::PackageContext;
use super::sound;

/// A system and what its examples say about it.
pub(super) struct System {
    /// The layer over the system.
    pub(super) layer: &'static str,
    /// The functions that read a microphone there.
    pub(super) microphone_driver: &'static str,
}

/// The example program: one that listens where the package has an audio front end.
pub(super) fn example(context: &PackageContext, system: &System) -> String {
    let timing = context.fill(include_str!("../templates/rtos/timing.c"));
    let own = [("timing", timing.as_str()), ("driver", system.microphone_driver)];
    let (introduction, period, body) = match sound::hearing(context) {
        Some(hear) => {
            let own = [&own[..], &[("hear", &hear)]].concat();
            (SOUND, SOUND_PERIOD, context.fill_with(include_str!("../templates/rtos/sound.c"), &own))
        }
        None => (FRAMES, FRAMES_PERIOD, context.fill_with(include_str!("../templates/rtos/frames.c"), &own)),
    };
    let own = [("introduction", introduction), ("period", period), ("body", &body)];
    context.fill_with(system.layer, &own)
}

const FRAMES: &str = "\
/* Runs the self-test, times a step, then classifies window after window.
 *
 * Two things to fill in: read_sensor(), and PERIOD. */
";
const SOUND: &str = "\
/* Runs the self-test, times a step, then listens.
 *
 * One thing to fill in: read_microphone(). */
";
const FRAMES_PERIOD: &str =
    "/* Milliseconds from one frame to the next: the rate of the recordings in the training data. */\n";
const SOUND_PERIOD: &str = "/* Milliseconds of sound that are read at once. */\n";
