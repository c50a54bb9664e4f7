//! What is foretold from a shape bounds what compilers make of it: a model that is said to fit fits.

use crate::compilers::{has, skipped};
use crate::models::{listening, windowed};
use fastgrnn::cells::{CELLS, Cell, CellKind, MatrixForm, Nonlinearity};
use fastgrnn::device::{Board, CodeForm, Estimate, Footprint};
use fastgrnn::quantize::IntegerModel;
use fastgrnn::random::RandomModel;
use fastgrnn_export::{COptions, Optimize, c_source};
use std::path::Path;
use std::process::Command;

/// A board's compiler, with the flags that `fastgrnn board` uses. An M4 takes the code of an M3.
struct Compiler {
    board: Board,
    prefix: &'static str,
    arch: &'static [&'static str],
}

const COMPILERS: [Compiler; 4] = [
    Compiler { board: Board::Uno, prefix: "avr-", arch: &["-mmcu=atmega328p"] },
    Compiler { board: Board::M0plus, prefix: "arm-none-eabi-", arch: &["-mcpu=cortex-m0plus", "-mthumb"] },
    Compiler { board: Board::M3, prefix: "arm-none-eabi-", arch: &["-mcpu=cortex-m3", "-mthumb"] },
    Compiler {
        board: Board::Riscv32,
        prefix: "riscv64-unknown-elf-",
        arch: &["-march=rv32imac", "-mabi=ilp32", "-ffreestanding"],
    },
];

/// Bytes of libgcc that generated code may call for: multiplication, division, shifts.
const LIBRARY: usize = 400;

impl Compiler {
    /// Bytes of flash, and of stack if all functions of one layer called each other.
    fn sizes(&self, folder: &Path, level: &str) -> (usize, usize) {
        let run = |tool: &str, args: &[&str]| {
            let command =
                Command::new(format!("{}{tool}", self.prefix)).current_dir(folder).args(args).output();
            let output =
                command.unwrap_or_else(|e| panic!("{}{tool}: {e}; run scripts/setup-boards", self.prefix));
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        let mut args = vec!["-std=c99", level, "-fstack-usage", "-c", "model.c", "-o", "model.o"];
        args.extend(self.arch);
        run("gcc", &args);
        let text = run("size", &["model.o"]);
        let row: Vec<usize> =
            text.lines().nth(1).unwrap_or("").split_whitespace().flat_map(str::parse).collect();
        let usage = std::fs::read_to_string(folder.join("model.su")).unwrap();
        (row[0] + row[1], deepest(&usage))
    }
}

/// The functions of the layer that needs most, and all that belong to no layer.
fn deepest(usage: &str) -> usize {
    let mut layers = [0; 8];
    let mut others = 0;
    for line in usage.lines() {
        let mut words = line.split('\t');
        let name = words.next().unwrap_or_default().rsplit(':').next().unwrap_or_default();
        let bytes: usize = words.next().unwrap_or_default().parse().unwrap();
        let of_layer = ["layer", "sums", "project_w", "project_u"].iter().find_map(|f| name.strip_prefix(f));
        match of_layer.and_then(|index| index.parse::<usize>().ok()) {
            Some(index) => layers[index] += bytes,
            None => others += bytes,
        }
    }
    others + layers.into_iter().max().unwrap_or(0)
}

/// Features, units, ranks of W and U, fraction kept, layers.
type Shape = (usize, usize, Option<usize>, Option<usize>, f64, usize);

/// A model of each kind of shape: full and low rank, dense and sparse, long rows, stacked layers.
fn models() -> Vec<(String, IntegerModel)> {
    let shapes: [Shape; 5] = [
        (3, 16, None, None, 1.0, 1),
        (9, 40, Some(5), Some(12), 0.3, 1),
        (32, 24, Some(8), None, 0.5, 2),
        (9, 140, None, None, 0.1, 1),
        (6, 20, Some(4), Some(9), 0.6, 3),
    ];
    let mut models = Vec::new();
    for (i, declaration) in CELLS.iter().filter(|cell| cell.has_integers()).enumerate() {
        // Every cell with two shapes; between them the cells have all.
        for k in [i, i + 2] {
            let (dim, hidden, rank_w, rank_u, kept, layers) = shapes[k % shapes.len()];
            let cell = Cell::new(declaration.kind, dim, hidden).with_ranks(rank_w, rank_u);
            let mut shape =
                RandomModel { kept_w: kept, kept_u: kept, layers, ..RandomModel::new(cell, 6, 20) };
            if k % 2 == 0 {
                (shape.cell.gate, shape.cell.update) = (Nonlinearity::Sigmoid, Nonlinearity::Tanh);
            }
            models.push((format!("{declaration:?} {shape:?}"), shape.build().unwrap()));
        }
    }
    for (kind, layers) in [(CellKind::FastGrnn, 1), (CellKind::Gru, 2)] {
        for form_u in [MatrixForm::Diagonal, MatrixForm::Absent] {
            let cell = Cell::new(kind, 20, 20).with_forms(MatrixForm::Full, form_u);
            let shape = RandomModel { layers, ..RandomModel::new(cell, 6, 20) };
            models.push((format!("{shape:?}"), shape.build().unwrap()));
        }
    }
    for (kind, frames, stride) in [(CellKind::FastGrnn, 3, 2), (CellKind::Lstm, 4, 4)] {
        models.push((format!("{kind} window {frames} {stride}"), windowed(kind, frames, stride)));
    }
    models
        .extend([false, true].map(|detects| (format!("listening, detects: {detects}"), listening(detects))));
    models
}

fn check(about: &str, model: &IntegerModel, estimate: &Estimate, compiler: &Compiler, folder: &Path) {
    let (optimize, level) = match (estimate.form, compiler.board) {
        (CodeForm::Loops, Board::Uno) => (Optimize::Size, "-O2"),
        (CodeForm::Loops, _) => (Optimize::Size, "-Os"),
        (CodeForm::Straight, _) => (Optimize::Speed, "-O2"),
    };
    let options = COptions {
        optimize,
        front: model.front(),
        detector: model.detector().cloned(),
        ..COptions::default()
    };
    let source = c_source(&model.network, &options).unwrap();
    std::fs::write(folder.join("model.h"), &source.header).unwrap();
    std::fs::write(folder.join("model.c"), &source.source).unwrap();
    let (flash, stack) = compiler.sizes(folder, level);
    let about = format!("{} as {} of {about}", compiler.board.id(), estimate.form.name());
    let hears = source.front.filter(|_| compiler.board != Board::Uno);
    let data = source.data_bytes + hears.map_or(0, |front| front.table_bytes);
    assert!(data <= estimate.data_bytes, "{data} of data, {about}");
    assert!(flash + LIBRARY <= estimate.flash_bytes(), "{flash} of flash: {estimate:?}, {about}");
    let used = 2 * model.model.network.input()
        + 4 * model.model.network.outputs
        + source.state_bytes
        + hears.map_or(0, |front| front.ram_bytes);
    assert!((used..=used + 8).contains(&estimate.static_bytes), "{used}: {estimate:?}, {about}");
    assert!(stack <= estimate.stack_bytes, "{stack} of stack: {estimate:?}, {about}");
}

#[test]
fn compiled_code_keeps_within_what_was_foretold() {
    let folder = tempfile::tempdir().unwrap();
    let is_there = |c: &&Compiler| {
        let there = has(&format!("{}gcc", c.prefix));
        if !there {
            skipped(&format!("bytes on {} were NOT compared with a compiler's", c.board.id()));
        }
        there
    };
    let compilers: Vec<&Compiler> = COMPILERS.iter().filter(is_there).collect();
    for (about, model) in models() {
        let footprint = Footprint::of_model(&model);
        for compiler in &compilers {
            for form in [CodeForm::Loops, CodeForm::Straight] {
                // Straight code of thousands of weights is minutes of a compiler's work.
                let lengthy = form == CodeForm::Straight && footprint.weights > 1_000;
                if let Some(estimate) = footprint.estimate_form(compiler.board, form).filter(|_| !lengthy) {
                    check(&about, &model, &estimate, compiler, folder.path());
                }
            }
        }
    }
}
