//! The sources of the firmware, the harness and the plugin, which are part of the library.

macro_rules! sources {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../firmware/", $name)))),*]
    };
}

/// Sources that are compiled for the boards.
pub(crate) const FIRMWARE: &[(&str, &str)] = sources![
    "aarch64.s",
    "app.c",
    "app_sound.c",
    "app_text.c",
    "bare.ld",
    "cortexm.s",
    "empty.c",
    "feed.c",
    "feed.h",
    "feed_avr.c",
    "feed_sound.c",
    "feed_text.c",
    "host.h",
    "linux.c",
    "linux_start.c",
    "marks.h",
    "memory.c",
    "riscv.s",
    "semihost.c",
    "stack.h",
];

/// The program that runs simavr.
pub(crate) const HARNESS: &[(&str, &str)] = sources!["harness.c"];

/// The plugin that counts inside QEMU.
pub(crate) const PLUGIN: &[(&str, &str)] = sources![
    "plugin/armv6m.c",
    "plugin/armv7m.c",
    "plugin/core.h",
    "plugin/cortexm.c",
    "plugin/count.c",
    "plugin/flash.c",
    "plugin/rv32.c",
];
