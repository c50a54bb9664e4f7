//! A `no_std` crate: the image, a typed wrapper around the runtime, and golden vectors.
//!
//! The crate contains the source of the runtime, so that it builds without a registry. The runtime's
//! package is named after the model: two exported crates in one program would otherwise contain two
//! packages with the same name and version, which cargo refuses to lock.

use super::context::PackageContext;
use super::parts::File;
use super::sound;
use fastgrnn_runtime::source::FILES;

pub(super) fn files(context: &PackageContext) -> Vec<File> {
    let view = context.model.view();
    let number = |n: usize| n.to_string();
    let labels: Vec<String> = context.info.labels.iter().map(|l| format!("    {l:?},\n")).collect();
    let ram_check = context.max_ram.map_or(String::new(), |most| {
        format!(
            "\n// The RAM that the export allowed: memory, a frame and the scores.\nconst _: () = assert!(\n    \
             core::mem::size_of::<Memory>() + 2 * FEATURES + 4 * OUTPUTS <= {most},\n    \"more RAM than --max-ram allows\"\n);\n"
        )
    });
    let lsb: Vec<String> = context.model.network.input.lsb.iter().map(|v| format!("{v:?}")).collect();
    let front = sound::rust_module(context);
    let own: [(&str, &str); 10] = [
        ("layers", &number(view.layers().len())),
        ("memory", &number(view.memory_len())),
        ("scratch", &number(view.scratch_len())),
        ("label_count", &number(labels.len())),
        ("label_list", &labels.concat()),
        ("lsb_list", &lsb.join(", ")),
        ("ram_check", &ram_check),
        ("front", if front.is_some() { "pub mod front;\n" } else { "" }),
        ("golden_windows", &golden(context)),
        ("score_bits", &context.info.score_bits.to_string()),
    ];
    let fill = |template: &str| context.fill_with(template, &own);
    let mut files = vec![
        File::new("Cargo.toml", fill(include_str!("../templates/rust/Cargo.toml.in"))),
        File::new("model.img", context.model.image()),
        File::new("src/lib.rs", fill(include_str!("../templates/rust/lib.rs.in"))),
        File::new("src/golden.rs", fill(include_str!("../templates/rust/golden.rs.in"))),
        File::new("tests/golden.rs", fill(include_str!("../templates/rust/test.rs.in"))),
        File::new("runtime/Cargo.toml", fill(include_str!("../templates/rust/runtime.toml.in"))),
    ];
    files.extend(front.map(|text| File::new("src/front.rs", text)));
    files.extend(FILES.iter().map(|(path, bytes)| File::new(format!("runtime/{path}"), *bytes)));
    files
}

fn golden(context: &PackageContext) -> String {
    let window = |w: &crate::GoldenWindow| {
        let counts: Vec<String> = w
            .counts
            .chunks_exact(context.info.features)
            .map(|frame| format!("            {frame:?},\n"))
            .collect();
        format!(
            "    Window {{\n        counts: &[\n{}        ],\n        scores: {:?},\n        class: {},\n        confidence: {},\n    }},\n",
            counts.concat(),
            w.scores,
            w.class,
            w.confidence
        )
    };
    context.golden.windows.iter().map(window).collect()
}
