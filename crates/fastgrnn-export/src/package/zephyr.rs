//! A Zephyr module with a sample application.

use super::rtos::{self, System};
use super::{File, Parts};

const SYSTEM: System = System {
    layer: include_str!("../templates/rtos/zephyr.c"),
    microphone_driver: "dmic_read() or i2s_read() of your board's driver",
};

pub(super) fn files(parts: &Parts) -> Vec<File> {
    let mut files = parts.c_files("src/");
    files.extend([
        File::new("zephyr/module.yml", parts.fill(include_str!("../templates/zephyr/module.yml"))),
        File::new("CMakeLists.txt", parts.fill(include_str!("../templates/zephyr/CMakeLists.txt"))),
        File::new("Kconfig", parts.fill(include_str!("../templates/zephyr/Kconfig"))),
        File::new(
            "samples/classify/CMakeLists.txt",
            parts.fill(include_str!("../templates/zephyr/sample.cmake")),
        ),
        File::new("samples/classify/prj.conf", parts.fill(include_str!("../templates/zephyr/prj.conf"))),
        File::new(
            "samples/classify/sample.yaml",
            parts.fill(include_str!("../templates/zephyr/sample.yaml")),
        ),
        File::new("samples/classify/src/main.c", rtos::example(parts, &SYSTEM)),
    ]);
    files
}
