//! The device image of an integer network (section 8 of `docs/integer-arithmetic.md`).

use super::{IntegerLayer, IntegerMatrix, IntegerNetwork};
use fastgrnn_core::cells::{Cell, CellKind, Nonlinearity};
use fastgrnn_runtime::int::{Form, Meaning, TABLE_LEN, VERSION, checksum};

impl IntegerNetwork {
    /// The image. Each matrix is in its smallest form.
    pub fn image(&self) -> Vec<u8> {
        let mut out = vec![b'F', b'G', VERSION, self.layers.len() as u8];
        out.extend([0; 6]);
        out.extend((self.input.factors.len() as u16).to_le_bytes());
        out.extend((self.head_biases.len() as u16).to_le_bytes());
        let meaning = Meaning::ALL.iter().position(|&m| m == self.meaning).unwrap_or(0);
        out.extend([meaning as u8, self.input.shift as u8, self.input.offset_shift as u8]);
        out.extend(words(&self.input.offsets));
        out.extend(self.input.factors.iter().flat_map(|f| f.to_le_bytes()));
        for layer in &self.layers {
            write_layer(&mut out, layer);
        }
        write_matrix(&mut out, &self.head);
        out.extend([self.head_shift as u8, self.score_bits() as i8 as u8]);
        out.extend(words(&self.head_biases));
        if self.needs_table() {
            out.extend(sigmoid_table().into_iter().flat_map(u16::to_le_bytes));
        }
        let length = (out.len() as u32).to_le_bytes();
        out[4..8].copy_from_slice(&length);
        let sum = checksum(&out).to_le_bytes();
        out[8..10].copy_from_slice(&sum);
        out
    }

    /// Whether a nonlinearity reads the table.
    pub fn needs_table(&self) -> bool {
        self.layers.iter().any(|l| reads_table(&l.cell))
    }
}

/// Whether a nonlinearity of the cell reads the table.
pub(super) fn reads_table(cell: &Cell) -> bool {
    let smooth = |f| matches!(f, Nonlinearity::Sigmoid | Nonlinearity::Tanh);
    smooth(cell.update) || (cell.kind.declaration().gated && smooth(cell.gate))
}

fn words(values: &[i16]) -> impl Iterator<Item = u8> + '_ {
    values.iter().flat_map(|v| v.to_le_bytes())
}

fn write_layer(out: &mut Vec<u8>, layer: &IntegerLayer) {
    let (cell, s) = (&layer.cell, &layer.shifts);
    let gate = if cell.kind.declaration().gated { code(cell.gate) } else { 255 };
    out.extend([cell.kind as u8, gate, code(cell.update), u8::from(!layer.start.is_empty())]);
    for size in [cell.hidden, cell.rank_w.unwrap_or(0), cell.rank_u.unwrap_or(0)] {
        out.extend((size as u16).to_le_bytes());
    }
    out.extend([s.sums, s.state, s.memory, s.bias, s.w2, s.w1, s.u2, s.u1].map(|v| v as u8));
    for matrix in layer.w.matrices().chain(layer.u.matrices()) {
        write_matrix(out, matrix);
    }
    layer.biases.iter().for_each(|b| out.extend(words(b)));
    match cell.kind {
        CellKind::FastRnn => out.extend([layer.alpha[0], layer.beta].into_iter().flat_map(u16::to_le_bytes)),
        CellKind::FastRnnVector => {
            let all = layer.alpha.iter().copied().chain([layer.zeta, layer.nu]);
            out.extend(all.flat_map(u16::to_le_bytes));
        }
        CellKind::FastGrnn => out.extend([layer.zeta, layer.nu].into_iter().flat_map(u16::to_le_bytes)),
        CellKind::Rnn | CellKind::Ugrnn | CellKind::Gru | CellKind::Lstm => {}
    }
    out.extend(words(&layer.start));
}

/// The code of a nonlinearity in an image.
fn code(f: Nonlinearity) -> u8 {
    match f {
        Nonlinearity::Tanh => 0,
        Nonlinearity::Sigmoid => 1,
        Nonlinearity::Relu => 2,
        Nonlinearity::QuantTanh => 3,
        Nonlinearity::QuantSigm => 4,
        Nonlinearity::QuantSigm4 => 5,
    }
}

/// Writes a matrix in its smallest form, the first of equals.
fn write_matrix(out: &mut Vec<u8>, matrix: &IntegerMatrix) {
    let forms = Form::ALL.iter().enumerate().filter_map(|(code, &form)| {
        let mut bytes = vec![code as u8];
        write_form(&mut bytes, matrix, form).then_some(bytes)
    });
    out.extend(forms.min_by_key(Vec::len).unwrap_or_default());
}

/// Writes a matrix in one form; false if the form cannot hold it.
fn write_form(out: &mut Vec<u8>, matrix: &IntegerMatrix, form: Form) -> bool {
    let IntegerMatrix { rows, cols, entries, .. } = matrix;
    let present = || entries.iter().filter(|&&v| v != 0).map(|&v| v as u8);
    match form {
        Form::Dense => out.extend(entries.iter().map(|&v| v as u8)),
        Form::ByRow => return write_lists(out, *rows, *cols, |line, at| entries[line * cols + at]),
        Form::ByColumn => return write_lists(out, *cols, *rows, |line, at| entries[at * cols + line]),
        Form::Bitmap => {
            out.extend(
                entries.chunks(8).map(|eight| {
                    eight.iter().enumerate().fold(0, |bits, (i, &v)| bits | u8::from(v != 0) << i)
                }),
            );
            out.extend(present());
        }
    }
    true
}

fn write_lists(out: &mut Vec<u8>, lines: usize, length: usize, entry: impl Fn(usize, usize) -> i8) -> bool {
    if length > 256 {
        return false;
    }
    let listed = |line: usize| (0..length).filter(|&at| entry(line, at) != 0).collect::<Vec<_>>();
    let lists: Vec<Vec<usize>> = (0..lines).map(listed).collect();
    if lists.iter().any(|list| list.len() > 255) {
        return false;
    }
    out.extend(lists.iter().map(|list| list.len() as u8));
    out.extend(lists.iter().flatten().map(|&at| at as u8));
    let values = lists.iter().enumerate().flat_map(|(line, list)| list.iter().map(move |&at| (line, at)));
    out.extend(values.map(|(line, at)| entry(line, at) as u8));
    true
}

/// The table that `sigmoid` and `tanh` read (section 4).
pub fn sigmoid_table() -> [u16; TABLE_LEN] {
    std::array::from_fn(|i| match i {
        64 => 32_757,
        i => ((Nonlinearity::Sigmoid.value(i as f64 / 8.0) - 0.5) * 65_536.0).round() as u16,
    })
}
