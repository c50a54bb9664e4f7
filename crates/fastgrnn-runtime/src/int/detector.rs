//! From the scores of a stream to detections (section 9 of the document): posteriors are
//! smoothed, compared with a threshold, and reported once.
//!
//! A [`Decision`](super::Decision) says what one sequence is; a detector watches a network that
//! never stops. It also says when the network should forget: never, every so many frames, or when
//! it has been quiet. Integers only; the state is four numbers and one a keyword.
//!
//! ```
//! # fn image() -> Vec<u8> { include_bytes!("../../tests/fixtures/tiny.image").to_vec() }
//! use fastgrnn_runtime::int::{Detector, Model, Reset};
//!
//! let image = image();
//! let model: Model = Model::read(&image).unwrap();
//! let (mut memory, mut scratch) = (vec![0; model.memory_len()], vec![0; model.scratch_len()]);
//! let mut network = model.start(&mut memory, &mut scratch).unwrap();
//! let mut scores = vec![0; model.outputs()];
//!
//! let detector = Detector { refractory: 100, reset: Reset::Every(500), ..Detector::of(&[1]) };
//! let mut state = detector.start(model.meaning(), model.outputs(), [0; 1]).unwrap();
//! for count in [120, -35, 4_000] {
//!     if detector.hear(&mut state, &[count]) {
//!         model.reset(&mut network).unwrap();
//!     }
//!     model.step(&mut network, &[count]).unwrap();
//!     model.scores(&network, &mut scores).unwrap();
//!     if let Some(found) = detector.step(&mut state, &model.posteriors(&scores)) {
//!         assert_eq!(found.class, 1);
//!     }
//! }
//! ```

use super::{Meaning, Posteriors};

/// The parameters of a detector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detector<'k> {
    /// The classes to report, each once.
    pub keywords: &'k [u16],
    /// What a smoothed posterior must reach, 32768 for certainty.
    pub threshold: u16,
    /// Posteriors are averaged over about 2^smoothing frames.
    pub smoothing: u8,
    /// Frames after a detection without another.
    pub refractory: u16,
    /// Frames after the start or a reset whose posteriors count as 0.
    pub warm_up: u16,
    /// When the network's state is reset.
    pub reset: Reset,
}

/// When a stream's network goes back to its first state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reset {
    /// Never.
    Never,
    /// Every so many frames; at least 1.
    Every(u16),
    /// Whenever so many frames in a row were quiet.
    Quiet {
        /// How many; at least 1.
        frames: u16,
        /// A frame is quiet if the mean of its counts is below this.
        level: i16,
    },
}

/// A keyword was heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detection {
    /// Its class.
    pub class: usize,
    /// Its smoothed posterior, 32768 for certainty.
    pub confidence: u16,
}

/// What a detector carries from frame to frame. `S` holds one 32-bit sum a keyword: an array, a
/// slice that the caller lends, or a `Vec`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DetectorState<S> {
    /// One a keyword: its smoothed posterior times 2^smoothing.
    sums: S,
    /// Frames counted towards a reset.
    counted: u16,
    /// Frames of warm-up left.
    warming: u16,
    /// Frames left without a detection.
    resting: u16,
    /// The keyword reported last, while its posterior has not fallen below the threshold since.
    held: Option<u16>,
}

impl<S: AsRef<[u32]>> DetectorState<S> {
    /// The sums, one a keyword in order: smoothed posteriors times 2^smoothing.
    pub fn sums(&self) -> &[u32] {
        self.sums.as_ref()
    }
}

/// Parameters that a detector cannot have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DetectorError {
    /// A network of numbers.
    Values,
    /// Nothing to detect.
    NoKeywords,
    /// A keyword that is no class, or listed twice.
    Keyword {
        /// The class.
        class: u16,
        /// Classes of the network.
        classes: usize,
    },
    /// A threshold of 0 or beyond certainty.
    Threshold {
        /// The threshold.
        found: u16,
    },
    /// An average over too many frames.
    Smoothing {
        /// The exponent.
        found: u8,
    },
    /// A reset every 0 frames.
    Reset,
    /// Another number of sums than keywords.
    Sums {
        /// Sums lent.
        found: usize,
        /// Keywords.
        needed: usize,
    },
}

impl core::fmt::Display for DetectorError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match *self {
            Self::Values => f.write_str("a network that predicts numbers has no classes to detect"),
            Self::NoKeywords => f.write_str("a detector needs at least one keyword"),
            Self::Keyword { class, classes } => {
                write!(f, "keyword {class} is listed twice or is none of the {classes} classes")
            }
            Self::Threshold { found } => {
                write!(f, "a threshold of {found} is not between 1 and {CERTAIN}")
            }
            Self::Smoothing { found } => {
                write!(f, "a smoothing of {found} is more than {}", Detector::MOST_SMOOTHING)
            }
            Self::Reset => f.write_str("a reset needs at least 1 frame before it"),
            Self::Sums { found, needed } => write!(f, "{found} sums for {needed} keywords"),
        }
    }
}

impl core::error::Error for DetectorError {}

/// The posterior of certainty.
const CERTAIN: u16 = 1 << 15;

impl<'k> Detector<'k> {
    /// The largest smoothing.
    pub const MOST_SMOOTHING: u8 = 10;

    /// A detector of these classes with usable values: threshold 0.75, an average over 8 frames, a
    /// second without another detection at 100 frames a second, no warm-up, no resets.
    pub const fn of(keywords: &'k [u16]) -> Self {
        Self { keywords, threshold: 24_576, smoothing: 3, refractory: 100, warm_up: 0, reset: Reset::Never }
    }

    /// Checks the parameters against a network's classes.
    pub fn check(&self, meaning: Meaning, outputs: usize) -> Result<(), DetectorError> {
        let classes = match meaning {
            Meaning::Values => return Err(DetectorError::Values),
            Meaning::Binary => 2,
            Meaning::Classes | Meaning::OneAgainstAll => outputs,
        };
        if self.keywords.is_empty() {
            return Err(DetectorError::NoKeywords);
        }
        for (i, &class) in self.keywords.iter().enumerate() {
            if usize::from(class) >= classes || self.keywords[..i].contains(&class) {
                return Err(DetectorError::Keyword { class, classes });
            }
        }
        if !(1..=CERTAIN).contains(&self.threshold) {
            return Err(DetectorError::Threshold { found: self.threshold });
        }
        if self.smoothing > Self::MOST_SMOOTHING {
            return Err(DetectorError::Smoothing { found: self.smoothing });
        }
        match self.reset {
            Reset::Every(0) | Reset::Quiet { frames: 0, .. } => Err(DetectorError::Reset),
            _ => Ok(()),
        }
    }

    /// The state before the first frame of a stream, after a [check](Self::check).
    pub fn start<S: AsMut<[u32]>>(
        &self,
        meaning: Meaning,
        outputs: usize,
        mut sums: S,
    ) -> Result<DetectorState<S>, DetectorError> {
        self.check(meaning, outputs)?;
        let own = sums.as_mut();
        if own.len() != self.keywords.len() {
            return Err(DetectorError::Sums { found: own.len(), needed: self.keywords.len() });
        }
        Ok(self.fresh(sums))
    }

    /// [`Detector::start`] of parameters that were checked, with a sum for each keyword.
    pub fn fresh<S: AsMut<[u32]>>(&self, mut sums: S) -> DetectorState<S> {
        sums.as_mut().fill(0);
        DetectorState { sums, counted: 0, warming: self.warm_up, resting: 0, held: None }
    }

    /// Takes note of a frame before the network's step: whether the network must be reset first.
    pub fn hear<S>(&self, state: &mut DetectorState<S>, counts: &[i16]) -> bool {
        let (counts_on, frames) = match self.reset {
            Reset::Never => return false,
            Reset::Every(frames) => (true, frames),
            Reset::Quiet { frames, level } => {
                // No network reads more, and with these the sum fits.
                let counts = counts.get(..usize::from(u16::MAX)).unwrap_or(counts);
                let sum: i32 = counts.iter().map(|&n| i32::from(n)).sum();
                (sum < i32::from(level) * counts.len() as i32, frames)
            }
        };
        state.counted = if counts_on { state.counted + 1 } else { 0 };
        let due = state.counted >= frames;
        if due {
            state.counted = 0;
            state.warming = self.warm_up;
        }
        due
    }

    /// Takes the posteriors after the network's step: what was detected.
    pub fn step<S: AsMut<[u32]>>(
        &self,
        state: &mut DetectorState<S>,
        posteriors: &Posteriors<'_>,
    ) -> Option<Detection> {
        self.step_by(state, |class| posteriors.of(class))
    }

    /// [`Detector::step`] with posteriors from elsewhere, 32768 for certainty.
    pub fn step_by<S: AsMut<[u32]>>(
        &self,
        state: &mut DetectorState<S>,
        posterior: impl Fn(usize) -> u16,
    ) -> Option<Detection> {
        let warm = state.warming == 0;
        state.warming = state.warming.saturating_sub(1);
        state.resting = state.resting.saturating_sub(1);
        let mut best = (0, 0);
        for (sum, &class) in state.sums.as_mut().iter_mut().zip(self.keywords) {
            let p = if warm { u32::from(posterior(usize::from(class))) } else { 0 };
            *sum = *sum - (*sum >> self.smoothing) + p;
            let average = *sum >> self.smoothing;
            if average > best.0 {
                best = (average, class);
            }
            if state.held == Some(class) && average < u32::from(self.threshold) {
                state.held = None;
            }
        }
        let (average, class) = best;
        if average < u32::from(self.threshold) || state.resting > 0 || state.held == Some(class) {
            return None;
        }
        state.resting = self.refractory;
        state.held = Some(class);
        Some(Detection { class: usize::from(class), confidence: average as u16 })
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    /// Frames at which one keyword is detected, for scores of a single output with 11 fraction bits.
    fn detections(detector: &Detector<'_>, scores: &[i32]) -> Vec<usize> {
        let mut state = detector.start(Meaning::Binary, 1, [0]).unwrap();
        let mut found = Vec::new();
        for (t, score) in scores.iter().enumerate() {
            let scores = [*score];
            if detector.step(&mut state, &Posteriors::new(Meaning::Binary, 11, &scores)).is_some() {
                found.push(t);
            }
        }
        found
    }

    const HIGH: i32 = 10 << 11;
    const LOW: i32 = -HIGH;

    #[test]
    fn a_word_is_reported_once_however_long_its_posterior_stays_high() {
        let detector = Detector { refractory: 3, smoothing: 0, ..Detector::of(&[1]) };
        assert_eq!(detections(&detector, &[[LOW; 5], [HIGH; 5], [HIGH; 5]].concat()), [5]);
        assert_eq!(detections(&detector, &[LOW, HIGH, LOW, LOW, LOW, HIGH]), [1, 5]);
    }

    #[test]
    fn nothing_is_reported_in_the_refractory_time_and_the_first_frame_after_it_may_be() {
        let detector = Detector { refractory: 4, smoothing: 0, ..Detector::of(&[1]) };
        assert_eq!(detections(&detector, &[HIGH, LOW, HIGH, LOW, LOW]), [0]);
        assert_eq!(detections(&detector, &[HIGH, LOW, HIGH, HIGH, HIGH]), [0, 4]);
    }

    #[test]
    fn smoothing_waits_for_several_frames() {
        let detector = Detector { threshold: 1 << 14, smoothing: 3, ..Detector::of(&[1]) };
        assert_eq!(detections(&detector, &[HIGH; 8]), [5]);
        assert_eq!(detections(&detector, &[HIGH, HIGH, LOW, HIGH, HIGH, LOW]), [0; 0]);
    }

    #[test]
    fn posteriors_of_the_warm_up_do_not_count() {
        let detector = Detector { warm_up: 3, smoothing: 0, ..Detector::of(&[1]) };
        assert_eq!(detections(&detector, &[HIGH; 6]), [3]);
    }

    #[test]
    fn the_first_class_of_two_can_be_the_keyword() {
        let detector = Detector { smoothing: 0, ..Detector::of(&[0]) };
        assert_eq!(detections(&detector, &[HIGH, HIGH, LOW, HIGH]), [2]);
    }

    #[test]
    fn resets_come_periodically_or_after_quiet_frames_only() {
        let resets = |reset: Reset, levels: &[i16]| {
            let detector = Detector { reset, ..Detector::of(&[1]) };
            let mut state = detector.start(Meaning::Binary, 1, [0]).unwrap();
            let hear = |(t, &level): (usize, &i16)| detector.hear(&mut state, &[level, level]).then_some(t);
            levels.iter().enumerate().filter_map(hear).collect::<Vec<_>>()
        };
        assert_eq!(resets(Reset::Never, &[0; 9]), [0; 0]);
        assert_eq!(resets(Reset::Every(3), &[0; 9]), [2, 5, 8]);
        let quiet = Reset::Quiet { frames: 2, level: -5 };
        assert_eq!(resets(quiet, &[-5, -6, -5, -6, -6, -6, -6, 9, -6]), [4, 6]);
        assert_eq!(resets(Reset::Quiet { frames: 1, level: i16::MIN }, &[i16::MIN; 4]), [0; 0]);
    }

    #[test]
    fn parameters_that_mean_nothing_are_refused() {
        let check = |detector: Detector<'_>| detector.check(Meaning::Classes, 3);
        let good = Detector::of(&[1, 2]);
        assert_eq!(check(good), Ok(()));
        assert_eq!(good.check(Meaning::Binary, 1), Err(DetectorError::Keyword { class: 2, classes: 2 }));
        assert_eq!(good.check(Meaning::Values, 3), Err(DetectorError::Values));
        assert_eq!(check(Detector::of(&[])), Err(DetectorError::NoKeywords));
        assert_eq!(check(Detector::of(&[1, 1])), Err(DetectorError::Keyword { class: 1, classes: 3 }));
        assert_eq!(check(Detector { threshold: 0, ..good }), Err(DetectorError::Threshold { found: 0 }));
        assert!(check(Detector { threshold: 32_769, ..good }).is_err());
        assert_eq!(check(Detector { smoothing: 11, ..good }), Err(DetectorError::Smoothing { found: 11 }));
        assert_eq!(check(Detector { reset: Reset::Every(0), ..good }), Err(DetectorError::Reset));
    }
}
