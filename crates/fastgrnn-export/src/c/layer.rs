//! The step of a layer in C: both matrix products, then the rule of every unit (sections 2 to 5 of
//! `docs/integer-arithmetic.md`).

use super::curve::Curves;
use super::helpers::Helpers;
use super::matrix::StoredRows;
use super::text::{ConstantTables, counter};
use super::{straight, update};
use fastgrnn::cells::CellKind;
use fastgrnn::quantize::{IntegerFactors, IntegerLayer, IntegerMatrix};
use std::fmt::Write;

/// A layer as C.
pub(super) struct LayerCode {
    /// The function `layerN` and those that it calls. `@NAME@` stands for the prefix.
    pub(super) functions: String,
    /// Members of the state struct.
    pub(super) members: String,
    /// Statements that set the state to its initial value.
    pub(super) reset: String,
    /// Entries of the state.
    pub(super) state: usize,
    /// Bytes of buffers on the stack.
    pub(super) scratch: usize,
}

/// One of the two matrix products of a step.
pub(super) struct MatrixProduct<'a> {
    /// `w` or `u`.
    pub(super) letter: char,
    /// The matrix, or its first factor.
    pub(super) first: &'a IntegerMatrix,
    /// The second factor.
    second: Option<&'a IntegerMatrix>,
    /// Shift after the second factor.
    inner: u32,
    /// Shift after the first factor.
    pub(super) outer: u32,
    /// The C vector that the first factor is multiplied with.
    pub(super) vector: String,
    /// The C type of the vector's entries.
    pub(super) kind: &'static str,
}

impl<'a> MatrixProduct<'a> {
    fn new(
        letter: char,
        factors: &'a IntegerFactors,
        [inner, outer]: [u32; 2],
        input: (&str, &'static str),
        between: &'static str,
    ) -> Self {
        let second = factors.second.as_ref();
        let (vector, kind) = match second {
            Some(_) => (format!("m{letter}"), between),
            None => (input.0.to_string(), input.1),
        };
        Self { letter, first: &factors.first, second, inner, outer, vector, kind }
    }
}

/// The state of the generator while it writes a layer.
struct Writer<'a> {
    index: usize,
    layer: &'a IntegerLayer,
    helpers: &'a Helpers,
    /// Whether to write straight-line code instead of loops over tables.
    in_line: bool,
    w: MatrixProduct<'a>,
    u: MatrixProduct<'a>,
    /// The C type of the layer's input.
    x_kind: &'static str,
    /// The C type of values between two factors.
    between: &'static str,
    /// Functions before `layerN`.
    functions: String,
    /// Declarations of `layerN`.
    local: String,
    /// Statements of `layerN`.
    body: String,
    /// Bytes of buffers on the stack.
    scratch: usize,
}

/// Writes layer `index`.
pub(super) fn code(
    index: usize,
    layer: &IntegerLayer,
    in_line: bool,
    tables: &mut ConstantTables,
    curves: &mut Curves,
    helpers: &Helpers,
) -> LayerCode {
    // Straight-line code reads whole words, which is fastest; loops use 16 bits to save RAM.
    let between = if in_line { "int32_t" } else { "int16_t" };
    let x_kind = if index == 0 { between } else { "int16_t" };
    let (h, s) = (format!("state->h{index}"), &layer.shifts);
    let mut writer = Writer {
        index,
        layer,
        helpers,
        in_line,
        w: MatrixProduct::new('w', &layer.w, [s.w2, s.w1], ("x", x_kind), between),
        u: MatrixProduct::new('u', &layer.u, [s.u2, s.u1], (&h, "int16_t"), between),
        x_kind,
        between,
        functions: String::new(),
        local: String::new(),
        body: String::new(),
        scratch: 0,
    };
    writer.projections(tables);
    // The biases of a unit are neighbours because they are read together.
    let biases = (0..layer.cell.hidden).flat_map(|k| layer.biases.iter().map(move |b| b[k]));
    tables.words(&format!("b_{index}"), &biases.collect::<Vec<i16>>());
    if layer.cell.kind == CellKind::FastRnnVector {
        tables.unsigned_words(&format!("alpha_{index}"), &layer.alpha);
    }
    if in_line {
        writer.straight_units(curves);
    } else {
        writer.looped_units(tables, curves);
    }
    writer.finish(tables)
}

impl Writer<'_> {
    fn hidden(&self) -> usize {
        self.layer.cell.hidden
    }

    fn blocks(&self) -> usize {
        self.layer.w.first.rows / self.hidden()
    }

    /// Whether the last block has a second sum for its part from U, behind the others. A GRU needs it.
    fn keeps_apart(&self) -> bool {
        self.layer.cell.kind == CellKind::Gru
    }

    /// Sums of one unit.
    fn sums(&self) -> usize {
        self.blocks() + usize::from(self.keeps_apart())
    }

    /// The C type that counts units and ranks.
    fn counter(&self) -> &'static str {
        let ranks = [&self.w, &self.u].map(|side| side.second.map_or(0, |m| m.cols));
        counter(self.hidden().max(ranks[0]).max(ranks[1]))
    }

    /// Whether U's projection is stored in the input's buffer, which W's projection has read by then.
    fn shares_buffer(&self) -> bool {
        let room = |m: &IntegerMatrix| m.cols <= self.layer.cell.input;
        !self.in_line && self.index == 0 && self.w.second.is_some() && self.u.second.is_some_and(room)
    }

    /// Products of the second factors, `mw` and `mu`.
    fn projections(&mut self, tables: &mut ConstantTables) {
        let shared = self.shares_buffer();
        let h = format!("state->h{}", self.index);
        for side in [&self.w, &self.u] {
            let Some(second) = side.second else { continue };
            let (rank, vector, letter) = (second.cols, &side.vector, side.letter);
            let is_u = letter == 'u';
            if !(shared && is_u) {
                self.scratch += if self.in_line { 4 } else { 2 } * rank;
            }
            let (input, kind) = if is_u { (h.as_str(), "int16_t") } else { ("x", self.x_kind) };
            if self.in_line {
                let function = format!("project_{letter}{}", self.index);
                self.functions.push_str(&straight::projection(
                    &function,
                    kind,
                    second,
                    side.inner,
                    self.helpers,
                ));
                let _ = writeln!(self.body, "    {function}({input}, {vector});");
                continue;
            }
            let rows = StoredRows::transposed(second);
            let table = format!("{letter}2_{}", self.index);
            tables.bytes(&table, &rows.bytes);
            let _ = write!(
                self.body,
                "    p = {table};\n    for (k = 0; k < {rank}; k++) {{\n        row = {};\n        p = row.next;\n        {vector}[k] = {};\n    }}\n",
                rows.call("p", input, self.helpers),
                self.helpers.saturate(&self.helpers.rounded("row.sum", side.inner as i32))
            );
        }
    }

    /// Writes all sums as straight-line code, then the rule of every unit.
    fn straight_units(&mut self, curves: &mut Curves) {
        let (index, hidden, sums, counter) = (self.index, self.hidden(), self.sums(), self.counter());
        let unit = update::code(index, self.layer, &format!("state->h{index}[k]"), curves, self.helpers);
        // The product with the larger shift comes first: see "Why nothing overflows" in
        // `docs/integer-arithmetic.md`.
        let sides = if self.w.outer >= self.u.outer { [&self.w, &self.u] } else { [&self.u, &self.w] };
        let code = straight::sums(index, sides, hidden, self.blocks(), self.keeps_apart(), self.helpers);
        self.functions.push_str(&code);
        self.scratch += 4 * sums * hidden;
        let _ = writeln!(self.local, "    int32_t sum[{}];", sums * hidden);
        let _ = writeln!(
            self.body,
            "    sums{index}({}, {}, sum);\n    units{index}(state, sum);",
            self.w.vector, self.u.vector
        );
        // A function of its own: together with the products, registers would run short.
        let _ = write!(
            self.functions,
            "FG_ALONE void units{index}(@NAME@_state *state, const int32_t *sum)\n{{\n    const int16_t *bias = b_{index};\n    {counter} k;\n{}    for (k = 0; k < {hidden}; k++) {{\n{}        sum += {sums};\n    }}\n}}\n\n",
            unit.constants, unit.text
        );
    }

    /// Writes a loop over units: a unit's rows of all blocks, then its rule.
    fn looped_units(&mut self, tables: &mut ConstantTables, curves: &mut Curves) {
        let (index, hidden, blocks, sums) = (self.index, self.hidden(), self.blocks(), self.sums());
        let h = format!("state->h{index}");
        // With U in factors, nothing reads the old state once mu is computed, so the new state can
        // replace it at once.
        let in_place = self.u.second.is_some();
        let target = if in_place { format!("{h}[k]") } else { "next[k]".to_string() };
        let unit = update::code(index, self.layer, &target, curves, self.helpers);
        let order: Vec<usize> = (0..hidden).flat_map(|k| (0..blocks).map(move |b| b * hidden + k)).collect();
        let mut row = |side: &MatrixProduct| {
            let rows = StoredRows::ordered(side.first, &order);
            tables.bytes(&format!("{}1_{index}", side.letter), &rows.bytes);
            let _ = writeln!(self.local, "    const int8_t *{0} = {0}1_{index};", side.letter);
            rows.call(&side.letter.to_string(), &side.vector, self.helpers)
        };
        let (w_row, u_row) = (row(&self.w), row(&self.u));
        let [from_w, from_u] =
            [&self.w, &self.u].map(|side| self.helpers.rounded("row.sum", side.outer as i32));
        self.scratch += 4 * sums;
        let _ = writeln!(self.local, "    int32_t sum[{sums}];\n    fg_row row;");
        // One block needs no loop over blocks.
        let (pad, b) = if blocks == 1 { ("        ", "0") } else { ("            ", "b") };
        // The second sum of a GRU's last block starts from 0.
        let (clear, u_sum) = match self.keeps_apart() {
            true => ("        sum[3] = 0;\n", "b < 2 ? b : 3"),
            false => ("", b),
        };
        let _ = write!(self.body, "    for (k = 0; k < {hidden}; k++) {{\n{clear}");
        if blocks > 1 {
            self.local.push_str("    uint8_t b;\n");
            let _ = writeln!(self.body, "        for (b = 0; b < {blocks}; b++) {{");
        }
        for statement in [
            format!("row = {w_row};"),
            "w = row.next;".to_string(),
            format!("sum[{b}] = {from_w};"),
            format!("row = {u_row};"),
            "u = row.next;".to_string(),
            format!("sum[{u_sum}] += {from_u};"),
        ] {
            let _ = writeln!(self.body, "{pad}{statement}");
        }
        if blocks > 1 {
            self.body.push_str("        }\n");
        }
        let _ = writeln!(self.body, "{}    }}", unit.text);
        if self.w.second.is_some() || self.u.second.is_some() {
            self.local.push_str("    const int8_t *p;\n");
        }
        if !in_place {
            self.scratch += 2 * hidden;
            let _ = writeln!(self.local, "    int16_t next[{hidden}];");
            let _ = write!(
                self.body,
                "    for (k = 0; k < {hidden}; k++) {{\n        {h}[k] = next[k];\n        FG_FENCE(); /* no call of memcpy */\n    }}\n"
            );
        }
        self.declare_vectors();
        let counter = self.counter();
        let _ = writeln!(self.local, "    const int16_t *bias = b_{index};\n    {counter} k;");
        self.local.push_str(&unit.constants);
    }

    /// Declares `mw` and `mu`.
    fn declare_vectors(&mut self) {
        let shared = self.shares_buffer();
        for side in [&self.w, &self.u] {
            let _ = match side.second {
                Some(_) if shared && side.letter == 'u' => writeln!(self.local, "    int16_t *const mu = x;"),
                Some(second) => {
                    writeln!(self.local, "    {} {}[{}];", self.between, side.vector, second.cols)
                }
                None => Ok(()),
            };
        }
    }

    /// Writes the layer's function and its part of the state.
    fn finish(mut self, tables: &mut ConstantTables) -> LayerCode {
        if self.in_line {
            self.declare_vectors();
        }
        let (index, hidden) = (self.index, self.hidden());
        let constant = if self.shares_buffer() { "" } else { "const " };
        let Self { x_kind, local, body, functions, .. } = &mut self;
        let _ = write!(
            functions,
            "FG_ALONE void layer{index}(@NAME@_state *state, {constant}{x_kind} *x)\n{{\n{local}{body}}}\n\n"
        );
        let start = &self.layer.start;
        if !start.is_empty() {
            tables.words(&format!("start_{index}"), start);
        }
        let vectors = self.layer.cell.state_len() / hidden;
        let (mut members, mut reset) = (String::new(), String::new());
        for (nth, letter) in ['h', 'c'].into_iter().take(vectors).enumerate() {
            let _ = writeln!(members, "    int16_t {letter}{index}[{hidden}];");
            let value = match start.is_empty() {
                true => "0".to_string(),
                false => format!("FG_WORD(start_{index} + {} + k)", nth * hidden),
            };
            let _ = write!(
                reset,
                "    for (k = 0; k < {hidden}; k++) {{\n        state->{letter}{index}[k] = {value};\n        FG_FENCE(); /* no call of memset */\n    }}\n"
            );
        }
        let state = self.layer.cell.state_len();
        LayerCode { functions: self.functions, members, reset, state, scratch: self.scratch }
    }
}
