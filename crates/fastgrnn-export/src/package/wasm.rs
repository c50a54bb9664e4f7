//! WebAssembly: the C core compiled by clang, with a JavaScript module, a page and a test.

use super::context::PackageContext;
use super::parts::File;
use crate::ExportError;
use fastgrnn::model::Task;
use fastgrnn_runtime::int::Meaning;
use serde_json::json;
use std::io;
use std::path::Path;
use std::process::Command;

/// The functions that the module exports to JavaScript.
const EXPORTS: [&str; 6] = ["counts", "scores", "confidence", "init", "step", "classify"];

pub(super) fn files(context: &PackageContext) -> Result<Vec<File>, ExportError> {
    let name = context.name();
    let core = [
        File::new(format!("{name}.h"), context.core.header.clone()),
        File::new(format!("{name}.c"), context.core.source.clone()),
        File::new(format!("{name}_wasm.c"), context.fill(include_str!("../templates/wasm/wasm.c"))),
    ];
    // Twice what a step puts on the stack, and room for calls; the module has a memory of its own.
    let stack = (65_536 + 2 * context.info.scratch_bytes).next_multiple_of(16);
    let module = compile(name, &core, stack)?;
    let info = &context.info;
    let features: Vec<_> = (0..info.features)
        .map(|d| json!({ "name": context.feature(d), "countValue": context.model.network.input.lsb.get(d) }))
        .collect();
    // For regression: mean and scale that turn scores into values.
    let (mean, scale) = match &context.model.model.task {
        Task::Values { mean, scale } => (Some(mean), Some(scale)),
        Task::Classes { .. } | Task::Sets { .. } | Task::NextToken => (None, None),
    };
    let about = json!({
        "name": name,
        "features": features,
        "outputs": info.outputs,
        "labels": info.labels,
        "scoreBits": info.score_bits,
        "meaning": meaning(context.model.network.meaning),
        "mean": mean,
        "scale": scale,
        "steps": context.steps(),
        "sha256": info.model_sha256,
    });
    let about = serde_json::to_string_pretty(&about).expect("a JSON value can be written");
    let mut files = core.to_vec();
    files.extend([
        File::new(format!("{name}.wasm"), module),
        File::new(
            format!("{name}.js"),
            context.fill_with(include_str!("../templates/wasm/wrapper.js"), &[("about", &about)]),
        ),
        File::new("test.mjs", context.fill(include_str!("../templates/wasm/test.mjs"))),
        File::new("index.html", context.fill(include_str!("../templates/wasm/index.html"))),
        File::new("package.json", context.fill(include_str!("../templates/wasm/package.json"))),
    ]);
    Ok(files)
}

/// The meaning of scores, as JavaScript names it.
fn meaning(meaning: Meaning) -> &'static str {
    match meaning {
        Meaning::Classes => "classes",
        Meaning::Binary => "binary",
        Meaning::OneAgainstAll => "one-against-all",
        Meaning::Values => "values",
    }
}

/// Compiles the core and the functions around it.
fn compile(name: &str, core: &[File], stack: usize) -> Result<Vec<u8>, ExportError> {
    let folder = tempfile::tempdir().map_err(|cause| at("a temporary folder", cause))?;
    for file in core {
        let path = folder.path().join(&file.path);
        std::fs::write(&path, &file.bytes).map_err(|cause| ExportError::Write { path, cause })?;
    }
    // clang finds its linker by itself, but its message is useless if the linker is missing.
    found("wasm-ld", Command::new("wasm-ld").arg("--version").output())?;
    let out = folder.path().join("out.wasm");
    let mut clang = Command::new("clang");
    clang.current_dir(folder.path());
    // Without built-ins, no loop becomes a call of memset or memcpy, which do not exist here.
    clang.args(["--target=wasm32", "-std=c99", "-O2", "-ffreestanding", "-fno-builtin", "-nostdlib"]);
    clang.args(["-Wall", "-Wextra", "-Werror", "-pedantic", "-Wl,--no-entry", "-Wl,--strip-all"]);
    clang.arg(format!("-Wl,-z,stack-size={stack}"));
    clang.args(EXPORTS.map(|export| format!("-Wl,--export={export}")));
    clang.args([format!("{name}.c"), format!("{name}_wasm.c")]).arg("-o").arg(&out);
    let output = found("clang", clang.output())?;
    if !output.status.success() {
        let output_text = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(ExportError::Compiler {
            tool: "clang",
            status: output.status.to_string(),
            output: output_text,
        });
    }
    std::fs::read(&out).map_err(|cause| ExportError::Write { path: out, cause })
}

fn found<T>(tool: &'static str, result: io::Result<T>) -> Result<T, ExportError> {
    result.map_err(|cause| ExportError::Tool { tool, cause })
}

fn at(path: &str, cause: io::Error) -> ExportError {
    ExportError::Write { path: Path::new(path).to_owned(), cause }
}
