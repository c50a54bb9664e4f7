//! One layer of an image: what it holds and what must hold of it.

use super::arithmetic::rounded;
use super::bias::{BiasBytes, Biases};
use super::bytes::{Bytes, Words};
use super::nonlinear::Curve;
use super::{ImageError, Matrix, Storage};
use crate::cells::{Alphas, CellShape, GAIN_BITS};
use crate::{CellKind, Nonlinearity};

/// The shifts of a layer's scales; see sections 2 and 3 of the document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shifts {
    /// Fraction bits of sums, F_a.
    pub sums: u32,
    /// Fraction bits of the state, F_h.
    pub state: u32,
    /// Fraction bits of an LSTM's memory, F_c.
    pub memory: u32,
    /// Left shift of biases, s_b.
    pub bias: u32,
    /// After W's second factor, s2.
    pub w2: u32,
    /// After W or its first factor, s1.
    pub w1: u32,
    /// After U's second factor, s2.
    pub u2: u32,
    /// After U or its first factor, s1.
    pub u1: u32,
}

/// W or U: a matrix, or two factors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Factors<'a> {
    /// The matrix (which may be a diagonal or absent), or its first factor.
    pub(super) first: Matrix<'a>,
    /// The second factor, `inputs × rank`.
    pub(super) second: Option<Matrix<'a>>,
    /// M, of 15 fraction bits; 0 for none.
    pub(super) multiplier: u16,
}

impl<'a> Factors<'a> {
    const EMPTY: Self = Self { first: Matrix::EMPTY, second: None, multiplier: 0 };

    fn read(
        bytes: &mut Bytes<'a>,
        rows: usize,
        cols: usize,
        rank: usize,
        multiplier: u16,
    ) -> Result<Self, ImageError> {
        let factors = if rank == 0 {
            Self { first: Matrix::read_any(bytes, rows, cols)?, second: None, multiplier }
        } else {
            let first = Matrix::read(bytes, rows, rank)?;
            Self { first, second: Some(Matrix::read(bytes, cols, rank)?), multiplier }
        };
        let four_bits = |matrix: Matrix| matrix.storage() == Storage::FourBits;
        if let Some(second) = factors.second
            && four_bits(second) != four_bits(factors.first)
        {
            return Err(ImageError::Code { what: "form of this factor", code: second.storage().code() });
        }
        check_multiplier(multiplier, four_bits(factors.first))?;
        Ok(factors)
    }

    /// Columns of the second factor, 0 if there is none.
    pub(super) fn rank(&self) -> usize {
        self.second.map_or(0, |second| second.cols())
    }

    /// Checks that sums of both products fit 32 bits; returns the largest size of a shifted one.
    fn largest(&self, inner: u32, outer: u32) -> Result<u64, ImageError> {
        let product = |terms: usize, shift: u32| {
            let sum = (terms as u64) << 22;
            if sum + (1 << shift) < 1 << 31 {
                Ok(sum >> shift)
            } else {
                Err(ImageError::Overflow { what: "a product" })
            }
        };
        if let Some(second) = self.second {
            product(second.rows(), inner)?;
        }
        product(self.first.terms(), outer)
    }
}

/// A layer in an image.
#[derive(Clone, Copy, Debug)]
pub struct Layer<'a> {
    kind: CellKind,
    input: usize,
    hidden: usize,
    pub(super) gate: Curve<'a>,
    pub(super) update: Curve<'a>,
    shifts: Shifts,
    pub(super) w: Factors<'a>,
    pub(super) u: Factors<'a>,
    /// Bias vectors one after the other.
    pub(super) biases: Biases<'a>,
    /// FastGRNN-gain: the gain of each unit's gate.
    gains: &'a [u8],
    /// FastRNN: α. FastRNN-vector: α of each unit.
    pub(super) alpha: Words<'a>,
    /// FastRNN: β.
    pub(super) beta: i32,
    pub(super) zeta: i32,
    pub(super) nu: i32,
    /// The state to start from; empty for 0.
    pub(super) start: Words<'a>,
}

/// The code of "no gate".
pub const NO_GATE: u8 = 255;
/// The largest size of a sum that a gain multiplies.
const MOST_GAINED: i32 = 1 << 23;
/// The largest α and β: 1 with 15 fraction bits.
const MOST_ALPHA: u16 = 1 << 15;
/// The least multiplier: 1/2 with 15 fraction bits.
const LEAST_MULTIPLIER: u16 = 1 << 14;
/// The largest multiplier.
const MOST_MULTIPLIER: u16 = (1 << 15) - 1;
/// The largest ζ and ν: 1 with 14 fraction bits.
const MOST_ZETA: u16 = 1 << 14;

impl<'a> Layer<'a> {
    pub(super) const EMPTY: Self = Self {
        kind: CellKind::Rnn,
        input: 0,
        hidden: 0,
        gate: Curve { function: Nonlinearity::QuantSigm, bits: 14, table: Words::EMPTY },
        update: Curve { function: Nonlinearity::QuantTanh, bits: 14, table: Words::EMPTY },
        shifts: Shifts { sums: 0, state: 0, memory: 0, bias: 0, w2: 0, w1: 0, u2: 0, u1: 0 },
        w: Factors::EMPTY,
        u: Factors::EMPTY,
        biases: Biases::EMPTY,
        gains: &[],
        alpha: Words::EMPTY,
        beta: 0,
        zeta: 0,
        nu: 0,
        start: Words::EMPTY,
    };

    pub(super) fn read(bytes: &mut Bytes<'a>, input: usize) -> Result<Self, ImageError> {
        let code = bytes.u8()?;
        let kind = CellKind::from_code(code).ok_or(ImageError::Code { what: "cell", code })?;
        let cell = kind.shape();
        let gated = cell.gated;
        let gate = match bytes.u8()? {
            NO_GATE if !gated => Nonlinearity::QuantSigm,
            code if gated => nonlinearity("gate", code)?,
            code => return Err(ImageError::Code { what: "gate", code }),
        };
        let update = nonlinearity("update", bytes.u8()?)?;
        let starts = match bytes.u8()? {
            flag @ (0 | 1) => flag == 1,
            code => return Err(ImageError::Code { what: "stored state", code }),
        };
        let [hidden, rank_w, rank_u] = [bytes.u16()?, bytes.u16()?, bytes.u16()?].map(usize::from);
        if hidden == 0 {
            return Err(ImageError::Empty);
        }
        let shifts = Shifts {
            sums: number(bytes, "fraction bits of sums", 4, 14)?,
            state: number(bytes, "fraction bits of the state", 0, 14)?,
            memory: number(bytes, "fraction bits of the memory", 0, if cell.states > 1 { 14 } else { 0 })?,
            bias: number(bytes, "shift of biases", 0, 14)?,
            w2: number(bytes, "inner shift of W", 0, if rank_w == 0 { 0 } else { 30 })?,
            w1: number(bytes, "shift of W", 0, 30)?,
            u2: number(bytes, "inner shift of U", 0, if rank_u == 0 { 0 } else { 30 })?,
            u1: number(bytes, "shift of U", 0, 30)?,
        };
        let [multiplier_w, multiplier_u] =
            if bytes.is_extended() { [bytes.u16()?, bytes.u16()?] } else { [0, 0] };
        let bias_bytes = BiasBytes::read(bytes)?;
        let rows = cell.blocks * hidden;
        let w = Factors::read(bytes, rows, input, rank_w, multiplier_w)?;
        let u = Factors::read(bytes, rows, hidden, rank_u, multiplier_u)?;
        check_forms(&cell, &w, &u, input == hidden, shifts.u1)?;
        let biases = Biases::read(bytes, cell.biases * hidden, bias_bytes, shifts.bias)?;
        let curve = |function| Curve { function, bits: shifts.sums, table: Words::EMPTY };
        let mut layer = Self {
            kind,
            input,
            hidden,
            gate: curve(gate),
            update: curve(update),
            shifts,
            w,
            u,
            biases,
            ..Self::EMPTY
        };
        layer.read_scalars(bytes)?;
        if starts {
            layer.start = bytes.words(layer.state_len())?;
        }
        layer.check()?;
        Ok(layer)
    }

    fn read_scalars(&mut self, bytes: &mut Bytes<'a>) -> Result<(), ImageError> {
        let cell = self.kind.shape();
        if cell.has_gain {
            self.gains = bytes.take(self.hidden)?;
        }
        self.alpha = match cell.alphas {
            Alphas::None => Words::EMPTY,
            Alphas::One => alphas(bytes, 1)?,
            Alphas::PerUnit => alphas(bytes, self.hidden)?,
        };
        if cell.has_beta {
            self.beta = scalar(bytes, "beta", MOST_ALPHA)?;
        }
        if cell.has_zeta {
            (self.zeta, self.nu) = (scalar(bytes, "zeta", MOST_ZETA)?, scalar(bytes, "nu", MOST_ZETA)?);
        }
        Ok(())
    }

    /// What "Why nothing overflows" in the document asks of a layer.
    fn check(&self) -> Result<(), ImageError> {
        let Shifts { sums, state, memory, w2, w1, u2, u1, .. } = self.shifts;
        let products = self.w.largest(w2, w1)? + self.u.largest(u2, u1)?;
        if products + self.biases.largest() + (1 << 17) >= 1 << 30 {
            return Err(ImageError::Overflow { what: "the sum of the products" });
        }
        let terms = (self.w.first.terms() + self.u.first.terms()) as u64;
        if (terms << 22) + (1 << w1.max(u1)) >= 1 << 31 {
            return Err(ImageError::Overflow { what: "the sum of the products" });
        }
        let cell = self.kind.shape();
        let value = self.update.value_bits();
        let gate = self.gate.function;
        let most = cell.most_state_bits(value, gate);
        if state > most {
            return Err(ImageError::Range {
                what: "fraction bits of the state",
                value: state,
                least: 0,
                most,
            });
        }
        let most = (value - 1).min(sums);
        if memory > most {
            return Err(ImageError::Range {
                what: "fraction bits of the memory",
                value: memory,
                least: 0,
                most,
            });
        }
        let wide = |f| f == Nonlinearity::QuantSigm4;
        if sums > 13 && (wide(gate) || wide(self.update.function)) {
            return Err(ImageError::Range { what: "fraction bits of sums", value: sums, least: 4, most: 13 });
        }
        if !gate.is_bounded() || (cell.gated && gate.is_signed() && !cell.signed_gates) {
            return Err(ImageError::Gate);
        }
        Ok(())
    }

    pub(super) fn needs_table(&self) -> bool {
        self.gate.function.reads_table() || self.update.function.reads_table()
    }

    pub(super) fn set_table(&mut self, table: Words<'a>) {
        (self.gate.table, self.update.table) = (table, table);
    }

    /// The cell.
    pub fn kind(&self) -> CellKind {
        self.kind
    }

    /// Features that it reads.
    pub fn input(&self) -> usize {
        self.input
    }

    /// Units.
    pub fn hidden(&self) -> usize {
        self.hidden
    }

    /// Nonlinearity of its gates; of no meaning for a cell without.
    pub fn gate(&self) -> Nonlinearity {
        self.gate.function
    }

    /// Nonlinearity of its update.
    pub fn update(&self) -> Nonlinearity {
        self.update.function
    }

    /// Its scales.
    pub fn shifts(&self) -> &Shifts {
        &self.shifts
    }

    /// W, or its first factor, and its second.
    pub fn w(&self) -> (Matrix<'a>, Option<Matrix<'a>>) {
        (self.w.first, self.w.second)
    }

    /// U, or its first factor, and its second.
    pub fn u(&self) -> (Matrix<'a>, Option<Matrix<'a>>) {
        (self.u.first, self.u.second)
    }

    /// Bias `vector` of `unit`, its shift applied.
    #[inline(always)]
    pub fn bias(&self, vector: usize, unit: usize) -> i32 {
        self.biases.at(vector * self.hidden + unit)
    }

    /// Bytes of all biases.
    pub fn bias_bytes(&self) -> usize {
        self.biases.size()
    }

    /// The multipliers of W and U, of 15 fraction bits; 0 for none.
    pub fn multipliers(&self) -> [u16; 2] {
        [self.w.multiplier, self.u.multiplier]
    }

    /// Bias vectors.
    pub fn bias_vectors(&self) -> usize {
        self.kind.shape().biases
    }

    /// The gain of `unit`'s gate ([`GAIN_BITS`] fraction bits), for FastGRNN-gain.
    #[inline(always)]
    pub fn gain(&self, unit: usize) -> i32 {
        i32::from(self.gains[unit] as i8)
    }

    /// `sum` times the gain of `unit`'s gate.
    #[inline(always)]
    pub(super) fn gained(&self, unit: usize, sum: i32) -> i32 {
        rounded(self.gain(unit) * sum.clamp(-MOST_GAINED, MOST_GAINED - 1), GAIN_BITS)
    }

    /// α of `unit` (15 fraction bits), for FastRNN and FastRNN-vector.
    #[inline(always)]
    pub fn alpha(&self, unit: usize) -> i32 {
        i32::from(self.alpha.u16(if self.alpha.len() == 1 { 0 } else { unit }))
    }

    /// FastRNN's β (15 fraction bits).
    pub fn beta(&self) -> i32 {
        self.beta
    }

    /// ζ (14 fraction bits).
    pub fn zeta(&self) -> i32 {
        self.zeta
    }

    /// ν (14 fraction bits).
    pub fn nu(&self) -> i32 {
        self.nu
    }

    /// Entry `i` of the state to start from.
    pub fn start(&self, i: usize) -> i16 {
        if self.start.len() == 0 { 0 } else { self.start.i16(i) }
    }

    /// Entries of the state: h, and for an LSTM c after it.
    pub fn state_len(&self) -> usize {
        self.kind.shape().states * self.hidden
    }

    /// Sums of a step; a GRU keeps `U_n·h` apart.
    pub fn sums_len(&self) -> usize {
        self.kind.shape().sums() * self.hidden
    }

    /// The larger rank, 0 if both matrices are full.
    pub fn rank(&self) -> usize {
        self.w.rank().max(self.u.rank())
    }
}

/// Which matrices may be diagonals, absent or neither; section 8 of the document.
fn check_forms(
    cell: &CellShape,
    w: &Factors,
    u: &Factors,
    square: bool,
    u_shift: u32,
) -> Result<(), ImageError> {
    let refused = |what, storage: Storage| Err(ImageError::Code { what, code: storage.code() });
    let (w, u) = (w.first.storage(), u.first.storage());
    if w == Storage::Absent || (w == Storage::Diagonal && !square) {
        return refused("form of this W", w);
    }
    if u != Storage::Absent && !cell.reads_state {
        return refused("form of this U", u);
    }
    match u {
        Storage::Absent if u_shift != 0 => {
            Err(ImageError::Range { what: "shift of U", value: u_shift, least: 0, most: 0 })
        }
        _ => Ok(()),
    }
}

/// A multiplier, if there is one, is at least 1/2, and only entries of 4 bits have one.
pub(super) fn check_multiplier(multiplier: u16, four_bits: bool) -> Result<(), ImageError> {
    let range = |what, least, most| {
        let value = u32::from(multiplier);
        Err(ImageError::Range { what, value, least: u32::from(least), most: u32::from(most) })
    };
    match multiplier {
        0 => Ok(()),
        _ if !four_bits => range("multiplier of a matrix without entries of 4 bits", 0, 0),
        LEAST_MULTIPLIER..=MOST_MULTIPLIER => Ok(()),
        _ => range("multiplier", LEAST_MULTIPLIER, MOST_MULTIPLIER),
    }
}

fn nonlinearity(what: &'static str, code: u8) -> Result<Nonlinearity, ImageError> {
    Nonlinearity::from_code(code).ok_or(ImageError::Code { what, code })
}

fn number(bytes: &mut Bytes, what: &'static str, least: u32, most: u32) -> Result<u32, ImageError> {
    let value = u32::from(bytes.u8()?);
    if (least..=most).contains(&value) {
        Ok(value)
    } else {
        Err(ImageError::Range { what, value, least, most })
    }
}

fn scalar(bytes: &mut Bytes, what: &'static str, most: u16) -> Result<i32, ImageError> {
    let value = bytes.u16()?;
    if value <= most {
        return Ok(i32::from(value));
    }
    Err(ImageError::Range { what, value: u32::from(value), least: 0, most: u32::from(most) })
}

fn alphas<'a>(bytes: &mut Bytes<'a>, len: usize) -> Result<Words<'a>, ImageError> {
    let words = bytes.words(len)?;
    match words.iter().find(|&a| a > MOST_ALPHA) {
        None => Ok(words),
        Some(a) => Err(ImageError::Range {
            what: "alpha",
            value: u32::from(a),
            least: 0,
            most: u32::from(MOST_ALPHA),
        }),
    }
}
