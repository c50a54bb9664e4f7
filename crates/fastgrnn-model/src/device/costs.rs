//! The types of the cost tables: what code takes on a board, in bytes and cycles.
//!
//! The tables themselves are in the file of each board. Bytes are upper bounds over what the
//! compilers of `scripts/setup-boards` make of models of every cell. Cycles are fitted, by least
//! squares of relative errors, to what `fastgrnn board` counted for nine models of five cells, at
//! each board's own wait states: they are within 7 % of every step.

/// What generated code costs on a board.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    /// Weights in tables, products in loops.
    pub loops: CodeCosts,
    /// Weights as constants in straight-line code; `None` where this form is never worthwhile, so
    /// that the default is code for size.
    pub straight: Option<CodeCosts>,
    /// The audio front end; `None` where the board has no room for one and takes frames of features.
    pub front_end: Option<FrontEndCosts>,
    /// Bytes of the code of a detector.
    pub detector_code: usize,
}

/// What one form of code costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CodeCosts {
    /// Bytes that take no account of the network's size, and bytes that grow with it.
    pub bytes: CodeBytes,
    /// Cycles of the parts of a step.
    pub cycles: CycleCosts,
}

/// Bytes of code and stack.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CodeBytes {
    /// Code that every network has.
    pub base: usize,
    /// Code of a layer.
    pub layer: usize,
    /// Code of a weight; 0 for loops, whose weights are tables.
    pub weight: usize,
    /// Code of a row of a matrix; 0 for loops.
    pub row: usize,
    /// Stack besides buffers.
    pub stack: usize,
}

/// Cycles of the parts of a step and of a decision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CycleCosts {
    /// A weight in a table that lists entries, or in straight-line code.
    pub weight: f64,
    /// A weight in a dense table; straight-line code has none.
    pub dense_weight: f64,
    /// A weight of 4 bits in a table.
    pub four_bit_weight: f64,
    /// A row of a product that has a multiplier, besides what other rows cost.
    pub multiplied_row: f64,
    /// A row of a matrix besides its weights.
    pub row: f64,
    /// A unit's rule, for each nonlinearity in it.
    pub curve: f64,
    /// The additional cost of a nonlinearity that reads a table.
    pub smooth_curve: f64,
    /// An input: scaling a count.
    pub input: f64,
    /// A weight of the head, which is always a table.
    pub head_weight: f64,
    /// An output: its share of the decision and the confidence.
    pub output: f64,
}

impl CycleCosts {
    /// The costs in the order of the fields, so that a board's file can show them as one line of a
    /// table.
    pub(super) const fn new(
        [weight, dense_weight, row, curve, smooth_curve, input, head_weight, output]: [f64; 8],
    ) -> Self {
        Self {
            weight,
            dense_weight,
            four_bit_weight: dense_weight,
            multiplied_row: 0.0,
            row,
            curve,
            smooth_curve,
            input,
            head_weight,
            output,
        }
    }

    /// The same costs with those of entries of 4 bits.
    pub(super) const fn with_four_bits(self, four_bit_weight: f64, multiplied_row: f64) -> Self {
        Self { four_bit_weight, multiplied_row, ..self }
    }
}

/// What an audio front end costs besides its tables and buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrontEndCosts {
    /// Bytes of code.
    pub code: usize,
    /// Bytes of stack.
    pub stack: usize,
}
