//! The operating point: resets, threshold and smoothing with the fewest errors on validation.

use super::choose::{Choice, choose};
use super::count::Occurrence;
use super::settings::{EvalError, EvalSettings, Resets};
use super::trace::Trace;
use fastgrnn_model::quantize::{Detector, IntegerModel, Reset};

/// Quiet frames in a row: what is tried first, then around the best level.
const FRAMES: u16 = 15;
const OTHER_FRAMES: [u16; 4] = [4, 8, 25, 40];
/// Levels, as the share of the stream's frames below them.
const SHARES: [f64; 7] = [0.2, 0.35, 0.5, 0.6, 0.7, 0.8, 0.9];

/// A stream kept as counts, to be heard again and again.
pub(super) struct RecordedStream<'a> {
    pub(super) model: &'a IntegerModel,
    pub(super) counts: Vec<i16>,
    pub(super) targets: Vec<Occurrence>,
}

/// A detector and its errors.
pub(super) struct BestDetector {
    cost: usize,
    pub(super) detector: Detector,
    pub(super) choice: Choice,
}

impl RecordedStream<'_> {
    fn dim(&self) -> usize {
        self.model.network.input.lsb.len()
    }

    fn trace(&self, detector: &Detector) -> Result<Trace, EvalError> {
        let play = |frame: &mut dyn FnMut(&[i16])| self.counts.chunks_exact(self.dim()).for_each(frame);
        Ok(Trace::of(self.model, detector, play)?)
    }

    /// The best threshold and smoothing for one policy of resets.
    fn best_of(&self, detector: &Detector, settings: &EvalSettings) -> Result<BestDetector, EvalError> {
        let trace = self.trace(detector)?;
        let (tolerance, found) = (settings.tolerance as u64, &settings.thresholds);
        let (cost, choice) = choose(&trace, &self.targets, tolerance, found, &settings.smoothings)
            .ok_or(EvalError::NoChoice)?;
        let detector =
            Detector { threshold: choice.threshold, smoothing: choice.smoothing, ..detector.clone() };
        Ok(BestDetector { cost, detector, choice })
    }

    /// The best of all that is tried; of equals what was tried first.
    pub(super) fn search(
        &self,
        detector: &Detector,
        settings: &EvalSettings,
    ) -> Result<BestDetector, EvalError> {
        if settings.resets == Resets::Own {
            return self.best_of(detector, settings);
        }
        let with = |reset: Reset| Detector { reset, ..detector.clone() };
        let mut best = self.best_of(&with(Reset::Never), settings)?;
        let levels = self.levels();
        let tried: Vec<Reset> = levels.iter().map(|&level| Reset::Quiet { frames: FRAMES, level }).collect();
        self.improve(&mut best, &tried, &with, settings)?;
        if let Reset::Quiet { level, .. } = best.detector.reset {
            let tried = OTHER_FRAMES.map(|frames| Reset::Quiet { frames, level });
            self.improve(&mut best, &tried, &with, settings)?;
        }
        if let Reset::Quiet { frames, level } = best.detector.reset {
            let between = levels.windows(2).filter(|pair| pair.contains(&level));
            let middle = between.map(|pair| ((i32::from(pair[0]) + i32::from(pair[1])) / 2) as i16);
            let tried: Vec<Reset> = middle.map(|level| Reset::Quiet { frames, level }).collect();
            self.improve(&mut best, &tried, &with, settings)?;
        }
        Ok(best)
    }

    fn improve(
        &self,
        best: &mut BestDetector,
        tried: &[Reset],
        with: &dyn Fn(Reset) -> Detector,
        settings: &EvalSettings,
    ) -> Result<(), EvalError> {
        for &reset in tried {
            let found = self.best_of(&with(reset), settings)?;
            if found.cost < best.cost {
                *best = found;
            }
        }
        Ok(())
    }

    /// Levels below which the shares of the frames lie, without repeats.
    fn levels(&self) -> Vec<i16> {
        let dim = self.dim();
        let mean = |row: &[i16]| (row.iter().map(|&n| i64::from(n)).sum::<i64>() / dim as i64) as i16;
        let mut means: Vec<i16> = self.counts.chunks_exact(dim).map(mean).collect();
        means.sort_unstable();
        let at = |share: &f64| means.get((share * means.len() as f64) as usize).copied();
        let mut levels: Vec<i16> = SHARES.iter().filter_map(at).collect();
        levels.dedup();
        levels
    }
}
