//! Packages: the C core (or the runtime with an image), golden vectors, a self-test, examples and a
//! README, in the layout that a tool chain expects.
//!
//! `NAME.h` and `NAME.c` are the same in all C-based targets; only the files around them differ.

mod arduino;
mod c;
mod context;
mod esp_idf;
mod info;
mod parts;
mod platformio;
mod readme;
mod rtos;
mod rust;
mod sound;
mod text;
mod tokens;
mod wasm;
mod write;
mod zephyr;

pub use info::{GoldenInfo, PackageInfo};
pub use parts::{File, GOLDEN_SEED, GOLDEN_WINDOWS, Package, PackageOptions, Target};
pub use write::WrittenPackage;

use crate::c::{COptions, c_source};
use crate::error::ExportError;
use crate::float::float_source;
use crate::golden::{Golden, Windows};
use context::PackageContext;
use fastgrnn::quantize::IntegerModel;
use std::collections::HashSet;

/// Makes a package of `model` for `target`. The same model and options give the same bytes, except
/// that [`Target::Wasm`] depends on the version of the compiler.
///
/// ```
/// use fastgrnn::cells::{Cell, CellKind, Start};
/// use fastgrnn::{data::Sequences, model::{Model, Task}, net::Network};
/// use fastgrnn_export::{PackageOptions, Target, package};
/// let net = Network::new(vec![Cell::new(CellKind::FastGrnn, 1, 4)], 2);
/// let params = net.start(Start::default(), 3, 0);
/// let model = Model::new(net, params, Task::Classes { labels: vec!["a".into(), "b".into()] });
/// let mut x = Sequences::new(1);
/// x.push(&[0.1, 0.2, 0.3]);
/// let integer = fastgrnn::quantize::quantize(&model, &x, &[0], &Default::default())?;
/// let package = package(&integer, Target::Arduino, &PackageOptions::default())?;
/// assert!(package.files.iter().any(|f| f.path == "examples/SelfTest/SelfTest.ino"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn package(
    model: &IntegerModel,
    target: Target,
    options: &PackageOptions,
) -> Result<Package, ExportError> {
    let name = crate::name::checked(&options.name)?;
    if options.float && target == Target::Rust {
        return Err(ExportError::FloatTarget { target: target.name() });
    }
    if model.network.embedding.is_some() && target != Target::C {
        return Err(ExportError::TextTarget { target: target.name() });
    }
    let own;
    let windows = match &options.windows {
        Some(windows) => windows,
        None => {
            own = Windows::random(model, GOLDEN_WINDOWS, GOLDEN_SEED);
            &own
        }
    };
    if options.float && model.network.embedding.is_some() {
        return Err(ExportError::FloatText);
    }
    let golden =
        if options.float { Golden::float(model, windows)? } else { Golden::integer(model, windows)? };
    let c = COptions {
        name,
        max_ram: options.max_ram,
        optimize: options.optimize,
        front: model.front(),
        detector: model.detector().cloned(),
        end_of_line: model.end_of_line(),
    };
    let core = if options.float { float_source(&model.network, &c)? } else { c_source(&model.network, &c)? };
    let context = PackageContext::new(model, target, options, core, golden)?;
    let mut files = match target {
        Target::C => c::files(&context),
        Target::Arduino => arduino::files(&context),
        Target::PlatformIo => platformio::files(&context),
        Target::Zephyr => zephyr::files(&context),
        Target::EspIdf => esp_idf::files(&context),
        Target::Rust => rust::files(&context),
        Target::Wasm => wasm::files(&context)?,
    };
    files.push(File::new(format!("{}_golden.json", context.name()), context.golden.json()));
    files.push(File::new("README.md", readme::readme(&context)));
    let mut paths = HashSet::new();
    // Some file systems do not distinguish upper and lower case.
    if !files.iter().all(|f| paths.insert(f.path.to_lowercase())) {
        return Err(ExportError::NameTaken { name: context.info.name });
    }
    Ok(Package { files, info: context.info })
}
