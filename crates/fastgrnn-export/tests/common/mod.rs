//! Models to export, and compilers to compile them with.
#![allow(dead_code)] // each test file uses its part

use fastgrnn::cells::{Cell, CellKind, Nonlinearity, Role, Start};
use fastgrnn::data::{Normalize, Normalizer, Sequences};
use fastgrnn::features::Spec;
use fastgrnn::model::{Model, Task};
use fastgrnn::net::{InitialState, Loss, Network};
use fastgrnn::quantize::{Detector, IntegerModel, Options, Reset, quantize};
use fastgrnn::rng::Rng;
use fastgrnn_export::{File, Package, PackageOptions, Target, package};
use std::path::Path;
use std::process::{Command, Output};

/// Warnings that no generated file may cause.
pub const STRICT: [&str; 4] = ["-Wall", "-Wextra", "-Werror", "-pedantic"];

/// A network with random weights of which a fraction is kept, made integer on random recordings
/// whose features have different means and sizes.
pub fn model(layers: Vec<Cell>, outputs: usize, kept: f64, seed: u64) -> IntegerModel {
    let labels = (0..outputs).map(|k| format!("class {k}")).collect();
    of_task(layers, Task::Classes { labels }, Loss::SoftmaxCrossEntropy, outputs, kept, seed)
}

/// The same for any task.
pub fn of_task(
    layers: Vec<Cell>,
    task: Task,
    loss: Loss,
    outputs: usize,
    kept: f64,
    seed: u64,
) -> IntegerModel {
    let mut rng = Rng::new(seed);
    let features = layers[0].input;
    let network = Network::new(layers, outputs);
    let mut params = network.start(Start::default(), 20, seed);
    for view in network.layout().views() {
        for value in &mut params[view.range()] {
            match view.role {
                Role::Weight if rng.uniform() > kept => *value = 0.0,
                Role::Weight => *value = rng.range(-0.7, 0.7) as f32,
                _ => *value += rng.range(-0.5, 0.5) as f32,
            }
        }
    }
    let mut model = Model::new(network, params, task);
    model.loss = loss;
    model.steps = 20;
    model.dataset = "random recordings".into();
    let mean: Vec<f32> = (0..features).map(|d| d as f32 - 1.5).collect();
    let scale: Vec<f32> = (0..features).map(|d| 0.5 + d as f32).collect();
    let recording: Vec<f32> =
        (0..200 * features).map(|i| mean[i % features] + rng.normal() as f32 / scale[i % features]).collect();
    model.normalizer = Normalizer { mode: Normalize::PerFeature, mean, scale };
    let mut x = Sequences::new(features);
    x.push(&recording);
    quantize(&model, &x, &[0], &Options::default()).unwrap()
}

/// The smallest model that everything can be tried on.
pub fn small() -> IntegerModel {
    model(vec![Cell::new(CellKind::FastGrnn, 3, 6)], 3, 1.0, 1)
}

/// A model that listens; with a detector of its classes or without.
pub fn listening(detects: bool) -> IntegerModel {
    let spec = Spec::default();
    let quiet = model(vec![Cell::new(CellKind::FastGrnn, spec.dim(), 6)], 3, 1.0, 3);
    let mut x = Sequences::new(spec.dim());
    x.push(&(0..40 * spec.dim()).map(|i| (i % 23) as f32 - 4.0).collect::<Vec<_>>());
    let model = Model { audio: Some(spec), ..quiet.model };
    let mut integer = quantize(&model, &x, &[0], &Options::default()).unwrap();
    if detects {
        // One of three classes always has a third of certainty.
        let keywords = vec![0, 1, 2];
        let detector = Detector {
            keywords,
            threshold: 10_000,
            smoothing: 0,
            refractory: 5,
            warm_up: 0,
            reset: Reset::Never,
        };
        integer.set_detector(Some(detector)).unwrap();
    }
    integer
}

/// Models that reach all cells, forms of matrices, nonlinearities and meanings of scores.
pub fn variety() -> Vec<(String, IntegerModel)> {
    let mut all = Vec::new();
    for (i, cell) in fastgrnn::cells::CELLS.iter().enumerate() {
        let smooth = Cell::new(cell.kind, 4, 9);
        let piecewise = Cell { gate: Nonlinearity::QuantSigm, update: Nonlinearity::QuantTanh, ..smooth };
        let low_rank = Cell { rank_w: Some(2), rank_u: Some(5), ..piecewise };
        all.push((format!("{} dense", cell.name), model(vec![smooth], 4, 1.0, i as u64)));
        all.push((format!("{} low rank", cell.name), model(vec![low_rank], 4, 0.5, 50 + i as u64)));
        all.push((
            format!("{} sparse", cell.name),
            model(vec![Cell { hidden: 24, ..piecewise }], 4, 0.06, 90 + i as u64),
        ));
    }
    let below = Cell { update: Nonlinearity::Relu, ..Cell::new(CellKind::FastRnn, 5, 10) };
    let above = Cell { gate: Nonlinearity::QuantSigm4, ..Cell::new(CellKind::Lstm, 10, 8) };
    all.push(("two layers".into(), model(vec![below, above], 3, 0.6, 7)));
    let cell = Cell::new(CellKind::FastGrnn, 2, 5);
    let values = Task::Values { mean: vec![3.0, -1.0], scale: vec![2.0, 0.5] };
    let two = || Task::Classes { labels: vec!["no".into(), "yes".into()] };
    let sigmoid = Loss::BinaryCrossEntropy;
    all.push(("numbers".into(), of_task(vec![cell.clone()], values, Loss::SquaredError, 2, 1.0, 8)));
    all.push(("one score".into(), of_task(vec![cell.clone()], two(), sigmoid, 1, 1.0, 9)));
    all.push(("each by itself".into(), of_task(vec![cell], two(), sigmoid, 2, 1.0, 10)));
    all
}

/// A model with an awkward label, names of features and a state to start from.
pub fn awkward() -> IntegerModel {
    let cell = Cell::new(CellKind::Lstm, 2, 5);
    let labels = ["*/ \"quoted\" \\ ??/", "@name@ | <b>", "größer\n2"].map(str::to_owned).to_vec();
    let integer = of_task(vec![cell], Task::Classes { labels }, Loss::SoftmaxCrossEntropy, 3, 1.0, 11);
    let mut model = integer.model.clone();
    model.features = Some(vec!["acc */ x".into(), "`|gyro".into()]);
    model.initial_state = InitialState::Given(vec![0.25; 5]);
    let mut x = Sequences::new(2);
    x.push(&[0.1, 0.2, -0.5, 0.4]);
    quantize(&model, &x, &[0], &Options::default()).unwrap()
}

/// A package called `model`.
pub fn packed(model: &IntegerModel, target: Target) -> Package {
    package(model, target, &PackageOptions::default()).unwrap()
}

/// A package in soft float.
pub fn packed_float(model: &IntegerModel, target: Target) -> Package {
    package(model, target, &PackageOptions { float: true, ..PackageOptions::default() }).unwrap()
}

/// Writes a package into a fresh folder.
pub fn written(package: &Package) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    package.write(&folder.path().join("out"), false).unwrap();
    folder
}

/// The file of a package.
pub fn file<'a>(package: &'a Package, path: &str) -> &'a File {
    let paths = || package.files.iter().map(|f| f.path.as_str()).collect::<Vec<_>>().join(", ");
    package.files.iter().find(|f| f.path == path).unwrap_or_else(|| panic!("no {path} among {}", paths()))
}

/// Its text.
pub fn text<'a>(package: &'a Package, path: &str) -> &'a str {
    std::str::from_utf8(&file(package, path).bytes).unwrap()
}

/// Whether a program is installed.
pub fn has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

/// Says that something was not tested, past the capture of output, so that nobody takes it for passed.
pub fn skipped(what: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "SKIPPED: {what}");
    // A browser and a reader of YAML are not among the tools that are installed for the tests.
    let other = ["browser", "yaml"].iter().any(|tool| what.contains(tool));
    let must = std::env::var_os("FASTGRNN_TOOLS").is_some() && !other;
    assert!(!must, "tools were installed, yet skipped: {what}");
}

/// A compiler, with what makes it compile for its board.
pub struct Compiler {
    pub program: &'static str,
    pub flags: &'static [&'static str],
}

/// The compilers that generated C must please. Those of bare boards have no library, hence
/// `-ffreestanding`.
pub const COMPILERS: [Compiler; 5] = [
    Compiler { program: "avr-gcc", flags: &["-mmcu=atmega328p", "-Os"] },
    Compiler {
        program: "arm-none-eabi-gcc",
        flags: &["-mcpu=cortex-m0plus", "-mthumb", "-O2", "-ffreestanding"],
    },
    Compiler {
        program: "riscv64-unknown-elf-gcc",
        flags: &["-march=rv32imac", "-mabi=ilp32", "-O2", "-ffreestanding"],
    },
    Compiler { program: "gcc", flags: &["-O2"] },
    Compiler { program: "clang", flags: &["-O2"] },
];

/// As C99 and as C++.
pub const LANGUAGES: [&[&str]; 2] = [&["-x", "c", "-std=c99"], &["-x", "c++", "-std=c++11"]];

/// Compiles `file` of `folder` by every installed compiler in every language; panics with what a
/// compiler says.
pub fn compiles(folder: &Path, file: &str, languages: &[&[&str]], include: &[&Path]) {
    for compiler in &COMPILERS {
        if !has(compiler.program) {
            skipped(&format!("{file} was not compiled by {}", compiler.program));
            continue;
        }
        for language in languages {
            let mut command = Command::new(compiler.program);
            command.current_dir(folder).args(compiler.flags).args(STRICT).args(*language);
            include.iter().for_each(|path| {
                command.arg("-I").arg(path);
            });
            let output = command.args(["-c", file, "-o", "/dev/null"]).output().unwrap();
            assert!(output.status.success(), "{} {language:?} {file}:\n{}", compiler.program, said(&output));
        }
    }
}

/// What a program printed.
pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}
