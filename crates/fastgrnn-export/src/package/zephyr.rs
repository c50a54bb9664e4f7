//! A Zephyr module with a sample application.

use super::context::PackageContext;
use super::parts::File;
use super::rtos::{self, System};

const SYSTEM: System = System {
    layer: include_str!("../templates/rtos/zephyr.c"),
    microphone_driver: "dmic_read() or i2s_read() of your board's driver",
};

pub(super) fn files(context: &PackageContext) -> Vec<File> {
    let mut files = context.c_files("src/");
    files.extend([
        File::new("zephyr/module.yml", context.fill(include_str!("../templates/zephyr/module.yml"))),
        File::new("CMakeLists.txt", context.fill(include_str!("../templates/zephyr/CMakeLists.txt"))),
        File::new("Kconfig", context.fill(include_str!("../templates/zephyr/Kconfig"))),
        File::new(
            "samples/classify/CMakeLists.txt",
            context.fill(include_str!("../templates/zephyr/sample.cmake")),
        ),
        File::new("samples/classify/prj.conf", context.fill(include_str!("../templates/zephyr/prj.conf"))),
        File::new(
            "samples/classify/sample.yaml",
            context.fill(include_str!("../templates/zephyr/sample.yaml")),
        ),
        File::new("samples/classify/src/main.c", rtos::example(context, &SYSTEM)),
    ]);
    files
}
