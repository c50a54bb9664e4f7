//! Gradients of the vectors of tokens: only those that occur in a tile.

/// Where the gradient of a token is.
const NOWHERE: u32 = u32::MAX;

/// For each token of the vocabulary, its place among those that occur.
#[derive(Default)]
pub(super) struct TokenSlots(Vec<u32>);

/// The tokens of a tile in the order in which they first occur, and the gradients of their vectors.
#[derive(Default)]
pub(super) struct TokenGradient {
    dim: usize,
    tokens: Vec<u32>,
    values: Vec<f32>,
}

impl TokenGradient {
    /// Forgets all gradients; those to come have `dim` entries.
    pub(super) fn begin(&mut self, dim: usize) {
        self.dim = dim;
        self.tokens.clear();
        self.values.clear();
    }

    /// Adds `factor` times `gradient` to that of a token below `vocabulary`.
    pub(super) fn add(
        &mut self,
        slots: &mut TokenSlots,
        vocabulary: usize,
        token: u32,
        factor: f32,
        gradient: &[f32],
    ) {
        if slots.0.len() < vocabulary {
            slots.0.resize(vocabulary, NOWHERE);
        }
        let slot = &mut slots.0[token as usize];
        if *slot == NOWHERE {
            *slot = self.tokens.len() as u32;
            self.tokens.push(token);
            self.values.resize(self.values.len() + self.dim, 0.0);
        }
        let sum = &mut self.values[*slot as usize * self.dim..][..self.dim];
        sum.iter_mut().zip(gradient).for_each(|(sum, g)| *sum += factor * g);
    }

    /// Makes the slots ready for another tile.
    pub(super) fn finish(&self, slots: &mut TokenSlots) {
        self.tokens.iter().for_each(|&token| slots.0[token as usize] = NOWHERE);
    }

    /// Each token with the gradient of its vector.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &[f32])> {
        self.tokens.iter().copied().zip(self.values.chunks_exact(self.dim.max(1)))
    }
}
