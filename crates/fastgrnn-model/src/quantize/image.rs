//! The device image of an integer network (section 8 of `docs/integer-arithmetic.md`).

use super::{BiasBits, IntegerLayer, IntegerMatrix, IntegerNetwork};
use fastgrnn_core::cells::{MatrixForm, Nonlinearity, NonlinearityF64, WeightBits};
use fastgrnn_core::window::Window;
use fastgrnn_runtime::int::{
    EXTENDED_VERSION, NO_GATE, Storage, TABLE_LEN, TOKEN_VERSION, VERSION, checksum,
};

impl IntegerNetwork {
    /// The image. Each matrix that is not a diagonal is stored in the smallest way.
    pub fn image(&self) -> Vec<u8> {
        let extended = self.is_extended();
        let version = match self.embedding {
            _ if extended => EXTENDED_VERSION,
            Some(_) => TOKEN_VERSION,
            None => VERSION,
        };
        let mut out = vec![b'F', b'G', version, self.layers.len() as u8];
        out.extend([0; 6]);
        let width = self.embedding.as_ref().map_or(self.input.factors.len(), |e| e.vectors.cols);
        out.extend((width as u16).to_le_bytes());
        out.extend((self.head_biases.len() as u16).to_le_bytes());
        out.push(self.meaning.code());
        if extended {
            let Window { frames, stride } = self.window;
            out.extend([u8::from(self.embedding.is_some()), frames as u8, stride as u8]);
        }
        out.push(self.input.shift as u8);
        match &self.embedding {
            Some(embedding) => {
                out.push(u8::from(embedding.tied));
                out.extend((embedding.vectors.rows as u16).to_le_bytes());
                out.extend(embedding.vectors.entries.iter().map(|&v| v as u8));
            }
            None => {
                out.push(self.input.offset_shift as u8);
                out.extend(words(&self.input.offsets));
                out.extend(self.input.factors.iter().flat_map(|f| f.to_le_bytes()));
            }
        }
        for layer in &self.layers {
            write_layer(&mut out, layer, extended);
        }
        if !self.is_tied() {
            write_matrix(&mut out, &self.head);
        }
        if extended {
            out.extend(self.head.product_scale().multiplier.to_le_bytes());
            out.push(self.head_bias_bits.bytes() as u8);
        }
        out.extend([self.head_shift as u8, self.score_bits() as i8 as u8]);
        out.extend(biases(&self.head_biases, self.head_bias_bits));
        if self.needs_table() {
            out.extend(sigmoid_table().into_iter().flat_map(u16::to_le_bytes));
        }
        let length = (out.len() as u32).to_le_bytes();
        out[4..8].copy_from_slice(&length);
        let sum = checksum(&out).to_le_bytes();
        out[8..10].copy_from_slice(&sum);
        out
    }

    /// Whether only version 3 of the format can hold it.
    pub fn is_extended(&self) -> bool {
        let has_byte_biases = self.layers.iter().map(|l| l.bias_bits).chain([self.head_bias_bits]);
        self.matrices().any(|m| m.bits() == WeightBits::Four)
            || !self.window.is_frame()
            || has_byte_biases.into_iter().any(|bits| bits == BiasBits::Eight)
    }

    /// Whether a nonlinearity reads the table.
    pub fn needs_table(&self) -> bool {
        self.layers.iter().any(|l| l.cell.reads_table())
    }
}

fn words(values: &[i16]) -> impl Iterator<Item = u8> + '_ {
    values.iter().flat_map(|v| v.to_le_bytes())
}

/// The low bytes of values are all of them if they have 8 bits.
fn biases(values: &[i16], bits: BiasBits) -> impl Iterator<Item = u8> + '_ {
    values.iter().flat_map(move |v| v.to_le_bytes().into_iter().take(bits.bytes()))
}

fn write_layer(out: &mut Vec<u8>, layer: &IntegerLayer, extended: bool) {
    let (cell, s) = (&layer.cell, &layer.shifts);
    let declaration = cell.kind.declaration();
    let gate = if declaration.gated() { cell.gate.code() } else { NO_GATE };
    let code =
        declaration.code.expect("networks of cells without a code are refused when they are quantised");
    out.extend([code, gate, cell.update.code(), u8::from(!layer.start.is_empty())]);
    for size in [cell.hidden, cell.form_w.rank().unwrap_or(0), cell.form_u.rank().unwrap_or(0)] {
        out.extend((size as u16).to_le_bytes());
    }
    out.extend([s.sums, s.state, s.memory, s.bias, s.w2, s.w1, s.u2, s.u1].map(|v| v as u8));
    if extended {
        for factors in [&layer.w, &layer.u] {
            out.extend(factors.product_scale().multiplier.to_le_bytes());
        }
        out.push(layer.bias_bits.bytes() as u8);
    }
    for (form, factors) in [(cell.form_w, &layer.w), (cell.form_u, &layer.u)] {
        match form {
            MatrixForm::Full | MatrixForm::LowRank(_) => {
                factors.matrices().for_each(|matrix| write_matrix(out, matrix));
            }
            MatrixForm::Diagonal => {
                out.push(Storage::Diagonal.code());
                out.extend(factors.first.entries.iter().map(|&v| v as u8));
            }
            MatrixForm::Absent => out.push(Storage::Absent.code()),
        }
    }
    layer.biases.iter().for_each(|b| out.extend(biases(b, layer.bias_bits)));
    out.extend(layer.gains.iter().map(|&v| v as u8));
    for (name, _) in layer.stored_scalars() {
        out.extend(layer.scalar(name).iter().flat_map(|v| v.to_le_bytes()));
    }
    out.extend(words(&layer.start));
}

/// Writes a matrix of bytes in the smallest way, the first of equals.
fn write_matrix(out: &mut Vec<u8>, matrix: &IntegerMatrix) {
    if matrix.bits() == WeightBits::Four {
        out.push(Storage::FourBits.code());
        out.extend(matrix.pairs());
        return;
    }
    let ways = Storage::GENERAL.iter().filter_map(|&storage| {
        let mut bytes = vec![storage.code()];
        write_stored(&mut bytes, matrix, storage).then_some(bytes)
    });
    out.extend(ways.min_by_key(Vec::len).expect("a dense matrix can always be written"));
}

/// Writes a matrix in one way; false if it cannot be stored that way.
fn write_stored(out: &mut Vec<u8>, matrix: &IntegerMatrix, storage: Storage) -> bool {
    let IntegerMatrix { rows, cols, entries, .. } = matrix;
    let present = || entries.iter().filter(|&&v| v != 0).map(|&v| v as u8);
    match storage {
        Storage::Diagonal | Storage::Absent | Storage::FourBits => return false,
        Storage::Dense => out.extend(entries.iter().map(|&v| v as u8)),
        Storage::ByRow => return write_lists(out, *rows, *cols, |line, at| entries[line * cols + at]),
        Storage::ByColumn => return write_lists(out, *cols, *rows, |line, at| entries[at * cols + line]),
        Storage::Bitmap => {
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
