//! The differences in packages with an audio front end, which take samples instead of counts.

use super::context::PackageContext;
use fastgrnn::features::{COUNT, Spec, Tables};
use fastgrnn::report::{count, number};
use fastgrnn_runtime::audio;
use std::fmt::Display;

/// The front end in the package's code, if there is one.
pub(super) fn front(context: &PackageContext) -> Option<Spec> {
    context.core.front.and(context.model.front())
}

/// An example, from the template for sound or from that for counts.
pub(super) fn example(context: &PackageContext, listening: &str, counting: &str) -> String {
    let Some(hear) = hearing(context) else { return context.fill(counting) };
    // Without a detector, the end of the sound may cut a window short.
    let at_end = match context.model.detector() {
        Some(_) => "",
        None => "    if (frames > 0)\n        report();\n",
    };
    context.fill_with(listening, &[("hear", &hear), ("at_end", at_end)])
}

/// C that an example runs after each frame; `None` for packages without a front end.
pub(super) fn hearing(context: &PackageContext) -> Option<String> {
    front(context)?;
    Some(context.fill(match context.model.detector() {
        Some(_) => include_str!("../templates/sound/detections.c"),
        None => include_str!("../templates/sound/windows.c"),
    }))
}

/// The section on usage in the README; `None` for packages without a front end.
pub(super) fn usage(context: &PackageContext) -> Option<String> {
    front(context)?;
    let intro = match context.info.target {
        "c" => C,
        "arduino" => ARDUINO,
        "platformio" => PLATFORMIO,
        "zephyr" => ZEPHYR,
        "esp-idf" => ESP_IDF,
        _ => return None,
    };
    let after_frame = match context.model.detector() {
        Some(_) => "    /* a frame was complete, and the network has taken its step */\n    \
                    if (audio.heard >= 0) { /* the class that was heard in it */ }\n"
            .to_owned(),
        None => format!(
            "    /* a frame was complete, and the network has taken its step */\n    \
             winner = {}_classify(&audio.state, scores, &confidence);\n",
            context.name()
        ),
    };
    let code = context.fill_with(include_str!("../templates/sound/use.md"), &[("after_frame", &after_frame)]);
    Some(format!("{}\n{code}", context.fill(intro)))
}

const C: &str = "Add `@name@.c` and `@name@.h` to your project (C99 or C++, no library needed). To try it on this \
computer, run `make`, then `./classify < sound.raw` with mono samples of 16 bits, little-endian, @rate@ per second. For a \
WAV file with that rate, run `tail -c +45 sound.wav | ./classify`. The functions of `@name@_text.h` print results without a \
library.";
const ARDUINO: &str = "In the Arduino IDE: zip this folder and choose *Sketch / Include Library / Add .ZIP Library*, or copy \
the folder into your sketchbook's `libraries`. The example *Classify* listens to the PDM microphone of boards that have one \
(Nano 33 BLE Sense, Nano RP2040 Connect), and on others to a microphone with an amplifier at pin A0. A driver of your own \
calls `take_sample()` there. The library itself uses no pins.";
const PLATFORMIO: &str = "Name this folder in your `platformio.ini`: `lib_deps = @name@=symlink:///path/to/this/folder`. \
`examples/classify` is a complete project that listens to the PDM microphone of boards that have one (Nano 33 BLE Sense, \
Nano RP2040 Connect), and on others to a microphone with an amplifier at pin A0. A driver of your own calls `take_sample()` \
there. The library itself uses no pins.";
const ZEPHYR: &str = "This folder is a Zephyr module: name it in your application's `CMakeLists.txt` before \
`find_package(Zephyr …)` with `list(APPEND EXTRA_ZEPHYR_MODULES /path/to/this/folder)`, and set \
`CONFIG_FASTGRNN_@NAME@=y`. To build the sample, run `west build -b BOARD samples/classify`; then fill in \
`read_microphone()` with your board's driver (`dmic_read()`, `i2s_read()`).";
const ESP_IDF: &str = "This folder is a component: copy it into your project's `components`, or name it in \
`EXTRA_COMPONENT_DIRS`. To build the example, run `idf.py -C examples/classify set-target esp32 build`; then fill in \
`read_microphone()` with your microphone's driver (`i2s_channel_read()`).";

/// The section on the input in the README: heading and text. `None` for models without a front end.
pub(super) fn input(context: &PackageContext) -> Option<(&'static str, String)> {
    let spec = context.model.model.audio?;
    let lsb = context.model.network.input.lsb.first().copied().unwrap_or(COUNT);
    let worth = if lsb == COUNT { "1/256".to_owned() } else { number(f64::from(lsb)) };
    let (tables, ram) = context.info.front.map_or((0, 0), |front| (front.table_bytes, front.ram_bytes));
    let detector = match context.model.detector() {
        Some(_) => context.fill(include_str!("../templates/sound/detector.md")),
        None => String::new(),
    };
    let own = [
        ("spec", spec.to_string()),
        ("worth", worth),
        ("tables", count(tables as u64)),
        ("ram", count(ram as u64)),
        ("detector", detector),
    ];
    let own: Vec<(&str, &str)> = own.iter().map(|(k, v)| (*k, v.as_str())).collect();
    let fill = |template: &str| context.fill_with(template, &own);
    Some(match (context.info.target, front(context)) {
        ("rust", Some(_)) => ("Sound in", fill(include_str!("../templates/sound/rust.md"))),
        ("wasm", Some(_)) => (
            "A frame of features",
            fill(include_str!("../templates/sound/frames.md"))
                + &fill(include_str!("../templates/sound/wasm.md")),
        ),
        (_, Some(_)) => ("Sound in", fill(include_str!("../templates/sound/sound.md"))),
        (_, None) => ("A frame of features", fill(include_str!("../templates/sound/frames.md"))),
    })
}

/// The module of a Rust crate that holds the front end's tables.
pub(super) fn rust_module(context: &PackageContext) -> Option<String> {
    let spec = front(context)?;
    let tables = Tables::new(&spec);
    let view = tables.view();
    let fields = [
        field("window", view.window),
        field("before", view.before),
        field("turns", view.turns),
        field("edges", view.edges),
        field("offsets", view.offsets),
        field("cosines", view.cosines),
    ]
    .concat();
    let audio::Tables { len, hop, fft, fraction, drop, floor, cosine_bits, .. } = view;
    let fields = format!(
        "{fields}    len: {len},\n    hop: {hop},\n    fft: {fft},\n    fraction: {fraction},\n    drop: {drop},\n    \
         floor: {floor},\n    cosine_bits: {cosine_bits},\n"
    );
    let own = [
        ("window", spec.window().to_string()),
        ("samples_len", view.samples_len().to_string()),
        ("spectrum_len", view.spectrum_len().to_string()),
        ("row_len", view.row_len().to_string()),
        ("table_fields", fields),
    ];
    let own: Vec<(&str, &str)> = own.iter().map(|(k, v)| (*k, v.as_str())).collect();
    Some(context.fill_with(include_str!("../templates/sound/front.rs.in"), &own))
}

/// A field of the tables, as Rust.
fn field<T: Display>(name: &str, values: &[T]) -> String {
    let mut text = format!("    {name}: &[");
    for (i, value) in values.iter().enumerate() {
        text.push_str(if i % 12 == 0 { "\n        " } else { " " });
        text.push_str(&format!("{value},"));
    }
    if !values.is_empty() {
        text.push_str("\n    ");
    }
    text + "],\n"
}
