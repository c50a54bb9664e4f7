//! What differs in the package of a model that listens: samples go in instead of counts.

use super::Parts;
use fastgrnn::features::{COUNT, Spec, Tables};
use fastgrnn::report::{count, number};
use fastgrnn_runtime::audio;
use std::fmt::Display;

/// The front end that the package's code holds, if it holds one.
pub(super) fn front(parts: &Parts) -> Option<Spec> {
    parts.core.front.and(parts.model.front())
}

/// An example's template: one that listens where the code does.
pub(super) fn example(parts: &Parts, listening: &str, counting: &str) -> String {
    let Some(hear) = hearing(parts) else { return parts.fill(counting) };
    // Without a detector, the end of the sound may cut a window short.
    let at_end = match parts.model.detector() {
        Some(_) => "",
        None => "    if (frames > 0)\n        report();\n",
    };
    parts.fill_with(listening, &[("hear", &hear), ("at_end", at_end)])
}

/// C that an example runs after each frame; `None` where the code does not listen.
pub(super) fn hearing(parts: &Parts) -> Option<String> {
    front(parts)?;
    Some(parts.fill(match parts.model.detector() {
        Some(_) => include_str!("../templates/sound/detections.c"),
        None => include_str!("../templates/sound/windows.c"),
    }))
}

/// How the README begins, for a target whose code listens.
pub(super) fn usage(parts: &Parts) -> Option<String> {
    front(parts)?;
    let intro = match parts.facts.target {
        "c" => C,
        "arduino" => ARDUINO,
        "platformio" => PLATFORMIO,
        "zephyr" => ZEPHYR,
        "esp-idf" => ESP_IDF,
        _ => return None,
    };
    let after_frame = match parts.model.detector() {
        Some(_) => "    /* a frame was complete, and the network has taken its step */\n    \
                    if (audio.heard >= 0) { /* the class that was heard in it */ }\n"
            .to_owned(),
        None => format!(
            "    /* a frame was complete, and the network has taken its step */\n    \
             winner = {}_classify(&audio.state, scores, &confidence);\n",
            parts.name()
        ),
    };
    let code = parts.fill_with(include_str!("../templates/sound/use.md"), &[("after_frame", &after_frame)]);
    Some(format!("{}\n{code}", parts.fill(intro)))
}

const C: &str = "Add `@name@.c` and `@name@.h` to your project (C99 or C++, no library needed). On this computer: \
`make`, then `./classify < sound.raw` with samples of 16 bits, little-endian, mono, @rate@ a second; of a WAV file \
of that rate, `tail -c +45 sound.wav | ./classify`. `@name@_text.h` prints results without a library.";
const ARDUINO: &str = "In the Arduino IDE: *Sketch / Include Library / Add .ZIP Library* with this folder zipped, or copy \
the folder into your sketchbook's `libraries`. The example *Classify* listens: to the PDM microphone of boards that have \
one (Nano 33 BLE Sense, Nano RP2040 Connect), elsewhere to a microphone with an amplifier at pin A0. A driver of your \
own calls `take_sample()` there. The library itself uses no pins.";
const PLATFORMIO: &str = "Name this folder in your `platformio.ini`: `lib_deps = @name@=symlink:///path/to/this/folder`. \
`examples/classify` is a complete project that listens: to the PDM microphone of boards that have one (Nano 33 BLE Sense, \
Nano RP2040 Connect), elsewhere to a microphone with an amplifier at pin A0. A driver of your own calls `take_sample()` \
there. The library itself uses no pins.";
const ZEPHYR: &str = "This folder is a Zephyr module: name it in your application's `CMakeLists.txt` before \
`find_package(Zephyr …)` with `list(APPEND EXTRA_ZEPHYR_MODULES /path/to/this/folder)`, and set \
`CONFIG_FASTGRNN_@NAME@=y`. The sample: `west build -b BOARD samples/classify`; fill in `read_microphone()` with your \
board's driver (`dmic_read()`, `i2s_read()`).";
const ESP_IDF: &str = "This folder is a component: copy it into your project's `components`, or name it in \
`EXTRA_COMPONENT_DIRS`. The example: `idf.py -C examples/classify set-target esp32 build`; fill in `read_microphone()` \
with your microphone's driver (`i2s_channel_read()`).";

/// What goes in, for the README: its heading and the text. `None` of a model that does not listen.
pub(super) fn input(parts: &Parts) -> Option<(&'static str, String)> {
    let spec = parts.model.model.audio?;
    let lsb = parts.model.network.input.lsb.first().copied().unwrap_or(COUNT);
    let worth = if lsb == COUNT { "1/256".to_owned() } else { number(f64::from(lsb)) };
    let (tables, ram) = parts.facts.front.map_or((0, 0), |front| (front.table_bytes, front.ram_bytes));
    let detector = match parts.model.detector() {
        Some(_) => parts.fill(include_str!("../templates/sound/detector.md")),
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
    let fill = |template: &str| parts.fill_with(template, &own);
    Some(match (parts.facts.target, front(parts)) {
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

/// Bytes of tables and of buffers that the runtime's front end takes.
pub(super) fn rust_bytes(spec: &Spec) -> (usize, usize) {
    let tables = Tables::new(spec);
    let view = tables.view();
    (tables.bytes(), 4 * view.spectrum_len() + 2 * (view.samples_len() + view.row_len()))
}

/// The module of a Rust crate that holds the front end's tables.
pub(super) fn rust_module(parts: &Parts) -> Option<String> {
    let spec = front(parts)?;
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
    Some(parts.fill_with(include_str!("../templates/sound/front.rs.in"), &own))
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
