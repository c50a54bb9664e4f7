//! An ESP-IDF component with an example project.

use super::context::PackageContext;
use super::parts::File;
use super::rtos::{self, System};

const SYSTEM: System =
    System { layer: include_str!("../templates/rtos/esp_idf.c"), microphone_driver: "i2s_channel_read()" };

pub(super) fn files(context: &PackageContext) -> Vec<File> {
    let mut files = context.c_files("src/");
    files.extend([
        File::new("CMakeLists.txt", context.fill(include_str!("../templates/esp-idf/CMakeLists.txt"))),
        File::new("idf_component.yml", context.fill(include_str!("../templates/esp-idf/idf_component.yml"))),
        File::new(
            "examples/classify/CMakeLists.txt",
            context.fill(include_str!("../templates/esp-idf/project.cmake")),
        ),
        File::new(
            "examples/classify/sdkconfig.defaults",
            context.fill("CONFIG_ESP_MAIN_TASK_STACK_SIZE=@esp_stack@\n"),
        ),
        File::new(
            "examples/classify/main/CMakeLists.txt",
            "idf_component_register(SRCS \"main.c\" INCLUDE_DIRS \".\")\n",
        ),
        File::new("examples/classify/main/main.c", rtos::example(context, &SYSTEM)),
    ]);
    files
}
