//! The results of a network for a window, on the host and on a board, and the files between them.

use crate::BoardError;
use fastgrnn::quantize::{HostModel, IntegerModel};

/// Scores, class and confidence of one window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The scores.
    pub scores: Vec<i32>,
    /// The class.
    pub class: u16,
    /// The confidence, from 0 to 255.
    pub confidence: u8,
    /// A hash of the states after every frame (FNV-1a, 32 bits); `None` if they are not compared.
    pub states: Option<u32>,
}

/// The outcomes that the host computes for windows of counts, with the runtime, which defines the
/// arithmetic.
///
/// ```
/// # use fastgrnn::cells::{Cell, CellKind, Start};
/// # use fastgrnn::{data::Sequences, model::{Model, Task}, net::Network, quantize::{Options, quantize}};
/// # let net = Network::new(vec![Cell::new(CellKind::FastGrnn, 1, 4)], 2);
/// # let params = net.start(Start::default(), 3, 0);
/// # let labels = vec!["still".to_string(), "moving".to_string()];
/// # let mut x = Sequences::new(1);
/// # x.push(&[0.1, 0.2, 0.3]);
/// # let model = quantize(&Model::new(net, params, Task::Classes { labels }), &x, &[0], &Options::default())?;
/// let windows = vec![vec![100, -100, 30], vec![0]];
/// let outcomes = fastgrnn_boards::outcomes(&model, &windows);
/// assert_eq!(outcomes[1].scores.len(), 2);
/// # Ok::<(), fastgrnn::quantize::QuantizeError>(())
/// ```
pub fn outcomes(model: &IntegerModel, windows: &[Vec<i16>]) -> Vec<Outcome> {
    outcomes_of(&model.view(), windows)
}

/// The outcomes of a model that the runtime has read from a device image.
pub fn outcomes_of(view: &HostModel, windows: &[Vec<i16>]) -> Vec<Outcome> {
    let (mut memory, mut scratch) = (vec![0; view.memory_len()], vec![0; view.scratch_len()]);
    let outcome = |window: &Vec<i16>| {
        let mut scores = vec![0; view.outputs()];
        let mut states = NO_STATES;
        let mut state = view
            .start(&mut memory, &mut scratch)
            .expect("the buffers were made with the lengths that the model asks for");
        for frame in window.chunks_exact(view.inputs()) {
            view.step(&mut state, frame).expect("a frame of chunks_exact has the model's inputs");
            states = with_state(states, state.kept());
        }
        view.scores(&state, &mut scores).expect("the scores were made with the model's outputs");
        let decision = view.decide(&scores);
        Outcome {
            scores,
            class: decision.class as u16,
            confidence: decision.confidence,
            states: Some(states),
        }
    };
    windows.iter().map(outcome).collect()
}

/// [`Outcome::states`] before the first step.
pub(crate) const NO_STATES: u32 = 0x811c_9dc5;

/// [`Outcome::states`] after one more step.
pub(crate) fn with_state(states: u32, state: &[i16]) -> u32 {
    let bytes = state.iter().flat_map(|v| v.to_le_bytes());
    bytes.fold(states, |h, b| (h ^ u32::from(b)).wrapping_mul(0x0100_0193))
}

/// A hash of all scores, for comparing targets with each other: FNV-1a, 64 bits, over the scores of
/// all windows in order as little-endian bytes.
///
/// ```
/// assert_eq!(fastgrnn_boards::hash([]), 0xcbf29ce484222325);
/// assert_ne!(fastgrnn_boards::hash([1, 2]), fastgrnn_boards::hash([2, 1]));
/// ```
pub fn hash(scores: impl IntoIterator<Item = i32>) -> u64 {
    let bytes = scores.into_iter().flat_map(i32::to_le_bytes);
    bytes.fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
}

/// The file `windows` that the firmware reads.
pub(crate) fn encode(windows: &[Vec<i16>], features: usize) -> Result<Vec<u8>, BoardError> {
    let mut bytes = Vec::new();
    for (window, counts) in windows.iter().enumerate() {
        let frames = u32::try_from(counts.len() / features.max(1)).ok();
        let Some(frames) = frames.filter(|&f| f as usize * features == counts.len()) else {
            return Err(BoardError::Window { window, counts: counts.len(), features });
        };
        bytes.extend(frames.to_le_bytes());
        bytes.extend(counts.iter().flat_map(|c| c.to_le_bytes()));
    }
    Ok(bytes)
}

/// The outcomes in the file `results`, and the bytes behind them.
pub(crate) fn decode(bytes: &[u8], windows: usize, outputs: usize) -> Option<(Vec<Outcome>, &[u8])> {
    let size = 4 * outputs + 8;
    let (results, rest) = bytes.split_at_checked(windows.checked_mul(size)?)?;
    let outcome = |result: &[u8]| {
        let (scores, end) = result.split_at(4 * outputs);
        let score = |b: &[u8]| i32::from_le_bytes([b[0], b[1], b[2], b[3]]);
        Outcome {
            scores: scores.chunks_exact(4).map(score).collect(),
            class: u16::from_le_bytes([end[0], end[1]]),
            confidence: end[2],
            states: Some(u32::from_le_bytes([end[4], end[5], end[6], end[7]])),
        }
    };
    Some((results.chunks_exact(size).map(outcome).collect(), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_of_different_lengths_are_written_with_their_frames() {
        let bytes = encode(&[vec![1, -1, 2, -2], vec![], vec![3, 4]], 2).unwrap();
        assert_eq!(bytes.len(), 3 * 4 + 6 * 2);
        assert_eq!(&bytes[..6], [2, 0, 0, 0, 1, 0]);
    }

    #[test]
    fn a_window_that_ends_within_a_frame_is_refused() {
        let error = encode(&[vec![1, 2], vec![1, 2, 3]], 2).unwrap_err();
        assert!(error.to_string().contains("window 1 has 3 counts"), "{error}");
    }

    #[test]
    fn results_come_back_as_they_were_written_and_short_ones_do_not() {
        let bytes = [255, 255, 255, 255, 7, 0, 0, 0, 1, 0, 99, 0, 5, 0, 0, 0, 42];
        let (outcomes, rest) = decode(&bytes, 1, 2).unwrap();
        assert_eq!(outcomes, [Outcome { scores: vec![-1, 7], class: 1, confidence: 99, states: Some(5) }]);
        assert_eq!(rest, [42]);
        assert!(decode(&bytes, 2, 2).is_none());
    }
}
