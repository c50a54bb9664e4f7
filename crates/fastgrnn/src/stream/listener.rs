//! A model that listens.

use super::StreamError;
use fastgrnn_data::features::{COUNT, IntegerFront, Spec};
use fastgrnn_model::quantize::{Detector, DetectorProblem, HostModel, IntegerModel, Saturations};
use fastgrnn_runtime::int::DetectorState;

/// A keyword was heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heard {
    /// The frame that completed it, from 0.
    pub frame: u64,
    /// Its class.
    pub class: usize,
    /// Its smoothed posterior, 32768 for certainty.
    pub confidence: u16,
}

/// Front end, network and detector with their states.
pub struct Listener<'m> {
    spec: Option<Spec>,
    front: Option<IntegerFront>,
    pipeline: Pipeline<'m>,
}

/// What follows the front end.
struct Pipeline<'m> {
    model: &'m IntegerModel,
    view: HostModel<'m>,
    detector: Detector,
    state: DetectorState<Vec<u32>>,
    memory: Vec<i16>,
    scratch: Vec<i32>,
    scores: Vec<i32>,
    counts: Vec<i16>,
    frames: u64,
    resets: u64,
    saturations: Saturations,
}

impl<'m> Listener<'m> {
    /// A listener at the start of a stream.
    pub fn new(model: &'m IntegerModel, detector: &Detector) -> Result<Self, StreamError> {
        let view = model.view();
        let spec = model.model.audio;
        if let Some(spec) = &spec {
            check_front(spec, model)?;
        }
        let sums = vec![0; detector.keywords.len()];
        let state = detector
            .view()
            .start(view.meaning(), view.outputs(), sums)
            .map_err(|e| StreamError::Detector(DetectorProblem::Parameters(e)))?;
        let mut pipeline = Pipeline {
            model,
            view,
            detector: detector.clone(),
            state,
            memory: vec![0; view.memory_len()],
            scratch: vec![0; view.scratch_len()],
            scores: vec![0; view.outputs()],
            counts: Vec::new(),
            frames: 0,
            resets: 0,
            saturations: Saturations::new(view.layers().len()),
        };
        pipeline.forget();
        Ok(Self { front: spec.as_ref().map(IntegerFront::new), spec, pipeline })
    }

    /// Takes samples at the front end's rate, in chunks of any size.
    pub fn samples(&mut self, samples: &[i16], heard: &mut impl FnMut(Heard)) -> Result<(), StreamError> {
        let Self { front, pipeline, .. } = self;
        let front = front.as_mut().ok_or(StreamError::NoFrontEnd { dim: pipeline.view.inputs() })?;
        front.push(samples, &mut |counts| {
            pipeline.frame(counts).into_iter().for_each(&mut *heard);
        });
        Ok(())
    }

    /// Ends the sound: the last window is filled up with zeros. The network stays where it is.
    pub fn finish(&mut self, heard: &mut impl FnMut(Heard)) {
        let Self { front, pipeline, .. } = self;
        if let Some(front) = front {
            front.finish(&mut |counts| pipeline.frame(counts).into_iter().for_each(&mut *heard));
        }
    }

    /// Takes one frame of counts: what the front end or the sensor delivers.
    pub fn frame(&mut self, counts: &[i16]) -> Result<Option<Heard>, StreamError> {
        self.check(counts.len())?;
        Ok(self.pipeline.frame(counts))
    }

    /// Takes one frame in the data's units, rounding it to counts.
    pub fn row(&mut self, values: &[f32]) -> Result<Option<Heard>, StreamError> {
        self.check(values.len())?;
        let mut counts = std::mem::take(&mut self.pipeline.counts);
        counts.clear();
        self.pipeline.model.counts(values, &mut counts);
        let heard = self.pipeline.frame(&counts);
        self.pipeline.counts = counts;
        Ok(heard)
    }

    fn check(&self, found: usize) -> Result<(), StreamError> {
        let expected = self.inputs();
        if found == expected { Ok(()) } else { Err(StreamError::Width { found, expected }) }
    }

    /// Features of a frame.
    pub fn inputs(&self) -> usize {
        self.pipeline.view.inputs()
    }

    /// Frames heard so far.
    pub fn frames(&self) -> u64 {
        self.pipeline.frames
    }

    /// How often the network's state was reset.
    pub fn resets(&self) -> u64 {
        self.pipeline.resets
    }

    /// The scores after the last frame.
    pub fn scores(&self) -> &[i32] {
        &self.pipeline.scores
    }

    /// The states of the network's layers, one after the other.
    pub fn states(&self) -> &[i16] {
        let states = self.pipeline.view.layers().iter().map(|layer| layer.state_len()).sum();
        &self.pipeline.memory[..states]
    }

    /// The largest smoothed posterior of a keyword, 32768 for certainty.
    pub fn confidence(&self) -> u16 {
        let sums = self.pipeline.state.sums().iter();
        sums.map(|sum| (sum >> self.pipeline.detector.smoothing) as u16).max().unwrap_or(0)
    }

    /// Which of the network's values saturated so far.
    pub fn saturations(&self) -> &Saturations {
        &self.pipeline.saturations
    }

    /// The front end, of a model that takes sound.
    pub fn spec(&self) -> Option<&Spec> {
        self.spec.as_ref()
    }

    /// When a frame was whole, in seconds from the start of the sound; frames of sensors have no
    /// known rate.
    pub fn seconds(&self, frame: u64) -> Option<f64> {
        let spec = self.spec.as_ref()?;
        Some((frame * spec.hop() as u64 + spec.window() as u64) as f64 / f64::from(spec.rate()))
    }
}

/// Checks that the front end's frames are what the network reads.
fn check_front(spec: &Spec, model: &IntegerModel) -> Result<(), StreamError> {
    let (found, expected) = (spec.dim(), model.network.input.lsb.len());
    if found != expected {
        return Err(StreamError::FrontEnd { spec: spec.to_string(), found, expected });
    }
    match model.network.input.lsb.iter().position(|&lsb| lsb != COUNT) {
        Some(feature) => {
            let lsb = model.network.input.lsb[feature];
            Err(StreamError::Count { feature, lsb, count: COUNT })
        }
        None => Ok(()),
    }
}

impl Pipeline<'_> {
    /// A frame for network and detector; `counts` has the network's width.
    fn frame(&mut self, counts: &[i16]) -> Option<Heard> {
        const SIZED: &str = "buffers and frames have the network's sizes";
        let state = self.view.resume(&mut self.memory, &mut self.scratch).expect(SIZED);
        // Resets come between the frames of two steps, so that steps keep their distance.
        if self.view.begins_step(&state) && self.detector.view().hear(&mut self.state, counts) {
            self.resets += 1;
            self.forget();
        }
        let mut state = self.view.resume(&mut self.memory, &mut self.scratch).expect(SIZED);
        let is_step = self.view.step_watched(&mut state, counts, &mut self.saturations).expect(SIZED);
        if !is_step {
            self.frames += 1;
            return None;
        }
        self.view.scores(&state, &mut self.scores).expect(SIZED);
        self.saturations.steps += 1;
        let frame = self.frames;
        self.frames += 1;
        let found = self.detector.view().step(&mut self.state, &self.view.posteriors(&self.scores))?;
        Some(Heard { frame, class: found.class, confidence: found.confidence })
    }

    /// Puts the network back to its first state.
    fn forget(&mut self) {
        let started = self.view.start(&mut self.memory, &mut self.scratch);
        debug_assert!(started.is_ok(), "the buffers have the network's sizes");
    }
}
