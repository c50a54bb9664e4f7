//! The step of a layer in C: both matrix products, then the rule of every unit (sections 2 to 5 of
//! `docs/integer-arithmetic.md`).

use super::curve::Curves;
use super::helpers::Helpers;
use super::matrix::StoredRows;
use super::product::MatrixProduct;
use super::text::{ConstantTables, bias_type, counter};
use super::{straight, update};
use fastgrnn::cells::{Alphas, MatrixForm};
use fastgrnn::quantize::{IntegerLayer, IntegerMatrix};
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

/// How a loop over units computes the product of one row.
struct RowCode {
    /// Statements before the product is read.
    before: Vec<String>,
    /// The product, not yet shifted.
    sum: String,
    /// Statements after it.
    after: Vec<String>,
}

/// The state of the generator while it writes a layer.
struct Writer<'a> {
    index: usize,
    layer: &'a IntegerLayer,
    helpers: &'a Helpers,
    /// Whether to write straight-line code instead of loops over tables.
    in_line: bool,
    /// Whether what it reads is a part of the state, which it must leave as it is.
    reads_state: bool,
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

/// Writes layer `index`. `reads_state` says whether what it reads is a part of the state: the layer below it or a window.
pub(super) fn code(
    index: usize,
    layer: &IntegerLayer,
    in_line: bool,
    reads_state: bool,
    tables: &mut ConstantTables,
    curves: &mut Curves,
    helpers: &Helpers,
) -> LayerCode {
    // Straight-line code reads whole words, which is fastest; loops use 16 bits to save RAM.
    let between = if in_line { "int32_t" } else { "int16_t" };
    let x_kind = if reads_state { "int16_t" } else { between };
    let (h, cell, s) = (format!("state->h{index}"), &layer.cell, &layer.shifts);
    let mut writer = Writer {
        index,
        layer,
        helpers,
        in_line,
        reads_state,
        w: MatrixProduct::new(
            'w',
            (cell.form_w, cell.hidden),
            &layer.w,
            [s.w2, s.w1],
            ("x", x_kind),
            between,
        ),
        u: MatrixProduct::new(
            'u',
            (cell.form_u, cell.hidden),
            &layer.u,
            [s.u2, s.u1],
            (&h, "int16_t"),
            between,
        ),
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
    tables.biases(&format!("b_{index}"), &biases.collect::<Vec<i16>>(), layer.bias_bits);
    if cell.kind.shape().has_gain {
        tables.bytes(&format!("gain_{index}"), &layer.gains);
    }
    if cell.kind.shape().alphas == Alphas::PerUnit {
        tables.unsigned_words(&format!("alpha_{index}"), &layer.alpha);
    }
    if in_line {
        writer.straight_units(curves);
    } else if writer.has_only_four_rows() {
        writer.four_row_units(tables, curves);
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
        self.layer.cell.blocks()
    }

    /// Whether the last block has a second sum for its part from U, behind the others. A GRU needs it.
    fn keeps_apart(&self) -> bool {
        self.layer.cell.kind.shape().keeps_apart
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
        !self.in_line && !self.reads_state && self.w.second.is_some() && self.u.second.is_some_and(room)
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
            rows.write(&table, tables);
            if rows.are_four() {
                let eight = rows.eight(input, self.helpers);
                let call = rows.four("four", input, "eight", "rows", self.helpers);
                let value = self.helpers.rounded("rows[k & 3]", side.inner as i32);
                let _ = write!(
                    self.body,
                    "    four = {table};\n    eight = {eight};\n    for (k = 0; k < {rank}; k++) {{\n        if ((k & 3) == 0) {{\n            four = {call};\n        }}\n        {vector}[k] = {};\n    }}\n",
                    self.helpers.saturate(&value)
                );
                continue;
            }
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
        let (index, hidden, sums) = (self.index, self.hidden(), self.sums());
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
        self.units_function(&unit);
    }

    /// Writes the function that applies the rule of every unit to all sums.
    fn units_function(&mut self, unit: &update::UnitCode) {
        let (index, hidden, sums, counter) = (self.index, self.hidden(), self.sums(), self.counter());
        let (bias, _) = bias_type(self.layer.bias_bits);
        // A function of its own: together with the products, registers would run short.
        let _ = write!(
            self.functions,
            "FG_ALONE void units{index}(@NAME@_state *state, const int32_t *sum)\n{{\n    const {bias} *bias = b_{index};\n    {counter} k;\n{}    for (k = 0; k < {hidden}; k++) {{\n{}        sum += {sums};\n    }}\n}}\n\n",
            unit.constants, unit.text
        );
    }

    /// Whether all rows are multiplied four at a time, and no unit needs a second sum of a block.
    fn has_only_four_rows(&self) -> bool {
        let is_four = |side: &MatrixProduct| side.form == MatrixForm::Absent || side.has_four_bits();
        !self.keeps_apart() && is_four(&self.w) && is_four(&self.u)
    }

    /// Writes loops over rows, four at a time, and then the rule of every unit: nothing but the sums is kept
    /// from one to the next, so that each loop has registers enough.
    fn four_row_units(&mut self, tables: &mut ConstantTables, curves: &mut Curves) {
        let (index, hidden, blocks) = (self.index, self.hidden(), self.blocks());
        let unit = update::code(index, self.layer, &format!("state->h{index}[k]"), curves, self.helpers);
        let order: Vec<usize> = (0..hidden).flat_map(|k| (0..blocks).map(move |b| b * hidden + k)).collect();
        let rows = hidden * blocks;
        let room = rows.next_multiple_of(4);
        self.scratch += 4 * room + 16;
        let _ = write!(
            self.local,
            "    int32_t sum[{room}], rows[4], eight;\n    const uint32_t *four;\n    uint16_t i;\n    {} k;\n",
            self.counter()
        );
        for (side, sign) in [(&self.w, ""), (&self.u, "+")] {
            if side.form == MatrixForm::Absent {
                continue;
            }
            let stored = StoredRows::ordered(side.first, &order);
            let table = format!("{}1_{index}", side.letter);
            stored.write(&table, tables);
            let eight = stored.eight(&side.vector, self.helpers);
            let call = stored.four("four", &side.vector, "eight", "rows", self.helpers);
            let sum = self.helpers.multiplied("rows[k]", side.multiplier);
            let _ = write!(
                self.body,
                "    four = {table};\n    eight = {eight};\n    for (i = 0; i < {rows}; i = (uint16_t)(i + 4)) {{\n        four = {call};\n        for (k = 0; k < 4; k++) {{\n            sum[i + k] {sign}= {};\n        }}\n    }}\n",
                self.helpers.rounded(&sum, side.outer as i32)
            );
        }
        let _ = writeln!(self.body, "    units{index}(state, sum);");
        self.declare_vectors();
        self.units_function(&unit);
    }

    /// Writes a loop over units: a unit's rows of all blocks, then its rule.
    fn looped_units(&mut self, tables: &mut ConstantTables, curves: &mut Curves) {
        let (index, hidden, blocks, sums) = (self.index, self.hidden(), self.blocks(), self.sums());
        let h = format!("state->h{index}");
        // Unless U is full, nothing reads the old state of other units in this loop, so the new state
        // can replace it at once.
        let in_place = self.u.form != MatrixForm::Full;
        let target = if in_place { format!("{h}[k]") } else { "next[k]".to_string() };
        let unit = update::code(index, self.layer, &target, curves, self.helpers);
        let order: Vec<usize> = (0..hidden).flat_map(|k| (0..blocks).map(move |b| b * hidden + k)).collect();
        let rows = ['w', 'u'].map(|letter| self.row(letter, &order, tables));
        self.scratch += 4 * sums;
        let _ = writeln!(self.local, "    int32_t sum[{sums}];");
        let sides = [&self.w, &self.u];
        let has_rows = |side: &MatrixProduct| matches!(side.form, MatrixForm::Full | MatrixForm::LowRank(_));
        if sides.iter().any(|side| has_rows(side) && !side.has_four_bits()) {
            self.local.push_str("    fg_row row;\n");
        }
        if sides.iter().any(|side| side.second.is_some() && side.has_four_bits()) {
            self.scratch += 16;
            self.local.push_str("    const uint32_t *four;\n    int32_t eight, rows[4];\n");
        }
        // One block needs no loop over blocks.
        let (pad, b) = if blocks == 1 { ("        ", "0") } else { ("            ", "b") };
        // The second sum of a GRU's last block starts from 0.
        let (clear, u_sum) = match self.keeps_apart() {
            true => (format!("        sum[{blocks}] = 0;\n"), format!("b < {} ? b : {blocks}", blocks - 1)),
            false => (String::new(), b.to_string()),
        };
        let _ = write!(self.body, "    for (k = 0; k < {hidden}; k++) {{\n{clear}");
        if blocks > 1 {
            self.local.push_str("    uint8_t b;\n");
            let _ = writeln!(self.body, "        for (b = 0; b < {blocks}; b++) {{");
        }
        let targets = [format!("sum[{b}] ="), format!("sum[{u_sum}] +=")];
        for (row, target) in rows.into_iter().zip(targets) {
            let Some(RowCode { before, sum, after }) = row else { continue };
            let store = format!("{target} {sum};");
            for statement in before.into_iter().chain([store]).chain(after) {
                let _ = writeln!(self.body, "{pad}{statement}");
            }
        }
        if blocks > 1 {
            self.body.push_str("        }\n");
        }
        let _ = writeln!(self.body, "{}    }}", unit.text);
        if [&self.w, &self.u].iter().any(|side| side.second.is_some() && !side.has_four_bits()) {
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
        let (bias, _) = bias_type(self.layer.bias_bits);
        let _ = writeln!(self.local, "    const {bias} *bias = b_{index};\n    {counter} k;");
        self.local.push_str(&unit.constants);
    }

    /// Writes the table of W or U, its rows in the given order, and the code for one row; none where
    /// the matrix is absent.
    fn row(&mut self, letter: char, order: &[usize], tables: &mut ConstantTables) -> Option<RowCode> {
        let side = if letter == 'w' { &self.w } else { &self.u };
        let table = format!("{letter}1_{}", self.index);
        let shifted = |sum: &str| {
            self.helpers.rounded(&self.helpers.multiplied(sum, side.multiplier), side.outer as i32)
        };
        let mut kind = "int8_t";
        let code = match side.form {
            MatrixForm::Absent => return None,
            MatrixForm::Diagonal => {
                let entries: Vec<i8> = order.iter().map(|&row| side.first.entries[row]).collect();
                tables.bytes(&table, &entries);
                let product = format!("(int32_t)FG_BYTE({letter}) * {}[k]", side.vector);
                RowCode { before: vec![], sum: shifted(&product), after: vec![format!("{letter}++;")] }
            }
            MatrixForm::Full | MatrixForm::LowRank(_) => {
                let rows = StoredRows::ordered(side.first, order);
                rows.write(&table, tables);
                kind = rows.kind();
                if rows.are_four() {
                    let (eight, sums) = (format!("eight_{letter}"), format!("rows_{letter}"));
                    let call = rows.four(&letter.to_string(), &side.vector, &eight, &sums, self.helpers);
                    let nth = self.row_of_four();
                    let before = vec![
                        format!("if ({nth} == 0) {{"),
                        format!("    {letter} = {call};"),
                        "}".to_owned(),
                    ];
                    self.scratch += 16;
                    let _ = writeln!(self.local, "    int32_t {eight}, {sums}[4];");
                    let _ = writeln!(self.body, "    {eight} = {};", rows.eight(&side.vector, self.helpers));
                    RowCode { before, sum: shifted(&format!("{sums}[{nth}]")), after: vec![] }
                } else {
                    let call = rows.call(&letter.to_string(), &side.vector, self.helpers);
                    let before = vec![format!("row = {call};"), format!("{letter} = row.next;")];
                    RowCode { before, sum: shifted("row.sum"), after: vec![] }
                }
            }
        };
        let _ = writeln!(self.local, "    const {kind} *{letter} = {table};");
        Some(code)
    }

    /// Which of the four rows that are multiplied at once belongs to block `b` of unit `k`.
    fn row_of_four(&self) -> &'static str {
        match self.blocks() {
            1 => "(k & 3)",
            2 => "((k & 1) * 2 + b)",
            3 => "(((k & 3) * 3 + b) & 3)",
            _ => "b",
        }
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
