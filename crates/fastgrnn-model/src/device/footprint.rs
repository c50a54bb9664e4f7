//! What a network needs on any board: bytes of its tables and buffers, work of a step.

use crate::quantize::{BiasBits, IntegerFactors, IntegerMatrix, IntegerModel};
use fastgrnn_core::cells::{Alphas, Cell, MatrixForm, Nonlinearity, Role, WeightBits};
use fastgrnn_core::net::{Network, View};
use fastgrnn_runtime::int::TABLE_LEN;

/// What a network needs, counted from its shape and from how many of its weights are not 0.
///
/// Bytes are those of the generated C: every table is in the smaller of the two forms that it may
/// have there, which differ slightly from those of the device image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Bytes of W's and U's tables.
    pub matrix_bytes: usize,
    /// Bytes of all other constants: the head, biases, gains, scales of the input or vectors of tokens, a stored
    /// state.
    pub other_bytes: usize,
    /// Bytes of the states of all layers.
    pub state_bytes: usize,
    /// Layers.
    pub layers: usize,
    /// Numbers of a frame.
    pub inputs: usize,
    /// Numbers that the first layer reads in a step: those of all frames of the window.
    pub step_inputs: usize,
    /// Frames from one step to the next.
    pub stride: usize,
    /// Bytes of the frames that a window keeps, and of its place among them; 0 without a window.
    pub window_bytes: usize,
    /// Scores.
    pub outputs: usize,
    /// Entries of those tables of W and U that list nonzero weights.
    pub listed: usize,
    /// Entries of the dense tables of W and U, zeros included.
    pub dense: usize,
    /// Entries of the tables of W and U whose entries have 4 bits.
    pub four_bits: usize,
    /// Rows of products that have a multiplier.
    pub multiplied: usize,
    /// Weights of W and U that are not 0.
    pub weights: usize,
    /// Entries of the head's table.
    pub head: usize,
    /// Rows of all matrices; each is a loop or a piece of straight-line code.
    pub rows: usize,
    /// Gains of gates.
    pub gains: usize,
    /// Nonlinearities of all units in a step.
    pub curves: usize,
    /// Those of [`Footprint::curves`] that read a table.
    pub smooth_curves: usize,
    /// Values between the two factors of a matrix, in the layer that has most of them.
    pub between: usize,
    /// Entries of a new state that cannot replace the old one at once, in the largest layer.
    pub next: usize,
    /// Sums of all units, in the layer that has most of them.
    pub sums: usize,
    /// Bytes of an audio front end's tables; see [`Footprint::with_front_end`].
    pub front_data: usize,
    /// Bytes of the front end's buffers and of a detector; 0 where there is no front end.
    pub front_ram: usize,
    /// Whether there is a detector.
    pub detects: bool,
}

impl Footprint {
    /// The footprint of `network`, whose weight matrix `view` has `nonzero(view)` entries that are not 0.
    /// States start from 0, see [`Footprint::storing_start`], and biases have their usual bits.
    pub fn of(network: &Network, nonzero: impl Fn(&View) -> usize) -> Self {
        Self::with_biases(network, BiasBits::usual(network), nonzero)
    }

    /// [`Footprint::of`] where biases have other bits than usual.
    pub fn with_biases(network: &Network, biases: BiasBits, nonzero: impl Fn(&View) -> usize) -> Self {
        let layout = network.layout();
        let mut footprint = Self {
            layers: network.layers.len(),
            inputs: network.input(),
            step_inputs: network.step_input(),
            stride: network.window.stride,
            window_bytes: if network.window.is_frame() { 0 } else { 2 * network.step_input() + 2 },
            outputs: network.outputs,
            other_bytes: biases.bytes() * network.outputs,
            ..Self::default()
        };
        match network.embedding {
            Some(embedding) => {
                footprint.other_bytes += embedding.vocabulary * network.input();
                if embedding.tied {
                    footprint.head = embedding.vocabulary * network.input();
                }
            }
            // Offsets and factors of the input.
            None => footprint.other_bytes += 4 * network.input(),
        }
        for view in layout.views().iter().filter(|view| view.role == Role::Weight) {
            match is_diagonal(network, view) {
                true => footprint.add_diagonal(view, nonzero(view)),
                false if layout.stepped().any(|(matrix, _)| matrix == view) => {
                    footprint.add_four_bits(view, nonzero(view));
                }
                false => footprint.add_matrix(view, nonzero(view)),
            }
        }
        network.layers.iter().for_each(|cell| footprint.add_cell(cell, biases));
        if footprint.smooth_curves > 0 {
            footprint.other_bytes += 2 * TABLE_LEN;
        }
        footprint
    }

    /// The footprint of a model.
    ///
    /// ```
    /// use fastgrnn_core::cells::{Cell, CellKind};
    /// use fastgrnn_model::device::Footprint;
    /// use fastgrnn_model::random::RandomModel;
    /// let model = RandomModel::new(Cell::new(CellKind::FastGrnn, 3, 16), 2, 20).build()?;
    /// assert_eq!(Footprint::of_model(&model).weights, 16 * 3 + 16 * 16);
    /// # Ok::<(), fastgrnn_model::random::RandomError>(())
    /// ```
    pub fn of_model(model: &IntegerModel) -> Self {
        let network = &model.network;
        // The longer biases of layers and head stand for all.
        let biases = network.layers.iter().map(|layer| layer.bias_bits).chain([network.head_bias_bits]);
        let biases = biases.max_by_key(|bits| bits.count()).unwrap_or_default();
        let footprint = Self::with_biases(&model.model.network, biases, |view| {
            let found = match view.name.strip_prefix("layer").and_then(|rest| rest.split_once('.')) {
                Some((index, name)) => {
                    let layer = index.parse().ok().and_then(|i: usize| network.layers.get(i));
                    layer.and_then(|l| matrix(if name.starts_with('w') { &l.w } else { &l.u }, name))
                }
                None => Some(&network.head),
            };
            found.map_or(view.len(), IntegerMatrix::nonzero)
        });
        let footprint = match model.front() {
            Some(spec) => footprint.with_front_end(&spec, model.detector().map(|own| own.keywords.len())),
            None => footprint,
        };
        match network.layers.iter().any(|l| !l.start.is_empty()) {
            true => footprint.storing_start(),
            false => footprint,
        }
    }

    /// The footprint with a stored state to start from.
    pub fn storing_start(self) -> Self {
        Self { other_bytes: self.other_bytes + self.state_bytes, ..self }
    }

    fn add_matrix(&mut self, view: &View, nonzero: usize) {
        // Second factors are stored by columns because they are read in that order.
        let (rows, cols) =
            if view.name.ends_with('2') { (view.cols, view.rows) } else { (view.rows, view.cols) };
        let (dense, listed) = (rows * cols, listed_bytes(rows, cols, nonzero));
        let is_dense = dense <= listed;
        let entries = if is_dense { dense } else { nonzero };
        if view.name.starts_with("head") {
            self.other_bytes += dense.min(listed);
            self.head += entries;
        } else {
            self.matrix_bytes += dense.min(listed);
            // Rows of more than 128 columns list distances, whose kernel takes about twice as long.
            let listed = if cols > 128 { 9 * entries / 4 } else { entries };
            *if is_dense { &mut self.dense } else { &mut self.listed } +=
                if is_dense { entries } else { listed };
            self.weights += nonzero;
            self.rows += rows;
        }
    }

    /// Entries of 4 bits are tables of four rows and two columns in a word.
    fn add_four_bits(&mut self, view: &View, nonzero: usize) {
        let (rows, cols) =
            if view.name.ends_with('2') { (view.cols, view.rows) } else { (view.rows, view.cols) };
        let bytes = 4 * rows.div_ceil(4) * cols.div_ceil(2);
        if view.name.starts_with("head") {
            self.other_bytes += bytes;
            self.head += rows * cols;
        } else {
            self.matrix_bytes += bytes;
            self.four_bits += rows * cols;
            self.weights += nonzero;
            self.rows += rows;
        }
    }

    /// Diagonals are dense tables, and each row is a single multiplication.
    fn add_diagonal(&mut self, view: &View, nonzero: usize) {
        self.matrix_bytes += view.len();
        self.dense += view.len();
        self.weights += nonzero;
        self.rows += view.rows;
    }

    fn add_cell(&mut self, cell: &Cell, bits: BiasBits) {
        let biases: usize = cell.params().iter().filter(|p| p.role == Role::Bias).map(|p| p.rows).sum();
        let four_bits = [cell.bits_w, cell.bits_u].into_iter().filter(|&bits| bits == WeightBits::Four);
        self.multiplied += four_bits.count() * cell.blocks() * cell.hidden;
        let (declaration, shape) = (cell.kind.declaration(), cell.kind.shape());
        let alphas = if shape.alphas == Alphas::PerUnit { cell.hidden } else { 0 };
        let gains = if shape.has_gain { cell.hidden } else { 0 };
        self.other_bytes += bits.bytes() * biases + 2 * alphas + gains;
        self.gains += gains;
        self.state_bytes += 2 * cell.state_len();
        let (gates, updates) = (declaration.gates(), declaration.updates());
        let smooth = |f: Nonlinearity| usize::from(f.reads_table());
        self.curves += (gates + updates) * cell.hidden;
        self.smooth_curves += (gates * smooth(cell.gate) + updates * smooth(cell.update)) * cell.hidden;
        let ranks = cell.form_w.rank().unwrap_or(0) + cell.form_u.rank().unwrap_or(0);
        self.between = self.between.max(ranks);
        // Only a full U reads the old state of other units while new ones are computed.
        if cell.form_u == MatrixForm::Full {
            self.next = self.next.max(cell.hidden);
        }
        self.sums = self.sums.max(shape.sums() * cell.hidden);
    }
}

/// Whether a weight tensor holds the diagonals of W or U.
fn is_diagonal(network: &Network, view: &View) -> bool {
    let of_layer = |(index, name): (&str, &str)| {
        let cell = network.layers.get(index.parse::<usize>().ok()?)?;
        Some(if name == "w" { cell.form_w } else { cell.form_u } == MatrixForm::Diagonal)
    };
    let place = view.name.strip_prefix("layer").and_then(|rest| rest.split_once('.'));
    place.and_then(of_layer).unwrap_or(false)
}

/// The most bytes of a table that lists nonzero entries with their positions. In rows of up to 128
/// columns, one byte holds the number of entries and one the position of each; longer rows have two
/// bytes for the number and may need zero entries to bridge gaps.
fn listed_bytes(rows: usize, cols: usize, nonzero: usize) -> usize {
    match cols {
        0..=128 => rows + 2 * nonzero,
        _ => 2 * rows + 2 * nonzero + 2 * rows * ((cols - 1) / 255),
    }
}

fn matrix<'a>(factors: &'a IntegerFactors, name: &str) -> Option<&'a IntegerMatrix> {
    if name.ends_with('2') { factors.second.as_ref() } else { Some(&factors.first) }
}
