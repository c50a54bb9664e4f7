//! An integer network as data: what the device image holds, and the grids its integers stand on.

use super::{EntryGrid, Grid, ProductScale};
use crate::model::Task;
use fastgrnn_core::cells::{Cell, Nonlinearity, NonlinearityF64, Role, ScalarName, WeightBits};
use fastgrnn_core::net::{Loss, Network};
use fastgrnn_core::window::Window;
use fastgrnn_runtime::int::{Meaning, Shifts};
use serde::{Deserialize, Serialize};

/// A matrix of bytes, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct IntegerMatrix {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
    /// The entries, row by row; 16 times the number if entries have 4 bits.
    pub entries: Vec<i8>,
    /// What an entry is worth.
    pub grid: EntryGrid,
}

impl IntegerMatrix {
    /// `values` (`rows × cols`) on the grid that serves them best.
    pub fn of(rows: usize, cols: usize, values: &[f32]) -> Self {
        Self::on(EntryGrid::Bytes(Grid::of(values)), rows, cols, values)
    }

    /// `values` (`rows × cols`) on a given grid.
    pub fn on(grid: EntryGrid, rows: usize, cols: usize, values: &[f32]) -> Self {
        Self { rows, cols, entries: values.iter().map(|&v| grid.byte(v)).collect(), grid }
    }

    /// Bits of an entry.
    pub fn bits(&self) -> WeightBits {
        self.grid.bits()
    }

    /// The scale of this matrix times a vector, where it has no other factor.
    pub fn product_scale(&self) -> ProductScale {
        ProductScale::of(self.grid.unit())
    }

    /// Entries of 4 bits, those of two rows in each byte: row 2i in the low half, row 2i + 1 in the high one.
    pub fn pairs(&self) -> Vec<u8> {
        let rows: Vec<&[i8]> = self.entries.chunks_exact(self.cols.max(1)).collect();
        let mut pairs = Vec::with_capacity(rows.len().div_ceil(2) * self.cols);
        for two in rows.chunks(2) {
            let high = |j: usize| two.get(1).map_or(0, |row| row[j] as u8 & 0xF0);
            pairs.extend(two[0].iter().enumerate().map(|(j, &low)| low as u8 >> 4 | high(j)));
        }
        pairs
    }

    /// Entries that are not 0.
    pub fn nonzero(&self) -> usize {
        self.entries.iter().filter(|&&v| v != 0).count()
    }
}

/// W or U of a layer; the layer's cell says in which form.
#[derive(Clone, Debug, PartialEq)]
pub struct IntegerFactors {
    /// The full matrix, its first factor (`rows × rank`) or the diagonals of its blocks
    /// (`rows × 1`). Without entries if the matrix is absent.
    pub first: IntegerMatrix,
    /// The second factor (`inputs × rank`).
    pub second: Option<IntegerMatrix>,
}

impl IntegerFactors {
    /// A matrix that is not there.
    pub fn absent() -> Self {
        Self { first: IntegerMatrix::of(0, 0, &[]), second: None }
    }

    /// The scale of this matrix times a vector, all factors together.
    pub fn product_scale(&self) -> ProductScale {
        ProductScale::of(self.first.grid.unit() * self.second.as_ref().map_or(1.0, |m| m.grid.unit()))
    }

    /// Bits of an entry.
    pub fn bits(&self) -> WeightBits {
        self.first.bits()
    }

    /// The stored matrices, the first factor first; none if the matrix is absent.
    pub fn matrices(&self) -> impl Iterator<Item = &IntegerMatrix> {
        std::iter::once(&self.first).filter(|first| first.rows > 0).chain(&self.second)
    }
}

/// Bits of a bias on a device; 8 or 16 in files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "u8", try_from = "u8")]
pub enum BiasBits {
    /// One byte.
    Eight,
    /// Two bytes.
    #[default]
    Sixteen,
}

impl BiasBits {
    /// The number.
    pub fn count(self) -> u32 {
        8 * self.bytes() as u32
    }

    /// Bytes of a bias.
    pub fn bytes(self) -> usize {
        match self {
            Self::Eight => 1,
            Self::Sixteen => 2,
        }
    }

    /// The largest bias; the smallest is one further from 0.
    pub fn largest(self) -> i16 {
        match self {
            Self::Eight => i8::MAX.into(),
            Self::Sixteen => i16::MAX,
        }
    }

    /// The longest shift of a bias of the head.
    pub(super) fn most_head_shift(self) -> i32 {
        match self {
            Self::Eight => 22,
            Self::Sixteen => 14,
        }
    }

    pub(super) fn is_sixteen(&self) -> bool {
        *self == Self::Sixteen
    }
}

impl BiasBits {
    /// What biases of a network have unless something else is wanted: 8 bits where a matrix has 4.
    pub fn usual(network: &Network) -> Self {
        let of_layers = network.layers.iter().flat_map(|cell| [cell.bits_w, cell.bits_u]);
        match of_layers.chain([network.bits_head]).any(|bits| bits == WeightBits::Four) {
            true => Self::Eight,
            false => Self::Sixteen,
        }
    }
}

impl From<BiasBits> for u8 {
    fn from(bits: BiasBits) -> Self {
        8 * bits.bytes() as u8
    }
}

impl TryFrom<u8> for BiasBits {
    type Error = String;

    fn try_from(count: u8) -> Result<Self, String> {
        match count {
            8 => Ok(Self::Eight),
            16 => Ok(Self::Sixteen),
            _ => Err(format!("a bias of {count} bits; it has 8 or 16")),
        }
    }
}

/// A layer in integers. Names and meanings as in `docs/integer-arithmetic.md`.
#[derive(Clone, Debug, PartialEq)]
pub struct IntegerLayer {
    /// Cell, sizes, ranks and nonlinearities.
    pub cell: Cell,
    /// The scales.
    pub shifts: Shifts,
    /// W.
    pub w: IntegerFactors,
    /// U.
    pub u: IntegerFactors,
    /// Bias vectors in the cell's order.
    pub biases: Vec<Vec<i16>>,
    /// Bits of each of them.
    pub bias_bits: BiasBits,
    /// The gain of each unit's gate, [`GAIN_BITS`](fastgrnn_core::cells::GAIN_BITS) fraction bits; empty for cells
    /// without.
    pub gains: Vec<i8>,
    /// α of FastRNN (one) and FastRNN-vector (one a unit), 15 fraction bits.
    pub alpha: Vec<u16>,
    /// β of FastRNN, 15 fraction bits.
    pub beta: u16,
    /// ζ, 14 fraction bits.
    pub zeta: u16,
    /// ν, 14 fraction bits.
    pub nu: u16,
    /// The state to start from (h, then an LSTM's c); empty for 0.
    pub start: Vec<i16>,
}

/// How counts become the network's input.
#[derive(Clone, Debug, PartialEq)]
pub struct InputScale {
    /// What one count of each feature is worth, in the data's units.
    pub lsb: Vec<f32>,
    /// Offsets o_d.
    pub offsets: Vec<i16>,
    /// Factors f_d.
    pub factors: Vec<u16>,
    /// s_x.
    pub shift: u32,
    /// s_n.
    pub offset_shift: u32,
    /// Fraction bits of the normalised input.
    pub bits: u32,
}

impl InputScale {
    /// The input of a network that reads tokens: one count, the number of a token, whose vector stands on
    /// `grid` and is shifted to the fraction bits that other inputs have.
    pub fn of_tokens(grid: Grid) -> Self {
        let shift = (14 - grid.exponent).clamp(0, 8);
        let bits = (grid.exponent + shift) as u32;
        Self {
            lsb: vec![1.0],
            offsets: vec![0],
            factors: vec![1],
            shift: shift as u32,
            offset_shift: 0,
            bits,
        }
    }
}

/// The vectors of tokens.
#[derive(Clone, Debug, PartialEq)]
pub struct IntegerEmbedding {
    /// A row for each token.
    pub vectors: IntegerMatrix,
    /// Whether the vectors are also the head's matrix, which is then equal to them.
    pub tied: bool,
}

/// A whole network in integers.
#[derive(Clone, Debug, PartialEq)]
pub struct IntegerNetwork {
    /// The vectors of tokens, where the network reads texts.
    pub embedding: Option<IntegerEmbedding>,
    /// The input's scale. That of a network that reads texts is [`InputScale::of_tokens`].
    pub input: InputScale,
    /// How many frames a step reads, and how many it moves on.
    pub window: Window,
    /// The layers, the one that reads the input first.
    pub layers: Vec<IntegerLayer>,
    /// The head's matrix.
    pub head: IntegerMatrix,
    /// The head's biases.
    pub head_biases: Vec<i16>,
    /// Bits of each of them.
    pub head_bias_bits: BiasBits,
    /// s_o.
    pub head_shift: u32,
    /// What scores mean.
    pub meaning: Meaning,
}

impl IntegerNetwork {
    /// Fraction bits of scores, F_s.
    pub fn score_bits(&self) -> i32 {
        self.head.product_scale().bits + self.layers.last().map_or(0, |l| l.shifts.state as i32)
    }

    /// All matrices of the layers and the head's, if it has its own.
    pub fn matrices(&self) -> impl Iterator<Item = &IntegerMatrix> {
        let of_layers = self.layers.iter().flat_map(|l| l.w.matrices().chain(l.u.matrices()));
        of_layers.chain((!self.is_tied()).then_some(&self.head))
    }

    /// Whether the vectors of tokens are also the head's matrix.
    pub fn is_tied(&self) -> bool {
        self.embedding.as_ref().is_some_and(|embedding| embedding.tied)
    }

    /// The parameters as the float engine would use them, in the layout of `network`.
    ///
    /// Weights and biases are exactly what the integers stand for. α, β, ζ and ν are stored before
    /// their sigmoid, so they come back to within rounding.
    pub(super) fn params(&self, network: &Network) -> Vec<f32> {
        let mut params = Vec::with_capacity(network.layout().len());
        let values = |m: &IntegerMatrix| m.entries.iter().map(|&b| m.grid.value(b)).collect::<Vec<_>>();
        for layer in &self.layers {
            for matrix in layer.w.matrices().chain(layer.u.matrices()) {
                params.extend(values(matrix));
            }
            let bias_bits = layer.shifts.sums as i32 - layer.shifts.bias as i32;
            let mut biases = layer.biases.iter();
            for p in layer.cell.params() {
                match p.role {
                    Role::Weight | Role::Embedding | Role::Basis | Role::Step => {}
                    Role::Bias => {
                        let own = biases.next().map_or(&[][..], Vec::as_slice);
                        params.extend(own.iter().map(|&b| scaled(f32::from(b), -bias_bits)));
                    }
                    Role::Gain => params.extend(layer.gains.iter().map(|&b| Grid::OF_GAINS.value(b))),
                    Role::Raw => params.extend(layer.raw_scalars(p.name)),
                }
            }
        }
        if !self.is_tied() {
            params.extend(values(&self.head));
        }
        let bits = self.score_bits() - self.head_shift as i32;
        params.extend(self.head_biases.iter().map(|&b| scaled(f32::from(b), -bits)));
        let of_layers = self.layers.iter().flat_map(|l| l.w.matrices().chain(l.u.matrices()));
        params.extend(of_layers.chain([&self.head]).filter_map(|m| match m.grid {
            EntryGrid::Bytes(_) => None,
            EntryGrid::FourBits(grid) => Some(grid.step.ln()),
        }));
        if let Some(embedding) = &self.embedding {
            params.extend(values(&embedding.vectors));
        }
        params
    }
}

impl IntegerLayer {
    /// α, β, ζ or ν as stored.
    pub fn scalar(&self, name: ScalarName) -> &[u16] {
        match name {
            ScalarName::Alpha => &self.alpha,
            ScalarName::Beta => std::slice::from_ref(&self.beta),
            ScalarName::Zeta => std::slice::from_ref(&self.zeta),
            ScalarName::Nu => std::slice::from_ref(&self.nu),
        }
    }

    /// The same, to be replaced; `values` are as many as the cell has.
    pub(super) fn set_scalar(&mut self, name: ScalarName, values: Vec<u16>) {
        let one = values.first().copied().unwrap_or(0);
        match name {
            ScalarName::Alpha => self.alpha = values,
            ScalarName::Beta => self.beta = one,
            ScalarName::Zeta => self.zeta = one,
            ScalarName::Nu => self.nu = one,
        }
    }

    /// The scalars that the cell has, in the order of files and images: name and entries.
    pub fn stored_scalars(&self) -> impl Iterator<Item = (ScalarName, usize)> + use<> {
        stored_scalars(&self.cell)
    }

    /// The layer's scalar called `name` before its sigmoid, as far as f32 can tell.
    fn raw_scalars(&self, name: &str) -> Vec<f32> {
        let own = self.cell.kind.declaration().scalars().find(|(_, p)| p.name == name);
        let Some((scalar, _)) = own else { return Vec::new() };
        let value = |&v: &u16| scaled(f32::from(v), -(scalar.fraction_bits() as i32));
        self.scalar(scalar).iter().map(value).map(before_sigmoid).collect()
    }
}

/// The scalars that a cell has, in the order of files and images: name and entries.
pub(super) fn stored_scalars(cell: &Cell) -> impl Iterator<Item = (ScalarName, usize)> + use<> {
    let hidden = cell.hidden;
    let scalars = cell.kind.declaration().scalars();
    scalars.map(move |(name, p)| (name, if p.is_vector { hidden } else { 1 }))
}

/// `v · 2^bits`
pub(super) fn scaled(v: f32, bits: i32) -> f32 {
    v * (bits as f32).exp2()
}

/// What gives `value` through the sigmoid, as far as f32 can tell.
fn before_sigmoid(value: f32) -> f32 {
    let value = f64::from(value).clamp(1e-7, 1.0 - 1e-7);
    Nonlinearity::Sigmoid.inverse(value) as f32
}

/// What the scores of a task mean.
pub(super) fn meaning(task: &Task, loss: Loss, outputs: usize) -> Meaning {
    match (task, loss) {
        (Task::Values { .. }, _) => Meaning::Values,
        (_, Loss::BinaryCrossEntropy) if outputs == 1 => Meaning::Binary,
        (_, Loss::BinaryCrossEntropy) => Meaning::OneAgainstAll,
        _ => Meaning::Classes,
    }
}
