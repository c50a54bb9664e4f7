//! One batch of sequences as the engine reads it: flat, reusable, of equal or unequal lengths.
//!
//! ```
//! use fastgrnn_core::batch::{Batch, Targets};
//! let mut batch = Batch::new(2);
//! batch.push(&[0.1, 0.2, 0.3, 0.4]); // two steps of two features
//! batch.push(&[0.5, 0.6]); // one step
//! batch.targets = Targets::Class(vec![0, 1]);
//! assert_eq!(batch.len(), 2);
//! assert_eq!(batch.steps(1), 1);
//! let mut text = Batch::of_tokens();
//! text.push_tokens(&[17, 4, 99]);
//! assert_eq!(text.tokens(0), [17, 4, 99]);
//! ```

use crate::regularize::Regularization;
use crate::window::Window;

/// What the network should say about each readout row.
///
/// With [`Readout::Last`](crate::net::Readout::Last) a row is a sequence, with
/// [`Readout::Every`](crate::net::Readout::Every) it is a time step, in the order of `x`.
#[derive(Clone, Debug, PartialEq)]
pub enum Targets {
    /// The index of the right class.
    Class(Vec<u32>),
    /// `outputs` numbers a row: regression targets, or 0/1 for binary cross-entropy.
    Value(Vec<f32>),
    /// Several classes a row, or none, for binary cross-entropy.
    Set(Sets),
}

/// Sets of classes, one after the other; the members of each in ascending order.
#[derive(Clone, Debug, PartialEq)]
pub struct Sets {
    members: Vec<u32>,
    ends: Vec<usize>,
}

impl Default for Sets {
    fn default() -> Self {
        Self { members: Vec::new(), ends: vec![0] }
    }
}

impl Sets {
    /// Appends a set.
    pub fn push(&mut self, members: &[u32]) {
        self.members.extend_from_slice(members);
        self.ends.push(self.members.len());
    }

    /// Removes all sets and keeps the memory.
    pub fn clear(&mut self) {
        self.members.clear();
        self.ends.truncate(1);
    }

    /// Number of sets.
    pub fn len(&self) -> usize {
        self.ends.len() - 1
    }

    /// Whether there is no set.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All sets, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        (0..self.len()).map(|i| self.get(i))
    }

    /// The members of set `i`.
    pub fn get(&self, i: usize) -> &[u32] {
        &self.members[self.ends[i]..self.ends[i + 1]]
    }
}

/// Readings of the head before the last step, which the training loss of a sequence includes.
///
/// Its loss is then the mean over the last step and `readings` steps before it, `every` steps apart,
/// as far as the sequence goes back. Scores are those of the last step all the same. For networks
/// that read the last state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Earlier {
    /// How many.
    pub readings: usize,
    /// Steps from one to the next.
    pub every: usize,
}

impl Earlier {
    /// Readings of a sequence of `steps`, the last among them.
    fn count(self, steps: usize) -> usize {
        let before = steps.saturating_sub(1).checked_div(self.every).unwrap_or(0);
        1 + before.min(self.readings)
    }
}

/// What a larger network says about the rows, and how much that counts.
///
/// The loss of a row is `(1 − weight)` times that of its own target plus `weight · temperature²`
/// times that of the teacher's, with all scores divided by `temperature`.
#[derive(Clone, Debug, PartialEq)]
pub struct Teacher {
    /// Its probabilities at `temperature`, `outputs` a row; empty where there is no teacher.
    pub rows: Vec<f32>,
    /// Share of the loss that is the teacher's, from 0 to 1.
    pub weight: f32,
    /// What scores are divided by before they become probabilities, above 0.
    pub temperature: f32,
}

/// What the steps of the sequences hold.
#[derive(Clone, Debug)]
enum Inputs {
    /// `dim` numbers a step.
    Values { dim: usize, x: Vec<f32> },
    /// A token a step.
    Tokens(Vec<u32>),
}

/// Sequences, their targets and weights.
#[derive(Clone, Debug)]
pub struct Batch {
    inputs: Inputs,
    window: Window,
    /// Frames, or tokens, before each sequence, and all of them at the end.
    offsets: Vec<usize>,
    /// Time steps before each sequence, and all of them at the end.
    step_offsets: Vec<usize>,
    /// Targets of the rows; ignored by a forward pass.
    pub targets: Targets,
    /// Where targets lie between classes: the share of each class, `outputs` a row (of a single
    /// output, that of class 1). Empty means that a row is of its class alone.
    pub soft: Vec<f32>,
    /// A teacher's say in the loss.
    pub teacher: Teacher,
    /// Weight of each sequence in the loss; empty means 1 for all.
    pub weights: Vec<f32>,
    /// Steps before the last that count in the loss; kept by [`clear`](Self::clear).
    pub earlier: Earlier,
    /// Sequences whose last step alone counts all the same; empty means none.
    pub last_only: Vec<bool>,
    /// Initial state h of each sequence, its layers one after the other (`len × Σ hidden`); empty
    /// means zero. An LSTM's cell state c starts at zero.
    pub initial: Vec<f32>,
    /// The whole state that each sequence continues from, its layers one after the other, of each
    /// layer h and then, if the cell has one, c (`len` times
    /// [`state_len`](crate::net::Network::state_len)); empty means that sequences begin anew.
    pub carried: Vec<f32>,
    /// Penalties and dropout, which only a training step has; kept by [`clear`](Self::clear).
    pub regularization: Regularization,
}

impl Batch {
    /// An empty batch of sequences with `dim` features a step.
    pub fn new(dim: usize) -> Self {
        Self::with_inputs(Inputs::Values { dim, x: Vec::new() })
    }

    /// An empty batch of sequences whose frames have `dim` features, for a network that reads them through
    /// a window.
    pub fn with_window(dim: usize, window: Window) -> Self {
        Self { window, ..Self::new(dim) }
    }

    /// An empty batch of sequences of tokens.
    pub fn of_tokens() -> Self {
        Self::with_inputs(Inputs::Tokens(Vec::new()))
    }

    fn with_inputs(inputs: Inputs) -> Self {
        Self {
            inputs,
            window: Window::FRAME,
            offsets: vec![0],
            step_offsets: vec![0],
            targets: Targets::Class(Vec::new()),
            soft: Vec::new(),
            teacher: Teacher { rows: Vec::new(), weight: 0.0, temperature: 1.0 },
            weights: Vec::new(),
            earlier: Earlier::default(),
            last_only: Vec::new(),
            initial: Vec::new(),
            carried: Vec::new(),
            regularization: Regularization::default(),
        }
    }

    /// Removes all sequences and keeps the memory.
    pub fn clear(&mut self) {
        match &mut self.inputs {
            Inputs::Values { x, .. } => x.clear(),
            Inputs::Tokens(tokens) => tokens.clear(),
        }
        self.offsets.truncate(1);
        self.step_offsets.truncate(1);
        self.weights.clear();
        self.last_only.clear();
        self.soft.clear();
        self.teacher.rows.clear();
        self.initial.clear();
        self.carried.clear();
        match &mut self.targets {
            Targets::Class(v) => v.clear(),
            Targets::Value(v) => v.clear(),
            Targets::Set(v) => v.clear(),
        }
    }

    /// Becomes a copy of `other` and keeps the memory.
    pub fn assign(&mut self, other: &Self) {
        match (&mut self.inputs, &other.inputs) {
            (Inputs::Values { dim, x }, Inputs::Values { dim: other_dim, x: other_x }) => {
                *dim = *other_dim;
                x.clone_from(other_x);
            }
            (Inputs::Tokens(to), Inputs::Tokens(from)) => to.clone_from(from),
            (to, from) => *to = from.clone(),
        }
        self.window = other.window;
        self.offsets.clone_from(&other.offsets);
        self.step_offsets.clone_from(&other.step_offsets);
        self.weights.clone_from(&other.weights);
        self.earlier = other.earlier;
        self.last_only.clone_from(&other.last_only);
        self.soft.clone_from(&other.soft);
        self.teacher.rows.clone_from(&other.teacher.rows);
        (self.teacher.weight, self.teacher.temperature) = (other.teacher.weight, other.teacher.temperature);
        self.initial.clone_from(&other.initial);
        self.carried.clone_from(&other.carried);
        self.regularization = other.regularization;
        match (&mut self.targets, &other.targets) {
            (Targets::Class(to), Targets::Class(from)) => to.clone_from(from),
            (Targets::Value(to), Targets::Value(from)) => to.clone_from(from),
            (Targets::Set(to), Targets::Set(from)) => {
                to.members.clone_from(&from.members);
                to.ends.clone_from(&from.ends);
            }
            (to, from) => *to = from.clone(),
        }
    }

    /// Appends a sequence given as whole frames of `dim` features. Without a window, a frame is a step.
    ///
    /// # Panics
    /// If this is a batch of tokens.
    pub fn push(&mut self, sequence: &[f32]) {
        let Inputs::Values { dim, x } = &mut self.inputs else { panic!("numbers in a batch of tokens") };
        x.extend_from_slice(sequence);
        let frames = sequence.len() / *dim;
        self.add_frames(frames);
    }

    /// Notes that a sequence of so many frames, or tokens, has been appended.
    fn add_frames(&mut self, frames: usize) {
        self.offsets.push(self.offsets[self.offsets.len() - 1] + frames);
        let steps = self.window.steps(frames);
        self.step_offsets.push(self.step_offsets[self.step_offsets.len() - 1] + steps);
    }

    /// Appends a sequence of tokens.
    ///
    /// # Panics
    /// If this is a batch of numbers.
    pub fn push_tokens(&mut self, sequence: &[u32]) {
        let Inputs::Tokens(tokens) = &mut self.inputs else { panic!("tokens in a batch of numbers") };
        tokens.extend_from_slice(sequence);
        self.add_frames(sequence.len());
    }

    /// Appends a sequence of `frames` zero frames and returns it to be written.
    ///
    /// # Panics
    /// If this is a batch of tokens.
    pub fn push_zeros(&mut self, frames: usize) -> &mut [f32] {
        self.add_frames(frames);
        let Inputs::Values { dim, x } = &mut self.inputs else { panic!("numbers in a batch of tokens") };
        let start = x.len();
        x.resize(start + frames * *dim, 0.0);
        &mut x[start..]
    }

    /// Readings of the head that the loss of sequence `i` includes, the last among them.
    pub fn readings(&self, i: usize) -> usize {
        match self.last_only.get(i) {
            Some(true) => 1,
            _ => self.earlier.count(self.steps(i)),
        }
    }

    /// Number of sequences.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no sequence.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Features of a frame; 0 of tokens.
    pub fn dim(&self) -> usize {
        match self.inputs {
            Inputs::Values { dim, .. } => dim,
            Inputs::Tokens(_) => 0,
        }
    }

    /// Whether the sequences are tokens.
    pub fn has_tokens(&self) -> bool {
        matches!(self.inputs, Inputs::Tokens(_))
    }

    /// How many frames a step reads.
    pub fn window(&self) -> Window {
        self.window
    }

    /// Time steps of sequence `i`.
    pub fn steps(&self, i: usize) -> usize {
        self.step_offsets[i + 1] - self.step_offsets[i]
    }

    /// Time steps before sequence `i`, over all sequences.
    pub fn first_step(&self, i: usize) -> usize {
        self.step_offsets[i]
    }

    /// Time steps of all sequences together.
    pub fn total_steps(&self) -> usize {
        self.step_offsets[self.len()]
    }

    /// Writes what step `t` of sequence `i` reads: the frames of the window, the oldest first.
    pub fn read_step(&self, i: usize, t: usize, to: &mut [f32]) {
        self.window.read(self.sequence(i), self.dim(), t, to);
    }

    /// The values of sequence `i`, frame by frame; empty of tokens.
    pub fn sequence(&self, i: usize) -> &[f32] {
        match &self.inputs {
            Inputs::Values { dim, x } => &x[self.offsets[i] * dim..self.offsets[i + 1] * dim],
            Inputs::Tokens(_) => &[],
        }
    }

    /// The values of sequence `i`, to be changed in place; empty of tokens.
    pub fn sequence_mut(&mut self, i: usize) -> &mut [f32] {
        match &mut self.inputs {
            Inputs::Values { dim, x } => &mut x[self.offsets[i] * *dim..self.offsets[i + 1] * *dim],
            Inputs::Tokens(_) => &mut [],
        }
    }

    /// The tokens of sequence `i`; empty of numbers.
    pub fn tokens(&self, i: usize) -> &[u32] {
        match &self.inputs {
            Inputs::Values { .. } => &[],
            Inputs::Tokens(tokens) => &tokens[self.offsets[i]..self.offsets[i + 1]],
        }
    }
}
