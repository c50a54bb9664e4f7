//! A text as parallel streams, which a language model reads side by side.
//!
//! The text is cut into as many pieces of equal length as a batch has sequences. A batch holds the next
//! steps of every piece, so that a state can be carried from batch to batch. A rest of fewer tokens than
//! there are pieces is left out.

use fastgrnn_core::batch::{Batch, Targets};
use fastgrnn_data::data::Sequences;
use std::ops::Range;

/// The pieces of a text.
pub(super) struct TokenStreams {
    /// What comes before the first token, then all tokens.
    tokens: Vec<u32>,
    /// Number of pieces.
    rows: usize,
    /// Tokens that are predicted in each piece.
    len: usize,
    /// Steps of a batch.
    steps: usize,
}

impl TokenStreams {
    /// The texts at `indices`, one after the other, in `rows` pieces. The token `before` comes before the
    /// first one.
    pub(super) fn new(x: &Sequences, indices: &[u32], before: u32, rows: usize, steps: usize) -> Self {
        let texts = indices.iter().flat_map(|&i| x.tokens(i as usize)).copied();
        let tokens: Vec<u32> = std::iter::once(before).chain(texts).collect();
        let rows = rows.clamp(1, (tokens.len() - 1).max(1));
        Self { len: (tokens.len() - 1) / rows, tokens, rows, steps }
    }

    /// Batches of an epoch.
    pub(super) fn batches(&self) -> usize {
        self.len.div_ceil(self.steps).max(1)
    }

    /// The steps of batch `number`, which are of equal size as far as possible.
    fn range(&self, number: usize) -> Range<usize> {
        let batches = self.batches();
        self.len * number / batches..self.len * (number + 1) / batches
    }

    /// Fills `batch` with the steps of batch `number`.
    pub(super) fn fill(&self, batch: &mut Batch, number: usize) {
        let range = self.range(number);
        let Targets::Class(targets) = &mut batch.targets else { return };
        targets.clear();
        for row in 0..self.rows {
            let first = row * self.len;
            targets.extend_from_slice(&self.tokens[first + range.start + 1..first + range.end + 1]);
        }
        for row in 0..self.rows {
            let first = row * self.len;
            batch.push_tokens(&self.tokens[first + range.start..first + range.end]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_go_through_every_piece_and_predict_each_token_once() {
        let mut x = Sequences::of_tokens();
        let tokens: Vec<u32> = (1..=23).collect();
        x.push_tokens(&tokens);
        let streams = TokenStreams::new(&x, &[0], 0, 3, 4);
        assert_eq!((streams.rows * streams.len, streams.batches()), (21, 2));
        let (mut inputs, mut targets) = (vec![Vec::new(); 3], vec![Vec::new(); 3]);
        let mut batch = Batch::of_tokens();
        for number in 0..2 {
            batch.clear();
            streams.fill(&mut batch, number);
            let Targets::Class(of_batch) = &batch.targets else { panic!("classes") };
            let mut of_batch = &of_batch[..];
            for row in 0..3 {
                inputs[row].extend_from_slice(batch.tokens(row));
                let (now, later) = of_batch.split_at(batch.steps(row));
                targets[row].extend_from_slice(now);
                of_batch = later;
            }
        }
        assert_eq!(inputs.concat(), (0..21).collect::<Vec<u32>>());
        assert_eq!(targets.concat(), (1..22).collect::<Vec<u32>>());
    }

    #[test]
    fn a_text_shorter_than_a_batch_has_fewer_pieces() {
        let mut x = Sequences::of_tokens();
        x.push_tokens(&[5, 6]);
        let streams = TokenStreams::new(&x, &[0], 1, 20, 300);
        assert_eq!((streams.rows, streams.len, streams.batches()), (2, 1, 1));
    }
}
