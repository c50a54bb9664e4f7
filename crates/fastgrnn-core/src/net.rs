//! A network: stacked cells and a linear head, over one flat buffer of parameters.
//!
//! Gradients, optimiser moments and masks are buffers of the same [`Layout`]; code that walks its
//! views needs to know nothing about cells.
//!
//! ```
//! use fastgrnn_core::cells::{Cell, CellKind, Start};
//! use fastgrnn_core::net::Network;
//! let net = Network::new(vec![Cell::new(CellKind::FastGrnn, 8, 16)], 10);
//! net.check().unwrap();
//! let layout = net.layout();
//! let params = net.start(Start::default(), 8, 0);
//! assert_eq!(params.len(), layout.len());
//! assert_eq!(layout.view("head.w").unwrap().rows, 10);
//! ```

use crate::batch::Batch;
use crate::cells::{
    Cell, CellKind, CellMatrix, MatrixForm, Orthogonal, Param, Role, Scalar, SlowStart, Start, WeightBits,
};
pub use crate::initial::InitialState;
use crate::rng::{Rng, stream};
use crate::window::{MAX_FRAMES, Window};
use serde::{Deserialize, Serialize};

/// Which states the head reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Readout {
    /// The last state of each sequence: one row of outputs a sequence.
    #[default]
    Last,
    /// Every state: one row of outputs a time step.
    Every,
    /// The mean of all states of each sequence.
    Mean,
    /// The largest value of each unit over all states of each sequence.
    Max,
}

impl Readout {
    /// Whether there is a row of outputs for each time step, not for each sequence.
    pub fn is_every(self) -> bool {
        self == Self::Every
    }

    /// Whether the head reads one vector that is made of all states of a sequence.
    pub fn is_pooled(self) -> bool {
        matches!(self, Self::Mean | Self::Max)
    }
}

/// What training minimises, averaged over the readout rows by their weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// `−log softmax(scores)[class]`
    #[default]
    SoftmaxCrossEntropy,
    /// Sum over outputs of the binary cross-entropy of `sigmoid(score)` against 0/1 targets. With
    /// class targets: one output means class 1 against class 0, several mean one against all.
    BinaryCrossEntropy,
    /// Sum over outputs of `(score − target)²`.
    SquaredError,
}

/// A table with a vector for each token. The first cell reads the vectors of a sequence's tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Embedding {
    /// Tokens that have a vector.
    pub vocabulary: usize,
    /// Whether the table is also the matrix of the head.
    #[serde(default)]
    pub tied: bool,
}

/// Stacked cells and a linear head, with a table of vectors in front where the input is tokens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// The vectors of the tokens; `None` where sequences are numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedding: Option<Embedding>,
    /// How many frames of numbers a step reads, and how many it moves on.
    #[serde(default, skip_serializing_if = "Window::is_frame")]
    pub window: Window,
    /// The cells, the one that reads the data first.
    pub layers: Vec<Cell>,
    /// Numbers the head computes: classes, or regression outputs.
    pub outputs: usize,
    /// Which states the head reads.
    #[serde(default)]
    pub readout: Readout,
    /// Bits of the entries of the head's matrix on a device.
    #[serde(default, skip_serializing_if = "WeightBits::is_eight")]
    pub bits_head: WeightBits,
}

/// Why a network description is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NetworkError {
    /// No cell.
    #[error("a network needs at least one layer, but layers is 0")]
    NoLayer,
    /// A size is 0.
    #[error("layer {layer}: {what} is 0; it must be at least 1")]
    Zero {
        /// Index of the layer.
        layer: usize,
        /// Which size.
        what: &'static str,
    },
    /// A rank exceeds the matrix.
    #[error(
        "layer {layer}: rank-{matrix} {rank} is larger than the {rows} x {cols} matrix allows; \
         use a rank of at most {max}, or leave it out for full rank"
    )]
    Rank {
        /// Index of the layer.
        layer: usize,
        /// `w` or `u`.
        matrix: char,
        /// The rank.
        rank: usize,
        /// Rows of the matrix.
        rows: usize,
        /// Columns of the matrix.
        cols: usize,
        /// The largest possible rank.
        max: usize,
    },
    /// A W that is not square cannot be diagonal.
    #[error(
        "layer {layer}: form-w diagonal needs as many units as inputs, but there are {hidden} units and \
         {input} inputs"
    )]
    Diagonal {
        /// Index of the layer.
        layer: usize,
        /// Features that it reads.
        input: usize,
        /// Its units.
        hidden: usize,
    },
    /// An orthogonal U that is not a full matrix.
    #[error("layer {layer}: a U of {orthogonal} is a full matrix; it cannot be {form}")]
    OrthogonalForm {
        /// Index of the layer.
        layer: usize,
        /// How U is made.
        orthogonal: &'static str,
        /// The form that was given.
        form: MatrixForm,
    },
    /// Reflections that are too few or too many.
    #[error("layer {layer}: reflections {count}; it must be between 1 and the number of units, {hidden}")]
    Reflections {
        /// Index of the layer.
        layer: usize,
        /// How many there are.
        count: usize,
        /// The units.
        hidden: usize,
    },
    /// Layers of rotations that are too few, or more than reach another matrix.
    #[error(
        "layer {layer}: rotations {layers}; it must be between 1 and half of the units, {numbers}, with which every \
         unitary matrix is reached"
    )]
    Rotations {
        /// Index of the layer.
        layer: usize,
        /// How many there are.
        layers: usize,
        /// The complex numbers that the units are.
        numbers: usize,
    },
    /// Units that are not pairs.
    #[error(
        "layer {layer}: hidden {hidden}: {what} needs an even number of units, at least {least}, because pairs of units \
         are complex numbers; use one such as {instead}"
    )]
    Pairs {
        /// Index of the layer.
        layer: usize,
        /// The units.
        hidden: usize,
        /// What needs pairs.
        what: String,
        /// The least number of units.
        least: usize,
        /// A number near to the units.
        instead: usize,
    },
    /// Singular values that could be 0 or less.
    #[error("layer {layer}: spectral-margin {margin}; it must be at least 0 and below 1")]
    Margin {
        /// Index of the layer.
        layer: usize,
        /// The margin.
        margin: f64,
    },
    /// A layer without W.
    #[error("layer {layer}: form_w none: a layer must read its input")]
    NoInput {
        /// Index of the layer.
        layer: usize,
    },
    /// A U for a cell that does not read `U·h`.
    #[error("layer {layer}: form_u {form}: a {cell} has no matrix U; its form_u is none")]
    NoRecurrence {
        /// Index of the layer.
        layer: usize,
        /// The form that was given.
        form: MatrixForm,
        /// Which cell.
        cell: CellKind,
    },
    /// A layer's input is not the width of what feeds it.
    #[error("layer {layer} reads {input} features but the layer below has {below} units")]
    Mismatch {
        /// Index of the layer.
        layer: usize,
        /// Its declared input.
        input: usize,
        /// Width of the layer below.
        below: usize,
    },
    /// Entries of 4 bits in a matrix that has no entries of its own, or only a diagonal.
    #[error(
        "layer {layer}: bits-{matrix} 4 needs a matrix that is full or low-rank, but it is {form}; use 8"
    )]
    FourBits {
        /// Index of the layer.
        layer: usize,
        /// `w` or `u`.
        matrix: char,
        /// What it is instead.
        form: String,
    },
    /// A head of 4 bits whose matrix is the table of the embedding.
    #[error(
        "bits-head 4: the vectors of the tokens are the matrix of the head, and they have 8 bits; use 8, or tied false"
    )]
    FourBitsTied,
    /// `tied` for something other than FastRNN's β.
    #[error("layer {layer}: {scalar} cannot be tied in a {cell}; only fastrnn's beta can (to 1 - alpha)")]
    Tied {
        /// Index of the layer.
        layer: usize,
        /// Which scalar.
        scalar: &'static str,
        /// Which cell.
        cell: CellKind,
    },
    /// A tied table whose shape is not that of the head's matrix.
    #[error(
        "tied embeddings are the matrix of the head, so {vocabulary} tokens need {vocabulary} outputs and \
         vectors of {hidden} numbers; there are {outputs} outputs, and the vectors have {dim} numbers"
    )]
    TiedShape {
        /// Tokens of the table.
        vocabulary: usize,
        /// Numbers of a vector.
        dim: usize,
        /// Outputs of the head.
        outputs: usize,
        /// Units of the last layer.
        hidden: usize,
    },
    /// A window that leaves frames out, or is too long.
    #[error(
        "a window of {frames} frames at a stride of {stride}: the stride must be at least 1 and at most the \
         frames, and the frames at most {MAX_FRAMES}"
    )]
    Window {
        /// Frames that a step reads.
        frames: usize,
        /// Frames from one step to the next.
        stride: usize,
    },
    /// A window over tokens.
    #[error("a window of {frames} frames at a stride of {stride}: a network that reads tokens has none")]
    WindowOfTokens {
        /// Frames that a step reads.
        frames: usize,
        /// Frames from one step to the next.
        stride: usize,
    },
    /// A first layer that does not read whole frames.
    #[error("layer 0 reads {input} numbers, which is not a multiple of the {frames} frames of the window")]
    WindowInput {
        /// What it reads.
        input: usize,
        /// Frames of the window.
        frames: usize,
    },
    /// A table of nothing.
    #[error("the vocabulary is empty; an embedding needs at least one token")]
    NoToken,
    /// A fixed scalar outside [0, 1].
    #[error("layer {layer}: {scalar} is fixed at {value}; it must lie between 0 and 1")]
    Fixed {
        /// Index of the layer.
        layer: usize,
        /// Which scalar.
        scalar: &'static str,
        /// The value.
        value: f32,
    },
}

/// A named part of the flat buffer: a row-major `rows × cols` matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// `layer0.w1`, `head.b`, …
    pub name: String,
    /// First entry in the flat buffer.
    pub offset: usize,
    /// Rows.
    pub rows: usize,
    /// Columns; 1 for vectors and scalars.
    pub cols: usize,
    /// What it is.
    pub role: Role,
}

impl View {
    /// Number of entries.
    pub fn len(&self) -> usize {
        self.rows * self.cols
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entries' places in the flat buffer.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.offset..self.offset + self.len()
    }
}

/// The views of a network's flat buffer, in order and without gaps.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    views: Vec<View>,
}

impl Layout {
    /// All views, in order.
    pub fn views(&self) -> &[View] {
        &self.views
    }

    /// The view called `name`.
    pub fn view(&self, name: &str) -> Option<&View> {
        self.views.iter().find(|v| v.name == name)
    }

    /// The matrices whose entries have 4 bits, each with the view of its step.
    pub fn stepped(&self) -> impl Iterator<Item = (&View, &View)> {
        let matrix = |step: &View| self.view(&step.name.replace(".step_", "."));
        let steps = self.views.iter().filter(|view| view.role == Role::Step);
        steps.filter_map(move |step| Some((matrix(step)?, step)))
    }

    /// Sets the step of each matrix whose entries have 4 bits to what suits its values at the start.
    pub fn start_steps(&self, params: &mut [f32]) {
        for (matrix, step) in self.stepped() {
            params[step.offset] = WeightBits::first_log_step(&params[matrix.range()]);
        }
    }

    /// Numbers in the flat buffer.
    pub fn len(&self) -> usize {
        self.views.last().map_or(0, |v| v.offset + v.len())
    }

    /// Number of parameters without the steps of matrices, which say how entries are stored.
    pub fn count(&self) -> usize {
        self.views.iter().filter(|view| view.role != Role::Step).map(View::len).sum()
    }

    /// Whether there are no parameters.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Network {
    /// A network that reads out the last state.
    pub fn new(layers: Vec<Cell>, outputs: usize) -> Self {
        let (window, readout, bits_head) = (Window::FRAME, Readout::Last, WeightBits::Eight);
        Self { embedding: None, window, layers, outputs, readout, bits_head }
    }

    /// Whether the matrix of the head is the table of the embedding.
    pub fn is_tied(&self) -> bool {
        self.embedding.is_some_and(|embedding| embedding.tied)
    }

    /// Features of a frame of the data: of tokens, the numbers of a vector.
    pub fn input(&self) -> usize {
        self.layers[0].input / self.window.frames
    }

    /// Numbers that the first layer reads in a time step: those of all frames of the window.
    pub fn step_input(&self) -> usize {
        self.layers[0].input
    }

    /// The cell of the last layer, by which the network is called: an input layer may lie below it.
    pub fn main_cell(&self) -> &Cell {
        &self.layers[self.layers.len() - 1]
    }

    /// The first layer, if it has no state: a projection of what the window shows.
    pub fn input_layer(&self) -> Option<&Cell> {
        let is_projection = |cell: &&Cell| cell.kind == CellKind::Rnn && cell.form_u == MatrixForm::Absent;
        self.layers.first().filter(is_projection).filter(|_| self.layers.len() > 1)
    }

    /// Units of the last layer.
    pub fn hidden(&self) -> usize {
        self.main_cell().hidden
    }

    /// An empty batch of what the network reads: numbers or tokens.
    pub fn empty_batch(&self) -> Batch {
        match self.embedding {
            Some(_) => Batch::of_tokens(),
            None => Batch::with_window(self.input(), self.window),
        }
    }

    /// Numbers of the whole state: of each layer h and, if the cell has one, c.
    pub fn state_len(&self) -> usize {
        self.layers.iter().map(Cell::state_len).sum()
    }

    /// Checks sizes, ranks and scalar modes. Everything else in the crate relies on it.
    pub fn check(&self) -> Result<(), NetworkError> {
        if self.layers.is_empty() {
            return Err(NetworkError::NoLayer);
        }
        for (layer, cell) in self.layers.iter().enumerate() {
            self.check_layer(layer, cell)?;
        }
        self.check_window()?;
        if self.outputs == 0 {
            return Err(NetworkError::Zero { layer: self.layers.len() - 1, what: "the number of outputs" });
        }
        if self.is_tied() && self.bits_head == WeightBits::Four {
            return Err(NetworkError::FourBitsTied);
        }
        match self.embedding {
            Some(Embedding { vocabulary: 0, .. }) => Err(NetworkError::NoToken),
            Some(Embedding { vocabulary, tied: true })
                if vocabulary != self.outputs || self.input() != self.hidden() =>
            {
                let (dim, outputs, hidden) = (self.input(), self.outputs, self.hidden());
                Err(NetworkError::TiedShape { vocabulary, dim, outputs, hidden })
            }
            _ => Ok(()),
        }
    }

    fn check_window(&self) -> Result<(), NetworkError> {
        let Window { frames, stride } = self.window;
        if !self.window.is_valid() {
            return Err(NetworkError::Window { frames, stride });
        }
        if self.embedding.is_some() && !self.window.is_frame() {
            return Err(NetworkError::WindowOfTokens { frames, stride });
        }
        let input = self.step_input();
        match input.is_multiple_of(frames) {
            true => Ok(()),
            false => Err(NetworkError::WindowInput { input, frames }),
        }
    }

    fn check_layer(&self, layer: usize, cell: &Cell) -> Result<(), NetworkError> {
        for (value, what) in [(cell.input, "the number of input features"), (cell.hidden, "hidden")] {
            if value == 0 {
                return Err(NetworkError::Zero { layer, what });
            }
        }
        if layer > 0 && cell.input != self.layers[layer - 1].hidden {
            let below = self.layers[layer - 1].hidden;
            return Err(NetworkError::Mismatch { layer, input: cell.input, below });
        }
        if cell.kind.shape().has_pairs {
            check_pairs(layer, cell.hidden, 2, || format!("the cell {}", cell.kind))?;
        }
        check_form(layer, cell, &cell.w())?;
        check_form(layer, cell, &cell.u())?;
        for (_, p) in cell.kind.declaration().scalars() {
            match cell.scalars.mode(p.name) {
                Scalar::Tied if !(cell.kind == CellKind::FastRnn && p.name == "beta") => {
                    return Err(NetworkError::Tied { layer, scalar: p.name, cell: cell.kind });
                }
                Scalar::Fixed(value) if !(0.0..=1.0).contains(&value) => {
                    return Err(NetworkError::Fixed { layer, scalar: p.name, value });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The network with the matrices that its orthogonal ones are made into, as a device has them.
    pub fn materialised(&self) -> Self {
        let mut network = self.clone();
        network.layers.iter_mut().for_each(|cell| cell.orthogonal_u = None);
        network
    }

    /// Where each parameter lies in the flat buffer: layer by layer, then the head, then the steps
    /// of matrices whose entries have 4 bits, then the embedding. A tied embedding takes the place of `head.w`.
    pub fn layout(&self) -> Layout {
        let mut views = Vec::new();
        let mut offset = 0;
        let mut add = |name: String, rows: usize, cols: usize, role: Role| {
            views.push(View { name, offset, rows, cols, role });
            offset += rows * cols;
        };
        for (i, cell) in self.layers.iter().enumerate() {
            for p in cell.params() {
                add(format!("layer{i}.{}", p.name), p.rows, p.cols, p.role);
            }
        }
        if !self.is_tied() {
            add("head.w".into(), self.outputs, self.hidden(), Role::Weight);
        }
        add("head.b".into(), self.outputs, 1, Role::Bias);
        for (i, cell) in self.layers.iter().enumerate() {
            cell.steps().for_each(|p| add(format!("layer{i}.{}", p.name), p.rows, p.cols, p.role));
        }
        if self.bits_head == WeightBits::Four {
            add("head.step_w".into(), 1, 1, Role::Step);
        }
        if let Some(embedding) = self.embedding {
            add(EMBEDDING.into(), embedding.vocabulary, self.input(), Role::Embedding);
        }
        Layout { views }
    }

    /// The deviation of the vectors of tokens at the start.
    ///
    /// Those of a language model are small, because they may be the head's matrix, too. A few words decide on the
    /// label of a text, and they stand out sooner if vectors are large.
    fn first_deviation(&self) -> f64 {
        if self.readout == Readout::Every { 0.1 } else { 0.5 }
    }

    /// Starting values of all parameters for sequences of about `steps` time steps.
    pub fn start(&self, start: Start, steps: usize, seed: u64) -> Vec<f32> {
        let layout = self.layout();
        let mut params = vec![0.0; layout.len()];
        let draws = |i: usize| Rng::keyed(seed, &[stream::START, i as u64]);
        let mut first = 0;
        for cell in &self.layers {
            let of_cell = cell.params();
            let slow = |p: &Param| p.pointwise.map(|p| p.slow);
            let keep = of_cell.iter().position(|p| slow(p) == Some(SlowStart::Keep));
            for (i, param) in of_cell.iter().enumerate() {
                // What a unit admits goes with what it keeps: the same draws.
                let drawn = if slow(param) == Some(SlowStart::Admit) { keep.unwrap_or(i) } else { i };
                let out = &mut params[layout.views()[first + i].range()];
                start.fill(cell, param, steps, &mut draws(first + drawn), out);
            }
            first += of_cell.len();
        }
        if let Some(head) = layout.view("head.w") {
            start.fill_head(self.hidden(), &mut draws(first), &mut params[head.range()]);
        }
        if let Some(embedding) = layout.view(EMBEDDING) {
            start.fill_embedding(
                self.first_deviation(),
                &mut draws(first + 1),
                &mut params[embedding.range()],
            );
        }
        layout.start_steps(&mut params);
        params
    }
}

/// Checks the form of W or U of a layer.
fn check_form(layer: usize, cell: &Cell, m: &CellMatrix) -> Result<(), NetworkError> {
    let (matrix, rows, cols) = (m.letter, m.rows, m.cols);
    if m.bits == WeightBits::Four {
        let form = match (m.form, m.orthogonal) {
            (_, Some(orthogonal)) => orthogonal.name().to_string(),
            (MatrixForm::Full | MatrixForm::LowRank(_), None) => String::new(),
            (form, None) => form.to_string(),
        };
        if !form.is_empty() {
            return Err(NetworkError::FourBits { layer, matrix, form });
        }
    }
    if matrix == 'u' && m.form != MatrixForm::Absent && !cell.kind.declaration().reads_state {
        return Err(NetworkError::NoRecurrence { layer, form: m.form, cell: cell.kind });
    }
    match (m.form, m.orthogonal) {
        (MatrixForm::Full, Some(orthogonal)) => return check_orthogonal(layer, m, orthogonal),
        (form, Some(orthogonal)) => {
            return Err(NetworkError::OrthogonalForm { layer, orthogonal: orthogonal.name(), form });
        }
        _ => {}
    }
    match m.form {
        MatrixForm::LowRank(0) => Err(NetworkError::Zero { layer, what: "a rank" }),
        MatrixForm::LowRank(rank) if rank > rows.min(cols) => {
            Err(NetworkError::Rank { layer, matrix, rank, rows, cols, max: rows.min(cols) })
        }
        MatrixForm::Diagonal if cols != cell.hidden => {
            Err(NetworkError::Diagonal { layer, input: cols, hidden: cell.hidden })
        }
        MatrixForm::Absent if matrix == 'w' => Err(NetworkError::NoInput { layer }),
        _ => Ok(()),
    }
}

/// Checks the number of units where pairs of them are complex numbers.
fn check_pairs(
    layer: usize,
    hidden: usize,
    least: usize,
    what: impl Fn() -> String,
) -> Result<(), NetworkError> {
    if hidden.is_multiple_of(2) && hidden >= least {
        return Ok(());
    }
    let instead = hidden.next_multiple_of(2).max(least);
    Err(NetworkError::Pairs { layer, hidden, what: what(), least, instead })
}

/// Checks the numbers of an orthogonal matrix.
fn check_orthogonal(layer: usize, m: &CellMatrix, orthogonal: Orthogonal) -> Result<(), NetworkError> {
    if let Orthogonal::Reflections { count } | Orthogonal::Spectral { count, .. } = orthogonal
        && !(1..=m.cols).contains(&count)
    {
        return Err(NetworkError::Reflections { layer, count, hidden: m.cols });
    }
    if orthogonal.has_pairs() {
        check_pairs(layer, m.cols, 4, || format!("form-u {}", orthogonal.name()))?;
    }
    if let Orthogonal::Rotations { layers } = orthogonal
        && !(1..=m.cols / 2).contains(&layers)
    {
        return Err(NetworkError::Rotations { layer, layers, numbers: m.cols / 2 });
    }
    let margin = orthogonal.margin();
    if (0.0..1.0).contains(&margin) { Ok(()) } else { Err(NetworkError::Margin { layer, margin }) }
}

/// The view of the embedding.
pub const EMBEDDING: &str = "embedding.w";
/// Most layers that a network or a model file may have.
pub const MAX_LAYERS: usize = 64;
/// Most features, units or outputs: it keeps the number of parameters far from overflow.
pub const MAX_SIZE: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layout_has_no_gaps_and_counts_the_paper_s_har_model() {
        let cell = Cell::new(CellKind::FastGrnn, 9, 80).with_ranks(Some(5), Some(40));
        let layout = Network::new(vec![cell], 2).layout();
        let mut next = 0;
        for v in layout.views() {
            assert_eq!(v.offset, next);
            next += v.len();
        }
        // 5(80+9) + 40(80+80) + 2·80 + 2 + 2·80 + 2
        assert_eq!(layout.len(), 445 + 6400 + 160 + 2 + 162);
    }

    #[test]
    fn a_rank_larger_than_the_matrix_is_named() {
        let cell = Cell::new(CellKind::FastGrnn, 9, 80).with_ranks(Some(12), None);
        let error = Network::new(vec![cell], 2).check().unwrap_err();
        assert_eq!(
            error.to_string(),
            "layer 0: rank-w 12 is larger than the 80 x 9 matrix allows; use a rank of at most 9, or leave it out for full rank"
        );
    }

    #[test]
    fn forms_that_a_layer_cannot_have_are_named() {
        let check = |cell: Cell, w, u| Network::new(vec![cell.with_forms(w, u)], 2).check();
        let (full, diagonal, none) = (MatrixForm::Full, MatrixForm::Diagonal, MatrixForm::Absent);
        let cell = || Cell::new(CellKind::Gru, 4, 6);
        assert_eq!(
            check(cell(), diagonal, full),
            Err(NetworkError::Diagonal { layer: 0, input: 4, hidden: 6 })
        );
        assert_eq!(check(cell(), none, full), Err(NetworkError::NoInput { layer: 0 }));
        for (w, u) in [(full, diagonal), (full, none), (MatrixForm::LowRank(3), diagonal)] {
            assert_eq!(check(cell(), w, u), Ok(()));
        }
        assert_eq!(check(Cell { input: 6, ..cell() }, diagonal, diagonal), Ok(()));
    }

    #[test]
    fn a_diagonal_starts_with_signs() {
        let cell = Cell::new(CellKind::FastGrnn, 3, 64).with_forms(MatrixForm::Full, MatrixForm::Diagonal);
        let net = Network::new(vec![cell], 2);
        let params = net.start(Start::Slow, 20, 1);
        let u = &params[net.layout().view("layer0.u").unwrap().range()];
        assert!(u.iter().all(|v| v.abs() == 0.7));
        assert!(u.iter().any(|v| *v > 0.0) && u.iter().any(|v| *v < 0.0));
    }

    #[test]
    fn a_tied_embedding_is_the_matrix_of_the_head() {
        let of = |tied: bool, dim: usize| Network {
            embedding: Some(Embedding { vocabulary: 11, tied }),
            readout: Readout::Every,
            ..Network::new(vec![Cell::new(CellKind::FastGrnn, dim, 6)], 11)
        };
        let (tied, untied) = (of(true, 6), of(false, 4));
        assert_eq!((tied.check(), untied.check()), (Ok(()), Ok(())));
        assert!(tied.layout().view("head.w").is_none() && untied.layout().view("head.w").is_some());
        for net in [tied, untied] {
            let layout = net.layout();
            let table = layout.view(EMBEDDING).unwrap();
            assert_eq!((table.rows, table.cols), (11, net.input()));
            assert_eq!(table.range().end, layout.len());
            let params = net.start(Start::Slow, 20, 0);
            assert!(params[table.range()].iter().all(|v| *v != 0.0));
        }
        assert!(matches!(of(true, 4).check(), Err(NetworkError::TiedShape { dim: 4, hidden: 6, .. })));
        let mut empty = of(false, 4);
        empty.embedding = Some(Embedding { vocabulary: 0, tied: false });
        assert_eq!(empty.check(), Err(NetworkError::NoToken));
    }

    #[test]
    fn every_matrix_of_4_bits_has_a_step_that_starts_from_its_values() {
        let (four, eight) = (WeightBits::Four, WeightBits::Eight);
        let cell = Cell::new(CellKind::Gru, 4, 6).with_ranks(Some(2), None).with_bits(four, eight);
        let net = Network { bits_head: four, ..Network::new(vec![cell.clone()], 3) };
        assert_eq!(net.check(), Ok(()));
        let (layout, params) = (net.layout(), net.start(Start::Slow, 20, 1));
        let names: Vec<_> = layout.stepped().map(|(m, s)| (m.name.as_str(), s.name.as_str())).collect();
        let of_layer = [("layer0.w1", "layer0.step_w1"), ("layer0.w2", "layer0.step_w2")];
        assert_eq!(names, [of_layer[0], of_layer[1], ("head.w", "head.step_w")]);
        for (matrix, step) in layout.stepped() {
            let values = &params[matrix.range()];
            let mean = values.iter().map(|v| v.abs()).sum::<f32>() / values.len() as f32;
            assert!((params[step.offset].exp() - 2.0 * mean / 7f32.sqrt()).abs() < 1e-5);
        }
        let diagonal = Cell::new(CellKind::Gru, 4, 6).with_forms(MatrixForm::Full, MatrixForm::Diagonal);
        let error = Network::new(vec![diagonal.with_bits(eight, four)], 3).check().unwrap_err();
        assert_eq!(
            error.to_string(),
            "layer 0: bits-u 4 needs a matrix that is full or low-rank, but it is diagonal; use 8"
        );
    }

    #[test]
    fn only_fastrnn_s_beta_can_be_tied() {
        let mut cell = Cell::new(CellKind::FastRnn, 1, 2);
        cell.scalars.beta = Scalar::Tied;
        assert!(Network::new(vec![cell.clone()], 2).check().is_ok());
        cell.scalars.alpha = Scalar::Tied;
        assert!(matches!(
            Network::new(vec![cell], 2).check(),
            Err(NetworkError::Tied { scalar: "alpha", .. })
        ));
    }
}
