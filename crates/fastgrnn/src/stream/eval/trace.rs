//! A stream heard once, to try many thresholds on.
//!
//! Thresholds, smoothing and rest change nothing in the network, so its posteriors are computed once
//! and the detector's own code is run on them again for every setting.

use super::super::{Heard, Listener, StreamError};
use fastgrnn_model::quantize::{Detector, IntegerModel, Reset};

/// The posteriors of every keyword in every step, as the detector counts them.
#[derive(Clone, Debug)]
pub struct Trace {
    detector: Detector,
    /// Frames from one step of the network to the next.
    stride: usize,
    /// Step by step, one a keyword.
    posteriors: Vec<u16>,
}

impl Trace {
    /// Plays a stream to the model; resets and warm-up are `detector`'s. `play` calls back with
    /// every frame, in counts.
    pub fn of(
        model: &IntegerModel,
        detector: &Detector,
        play: impl FnOnce(&mut dyn FnMut(&[i16])),
    ) -> Result<Self, StreamError> {
        let mut listener = Listener::new(model, detector)?;
        let view = model.view();
        let stride = view.window().stride;
        let (mut posteriors, mut warming, mut resets) = (Vec::new(), detector.warm_up, 0);
        let mut failed = None;
        play(&mut |counts| {
            if let Err(error) = listener.frame(counts) {
                failed.get_or_insert(error);
                return;
            }
            if listener.resets() != resets {
                (resets, warming) = (listener.resets(), detector.warm_up);
            }
            if !listener.frames().is_multiple_of(stride as u64) {
                return;
            }
            let found = view.posteriors(listener.scores());
            let warm = warming == 0;
            warming = warming.saturating_sub(1);
            let p = |&class: &u16| if warm { found.of(usize::from(class)) } else { 0 };
            posteriors.extend(detector.keywords.iter().map(p));
        });
        match failed {
            Some(error) => Err(error),
            None => Ok(Self { detector: detector.clone(), stride, posteriors }),
        }
    }

    /// Steps of the network: as many as frames, if it has no stride.
    pub fn steps(&self) -> usize {
        self.posteriors.len() / self.detector.keywords.len()
    }

    /// What the detector reports with another threshold and smoothing.
    pub fn heard(&self, threshold: u16, smoothing: u8) -> Vec<Heard> {
        let own = Detector { threshold, smoothing, warm_up: 0, reset: Reset::Never, ..self.detector.clone() };
        let view = own.view();
        let keywords = &own.keywords;
        let mut place = vec![0; 1 + keywords.iter().copied().max().map_or(0, usize::from)];
        keywords.iter().enumerate().for_each(|(i, &class)| place[usize::from(class)] = i);
        let mut state = view.fresh(vec![0; keywords.len()]);
        let mut heard = Vec::new();
        for (step, row) in self.posteriors.chunks_exact(keywords.len()).enumerate() {
            if let Some(found) = view.step_by(&mut state, |class| row[place[class]]) {
                let frame = ((step + 1) * self.stride - 1) as u64;
                heard.push(Heard { frame, class: found.class, confidence: found.confidence });
            }
        }
        heard
    }
}
