//! The README of a package: what it is, how to use it, how to verify it and how it was made.

use super::context::PackageContext;
use super::{sound, text, tokens};
use crate::escape::markdown;
use fastgrnn::device::{Board, CodeForm, Footprint};
use fastgrnn::model::Task;
use fastgrnn::report::{count, number, quantity};
use fastgrnn_runtime::int::Meaning;

/// The most rows of a table of features or classes; the README only counts the others.
const ROWS: usize = 64;

pub(super) fn readme(context: &PackageContext) -> String {
    let info = &context.info;
    let (usage, verify) = match info.target {
        "arduino" => (include_str!("../templates/readme/arduino.md"), ARDUINO_VERIFY),
        "platformio" => (include_str!("../templates/readme/platformio.md"), PLATFORMIO_VERIFY),
        "zephyr" => (include_str!("../templates/readme/zephyr.md"), ZEPHYR_VERIFY),
        "esp-idf" => (include_str!("../templates/readme/esp-idf.md"), ESP_VERIFY),
        "rust" => (include_str!("../templates/readme/rust.md"), RUST_VERIFY),
        "wasm" => (include_str!("../templates/readme/wasm.md"), WASM_VERIFY),
        _ => (include_str!("../templates/readme/c.md"), C_VERIFY),
    };
    let (frame_title, frame) = sound::input(context)
        .or_else(|| text::input(context))
        .unwrap_or_else(|| ("A frame of counts", frame(context)));
    let own = [
        (
            "usage",
            sound::usage(context).or_else(|| text::usage(context)).unwrap_or_else(|| context.fill(usage)),
        ),
        ("verify", context.fill(verify)),
        ("arithmetic", arithmetic(context)),
        ("frame_title", frame_title.to_owned()),
        ("frame", frame),
        ("results", results(context)),
        ("sizes", sizes(context)),
        ("boards", boards(context)),
        ("macs", count(info.macs_per_step as u64)),
        ("golden", golden(context)),
        ("origin", origin(context)),
    ];
    let own: Vec<(&str, &str)> = own.iter().map(|(k, v)| (*k, v.as_str())).collect();
    context.fill_with(include_str!("../templates/readme/readme.md"), &own)
}

const C_VERIFY: &str = "`make check` runs the self-test on this computer. On a board, call \
`@name@_selftest(put)` with a function that sends a character to the serial port, and read what it says.";
const ARDUINO_VERIFY: &str = "Upload the example *SelfTest* and open the serial monitor at 115200 baud: it \
prints every score, `PASS` or `FAIL`, and the microseconds of a step.";
const PLATFORMIO_VERIFY: &str = "`pio run -d examples/selftest -e uno -t upload`, then \
`pio device monitor -b 115200`: it prints every score, `PASS` or `FAIL`, and the microseconds of a step.";
const ZEPHYR_VERIFY: &str = "The sample runs the self-test first: every score, `PASS` or `FAIL`, and the \
microseconds of a step appear on the console.";
const ESP_VERIFY: &str = "The example runs the self-test first: `idf.py -C examples/classify flash monitor` \
shows every score, `PASS` or `FAIL`, and the microseconds of a step.";
const RUST_VERIFY: &str = "`cargo test` runs the golden vectors on this computer. On a board, call \
`@name@::self_test(&mut memory)` and report its number of mismatches, which should be 0.";
const WASM_VERIFY: &str = "`node test.mjs`, or open `index.html` through a web server \
(`python3 -m http.server`): both run the golden vectors and say `PASS` or `FAIL`.";

fn arithmetic(context: &PackageContext) -> String {
    match context.info.arithmetic {
        "float" => "Weights are bytes; everything else is computed in `float`. This export exists to be compared \
                    with the integer one, which is smaller and faster; scores are rounded to the integer one's \
                    scale and agree with it within its roundings."
            .to_owned(),
        _ => "Everything is computed in integers of at most 32 bits, and every bit is defined: each target gives \
              the same scores."
            .to_owned(),
    }
}

fn frame(context: &PackageContext) -> String {
    let features = context.info.features;
    let lsb = &context.model.network.input.lsb;
    let mut text = format!(
        "A frame is {features} whole numbers of 16 bits, the raw readings of the sensors. The normalisation of the \
         training data is part of the network, so pass the counts unchanged. One count must be worth, in the \
         units of the training data:\n\n"
    );
    let named = context.model.model.features.is_some();
    if (!named || features > ROWS) && lsb.iter().all(|v| v == &lsb[0]) {
        text.push_str(&format!("{} for each of the {features} features.\n", context.lsb(0)));
        return text;
    }
    text.push_str("| place | feature | one count |\n| --- | --- | --- |\n");
    for d in 0..features.min(ROWS) {
        text.push_str(&format!("| {d} | {} | {} |\n", markdown(&context.feature(d)), context.lsb(d)));
    }
    if features > ROWS {
        text.push_str(&format!(
            "\n{} more: see `scales.input_lsb` of `fastgrnn info MODEL --json`.\n",
            features - ROWS
        ));
    }
    text.push_str("\nIf your sensor has other units, multiply its readings first, or make the model for it with `fastgrnn quantize --input-lsb`.\n");
    text
}

fn results(context: &PackageContext) -> String {
    let info = &context.info;
    let unit = format!("A score `s` stands for `s / 2^{}`.", info.score_bits);
    if let Task::Values { mean, scale } = &context.model.model.task {
        let mut text =
            format!("The outputs are numbers. {unit} The value is that times scale, plus mean:\n\n");
        text.push_str("| output | scale | mean |\n| --- | --- | --- |\n");
        for (k, (mean, scale)) in mean.iter().zip(scale).enumerate().take(ROWS) {
            let row = format!("| {k} | {} | {} |\n", number(f64::from(*scale)), number(f64::from(*mean)));
            text.push_str(&row);
        }
        return text;
    }
    if tokens::is_language_model(context.model) {
        return format!(
            "{unit} The scores are those of the next token; the class that `{}_classify` returns is the most probable one, and \
             `{}_sample` draws one.\n",
            info.name, info.name
        );
    }
    let rule = match context.model.network.meaning {
        Meaning::Binary => "There is one score: the class is 1 if it is above 0, else 0.",
        Meaning::OneAgainstAll => {
            "Each score separates its class from all others; the class is that of the largest score."
        }
        Meaning::Classes | Meaning::Values => "The class is that of the largest score.",
    };
    let mut text = format!("{unit} {rule} The confidence is a number from 0 to 255.\n\n");
    text.push_str("| class | label |\n| --- | --- |\n");
    for (k, label) in info.labels.iter().enumerate().take(ROWS) {
        text.push_str(&format!("| {k} | {} |\n", markdown(label)));
    }
    if info.labels.len() > ROWS {
        text.push_str(&format!("\n{} more.\n", info.labels.len() - ROWS));
    }
    text
}

fn sizes(context: &PackageContext) -> String {
    let info = &context.info;
    let (constants, buffers) = match info.target {
        "rust" => ("the image, in flash", "buffers of a step, in `Memory` as well"),
        _ if context.straight => {
            ("constants, in flash; weights are in the code", "buffers of a step, on the stack")
        }
        _ => ("constants, in flash", "buffers of a step, on the stack"),
    };
    let row = |what: &str, bytes: usize| format!("| {what} | {} |\n", count(bytes as u64));
    [
        "| what | bytes (derived) |\n| --- | --- |\n".to_owned(),
        row(constants, info.data_bytes),
        row("state, one for each recording that runs", info.state_bytes),
        row(buffers, info.scratch_bytes),
        row("a frame", 2 * info.features),
        row("scores", 4 * info.outputs),
        info.front.map_or(String::new(), |front| {
            row("tables of the front end, in flash", front.table_bytes)
                + &row("buffers of the front end, one set for each stream of sound", front.ram_bytes)
        }),
        row("golden vectors, only with the self-test", info.golden.bytes),
    ]
    .concat()
}

/// A table of what the C code takes on boards; empty for packages without integer C code.
fn boards(context: &PackageContext) -> String {
    if context.info.arithmetic == "float" || ["rust", "wasm"].contains(&context.info.target) {
        return String::new();
    }
    let footprint = Footprint::of_model(context.model);
    let form = if context.straight { CodeForm::Straight } else { CodeForm::Loops };
    let row = |board: Board| {
        let estimate = footprint.estimate_form(board, form)?;
        let ms = estimate.ms_per_step().map_or("–".to_owned(), number);
        let fits = if estimate.fits() { "yes" } else { "no" };
        let (flash, ram) = (count(estimate.flash_bytes() as u64), count(estimate.ram_bytes() as u64));
        Some(format!("| {} | {flash} | {ram} | {ms} | {fits} |\n", board.info().name))
    };
    let rows: String = Board::ALL.into_iter().filter_map(row).collect();
    if rows.is_empty() {
        return rows;
    }
    let sound = match context.info.front {
        Some(_) => {
            " The figures include the front end, except on the Uno, which takes frames of features; times are those of the network alone."
        }
        None => "",
    };
    format!(
        "These figures are derived from the network's shape, not measured. Flash includes code, and RAM includes the \
         stack; the golden vectors are not included.{sound}\n\n\
         | board | flash (derived) | RAM (derived) | ms a step (derived) | fits |\n\
         | --- | --- | --- | --- | --- |\n{rows}\n"
    )
}

fn golden(context: &PackageContext) -> String {
    let golden = &context.info.golden;
    let hash = match golden.tolerance {
        0 => format!("the scores after every step have the hash `{}` (FNV-1a, 32 bits)", golden.hash),
        off => format!("a score may be off by {off}, because boards round floats differently"),
    };
    let (windows, steps) = (quantity(golden.windows as u64, "window"), quantity(golden.steps as u64, "step"));
    format!("{windows} of {steps} in all ({}); {hash}", markdown(&golden.origin))
}

fn origin(context: &PackageContext) -> String {
    let model = &context.model.model;
    let data = match model.dataset.as_str() {
        "" => String::new(),
        name => format!(", trained on {}", markdown(name)),
    };
    format!(
        "`fastgrnn export MODEL --target {} --name {}{}` of fastgrnn {}{data}. SHA-256 of the device image, which holds every number \
         of the network: `{}`.",
        context.info.target,
        context.info.name,
        context.flags,
        env!("CARGO_PKG_VERSION"),
        context.info.model_sha256
    )
}
