//! What the generators of all packages share.

use super::info::PackageInfo;
use super::parts::{File, GOLDEN_WINDOWS, PackageOptions, Target};
use super::tokens;
use crate::ExportError;
use crate::c::{CSource, FrontEndInfo, Optimize};
use crate::escape;
use crate::fill::fill;
use crate::golden::{Golden, RANDOM, header};
use fastgrnn::features::{Spec, Tables};
use fastgrnn::quantize::IntegerModel;
use fastgrnn::report::number;
use sha2::{Digest, Sha256};

/// Steps of a window in examples if the model does not say how long its sequences were.
const STEPS: usize = 32;
/// The most features that an example lists one by one.
const LISTED: usize = 16;

/// Bytes of stack that ESP-IDF gives the main task by default.
const ESP_STACK: usize = 3584;
/// Bytes of stack that `printf` and drivers of ESP-IDF take, in addition to a network.
const ESP_CALLS: usize = 2560;

/// A model, its C, its golden vectors, and the values for templates.
pub(super) struct PackageContext<'a> {
    pub model: &'a IntegerModel,
    pub core: CSource,
    pub golden: Golden,
    pub info: PackageInfo,
    pub max_ram: Option<usize>,
    /// Whether weights are constants in straight-line code instead of tables.
    pub straight: bool,
    /// Flags of `fastgrnn export` besides the target and the name, each with a space before it.
    pub flags: String,
    values: Vec<(&'static str, String)>,
}

impl<'a> PackageContext<'a> {
    pub fn new(
        model: &'a IntegerModel,
        target: Target,
        options: &PackageOptions,
        core: CSource,
        golden: Golden,
    ) -> Result<Self, ExportError> {
        let view = model.view();
        let (data_bytes, state_bytes, scratch_bytes) = match target {
            // In `Memory`, words of 32 bits follow words of 16 bits.
            Target::Rust => {
                (model.image().len(), (2 * view.memory_len()).next_multiple_of(4), 4 * view.scratch_len())
            }
            _ => (core.data_bytes, core.state_bytes, core.scratch_bytes),
        };
        let front = front(model, target, &core);
        // The front end's buffers include the frame; the struct around them is aligned to words.
        let held = match front {
            Some(front) => (state_bytes + front.ram_bytes).next_multiple_of(4),
            None => state_bytes + 2 * view.inputs(),
        };
        let needed = held + scratch_bytes + 4 * view.outputs();
        if let Some(most) = options.max_ram.filter(|most| needed > *most) {
            return Err(ExportError::Ram { needed, most });
        }
        let hash = Sha256::digest(model.image());
        let info = PackageInfo {
            target: target.name(),
            name: core.name.clone(),
            arithmetic: if options.float { "float" } else { "integer" },
            cell: model.model.network.main_cell().kind.name(),
            features: view.inputs(),
            outputs: view.outputs(),
            labels: tokens::labels(model),
            score_bits: view.score_bits(),
            data_bytes,
            state_bytes,
            scratch_bytes,
            front,
            macs_per_step: model.macs_per_step(),
            model_sha256: hash.iter().map(|b| format!("{b:02x}")).collect(),
            golden: (&golden).into(),
        };
        let straight = options.optimize == Optimize::Speed && !options.float && target != Target::Rust;
        let mut context = Self {
            model,
            core,
            golden,
            info,
            max_ram: options.max_ram,
            straight,
            flags: flags(options, straight),
            values: Vec::new(),
        };
        context.values = context.common();
        Ok(context)
    }

    pub fn name(&self) -> &str {
        &self.info.name
    }

    /// Fills a template with the values that all templates share.
    pub fn fill(&self, template: &str) -> String {
        self.fill_with(template, &[])
    }

    /// Fills a template with the shared values and its own.
    pub fn fill_with(&self, template: &str, own: &[(&str, &str)]) -> String {
        let mut values: Vec<(&str, &str)> = self.values.iter().map(|(k, v)| (*k, v.as_str())).collect();
        values.extend(own);
        fill(template, &values)
    }

    /// The C files of every C-based package, in `folder` (empty, or ending with `/`).
    pub fn c_files(&self, folder: &str) -> Vec<File> {
        let name = self.name();
        let labels = Labels::of(&self.info.labels, name);
        let text_values = [
            ("labels", labels.table.as_str()),
            ("put_label", &labels.put_label),
            ("put_class", &labels.put_class),
        ];
        let (text_test, run_text_test) = tokens::self_test(self.model);
        let (text_test, run_text_test) = (self.fill(text_test), self.fill(run_text_test));
        let test_values = [("text_test", text_test.as_str()), ("run_text_test", &run_text_test)];
        vec![
            File::new(format!("{folder}{name}.h"), self.core.header.clone()),
            File::new(format!("{folder}{name}.c"), self.core.source.clone()),
            File::new(format!("{folder}{name}_text.h"), self.fill(include_str!("../templates/c/text.h"))),
            File::new(
                format!("{folder}{name}_text.c"),
                self.fill_with(include_str!("../templates/c/text.c"), &text_values),
            ),
            File::new(format!("{folder}{name}_golden.h"), header(name, &self.golden)),
            File::new(
                format!("{folder}{name}_selftest.h"),
                self.fill(include_str!("../templates/c/selftest.h")),
            ),
            File::new(
                format!("{folder}{name}_selftest.c"),
                self.fill_with(include_str!("../templates/c/selftest.c"), &test_values),
            ),
        ]
    }

    /// The name of feature `d`.
    pub fn feature(&self, d: usize) -> String {
        let known = self.model.model.features.as_ref().and_then(|names| names.get(d));
        known.cloned().unwrap_or_else(|| format!("feature {d}"))
    }

    /// What one count of feature `d` is worth, in the units of the training data.
    pub fn lsb(&self, d: usize) -> String {
        self.model.network.input.lsb.get(d).map_or("?".to_owned(), |&lsb| number(f64::from(lsb)))
    }

    /// Steps of a recording, for examples.
    pub fn steps(&self) -> usize {
        if self.model.model.steps == 0 { STEPS } else { self.model.model.steps.min(usize::from(u16::MAX)) }
    }

    fn common(&self) -> Vec<(&'static str, String)> {
        let (info, audio) = (&self.info, self.model.model.audio);
        // Two states, a frame, scores, the buffers of a step, and calls.
        let stack = 2 * info.state_bytes + info.scratch_bytes + 2 * info.features + 8 * info.outputs + 1024;
        let rounded = |bytes: usize| (bytes.div_ceil(512) * 512).to_string();
        vec![
            ("name", info.name.clone()),
            ("NAME", info.name.to_uppercase()),
            ("version", env!("CARGO_PKG_VERSION").to_owned()),
            ("features", info.features.to_string()),
            ("outputs", info.outputs.to_string()),
            ("steps", self.steps().to_string()),
            ("sha256", info.model_sha256.clone()),
            ("golden_hash", info.golden.hash.clone()),
            ("stack", rounded(stack)),
            ("esp_stack", rounded(ESP_STACK.max(stack + ESP_CALLS))),
            ("rate", audio.map_or(String::new(), |spec| spec.rate().to_string())),
            ("hop", audio.map_or(String::new(), |spec| spec.hop().to_string())),
            ("readings", self.readings()),
            ("summary", self.summary()),
            ("program", tokens::program(self.model).to_owned()),
        ]
    }

    /// C statements that fill `counts` with a reading of every feature.
    fn readings(&self) -> String {
        let features = self.info.features;
        if features > LISTED {
            return "    for (uint16_t d = 0; d < FEATURES; d++)\n        counts[d] = read_sensor(d);\n"
                .to_owned();
        }
        (0..features)
            .map(|d| {
                let what = escape::comment(&self.feature(d));
                format!(
                    "    counts[{d}] = read_sensor({d}); /* {what}: one count is worth {} */\n",
                    self.lsb(d)
                )
            })
            .collect()
    }

    /// A short description of the network.
    fn summary(&self) -> String {
        let layers = &self.model.model.network.layers;
        let units: Vec<String> = layers.iter().map(|c| c.hidden.to_string()).collect();
        let title = self.model.model.network.main_cell().kind.declaration().title;
        let results = match self.info.labels.len() {
            n if tokens::is_language_model(self.model) => format!("the next of {n} tokens"),
            0 => format!("{} numbers", self.info.outputs),
            n => format!("{n} classes"),
        };
        let input = match self.info.front {
            Some(front) => format!("sound at {} samples a second", front.rate),
            None if self.model.network.embedding.is_some() => "a token at a time".to_owned(),
            None => format!("{} counts a frame", self.info.features),
        };
        let stride = self.model.network.window.stride;
        let steps = if stride > 1 { format!(", a step for every {stride} frames") } else { String::new() };
        format!("{title} network of {} units: {input}{steps}, {results}", units.join(" and "))
    }
}

/// The front end in the package's code. The module of [`Target::Wasm`] has none.
fn front(model: &IntegerModel, target: Target, core: &CSource) -> Option<FrontEndInfo> {
    let (info, spec) = (core.front?, model.front()?);
    match target {
        Target::Wasm => None,
        Target::Rust => {
            let (table_bytes, ram_bytes) = rust_front_bytes(&spec);
            Some(FrontEndInfo { table_bytes, ram_bytes, ..info })
        }
        _ => Some(info),
    }
}

/// The flags of `fastgrnn export` that differ from their defaults.
fn flags(options: &PackageOptions, straight: bool) -> String {
    let windows = options.windows.as_ref();
    let recorded = windows.is_some_and(|w| !w.origin.starts_with(RANDOM));
    let golden = windows.map(|w| w.counts.len()).filter(|&n| n != GOLDEN_WINDOWS);
    [
        options.float.then(|| " --float".to_owned()),
        straight.then(|| " --optimize speed".to_owned()),
        options.max_ram.map(|most| format!(" --max-ram {most}")),
        golden.map(|n| format!(" --golden {n}")),
        recorded.then(|| " --dataset DATA".to_owned()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The labels as C.
struct Labels {
    table: String,
    put_label: String,
    put_class: String,
}

impl Labels {
    fn of(labels: &[String], name: &str) -> Self {
        let upper = name.to_uppercase();
        if labels.is_empty() {
            return Self {
                table: String::new(),
                put_label: format!("    {name}_put_number(index, put);\n"),
                put_class: "    (void)index;\n    (void)confidence;\n".to_owned(),
            };
        }
        let mut table =
            "/* Names of the classes, each ended by 0. */\nstatic const uint8_t labels[] FLASH = {\n"
                .to_owned();
        for label in labels {
            // A 0 inside a label would end it early.
            let bytes: Vec<String> =
                label.bytes().filter(|&b| b != 0).chain([0]).map(|b| b.to_string()).collect();
            table.push_str(&format!("    {}, /* {} */\n", bytes.join(", "), escape::comment(label)));
        }
        table.push_str("};\n");
        let count = labels.len();
        Self {
            table,
            put_label: format!(
                "    const uint8_t *at = labels;\n    if (index >= {count}) {{\n        {name}_put_number(index, put);\n        \
                 return;\n    }}\n    while (index > 0)\n        if (CHARACTER(at++) == 0)\n            index--;\n    \
                 {name}_put_text((const char *)at, put);\n"
            ),
            put_class: format!(
                "    {name}_put_label(index, put);\n    put(' ');\n    \
                 {name}_put_number((int32_t)(confidence * 100L / 255L), put);\n    \
                 {name}_put_text({upper}_TEXT(\" %, \"), put);\n"
            ),
        }
    }
}

/// Bytes of tables and of buffers that the runtime's front end takes.
fn rust_front_bytes(spec: &Spec) -> (usize, usize) {
    let tables = Tables::new(spec);
    let view = tables.view();
    (tables.bytes(), 4 * view.spectrum_len() + 2 * (view.samples_len() + view.row_len()))
}
