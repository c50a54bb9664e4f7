//! An integer network as plain numbers, before it is written to bytes.

/// Bytes, row by row. If its entries have 4 bits, these are the bytes 16·e that they stand for.
#[derive(Clone, Debug)]
pub struct Matrix {
    pub rows: usize,
    pub columns: usize,
    pub entries: Vec<i8>,
}

impl Matrix {
    pub fn at(&self, row: usize, column: usize) -> i8 {
        self.entries[row * self.columns + column]
    }
}

/// W or U with its shifts (section 2).
#[derive(Clone, Debug)]
pub enum Product {
    Full {
        a: Matrix,
        s1: u8,
    },
    Low {
        a1: Matrix,
        a2: Matrix,
        s2: u8,
        s1: u8,
    },
    /// The diagonals of the blocks, one after the other.
    Diagonal {
        a: Vec<i8>,
        s1: u8,
    },
    Absent,
}

impl Product {
    /// The rank as the image stores it: 0 for a full matrix.
    pub fn rank(&self) -> usize {
        match self {
            Product::Low { a2, .. } => a2.columns,
            Product::Full { .. } | Product::Diagonal { .. } | Product::Absent => 0,
        }
    }

    /// Entries summed by the last product, and its shift.
    pub fn last(&self) -> (usize, u8) {
        match self {
            Product::Full { a, s1 } => (a.columns, *s1),
            Product::Low { a1, s1, .. } => (a1.columns, *s1),
            Product::Diagonal { s1, .. } => (1, *s1),
            Product::Absent => (0, 0),
        }
    }
}

/// A nonlinearity by its code in the image (section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curve {
    Tanh = 0,
    Sigmoid = 1,
    Relu = 2,
    QuantTanh = 3,
    QuantSigm = 4,
    QuantSigm4 = 5,
    Identity = 6,
}

impl Curve {
    pub const ALL: [Curve; 7] = [
        Curve::Tanh,
        Curve::Sigmoid,
        Curve::Relu,
        Curve::QuantTanh,
        Curve::QuantSigm,
        Curve::QuantSigm4,
        Curve::Identity,
    ];

    /// F, the fraction bits of the curve's value as an update.
    pub fn fraction_bits(self) -> u8 {
        if self.is_bounded() { 15 } else { 11 }
    }

    pub fn is_bounded(self) -> bool {
        !matches!(self, Curve::Relu | Curve::Identity)
    }

    pub fn reads_the_table(self) -> bool {
        matches!(self, Curve::Tanh | Curve::Sigmoid)
    }

    pub fn may_be_negative(self) -> bool {
        matches!(self, Curve::Tanh | Curve::QuantTanh)
    }
}

/// A cell with the parameters that only it has (section 5).
#[derive(Clone, Debug)]
pub enum Cell {
    Rnn,
    FastRnn { alpha: u16, beta: u16 },
    FastRnnVector { alpha: Vec<u16>, zeta: u16, nu: u16 },
    FastGrnn { gate: Curve, zeta: u16, nu: u16 },
    Ugrnn { gate: Curve },
    Gru { gate: Curve },
    Lstm { gate: Curve, f_c: u8 },
    MinGru { gate: Curve },
    FastGrnnGain { gate: Curve, gamma: Vec<i8>, zeta: u16, nu: u16 },
}

impl Cell {
    pub fn code(&self) -> u8 {
        match self {
            Cell::Rnn => 0,
            Cell::FastRnn { .. } => 1,
            Cell::FastRnnVector { .. } => 2,
            Cell::FastGrnn { .. } => 3,
            Cell::Ugrnn { .. } => 4,
            Cell::Gru { .. } => 5,
            Cell::Lstm { .. } => 6,
            Cell::MinGru { .. } => 7,
            Cell::FastGrnnGain { .. } => 8,
        }
    }

    pub fn gate(&self) -> Option<Curve> {
        match self {
            Cell::Rnn | Cell::FastRnn { .. } | Cell::FastRnnVector { .. } => None,
            Cell::FastGrnn { gate, .. } | Cell::FastGrnnGain { gate, .. } => Some(*gate),
            Cell::Ugrnn { gate } => Some(*gate),
            Cell::Gru { gate } | Cell::Lstm { gate, .. } | Cell::MinGru { gate } => Some(*gate),
        }
    }

    /// F_c as the image stores it.
    pub fn f_c(&self) -> u8 {
        if let Cell::Lstm { f_c, .. } = self { *f_c } else { 0 }
    }

    /// γ of each unit, which stands between the biases and the scalars; empty for a cell without.
    pub fn gains(&self) -> &[i8] {
        if let Cell::FastGrnnGain { gamma, .. } = self { gamma } else { &[] }
    }

    /// The scalars and vectors after the biases and gains, in the image's order.
    pub fn scalars(&self) -> Vec<u16> {
        match self {
            Cell::FastRnn { alpha, beta } => vec![*alpha, *beta],
            Cell::FastRnnVector { alpha, zeta, nu } => [alpha.as_slice(), &[*zeta, *nu]].concat(),
            Cell::FastGrnn { zeta, nu, .. } | Cell::FastGrnnGain { zeta, nu, .. } => vec![*zeta, *nu],
            _ => Vec::new(),
        }
    }
}

/// B, the blocks of rows stacked in W and U, of a cell given by its code.
pub fn blocks(code: u8) -> usize {
    [1, 1, 1, 1, 2, 3, 4, 2, 1][usize::from(code)]
}

/// How many vectors of biases a cell given by its code has.
pub fn bias_vectors(code: u8) -> usize {
    [1, 1, 1, 2, 2, 4, 4, 2, 2][usize::from(code)]
}

/// How many vectors of H entries a cell given by its code remembers.
pub fn state_vectors(code: u8) -> usize {
    if code == 6 { 2 } else { 1 }
}

#[derive(Clone, Debug)]
pub struct Layer {
    pub cell: Cell,
    pub update: Curve,
    pub hidden: usize,
    pub f_a: u8,
    pub f_h: u8,
    pub s_b: u8,
    pub w: Product,
    pub u: Product,
    /// If the entries of W have 4 bits, its multiplier.
    pub m_w: Option<u16>,
    /// Likewise of U.
    pub m_u: Option<u16>,
    pub byte_biases: bool,
    pub biases: Vec<Vec<i16>>,
    /// h, then an LSTM's c.
    pub start: Option<Vec<i16>>,
}

#[derive(Clone, Debug)]
pub struct Head {
    pub a: Matrix,
    /// If the entries have 4 bits, their multiplier.
    pub m: Option<u16>,
    pub byte_biases: bool,
    pub s_o: u8,
    pub f_s: i8,
    pub biases: Vec<i16>,
}

/// The vectors of tokens.
#[derive(Clone, Debug)]
pub struct Vectors {
    /// E, V × D.
    pub table: Matrix,
    /// Whether it is also the head's matrix.
    pub tied: bool,
}

#[derive(Clone, Debug)]
pub struct Network {
    /// In the place of offsets and factors, which are then empty, if the network reads tokens.
    pub vectors: Option<Vectors>,
    pub offsets: Vec<i16>,
    pub factors: Vec<u16>,
    pub s_x: u8,
    pub s_n: u8,
    /// κ.
    pub frames: u8,
    /// σ.
    pub stride: u8,
    pub layers: Vec<Layer>,
    pub head: Head,
    /// What outputs mean, by the code of section 7.
    pub meaning: u8,
    /// T; written only if a layer reads it.
    pub table: Vec<u16>,
}

impl Network {
    /// Counts of a frame.
    pub fn counts(&self) -> usize {
        if self.vectors.is_some() { 1 } else { self.offsets.len() }
    }

    /// D.
    pub fn width(&self) -> usize {
        self.vectors.as_ref().map_or(self.offsets.len(), |vectors| vectors.table.columns)
    }

    /// Whether only version 3 can hold it.
    pub fn needs_version_3(&self) -> bool {
        let layer = |layer: &Layer| layer.m_w.is_some() || layer.m_u.is_some() || layer.byte_biases;
        let window = (self.frames, self.stride) != (1, 1);
        self.layers.iter().any(layer) || self.head.m.is_some() || self.head.byte_biases || window
    }

    pub fn reads_the_table(&self) -> bool {
        let mut curves = self.layers.iter().flat_map(|layer| [Some(layer.update), layer.cell.gate()]);
        curves.any(|curve| curve.is_some_and(Curve::reads_the_table))
    }
}

/// β, the bits of a bias.
pub fn bias_bits(byte_biases: bool) -> u8 {
    if byte_biases { 8 } else { 16 }
}

/// T as the page defines it.
pub fn true_table() -> Vec<u16> {
    let entry = |i: i32| (1.0 / (1.0 + (-f64::from(i) / 8.0).exp()) - 0.5) * 65536.0;
    (0..64).map(|i| entry(i).round() as u16).chain([32757]).collect()
}
