//! A layer's step: both products, then every unit's rule (sections 2 to 5).

use super::curve::Curves;
use super::matrix::Rows;
use super::text::{Tables, counter, rounded};
use super::{straight, update};
use fastgrnn::cells::CellKind;
use fastgrnn::quantize::{IntegerFactors, IntegerLayer, IntegerMatrix};
use std::fmt::Write;

/// The C of a layer.
pub(super) struct LayerCode {
    /// The function `layerN` and what it calls. `@NAME@` stands for the prefix.
    pub(super) functions: String,
    /// Members of the state struct.
    pub(super) members: String,
    /// Statements that set the state to its start.
    pub(super) reset: String,
    /// Entries of the state.
    pub(super) state: usize,
    /// Bytes of buffers on the stack.
    pub(super) scratch: usize,
}

/// One of the two products of a step.
pub(super) struct Side<'a> {
    /// `w` or `u`.
    pub(super) letter: char,
    /// The matrix, or its first factor.
    pub(super) first: &'a IntegerMatrix,
    /// The second factor.
    second: Option<&'a IntegerMatrix>,
    /// Shift after the second factor.
    inner: u32,
    /// Shift after the first.
    pub(super) outer: u32,
    /// What the first factor is multiplied with.
    pub(super) vector: String,
    /// The C type of its entries.
    pub(super) kind: &'static str,
}

impl<'a> Side<'a> {
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

/// Writes layer `index`.
pub(super) fn code(
    index: usize,
    layer: &IntegerLayer,
    in_line: bool,
    tables: &mut Tables,
    curves: &mut Curves,
) -> LayerCode {
    let cell = &layer.cell;
    let (hidden, s) = (cell.hidden, &layer.shifts);
    let blocks = layer.w.first.rows / hidden;
    let h = format!("state->h{index}");
    // Straight code reads whole words fastest; loops keep to 16 bits, for RAM.
    let between = if in_line { "int32_t" } else { "int16_t" };
    let x_kind = if index == 0 { between } else { "int16_t" };
    let w = Side::new('w', &layer.w, [s.w2, s.w1], ("x", x_kind), between);
    let u = Side::new('u', &layer.u, [s.u2, s.u1], (&h, "int16_t"), between);
    // Once W's factor has read it, the input's buffer can hold what U's factor gives.
    let room = |m: &IntegerMatrix| m.cols <= cell.input;
    let shared = !in_line && index == 0 && w.second.is_some() && u.second.is_some_and(room);
    // The product with the larger shift first: see "Why nothing overflows".
    let sides = if w.outer >= u.outer { [&w, &u] } else { [&u, &w] };

    let mut functions = String::new();
    let mut body = String::new();
    let mut scratch = 0;
    for side in [&w, &u] {
        let Some(second) = side.second else { continue };
        let (rank, vector) = (second.cols, &side.vector);
        if !(shared && side.letter == 'u') {
            scratch += if in_line { 4 } else { 2 } * rank;
        }
        let (input, kind) = if side.letter == 'w' { ("x", x_kind) } else { (h.as_str(), "int16_t") };
        if in_line {
            let function = format!("project_{}{index}", side.letter);
            functions.push_str(&straight::projection(&function, kind, second, side.inner));
            let _ = writeln!(body, "    {function}({input}, {vector});");
        } else {
            let rows = Rows::transposed(second);
            let table = format!("{}2_{index}", side.letter);
            tables.bytes(&table, &rows.bytes);
            let _ = write!(
                body,
                "    p = {table};\n    for (k = 0; k < {rank}; k++) {{\n        row = {};\n        p = row.next;\n        {vector}[k] = saturate({});\n    }}\n",
                rows.call("p", input),
                rounded("row.sum", side.inner as i32)
            );
        }
    }

    // Biases lie unit by unit, as they are read.
    let biases: Vec<i16> = (0..hidden).flat_map(|k| layer.biases.iter().map(move |b| b[k])).collect();
    tables.words(&format!("b_{index}"), &biases);
    if cell.kind == CellKind::FastRnnVector {
        tables.unsigned_words(&format!("alpha_{index}"), &layer.alpha);
    }

    // Sums of one unit, one a block; a GRU's last block keeps U's apart, behind the others.
    let gru = cell.kind == CellKind::Gru;
    let sums = blocks + usize::from(gru);
    // With U in factors nothing reads the old state once mu is there, so the new one replaces it.
    let (target, after) = if layer.u.second.is_some() || in_line {
        (format!("{h}[k]"), String::new())
    } else {
        scratch += 2 * hidden;
        (
            "next[k]".to_string(),
            format!(
                "    for (k = 0; k < {hidden}; k++) {{\n        {h}[k] = next[k];\n        FG_FENCE(); /* no call of memcpy */\n    }}\n"
            ),
        )
    };
    let counter = counter(
        hidden
            .max(layer.w.second.as_ref().map_or(0, |m| m.cols))
            .max(layer.u.second.as_ref().map_or(0, |m| m.cols)),
    );
    let unit = update::code(index, layer, &target, curves);

    let mut local = String::new();
    if in_line {
        functions.push_str(&straight::sums(index, sides, hidden, blocks, gru));
        scratch += 4 * sums * hidden;
        let _ = writeln!(local, "    int32_t sum[{}];", sums * hidden);
        let _ = writeln!(
            body,
            "    sums{index}({}, {}, sum);\n    units{index}(state, sum);",
            w.vector, u.vector
        );
        // By itself: among products, registers would be short.
        let _ = write!(
            functions,
            "FG_ALONE void units{index}(@NAME@_state *state, const int32_t *sum)\n{{\n    const int16_t *bias = b_{index};\n    {counter} k;\n{}    for (k = 0; k < {hidden}; k++) {{\n{}        sum += {sums};\n    }}\n}}\n\n",
            unit.constants, unit.text
        );
    } else {
        // Unit by unit: its rows of all blocks, one after the other.
        let order: Vec<usize> = (0..hidden).flat_map(|k| (0..blocks).map(move |b| b * hidden + k)).collect();
        let mut row = |side: &Side| {
            let rows = Rows::ordered(side.first, &order);
            let table = format!("{}1_{index}", side.letter);
            tables.bytes(&table, &rows.bytes);
            let _ = writeln!(local, "    const int8_t *{0} = {0}1_{index};", side.letter);
            rows.call(&side.letter.to_string(), &side.vector)
        };
        scratch += 4 * sums;
        let (w_row, u_row) = (row(&w), row(&u));
        let [from_w, from_u] = [w.outer, u.outer].map(|shift| rounded("row.sum", shift as i32));
        let u_total = match gru {
            true => format!("            sum[b < 2 ? b : 3] += {from_u};\n"),
            false => format!("            sum[b] += {from_u};\n"),
        };
        // The sum that a GRU's last block keeps apart starts from nothing.
        let clear = if gru { "        sum[3] = 0;\n" } else { "" };
        let inner = format!(
            "            row = {w_row};\n            w = row.next;\n            sum[b] = {from_w};\n            row = {u_row};\n            u = row.next;\n{u_total}"
        );
        let _ = writeln!(local, "    int32_t sum[{sums}];\n    fg_row row;");
        let (open, close, inner) = if blocks == 1 {
            let indent =
                inner.replace("\n            ", "\n        ").replacen("            ", "        ", 1);
            (String::new(), "", indent.replace("sum[b]", "sum[0]"))
        } else {
            (format!("        for (b = 0; b < {blocks}; b++) {{\n"), "        }\n", inner)
        };
        if blocks > 1 {
            local.push_str("    uint8_t b;\n");
        }
        let _ = write!(
            body,
            "    for (k = 0; k < {hidden}; k++) {{\n{clear}{open}{inner}{close}{}    }}\n{after}",
            unit.text
        );
        if w.second.is_some() || u.second.is_some() {
            local.push_str("    const int8_t *p;\n");
        }
        if !after.is_empty() {
            let _ = writeln!(local, "    int16_t next[{hidden}];");
        }
    }
    for side in [&w, &u] {
        let _ = match side.second {
            Some(_) if shared && side.letter == 'u' => writeln!(local, "    int16_t *const mu = x;"),
            Some(second) => writeln!(local, "    {between} {}[{}];", side.vector, second.cols),
            None => Ok(()),
        };
    }
    if !in_line {
        let _ = writeln!(local, "    const int16_t *bias = b_{index};\n    {counter} k;");
        local.push_str(&unit.constants);
    }
    let constant = if shared { "" } else { "const " };
    let _ = write!(
        functions,
        "FG_ALONE void layer{index}(@NAME@_state *state, {constant}{x_kind} *x)\n{{\n{local}{body}}}\n\n"
    );

    let memory = cell.kind == CellKind::Lstm;
    let mut members = format!("    int16_t h{index}[{hidden}];\n");
    let mut reset = String::new();
    if !layer.start.is_empty() {
        tables.words(&format!("start_{index}"), &layer.start);
    }
    for (nth, letter) in ['h', 'c'].into_iter().take(1 + usize::from(memory)).enumerate() {
        if nth == 1 {
            let _ = writeln!(members, "    int16_t c{index}[{hidden}];");
        }
        let start = match layer.start.is_empty() {
            true => "0".to_string(),
            false => format!("FG_WORD(start_{index} + {} + k)", nth * hidden),
        };
        let _ = write!(
            reset,
            "    for (k = 0; k < {hidden}; k++) {{\n        state->{letter}{index}[k] = {start};\n        FG_FENCE(); /* no call of memset */\n    }}\n"
        );
    }
    LayerCode { functions, members, reset, state: hidden * (1 + usize::from(memory)), scratch }
}
