//! The one shape of data in memory: sequences end to end, without padding. A step holds numbers or a
//! token.
//!
//! Values are appended to a vector. When that has grown beyond a limit, it goes to the disk as a
//! block (see [`spill`](super::spill)) and a new one is begun, so a set may be larger than memory;
//! no sequence is cut by it, and [`Sequences::get`] gives a slice either way.

use super::DataError;
use super::spill::Block;

/// Bytes of values that stay in memory.
const MEMORY: usize = 1 << 30;

/// Sequences of `dim` features a step, or of tokens, of equal or unequal length, stored end to end.
///
/// Beyond 1 GiB values lie in a temporary file (in `$TMPDIR`) that has no name and is gone with the
/// process; where none can be made, they stay in memory. Tokens always stay in memory.
#[derive(Clone, Debug)]
pub struct Sequences {
    /// Features a step; 0 of tokens.
    dim: usize,
    /// What was put onto the disk, with the number of values before it.
    blocks: Vec<(usize, Block)>,
    /// Values in `blocks`.
    spilled: usize,
    /// The values after those.
    tail: Vec<f32>,
    /// Bytes from which on `tail` becomes a block.
    memory: usize,
    /// The tokens, where steps hold these.
    tokens: Vec<u32>,
    offsets: Vec<usize>,
}

impl PartialEq for Sequences {
    fn eq(&self, other: &Self) -> bool {
        self.dim == other.dim
            && self.offsets == other.offsets
            && self.tokens == other.tokens
            && (0..self.len()).all(|i| self.get(i) == other.get(i))
    }
}

impl Sequences {
    /// No sequences of numbers yet; `dim` must be at least 1.
    pub fn new(dim: usize) -> Self {
        Self::with_memory(dim, MEMORY)
    }

    /// No sequences of tokens yet.
    ///
    /// ```
    /// use fastgrnn_data::data::Sequences;
    /// let mut x = Sequences::of_tokens();
    /// x.push_tokens(&[3, 1, 4]);
    /// assert_eq!((x.steps(0), x.tokens(0)), (3, &[3, 1, 4][..]));
    /// ```
    pub fn of_tokens() -> Self {
        Self::new(0)
    }

    /// No sequences yet, of which about `bytes` are to stay in memory.
    ///
    /// ```
    /// use fastgrnn_data::data::Sequences;
    /// let mut x = Sequences::with_memory(2, 64);
    /// (0..100).for_each(|i| x.push(&[i as f32, 0.5]));
    /// assert_eq!(x.get(7), [7.0, 0.5]);
    /// ```
    pub fn with_memory(dim: usize, bytes: usize) -> Self {
        Self {
            dim,
            blocks: Vec::new(),
            spilled: 0,
            tail: Vec::new(),
            memory: bytes,
            tokens: Vec::new(),
            offsets: vec![0],
        }
    }

    /// All `values` at once, cut into sequences at the steps in `offsets`, which start at 0 and end
    /// at the last step.
    pub(crate) fn cut(dim: usize, values: Vec<f32>, offsets: Vec<usize>) -> Self {
        Self { tail: values, offsets, ..Self::new(dim) }
    }

    /// Appends a sequence of tokens.
    ///
    /// # Panics
    /// If these are sequences of numbers.
    pub fn push_tokens(&mut self, sequence: &[u32]) {
        assert!(self.has_tokens(), "tokens among numbers");
        self.tokens.extend_from_slice(sequence);
        self.offsets.push(self.tokens.len());
    }

    /// Appends a sequence given as whole steps of `dim` values.
    ///
    /// # Panics
    /// If these are sequences of tokens.
    pub fn push(&mut self, sequence: &[f32]) {
        assert!(!self.has_tokens(), "numbers among tokens");
        if self.tail.len() * size_of::<f32>() >= self.memory {
            match Block::new(&self.tail) {
                Some(block) => {
                    self.blocks.push((self.spilled, block));
                    self.spilled += self.tail.len();
                    self.tail.clear();
                }
                // The disk is full: what comes stays in memory, and nothing is written in vain again.
                None => self.memory = usize::MAX,
            }
        }
        self.tail.extend_from_slice(sequence);
        self.offsets.push((self.spilled + self.tail.len()) / self.dim);
    }

    /// Appends all of `more`, which has as many features a step.
    pub fn append(&mut self, more: &Self) {
        (0..more.len()).for_each(|i| self.push_from(more, i));
    }

    /// Appends sequence `i` of `other`, which is of the same kind.
    fn push_from(&mut self, other: &Self, i: usize) {
        match self.has_tokens() {
            true => self.push_tokens(other.tokens(i)),
            false => self.push(other.get(i)),
        }
    }

    /// Every value divided by `by`.
    pub(crate) fn divided(mut self, by: f32) -> Self {
        if self.blocks.is_empty() {
            self.tail.iter_mut().for_each(|v| *v /= by);
            return self;
        }
        let mut divided = Self::with_memory(self.dim, self.memory);
        for i in 0..self.len() {
            divided.push(&self.get(i).iter().map(|v| v / by).collect::<Vec<f32>>());
        }
        divided
    }

    /// Number of sequences.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no sequence.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether steps hold tokens.
    pub fn has_tokens(&self) -> bool {
        self.dim == 0
    }

    /// Features a step; 0 of tokens.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Steps of all sequences together.
    pub(crate) fn all_steps(&self) -> usize {
        self.offsets[self.offsets.len() - 1]
    }

    /// Steps of sequence `i`.
    pub fn steps(&self, i: usize) -> usize {
        self.offsets[i + 1] - self.offsets[i]
    }

    /// Steps of the longest sequence.
    pub fn max_steps(&self) -> usize {
        (0..self.len()).map(|i| self.steps(i)).max().unwrap_or(0)
    }

    /// Steps of the shortest sequence.
    pub fn min_steps(&self) -> usize {
        (0..self.len()).map(|i| self.steps(i)).min().unwrap_or(0)
    }

    /// Tokens of sequence `i`; empty of numbers.
    pub fn tokens(&self, i: usize) -> &[u32] {
        match self.has_tokens() {
            true => &self.tokens[self.offsets[i]..self.offsets[i + 1]],
            false => &[],
        }
    }

    /// Values of sequence `i`, step by step; empty of tokens.
    pub fn get(&self, i: usize) -> &[f32] {
        let (start, end) = (self.offsets[i] * self.dim, self.offsets[i + 1] * self.dim);
        if start >= self.spilled {
            return &self.tail[start - self.spilled..end - self.spilled];
        }
        let at = self.blocks.partition_point(|(first, _)| *first <= start) - 1;
        let (first, block) = &self.blocks[at];
        &block.values()[start - first..end - first]
    }

    /// The same values in `timesteps` steps a sequence, joining or splitting steps.
    pub fn reblocked(mut self, timesteps: usize) -> Result<Self, DataError> {
        let key = || "timesteps".to_string();
        if timesteps == 0 {
            let problem = "0 steps make no sequence; use 1 or more".into();
            return Err(DataError::Setting { key: key(), problem });
        }
        if self.min_steps() != self.max_steps() {
            let (low, high) = (self.min_steps(), self.max_steps());
            let problem = format!("needs sequences of one length, but they have {low} to {high} steps");
            return Err(DataError::Setting { key: key(), problem });
        }
        let (steps, dim) = (self.max_steps(), self.dim);
        if !(steps * dim).is_multiple_of(timesteps) || steps == 0 {
            return Err(DataError::Timesteps { timesteps, sequence: 0, steps, dim });
        }
        self.dim = steps * dim / timesteps;
        self.offsets = (0..self.offsets.len()).map(|i| i * timesteps).collect();
        Ok(self)
    }

    /// The sequences at `indices`, in that order.
    pub fn select(&self, indices: &[u32]) -> Self {
        let mut chosen = Self::with_memory(self.dim, self.memory);
        for &i in indices {
            chosen.push_from(self, i as usize);
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sequences of 0 to 6 steps that tell their number.
    fn numbered(mut x: Sequences) -> Sequences {
        (0..500).for_each(|i| x.push(&vec![i as f32; i % 7 * 2]));
        x
    }

    #[test]
    fn tokens_are_kept_apart_selected_and_joined() {
        let mut x = Sequences::of_tokens();
        [&[1, 2, 3][..], &[], &[9]].iter().for_each(|tokens| x.push_tokens(tokens));
        assert_eq!((x.len(), x.steps(0), x.steps(1), x.max_steps()), (3, 3, 0, 3));
        assert_eq!((x.tokens(2), x.get(0), x.dim()), (&[9][..], &[][..], 0));
        let mut joined = x.select(&[2, 0]);
        joined.append(&x);
        assert_eq!((joined.len(), joined.tokens(1), joined.tokens(4)), (5, &[1, 2, 3][..], &[9][..]));
        assert_ne!(joined, x);
        assert_ne!(Sequences::of_tokens(), Sequences::new(1));
    }

    #[test]
    fn sequences_on_disk_are_those_in_memory() {
        let small = numbered(Sequences::with_memory(2, 1_000));
        assert!(small.blocks.len() > 10, "{} blocks", small.blocks.len());
        let large = numbered(Sequences::new(2));
        assert!(large.blocks.is_empty());
        assert_eq!(small, large);
        let some: Vec<u32> = vec![499, 3, 250, 3, 0];
        assert_eq!(small.select(&some), large.select(&some));
        let mut joined = Sequences::with_memory(2, 1_000);
        joined.append(&large);
        joined.append(&small);
        assert_eq!(joined.get(500 + 33), [33.0; 10]);
        assert_eq!(joined.clone(), joined);
    }

    #[test]
    fn blocks_on_disk_can_be_reblocked() {
        let mut x = Sequences::with_memory(1, 100);
        (0..100).for_each(|i| x.push(&[i as f32, -1.0, 2.0, 3.0]));
        let x = x.reblocked(2).unwrap();
        assert_eq!((x.dim(), x.steps(99), x.get(42)), (2, 2, &[42.0, -1.0, 2.0, 3.0][..]));
    }
}
