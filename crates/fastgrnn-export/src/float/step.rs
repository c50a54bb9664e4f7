//! Layers, nonlinearities and head of the soft-float C.

use super::tables::{FloatRows, FloatTables, literal};
use fastgrnn::cells::{Alphas, Cell, CellKind, GAIN_BITS, MatrixForm, Nonlinearity};
use fastgrnn::quantize::{IntegerFactors, IntegerLayer, IntegerNetwork};

/// C of all layers.
pub(super) struct Layers {
    /// One function per layer.
    pub functions: String,
    /// Statements of `step`, after the input.
    pub step: String,
    /// Statements of `reset`.
    pub reset: String,
}

/// The number of sums in a step; a GRU has separate sums for `U_n·h`.
pub(super) fn sums_len(cell: &Cell) -> usize {
    cell.hidden * cell.kind.shape().sums()
}

/// `v · 2^bits`
pub(super) fn scaled(v: i32, bits: i32) -> f32 {
    v as f32 * (bits as f32).exp2()
}

/// What the byte of a gain stands for.
pub(super) fn gain(byte: i8) -> f32 {
    scaled(i32::from(byte), -(GAIN_BITS as i32))
}

/// Factor and offset of each input: `x = count · factor − offset`.
pub(super) fn input(network: &IntegerNetwork) -> Vec<(f32, f32)> {
    let input = &network.input;
    let of = |(&word, &offset): (&u16, &i16)| {
        let (factor, extra) = (i32::from(word & 0x3FFF), 4 * i32::from(word >> 14));
        let bits = input.shift as i32 + extra + input.bits as i32;
        (scaled(factor, -bits), scaled(i32::from(offset), input.offset_shift as i32 - bits))
    };
    input.factors.iter().zip(&input.offsets).map(of).collect()
}

/// Writes every layer's tables and code.
pub(super) fn layers(network: &IntegerNetwork, has_window: bool, tables: &mut FloatTables) -> Layers {
    let scales = input(network);
    tables.floats("input_factors", scales.iter().map(|s| s.0));
    tables.floats("input_offsets", scales.iter().map(|s| s.1));
    let (mut functions, mut step, mut starts) = (String::new(), String::new(), Vec::new());
    let mut below = if has_window { "state->window" } else { "x" }.to_owned();
    for (index, layer) in network.layers.iter().enumerate() {
        functions.push_str(&function(index, layer, tables));
        let own = format!("state->values + {}", starts.len());
        step.push_str(&format!("    layer{index}({own}, {below});\n"));
        below = own;
        let s = &layer.shifts;
        let hidden = layer.cell.hidden;
        let bits = |i: usize| if i < hidden { s.state } else { s.memory };
        let start = |i: usize| layer.start.get(i).map_or(0.0, |&v| scaled(i32::from(v), -(bits(i) as i32)));
        starts.extend((0..layer.cell.state_len()).map(start));
    }
    let count = starts.len();
    let from = match starts.iter().any(|&v| v != 0.0) {
        true => {
            tables.floats("start", starts);
            "REAL(&start[i])"
        }
        false => "0.0f",
    };
    let reset = format!(
        "    uint16_t i;\n    for (i = 0; i < {count}; i++) {{\n        state->values[i] = {from};\n        FENCE();\n    }}\n"
    );
    Layers { functions, step, reset }
}

/// One layer: two products, then the cell's rule for each unit.
fn function(index: usize, layer: &IntegerLayer, tables: &mut FloatTables) -> String {
    let cell = &layer.cell;
    let (hidden, sums) = (cell.hidden, sums_len(cell));
    let rank = cell.form_w.rank().max(cell.form_u.rank()).unwrap_or(0);
    let bias_bits = layer.shifts.bias as i32 - layer.shifts.sums as i32;
    let mut body = String::new();
    for statement in products(index, layer, tables) {
        body.push_str(&format!("    {statement}\n"));
    }
    for (i, bias) in layer.biases.iter().enumerate() {
        let values = bias.iter().map(|&b| scaled(i32::from(b), bias_bits));
        tables.floats(&format!("l{index}_b{i}"), values);
    }
    if cell.kind.shape().alphas == Alphas::PerUnit {
        tables.floats(&format!("l{index}_alpha"), layer.alpha.iter().map(|&a| scaled(i32::from(a), -15)));
    }
    if cell.kind.shape().has_gain {
        tables.floats(&format!("l{index}_gain"), layer.gains.iter().map(|&byte| gain(byte)));
    }
    let rule = rule(index, layer);
    let projected = if rank > 0 { format!("    float m[{rank}];\n") } else { String::new() };
    let memory = match cell.state_len() > hidden {
        true => format!("    float *c = h + {hidden};\n"),
        false => String::new(),
    };
    format!(
        "/* {}, {hidden} units. */\nstatic void layer{index}(float *h, const float *x)\n{{\n    float sums[{sums}];\n\
         {projected}{memory}    uint16_t k;\n{body}    for (k = 0; k < {hidden}; k++) {{\n{rule}    }}\n}}\n\n",
        cell.kind.declaration().title
    )
}

/// The statements that compute `sums` from `x` and `h`.
fn products(index: usize, layer: &IntegerLayer, tables: &mut FloatTables) -> Vec<String> {
    let mut out = Vec::new();
    let (cell, hidden) = (&layer.cell, layer.cell.hidden);
    let v = project(&format!("l{index}_w2"), &layer.w, "x", tables, &mut out);
    let w = rows(cell.form_w, &layer.w, hidden);
    out.extend(w.map(|w| tables.product(&format!("l{index}_w"), &w, v, "sums", false)));
    let v = project(&format!("l{index}_u2"), &layer.u, "h", tables, &mut out);
    let shared = hidden * (cell.blocks() - usize::from(cell.kind.shape().keeps_apart));
    let behind = hidden * cell.blocks();
    match rows(cell.form_u, &layer.u, hidden) {
        Some(u) if shared < behind => {
            let (gates, update) = u.split(shared);
            out.push(tables.product(&format!("l{index}_u"), &gates, v, "sums", true));
            let apart = format!("sums + {behind}");
            out.push(tables.product(&format!("l{index}_un"), &update, v, &apart, false));
        }
        Some(u) => out.push(tables.product(&format!("l{index}_u"), &u, v, "sums", true)),
        None if shared < behind => {
            out.push(format!("for (k = 0; k < {hidden}; k++) {{ sums[{behind} + k] = 0.0f; FENCE(); }}"));
        }
        None => {}
    }
    out
}

/// The rows that are multiplied with a vector; none of an absent matrix.
fn rows(form: MatrixForm, factors: &IntegerFactors, hidden: usize) -> Option<FloatRows> {
    match form {
        MatrixForm::Full | MatrixForm::LowRank(_) => Some(FloatRows::of(&factors.first)),
        MatrixForm::Diagonal => Some(FloatRows::of_diagonals(&factors.first, hidden)),
        MatrixForm::Absent => None,
    }
}

/// The vector that the first factor is multiplied with: `v` itself, or `m`, which a statement in `out`
/// computes.
fn project<'v>(
    name: &str,
    factors: &IntegerFactors,
    v: &'v str,
    tables: &mut FloatTables,
    out: &mut Vec<String>,
) -> &'v str {
    let Some(second) = &factors.second else { return v };
    out.push(tables.product(name, &FloatRows::transposed(second), v, "m", false));
    "m"
}

/// The cell's rule for unit `k` (section 5 of `docs/integer-arithmetic.md`, without rounding).
fn rule(index: usize, layer: &IntegerLayer) -> String {
    let cell = &layer.cell;
    let hidden = cell.hidden;
    let (g, f) = (curve_name(cell.gate), curve_name(cell.update));
    let sum = |block: usize, bias: usize| {
        let at = if block == 0 { String::new() } else { format!(" + {}", block * hidden) };
        format!("sums[k{at}] + REAL(&l{index}_b{bias}[k])")
    };
    let [zeta, nu] = [layer.zeta, layer.nu].map(|v| literal(scaled(i32::from(v), -14)));
    let lines: Vec<String> = match cell.kind {
        CellKind::Rnn => vec![format!("h[k] = {f}({});", sum(0, 0))],
        CellKind::FastRnn => {
            let alpha = layer.alpha.first().copied().unwrap_or(0);
            let [alpha, beta] = [alpha, layer.beta].map(|v| literal(scaled(i32::from(v), -15)));
            vec![format!("h[k] = {alpha} * {f}({}) + {beta} * h[k];", sum(0, 0))]
        }
        CellKind::FastRnnVector => vec![
            format!("float alpha = REAL(&l{index}_alpha[k]);"),
            format!("h[k] = alpha * {f}({}) + ({zeta} * (1.0f - alpha) + {nu}) * h[k];", sum(0, 0)),
        ],
        CellKind::FastGrnn => vec![
            format!("float z = {g}({});", sum(0, 0)),
            format!("h[k] = ({zeta} * (1.0f - z) + {nu}) * {f}({}) + z * h[k];", sum(0, 1)),
        ],
        CellKind::FastGrnnGain => vec![
            "float a = sums[k];".into(),
            format!("float z = {g}(REAL(&l{index}_gain[k]) * a + REAL(&l{index}_b0[k]));"),
            format!("h[k] = ({zeta} * (1.0f - z) + {nu}) * {f}(a + REAL(&l{index}_b1[k])) + z * h[k];"),
        ],
        CellKind::Ugrnn => vec![
            format!("float z = {g}({});", sum(0, 0)),
            format!("h[k] = (1.0f - z) * {f}({}) + z * h[k];", sum(1, 1)),
        ],
        CellKind::Gru => vec![
            format!("float r = {g}({});", sum(0, 0)),
            format!("float z = {g}({});", sum(1, 1)),
            format!("float v = {};", sum(3, 3)),
            format!("h[k] = (1.0f - z) * {f}({} + r * v) + z * h[k];", sum(2, 2)),
        ],
        CellKind::Lstm => vec![
            format!("float i = {g}({});", sum(0, 0)),
            format!("float keep = {g}({});", sum(1, 1)),
            format!("float o = {g}({});", sum(3, 3)),
            format!("c[k] = i * {f}({}) + keep * c[k];", sum(2, 2)),
            format!("h[k] = o * {f}(c[k]);"),
        ],
        CellKind::MinGru => vec![
            format!("float z = {g}({});", sum(0, 0)),
            format!("h[k] = (1.0f - z) * h[k] + z * {f}({});", sum(1, 1)),
        ],
        CellKind::Eurnn => unreachable!("integer networks have cells with an integer form"),
    };
    lines.iter().map(|line| format!("        {line}\n")).collect()
}

/// The statement that multiplies the head with the last state, into `sums`.
pub(super) fn classify(network: &IntegerNetwork, tables: &mut FloatTables) -> String {
    let before: usize = network.layers.iter().rev().skip(1).map(|l| l.cell.state_len()).sum();
    let product = tables.product(
        "head",
        &FloatRows::of(&network.head),
        &format!("state->values + {before}"),
        "sums",
        false,
    );
    let bits = network.head_shift as i32 - network.score_bits();
    tables.floats("head_b", network.head_biases.iter().map(|&b| scaled(i32::from(b), bits)));
    format!("    {product}\n")
}

fn curve_name(function: Nonlinearity) -> &'static str {
    match function {
        Nonlinearity::Tanh => "curve_tanh",
        Nonlinearity::Sigmoid => "curve_sigmoid",
        Nonlinearity::Relu => "curve_relu",
        Nonlinearity::QuantTanh => "curve_quant_tanh",
        Nonlinearity::QuantSigm => "curve_quant_sigm",
        Nonlinearity::QuantSigm4 => "curve_quant_sigm4",
        Nonlinearity::Identity => "curve_identity",
    }
}

/// The nonlinearities that the network uses, and the exponential if one of them needs it.
pub(super) fn curves(network: &IntegerNetwork) -> String {
    let all = [
        (Nonlinearity::Tanh, TANH),
        (Nonlinearity::Sigmoid, SIGMOID),
        (Nonlinearity::Relu, "    return t > 0.0f ? t : 0.0f;\n"),
        (Nonlinearity::QuantTanh, "    return t < -1.0f ? -1.0f : t > 1.0f ? 1.0f : t;\n"),
        (
            Nonlinearity::QuantSigm,
            "    t = 0.5f * (t + 1.0f);\n    return t < 0.0f ? 0.0f : t > 1.0f ? 1.0f : t;\n",
        ),
        (
            Nonlinearity::QuantSigm4,
            "    t = 0.25f * (t + 2.0f);\n    return t < 0.0f ? 0.0f : t > 1.0f ? 1.0f : t;\n",
        ),
        (Nonlinearity::Identity, "    return t;\n"),
    ];
    let used = |function: Nonlinearity| {
        let in_cell = |c: &Cell| c.update == function || (c.kind.declaration().gated() && c.gate == function);
        network.layers.iter().any(|l| in_cell(&l.cell))
    };
    let mut text = String::new();
    if used(Nonlinearity::Tanh) || used(Nonlinearity::Sigmoid) {
        text.push_str(EXP);
    }
    for (function, body) in all.into_iter().filter(|(function, _)| used(*function)) {
        text.push_str(&format!("static float {}(float t)\n{{\n{body}}}\n\n", curve_name(function)));
    }
    text
}

/// The polynomials of `fastgrnn_runtime::float::math`.
const EXP: &str = "\
/* e^x, relative error below 1e-7; needs no library. */
static float exponential(float x)
{
    union {
        uint32_t bits;
        float value;
    } power;
    float r, q;
    int16_t k;
    if (x < -87.0f)
        x = -87.0f;
    if (x > 88.0f)
        x = 88.0f;
    k = (int16_t)(x * 1.44269504f + (x < 0.0f ? -0.5f : 0.5f));
    r = x - (float)k * 0.693359375f + (float)k * 2.1219444e-4f;
    q = 4.9999993e-1f + r * (1.6666521e-1f + r * (4.1668387e-2f + r * (8.36871e-3f + r * 1.3814613e-3f)));
    power.bits = (uint32_t)(k + 127) << 23;
    return (1.0f + (r + r * r * q)) * power.value;
}

";
const SIGMOID: &str = "    return 1.0f / (1.0f + exponential(-t));\n";
const TANH: &str = "\
    float size = t < 0.0f ? -t : t, s, r;
    if (size < 0.625f) {
        s = t * t;
        r = -3.333328e-1f + s * (1.3331442e-1f + s * (-5.3739715e-2f + s * (2.0639087e-2f - s * 5.704987e-3f)));
        return t + t * (s * r);
    }
    r = 1.0f - 2.0f / (1.0f + exponential(2.0f * size));
    return t < 0.0f ? -r : r;
";
