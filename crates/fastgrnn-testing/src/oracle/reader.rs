//! Section 8 backwards: the network that an image holds, `None` where a reader must refuse it.

use super::image::crc16;
use super::network::{
    Cell, Curve, Head, Layer, Matrix, Network, Product, Vectors, bias_vectors, blocks, state_vectors,
};
use super::rules::acceptable;

/// The network of an image of at most `most_layers` layers.
pub fn read(image: &[u8], most_layers: usize) -> Option<Network> {
    let mut zeroed = image.to_vec();
    zeroed.get_mut(8..10)?.fill(0);
    let mut reader = Reader { rest: image, extended: false };
    let is_image = reader.bytes(2)? == b"FG";
    let version = reader.byte()?;
    let magic = is_image && matches!(version, 1..=3);
    let layers = usize::from(reader.byte()?);
    let length = u32::from_le_bytes(reader.bytes(4)?.try_into().ok()?) as usize;
    let sum = reader.unsigned(1)?[0];
    if !magic || length != image.len() || sum != crc16(&zeroed) || layers > most_layers {
        return None;
    }
    let (inputs, outputs) = (reader.size()?, reader.size()?);
    let meaning = reader.byte()?;
    reader.extended = version == 3;
    let (mut tokens, mut frames, mut stride) = (version == 2, 1, 1);
    if reader.extended {
        tokens = flag(reader.byte()?)?;
        (frames, stride) = (reader.byte()?, reader.byte()?);
    }
    let s_x = reader.byte()?;
    let (mut s_n, mut offsets, mut factors, mut vectors) = (0, Vec::new(), Vec::new(), None);
    if !tokens {
        s_n = reader.byte()?;
        (offsets, factors) = (reader.signed(inputs)?, reader.unsigned(inputs)?);
    } else {
        let tied = flag(reader.byte()?)?;
        let rows = reader.size()?;
        let entries = reader.bytes(rows * inputs)?.iter().map(|byte| *byte as i8).collect();
        vectors = Some(Vectors { table: Matrix { rows, columns: inputs, entries }, tied });
    }
    let mut read = Vec::new();
    let mut width = inputs * usize::from(frames);
    for _ in 0..layers {
        read.push(reader.layer(width)?);
        width = read.last()?.hidden;
    }
    let (a, four_bits) = match &vectors {
        Some(Vectors { table, tied: true }) => {
            if (table.rows, table.columns) != (outputs, width) {
                return None;
            }
            (table.clone(), false)
        }
        _ => reader.matrix(outputs, width)?,
    };
    let m = if reader.extended { reader.unsigned(1)?[0] } else { 0 };
    let m = multiplier(m, four_bits)?;
    let byte_biases = reader.byte_biases()?;
    let (s_o, f_s) = (reader.byte()?, reader.byte()? as i8);
    let biases = reader.biases(outputs, byte_biases)?;
    let head = Head { a, m, byte_biases, s_o, f_s, biases };
    let table = vec![0; 65];
    let mut network =
        Network { vectors, offsets, factors, s_x, s_n, frames, stride, layers: read, head, meaning, table };
    if network.reads_the_table() {
        network.table = reader.unsigned(65)?;
    }
    (reader.rest.is_empty() && acceptable(&network)).then_some(network)
}

struct Reader<'a> {
    rest: &'a [u8],
    /// Version 3.
    extended: bool,
}

fn flag(byte: u8) -> Option<bool> {
    match byte {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

/// The multiplier of a matrix whose entries have 4 bits; that of another is 0.
fn multiplier(m: u16, four_bits: bool) -> Option<Option<u16>> {
    match four_bits {
        true => Some(Some(m)),
        false => (m == 0).then_some(None),
    }
}

impl<'a> Reader<'a> {
    fn bytes(&mut self, len: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(bytes)
    }

    fn byte(&mut self) -> Option<u8> {
        Some(self.bytes(1)?[0])
    }

    fn unsigned(&mut self, len: usize) -> Option<Vec<u16>> {
        let pairs = self.bytes(2 * len)?.chunks(2);
        Some(pairs.map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect())
    }

    fn signed(&mut self, len: usize) -> Option<Vec<i16>> {
        Some(self.unsigned(len)?.into_iter().map(|value| value as i16).collect())
    }

    fn byte_biases(&mut self) -> Option<bool> {
        match if self.extended { self.byte()? } else { 2 } {
            1 => Some(true),
            2 => Some(false),
            _ => None,
        }
    }

    fn biases(&mut self, len: usize, byte_biases: bool) -> Option<Vec<i16>> {
        if !byte_biases {
            return self.signed(len);
        }
        Some(self.bytes(len)?.iter().map(|byte| i16::from(*byte as i8)).collect())
    }

    fn size(&mut self) -> Option<usize> {
        Some(usize::from(self.unsigned(1)?[0]))
    }

    fn curve(code: u8) -> Option<Curve> {
        Curve::ALL.into_iter().find(|curve| *curve as u8 == code)
    }

    fn layer(&mut self, inputs: usize) -> Option<Layer> {
        let (code, gate, update, stored) = (self.byte()?, self.byte()?, self.byte()?, self.byte()?);
        let (hidden, rank_w, rank_u) = (self.size()?, self.size()?, self.size()?);
        let (f_a, f_h, f_c, s_b) = (self.byte()?, self.byte()?, self.byte()?, self.byte()?);
        let shifts_w = (self.byte()?, self.byte()?);
        let shifts_u = (self.byte()?, self.byte()?);
        let gated = matches!(code, 3..=8);
        if code > 8 || stored > 1 || (f_c != 0 && code != 6) || (!gated && gate != 255) {
            return None;
        }
        let multipliers = if self.extended { self.unsigned(2)? } else { vec![0, 0] };
        let byte_biases = self.byte_biases()?;
        let rows = blocks(code) * hidden;
        let (w, four_bits) = self.product(rows, inputs, rank_w, shifts_w)?;
        let m_w = multiplier(multipliers[0], four_bits)?;
        let (u, four_bits) = self.product(rows, hidden, rank_u, shifts_u)?;
        let m_u = multiplier(multipliers[1], four_bits)?;
        let not_square = matches!(w, Product::Diagonal { .. }) && inputs != hidden;
        let needless = code == 7 && !matches!(u, Product::Absent);
        if matches!(w, Product::Absent) || not_square || needless {
            return None;
        }
        let biases =
            (0..bias_vectors(code)).map(|_| self.biases(hidden, byte_biases)).collect::<Option<_>>()?;
        let cell = match code {
            0 => Cell::Rnn,
            1 => Cell::FastRnn { alpha: self.unsigned(1)?[0], beta: self.unsigned(1)?[0] },
            2 => Cell::FastRnnVector {
                alpha: self.unsigned(hidden)?,
                zeta: self.unsigned(1)?[0],
                nu: self.unsigned(1)?[0],
            },
            3 => Cell::FastGrnn {
                gate: Self::curve(gate)?,
                zeta: self.unsigned(1)?[0],
                nu: self.unsigned(1)?[0],
            },
            4 => Cell::Ugrnn { gate: Self::curve(gate)? },
            5 => Cell::Gru { gate: Self::curve(gate)? },
            6 => Cell::Lstm { gate: Self::curve(gate)?, f_c },
            7 => Cell::MinGru { gate: Self::curve(gate)? },
            8 => Cell::FastGrnnGain {
                gate: Self::curve(gate)?,
                gamma: self.bytes(hidden)?.iter().map(|byte| *byte as i8).collect(),
                zeta: self.unsigned(1)?[0],
                nu: self.unsigned(1)?[0],
            },
            _ => return None,
        };
        let start = if stored == 1 { Some(self.signed(state_vectors(code) * hidden)?) } else { None };
        let update = Self::curve(update)?;
        Some(Layer { cell, update, hidden, f_a, f_h, s_b, w, u, m_w, m_u, byte_biases, biases, start })
    }

    /// A product, and whether its entries have 4 bits.
    fn product(
        &mut self,
        rows: usize,
        columns: usize,
        rank: usize,
        (s2, s1): (u8, u8),
    ) -> Option<(Product, bool)> {
        if rank == 0 && s2 == 0 && self.rest.first() == Some(&4) {
            self.byte()?;
            let a = self.bytes(rows)?.iter().map(|byte| *byte as i8).collect();
            return Some((Product::Diagonal { a, s1 }, false));
        }
        if rank == 0 && s2 == 0 && self.rest.first() == Some(&5) {
            self.byte()?;
            return if s1 == 0 { Some((Product::Absent, false)) } else { None };
        }
        if rank == 0 {
            let (a, four_bits) = self.matrix(rows, columns)?;
            return if s2 == 0 { Some((Product::Full { a, s1 }, four_bits)) } else { None };
        }
        let (a1, four_bits) = self.matrix(rows, rank)?;
        let (a2, also) = self.matrix(columns, rank)?;
        if also == four_bits { Some((Product::Low { a1, a2, s2, s1 }, four_bits)) } else { None }
    }

    /// A matrix, and whether its entries have 4 bits.
    fn matrix(&mut self, rows: usize, columns: usize) -> Option<(Matrix, bool)> {
        let len = rows * columns;
        let form = self.byte()?;
        let entries = match form {
            0 => self.bytes(len)?.iter().map(|byte| *byte as i8).collect(),
            1 => {
                let mut entries = Vec::new();
                self.lists(rows, columns, |places| entries.extend(places))?;
                entries
            }
            2 => {
                let mut by_column = Vec::new();
                self.lists(columns, rows, |places| by_column.extend(places))?;
                (0..len).map(|i| by_column[i % columns * rows + i / columns]).collect()
            }
            3 => {
                let bitmap = self.bytes(len.div_ceil(8))?;
                let set = |i: usize| bitmap[i / 8] & (1 << (i % 8)) != 0;
                if (len..8 * bitmap.len()).any(set) {
                    return None;
                }
                let mut values = self.bytes((0..len).filter(|i| set(*i)).count())?.iter();
                (0..len)
                    .map(|i| if set(i) { values.next().map_or(0, |value| *value as i8) } else { 0 })
                    .collect()
            }
            6 if self.extended => {
                let pairs = self.bytes(rows.div_ceil(2) * columns)?;
                let half = |row: usize, j: usize| match row % 2 {
                    0 => pairs[row / 2 * columns + j] % 16,
                    _ => pairs[row / 2 * columns + j] / 16,
                };
                if rows % 2 == 1 && (0..columns).any(|j| half(rows, j) != 0) {
                    return None;
                }
                let entry = |half: u8| if half < 8 { half as i8 } else { half as i8 - 16 };
                (0..len).map(|i| 16 * entry(half(i / columns, i % columns))).collect()
            }
            _ => return None,
        };
        Some((Matrix { rows, columns, entries }, form == 6))
    }

    /// Forms 1 and 2: gives each of `lines` lines as its `length` entries.
    fn lists(&mut self, lines: usize, length: usize, mut give: impl FnMut(Vec<i8>)) -> Option<()> {
        if length > 256 {
            return None;
        }
        let numbers = self.bytes(lines)?;
        let total = numbers.iter().map(|number| usize::from(*number)).sum();
        let (mut places, mut values) = (self.bytes(total)?, self.bytes(total)?);
        for number in numbers {
            let (these, later) = places.split_at(usize::from(*number));
            let (entries, others) = values.split_at(usize::from(*number));
            (places, values) = (later, others);
            let mut line = vec![0; length];
            if these.windows(2).any(|pair| pair[0] >= pair[1]) {
                return None;
            }
            for (place, entry) in these.iter().zip(entries) {
                *line.get_mut(usize::from(*place))? = *entry as i8;
            }
            give(line);
        }
        Some(())
    }
}
