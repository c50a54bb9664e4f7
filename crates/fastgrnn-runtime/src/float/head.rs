//! The linear head: scores of a state, and the best of them.

use super::{WrongLength, room, take};

/// A linear head on borrowed parameters.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    w: &'a [f32],
    b: &'a [f32],
    hidden: usize,
}

impl<'a> Head<'a> {
    /// Reads `w` (`outputs × hidden`) and `b` from the front of `params`; returns what follows.
    pub fn new(outputs: usize, hidden: usize, params: &'a [f32]) -> Result<(Self, &'a [f32]), WrongLength> {
        if hidden == 0 {
            return Err(WrongLength { what: "a matrix row", found: 0, needed: 1 });
        }
        let (w, rest) = take("the parameters", params, outputs.saturating_mul(hidden))?;
        let (b, rest) = take("the parameters", rest, outputs)?;
        Ok((Self { w, b, hidden }, rest))
    }

    /// Writes the scores of a state, of which it reads the last layer's h.
    pub fn scores(&self, state: &[f32], scores: &mut [f32]) -> Result<(), WrongLength> {
        let (h, _) = take("the state", state, self.hidden)?;
        let scores = room("the scores", scores, self.b.len())?;
        for ((score, row), b) in scores.iter_mut().zip(self.w.chunks_exact(self.hidden)).zip(self.b) {
            *score = b + row.iter().zip(h).map(|(w, h)| w * h).sum::<f32>();
        }
        Ok(())
    }
}

/// The index of the largest score, the first of equals; 0 if there are none.
///
/// ```
/// assert_eq!(fastgrnn_runtime::float::argmax(&[0.1, 0.7, 0.7]), 1);
/// ```
pub fn argmax(scores: &[f32]) -> usize {
    let best = |best: usize, k: usize| if scores[k] > scores[best] { k } else { best };
    (0..scores.len()).reduce(best).unwrap_or(0)
}
