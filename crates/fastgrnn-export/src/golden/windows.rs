//! Choosing the windows that become golden vectors.

use crate::ExportError;
use fastgrnn::data::Sequences;
use fastgrnn::quantize::IntegerModel;
use fastgrnn::rng::Rng;

/// The most bytes of flash that golden vectors take, unless two frames of a single window take more.
pub const MOST_BYTES: usize = 4096;

/// Steps of a random window if the model does not say how long its sequences were.
const STEPS: usize = 32;
/// The most steps of a random window, before it is cut to the available room.
const MOST_STEPS: usize = 4096;

/// Frames that a window keeps, if it has them, before another window gets room; more where [`FEWEST`] steps need more.
const FRAMES: usize = 16;
/// Steps that a window always keeps: the first one starts from the zero state, in which recurrent
/// weights have no effect.
const FEWEST: usize = 2;

/// The beginning of the origin of random windows.
pub(crate) const RANDOM: &str = "random counts";

/// Windows of counts and their origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Windows {
    /// Counts of each window, frame by frame.
    pub counts: Vec<Vec<i16>>,
    /// A description of where they come from.
    pub origin: String,
}

impl Windows {
    /// `n` windows of seeded random counts. Most counts are distributed like the training data; every
    /// sixteenth frame is at the limits of 16 bits, in the first window starting with its first frame.
    pub fn random(model: &IntegerModel, n: usize, seed: u64) -> Self {
        if let Some(embedding) = &model.network.embedding {
            return Self::random_tokens(embedding.vectors.rows, n, seed);
        }
        let input = &model.network.input;
        let fewest = model.network.window.frames_of(FEWEST);
        let steps =
            if model.model.steps == 0 { STEPS } else { model.model.steps.min(MOST_STEPS) }.max(fewest);
        // The count whose normalised value is `x`: the inverse of section 1 of the arithmetic.
        let count = |d: usize, x: f64| {
            let (factor, extra) = (input.factors[d] & 0x3FFF, 4 * i32::from(input.factors[d] >> 14));
            let product = x * f64::from(input.bits as i32 + input.shift as i32 + extra).exp2();
            let offset = f64::from(input.offsets[d]) * f64::from(input.offset_shift).exp2();
            // The cast saturates, and takes the NaN of a factor of 0 to 0.
            ((product + offset) / f64::from(factor)).round() as i16
        };
        let window = |w: usize| -> Vec<i16> {
            let mut rng = Rng::keyed(seed, &[w as u64]);
            let mut frame = |t: usize| -> Vec<i16> {
                // Early, so that the cut keeps them; in every other window not from the initial state.
                let limits = t % 16 == w % 2 * 2;
                (0..input.factors.len())
                    .map(|d| match limits {
                        true if rng.uniform() < 0.5 => i16::MIN,
                        true => i16::MAX,
                        false => count(d, rng.normal()),
                    })
                    .collect()
            };
            (0..steps).flat_map(&mut frame).collect()
        };
        Self { counts: (0..n).map(window).collect(), origin: format!("{RANDOM}, seed {seed}") }
    }

    /// `n` windows of seeded random tokens. The first one is the last of 16 bits, which no vocabulary has.
    fn random_tokens(tokens: usize, n: usize, seed: u64) -> Self {
        let window = |w: usize| -> Vec<i16> {
            let mut rng = Rng::keyed(seed, &[w as u64]);
            let mut token = |t: usize| if t == 0 { u16::MAX } else { rng.below(tokens) as u16 } as i16;
            (0..STEPS).map(&mut token).collect()
        };
        Self { counts: (0..n).map(window).collect(), origin: format!("random tokens, seed {seed}") }
    }

    /// `n` sequences spread over `x`, which has the units of the training data, as counts. `name` is the
    /// name of the data.
    pub fn recorded(model: &IntegerModel, x: &Sequences, n: usize, name: &str) -> Result<Self, ExportError> {
        let features = model.network.input.lsb.len();
        let fits = x.has_tokens() == model.network.embedding.is_some();
        if !fits || !(x.has_tokens() || x.dim() == features) {
            return Err(ExportError::Features { found: x.dim(), expected: features });
        }
        let n = n.min(x.len());
        let chosen: Vec<usize> = (0..n).map(|i| (2 * i + 1) * x.len() / (2 * n)).collect();
        let window = |&i: &usize| {
            let mut counts = Vec::new();
            model.sequence_counts(x, i, &mut counts);
            counts
        };
        let list: Vec<String> = chosen.iter().map(ToString::to_string).collect();
        let origin = format!("sequences {} of {name}", list.join(", "));
        Ok(Self { counts: chosen.iter().map(window).collect(), origin })
    }

    /// As many windows as there is room for with [`FRAMES`] frames each, cut to their share of the room.
    /// At least one window is kept. A window keeps at least [`FEWEST`] steps of `stride` frames each if it has them;
    /// windows with fewer come last.
    pub(super) fn cut(
        &self,
        features: usize,
        stride: usize,
        outputs: usize,
    ) -> Result<Vec<Vec<i16>>, ExportError> {
        let fewest = FEWEST * stride;
        let usual = FRAMES.max(fewest);
        if let Some(odd) = self.counts.iter().find(|w| w.len() % features != 0) {
            return Err(ExportError::Window { found: odd.len(), features });
        }
        let mut windows: Vec<&Vec<i16>> = self.counts.iter().filter(|w| !w.is_empty()).collect();
        if windows.is_empty() {
            return Err(ExportError::NoWindow);
        }
        windows.sort_by_key(|w| w.len() < fewest * features);
        let frame = 2 * features;
        let mut taken = 0;
        let fits = |w: &&&Vec<i16>| {
            taken += (w.len() / features).min(usual) * frame + overhead(outputs);
            taken <= MOST_BYTES
        };
        let kept = windows.iter().take_while(fits).count().max(1);
        windows.truncate(kept);
        let share = (MOST_BYTES / kept).saturating_sub(overhead(outputs)) / frame;
        let frames = share.max(if kept > 1 { usual } else { fewest });
        Ok(windows.into_iter().map(|w| w[..w.len().min(frames * features)].to_vec()).collect())
    }
}

/// Bytes of a window besides its counts: scores, class, number of steps, confidence.
pub(super) fn overhead(outputs: usize) -> usize {
    4 * outputs + 5
}

#[cfg(test)]
mod tests {
    use super::{MOST_BYTES, Windows};

    /// Frames of each window after the cut.
    fn frames(lengths: &[usize], features: usize) -> Vec<usize> {
        frames_of_strides(lengths, features, 1)
    }

    /// The same for a network with a stride.
    fn frames_of_strides(lengths: &[usize], features: usize, stride: usize) -> Vec<usize> {
        let counts = lengths.iter().map(|n| vec![0; n * features]).collect();
        let windows = Windows { counts, origin: String::new() };
        windows.cut(features, stride, 2).unwrap().iter().map(|w| w.len() / features).collect()
    }

    #[test]
    fn windows_are_dropped_before_frames() {
        assert_eq!(frames(&[50; 100], 60), [16, 16]);
        assert_eq!(frames(&[50; 100], 500), [4]);
        assert_eq!(frames(&[2, 2, 1, 40], 90), [2, 2, 16, 1], "short ones leave their room");
    }

    #[test]
    fn two_frames_are_kept_whatever_their_size() {
        const { assert!(2 * 2 * 3000 > MOST_BYTES) };
        assert_eq!(frames(&[50; 100], 3000), [2]);
        assert_eq!(frames(&[1, 50], 3000), [2], "a window of one frame comes last");
        assert_eq!(frames(&[1], 3000), [1]);
    }

    #[test]
    fn two_steps_are_kept_whatever_the_stride() {
        assert_eq!(frames_of_strides(&[100; 100], 60, 25), [50]);
        assert_eq!(frames_of_strides(&[100; 100], 3000, 4), [8]);
        assert_eq!(frames_of_strides(&[30, 100], 20, 25), [50, 30], "a window of one step comes last");
    }
}
