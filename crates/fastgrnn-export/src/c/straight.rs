//! Matrix products as straight-line code: each weight is a constant in an instruction.
//!
//! Rows are taken four at a time, so that an entry of the vector is loaded once for all of them, and
//! the sums stay in registers even on cores with only eight.

use super::helpers::{Helper, Helpers};
use super::product::MatrixProduct;
use super::text::times;
use fastgrnn::quantize::IntegerMatrix;
use std::fmt::Write;

/// Rows that share their loads.
const TOGETHER: usize = 4;

/// The function `void name(const KIND *v, int32_t *out)`: the product of the transposed matrix,
/// shifted and saturated.
pub(super) fn projection(
    name: &str,
    kind: &str,
    matrix: &IntegerMatrix,
    shift: u32,
    helpers: &Helpers,
) -> String {
    let mut text =
        format!("FG_ALONE void {name}(const {kind} *v, int32_t *out)\n{{\n    int32_t x, s0, s1, s2, s3;\n");
    for first in (0..matrix.cols).step_by(TOGETHER) {
        let outputs: Vec<usize> = (first..matrix.cols.min(first + TOGETHER)).collect();
        clear(&mut text, outputs.len());
        let column = |c: usize, r: usize| matrix.entries[r * matrix.cols + c];
        products(&mut text, "v", matrix.rows, &outputs, column, helpers);
        for (i, output) in outputs.iter().enumerate() {
            let value = helpers.saturate(&helpers.rounded(&format!("s{i}"), shift as i32));
            let _ = writeln!(text, "    out[{output}] = {value};");
        }
        text.push_str("    FG_FENCE();\n");
    }
    unused(&mut text, matrix.cols);
    text.push_str("    (void)v;\n}\n\n");
    text
}

/// The function `void sumsN(const KIND *vw, const KIND *vu, int32_t *out)`: the sums of both
/// products, unit by unit, with the blocks of a unit together.
pub(super) fn sums(
    index: usize,
    sides: [&MatrixProduct; 2],
    hidden: usize,
    blocks: usize,
    keeps_apart: bool,
    helpers: &Helpers,
) -> String {
    let kind = |letter: char| sides.iter().find(|s| s.letter == letter).map_or("int16_t", |s| s.kind);
    let mut text = format!(
        "FG_INLINE void sums{index}(const {} *vw, const {} *vu, int32_t *out)\n{{\n    int32_t x, s0, s1, s2, s3;\n",
        kind('w'),
        kind('u')
    );
    let stride = blocks + usize::from(keeps_apart);
    // A multiplier belongs to one of the products, whose sum is then not shared.
    let multiplied = sides.iter().any(|side| side.multiplier != 0);
    for block in 0..blocks {
        let apart = keeps_apart && block + 1 == blocks;
        for first in (0..hidden).step_by(TOGETHER) {
            let units: Vec<usize> = (first..hidden.min(first + TOGETHER)).collect();
            clear(&mut text, units.len());
            for (nth, side) in sides.iter().enumerate() {
                let rows: Vec<usize> = units.iter().map(|k| block * hidden + k).collect();
                let entry = |r: usize, c: usize| side.entry(r, c);
                products(&mut text, &format!("v{}", side.letter), side.cols(), &rows, entry, helpers);
                let shift = side.outer as i32;
                for (i, k) in units.iter().enumerate() {
                    let sum = helpers.multiplied(&format!("s{i}"), side.multiplier);
                    let at = k * stride + block + usize::from(apart && side.letter == 'u');
                    let _ = match (apart || multiplied, nth) {
                        (true, 1) if !apart => {
                            writeln!(text, "    out[{at}] += {};", helpers.rounded(&sum, shift))
                        }
                        (true, 0) => {
                            writeln!(text, "    out[{at}] = {}; s{i} = 0;", helpers.rounded(&sum, shift))
                        }
                        (true, _) => writeln!(text, "    out[{at}] = {};", helpers.rounded(&sum, shift)),
                        (false, 0) => {
                            let between = times(&helpers.rounded(&sum, shift), sides[1].outer);
                            writeln!(text, "    s{i} = {between};")
                        }
                        (false, _) => writeln!(text, "    out[{at}] = {};", helpers.rounded(&sum, shift)),
                    };
                }
            }
            text.push_str("    FG_FENCE();\n");
        }
    }
    unused(&mut text, hidden);
    text.push_str("    (void)vw;\n    (void)vu;\n}\n\n");
    text
}

fn clear(text: &mut String, sums: usize) {
    let all: String = (0..sums).map(|i| format!("s{i} = ")).collect();
    let _ = writeln!(text, "    {all}0;");
}

/// Writes statements that add the products of `rows` with the vector to s0, s1, …
fn products(
    text: &mut String,
    vector: &str,
    cols: usize,
    rows: &[usize],
    entry: impl Fn(usize, usize) -> i8,
    helpers: &Helpers,
) {
    for c in 0..cols {
        let there: Vec<(usize, i32)> = rows
            .iter()
            .enumerate()
            .map(|(i, &r)| (i, i32::from(entry(r, c))))
            .filter(|&(_, w)| w != 0)
            .collect();
        if there.is_empty() {
            continue;
        }
        let _ = write!(text, "    x = {vector}[{c}];");
        for (i, w) in there {
            let (sign, name, size) = if w < 0 { ('-', "SUB", -w) } else { ('+', "ADD", w) };
            let _ = match size.count_ones() {
                1 => write!(text, " s{i} {sign}= {size} * x;"),
                _ => {
                    helpers.require(Helper::MultiplyAccumulate);
                    write!(text, " FG_MAC_{name}(s{i}, {size}, x);")
                }
            };
        }
        text.push('\n');
    }
}

/// Writes statements that keep compilers from warning about unused variables.
fn unused(text: &mut String, rows: usize) {
    let _ = writeln!(text, "    (void)x;");
    for i in rows.min(TOGETHER)..TOGETHER {
        let _ = writeln!(text, "    (void)s{i};");
    }
}
