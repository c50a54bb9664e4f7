//! One layer of an image: what it holds and what must hold of it.

use super::bytes::{Bytes, Words};
use super::nonlinear::{Curve, is_signed, needs_table, value_bits};
use super::{ImageError, Kind, Matrix, Nonlinearity};

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

/// A full matrix, or two factors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Factors<'a> {
    /// The matrix, or its first factor.
    pub(super) first: Matrix<'a>,
    /// The second factor, `inputs × rank`.
    pub(super) second: Option<Matrix<'a>>,
}

impl<'a> Factors<'a> {
    const EMPTY: Self = Self { first: Matrix::EMPTY, second: None };

    fn read(bytes: &mut Bytes<'a>, rows: usize, cols: usize, rank: usize) -> Result<Self, ImageError> {
        if rank == 0 {
            return Ok(Self { first: Matrix::read(bytes, rows, cols)?, second: None });
        }
        let first = Matrix::read(bytes, rows, rank)?;
        Ok(Self { first, second: Some(Matrix::read(bytes, cols, rank)?) })
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
        product(self.first.cols(), outer)
    }
}

/// A layer in an image.
#[derive(Clone, Copy, Debug)]
pub struct Layer<'a> {
    kind: Kind,
    input: usize,
    hidden: usize,
    pub(super) gate: Curve<'a>,
    pub(super) update: Curve<'a>,
    shifts: Shifts,
    pub(super) w: Factors<'a>,
    pub(super) u: Factors<'a>,
    /// Bias vectors one after the other.
    pub(super) biases: Words<'a>,
    /// FastRNN: α. FastRNN-vector: α of each unit.
    pub(super) alpha: Words<'a>,
    /// FastRNN: β.
    pub(super) beta: i32,
    pub(super) zeta: i32,
    pub(super) nu: i32,
    /// The state to start from; empty for 0.
    pub(super) start: Words<'a>,
}

const KINDS: [Kind; 7] =
    [Kind::Rnn, Kind::FastRnn, Kind::FastRnnVector, Kind::FastGrnn, Kind::Ugrnn, Kind::Gru, Kind::Lstm];
const NONLINEARITIES: [Nonlinearity; 6] = [
    Nonlinearity::Tanh,
    Nonlinearity::Sigmoid,
    Nonlinearity::Relu,
    Nonlinearity::QuantTanh,
    Nonlinearity::QuantSigm,
    Nonlinearity::QuantSigm4,
];
/// The code of "no gate".
const NO_GATE: u8 = 255;
/// The largest α and β: 1 with 15 fraction bits.
const MOST_ALPHA: u16 = 1 << 15;
/// The largest ζ and ν: 1 with 14 fraction bits.
const MOST_ZETA: u16 = 1 << 14;

impl<'a> Layer<'a> {
    pub(super) const EMPTY: Self = Self {
        kind: Kind::Rnn,
        input: 0,
        hidden: 0,
        gate: Curve { function: Nonlinearity::QuantSigm, bits: 14, table: Words::EMPTY },
        update: Curve { function: Nonlinearity::QuantTanh, bits: 14, table: Words::EMPTY },
        shifts: Shifts { sums: 0, state: 0, memory: 0, bias: 0, w2: 0, w1: 0, u2: 0, u1: 0 },
        w: Factors::EMPTY,
        u: Factors::EMPTY,
        biases: Words::EMPTY,
        alpha: Words::EMPTY,
        beta: 0,
        zeta: 0,
        nu: 0,
        start: Words::EMPTY,
    };

    pub(super) fn read(bytes: &mut Bytes<'a>, input: usize) -> Result<Self, ImageError> {
        let code = bytes.u8()?;
        let kind = *KINDS.get(usize::from(code)).ok_or(ImageError::Code { what: "cell", code })?;
        let gated = matches!(kind, Kind::FastGrnn | Kind::Ugrnn | Kind::Gru | Kind::Lstm);
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
            memory: number(bytes, "fraction bits of the memory", 0, if kind == Kind::Lstm { 14 } else { 0 })?,
            bias: number(bytes, "shift of biases", 0, 14)?,
            w2: number(bytes, "inner shift of W", 0, if rank_w == 0 { 0 } else { 30 })?,
            w1: number(bytes, "shift of W", 0, 30)?,
            u2: number(bytes, "inner shift of U", 0, if rank_u == 0 { 0 } else { 30 })?,
            u1: number(bytes, "shift of U", 0, 30)?,
        };
        let rows = kind.blocks() * hidden;
        let w = Factors::read(bytes, rows, input, rank_w)?;
        let u = Factors::read(bytes, rows, hidden, rank_u)?;
        let biases = bytes.words(bias_vectors(kind) * hidden)?;
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
        let (zeta, beta) = (MOST_ZETA, MOST_ALPHA);
        match self.kind {
            Kind::FastRnn => {
                self.alpha = alphas(bytes, 1)?;
                self.beta = scalar(bytes, "beta", beta)?;
            }
            Kind::FastRnnVector => {
                self.alpha = alphas(bytes, self.hidden)?;
                (self.zeta, self.nu) = (scalar(bytes, "zeta", zeta)?, scalar(bytes, "nu", zeta)?);
            }
            Kind::FastGrnn => {
                (self.zeta, self.nu) = (scalar(bytes, "zeta", zeta)?, scalar(bytes, "nu", zeta)?);
            }
            Kind::Rnn | Kind::Ugrnn | Kind::Gru | Kind::Lstm => {}
        }
        Ok(())
    }

    /// What "Why nothing overflows" in the document asks of a layer.
    fn check(&self) -> Result<(), ImageError> {
        let Shifts { sums, state, memory, bias, w2, w1, u2, u1 } = self.shifts;
        let products = self.w.largest(w2, w1)? + self.u.largest(u2, u1)?;
        if products + (1 << (15 + bias)) + (1 << 17) >= 1 << 30 {
            return Err(ImageError::Overflow { what: "the sum of the products" });
        }
        let terms = (self.w.first.cols() + self.u.first.cols()) as u64;
        if (terms << 22) + (1 << w1.max(u1)) >= 1 << 31 {
            return Err(ImageError::Overflow { what: "the sum of the products" });
        }
        let value = value_bits(self.update.function);
        let gate = self.gate.function;
        let most = match self.kind {
            Kind::FastGrnn if is_signed(gate) => value - 2,
            Kind::FastGrnn => value - 1,
            _ => value,
        };
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
        let unbounded = gate == Nonlinearity::Relu;
        let blends = matches!(self.kind, Kind::Ugrnn | Kind::Gru);
        if unbounded || (blends && is_signed(gate)) {
            return Err(ImageError::Gate);
        }
        Ok(())
    }

    pub(super) fn needs_table(&self) -> bool {
        needs_table(self.gate.function) || needs_table(self.update.function)
    }

    pub(super) fn set_table(&mut self, table: Words<'a>) {
        (self.gate.table, self.update.table) = (table, table);
    }

    /// The cell.
    pub fn kind(&self) -> Kind {
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
        i32::from(self.biases.i16(vector * self.hidden + unit)) << self.shifts.bias
    }

    /// Bias vectors.
    pub fn bias_vectors(&self) -> usize {
        bias_vectors(self.kind)
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
        if self.kind == Kind::Lstm { 2 * self.hidden } else { self.hidden }
    }

    /// Sums of a step; a GRU keeps `U_n·h` apart.
    pub fn sums_len(&self) -> usize {
        (if self.kind == Kind::Gru { 4 } else { self.kind.blocks() }) * self.hidden
    }

    /// The larger rank, 0 if both matrices are full.
    pub fn rank(&self) -> usize {
        self.w.rank().max(self.u.rank())
    }
}

const fn bias_vectors(kind: Kind) -> usize {
    match kind {
        Kind::Rnn | Kind::FastRnn | Kind::FastRnnVector => 1,
        Kind::FastGrnn | Kind::Ugrnn => 2,
        Kind::Gru | Kind::Lstm => 4,
    }
}

fn nonlinearity(what: &'static str, code: u8) -> Result<Nonlinearity, ImageError> {
    NONLINEARITIES.get(usize::from(code)).copied().ok_or(ImageError::Code { what, code })
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
