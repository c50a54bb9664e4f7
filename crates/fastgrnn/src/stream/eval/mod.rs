//! How well a model listens: streams made of clips and noise, and what was detected in them.
//!
//! A stream is drawn from a seed: targets and other words in random order, at least half a second
//! apart, under background noise that changes every 10 to 30 seconds. The operating point comes
//! from a stream of validation clips; test clips are heard afterwards, once. Counting is that of
//! [`Counts`], the rule of the streaming wake-word benchmarks: false negatives and false positives.

mod choose;
mod count;
mod folder;
mod plan;
mod recordings;
mod report;
mod search;
mod trace;
mod words;

pub use choose::{Choice, SMOOTHINGS, choose, thresholds};
pub use count::{Counts, Latency, Occurrence};
pub use folder::Folder;
pub use plan::{Bed, Item, Parts, Plan};
pub use recordings::Recordings;
pub use report::{DetPoint, EvalReport, Negatives, StreamResult};
pub use search::Resets;
pub use trace::Trace;
pub use words::{AUDIBLE, Words};

use super::{Heard, Listener, StreamError};
use fastgrnn_model::quantize::{Detector, IntegerModel};

/// What a stream is made of.
pub trait Material {
    /// Frames of each clip.
    fn clips(&self) -> Vec<usize>;
    /// The model's class of a clip, where it has one.
    fn class(&self, clip: usize) -> Option<usize>;
    /// The frame of a clip in which its word ends: the last at most [`AUDIBLE`] dB below the loudest.
    fn word_end(&self, clip: usize) -> usize;
    /// Frames of each recording of noise.
    fn recordings(&self) -> Vec<usize>;
    /// Plays a plan frame by frame, in counts.
    fn play(&self, plan: &Plan, frame: &mut dyn FnMut(&[i16]));
}

/// What to play and how to count.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// What streams are drawn from.
    pub seed: u64,
    /// Targets of the test stream, all different.
    pub targets: usize,
    /// Frames of the test stream.
    pub frames: usize,
    /// Frames a second.
    pub rate: f64,
    /// Words are this many dB above the noise, from and to.
    pub snr: (f64, f64),
    /// Frames after a target's clip in which a detection still counts.
    pub tolerance: usize,
    /// Thresholds to choose from.
    pub thresholds: Vec<u16>,
    /// Smoothings to choose from.
    pub smoothings: Vec<u8>,
    /// Resets to choose from.
    pub resets: Resets,
}

impl Default for Settings {
    /// The streaming wake-word task: 50 targets in 20 minutes at 100 frames a second.
    fn default() -> Self {
        Self {
            seed: 0,
            targets: 50,
            frames: 120_000,
            rate: 100.0,
            snr: (5.0, 25.0),
            tolerance: 50,
            thresholds: thresholds(),
            smoothings: SMOOTHINGS.collect(),
            resets: Resets::Search,
        }
    }
}

/// Why a model cannot be evaluated on streams.
#[derive(Debug, thiserror::Error)]
pub enum EvalError {
    /// The model cannot listen.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// No clip of a keyword.
    #[error("the {part} part has no clip of {}; stream-eval needs clips of what it should detect", .keywords.join(", "))]
    NoTargets {
        /// Which part of the data.
        part: &'static str,
        /// What the detector reports.
        keywords: Vec<String>,
    },
    /// Nothing to choose from.
    #[error("no threshold or no smoothing to choose from")]
    NoChoice,
}

/// Share of a stream's time that words take.
const SHARE: f64 = 0.5;
/// Targets of a stream that an operating point is chosen on, at most.
const MOST_TARGETS: usize = 200;

/// A material by what its clips are to a detector.
struct Sorted<'a> {
    material: &'a dyn Material,
    clips: Vec<usize>,
    targets: Vec<usize>,
    others: Vec<usize>,
}

impl<'a> Sorted<'a> {
    fn new(material: &'a dyn Material, detector: &Detector) -> Self {
        let clips = material.clips();
        let is_target = |clip: &usize| {
            material
                .class(*clip)
                .is_some_and(|class| detector.keywords.iter().any(|&k| usize::from(k) == class))
        };
        let (targets, others) = (0..clips.len()).partition(is_target);
        Self { material, clips, targets, others }
    }

    /// A stream of this many different targets.
    fn plan(&self, settings: &Settings, targets: usize, frames: usize, seed: u64) -> Plan {
        let mut chosen = self.targets.clone();
        fastgrnn_core::rng::Rng::keyed(seed, &[fastgrnn_core::rng::stream::LISTEN, 2]).shuffle(&mut chosen);
        chosen.truncate(targets);
        let recordings = self.material.recordings();
        let parts = Parts {
            clips: &self.clips,
            targets: &chosen,
            others: &self.others,
            recordings: &recordings,
            frames,
            share: SHARE,
            gap: settings.tolerance,
            snr: settings.snr,
        };
        parts.plan(seed)
    }

    /// Other clips one after the other, without noise.
    fn negatives(&self) -> Plan {
        let mut at = 0;
        let items = self.others.iter().map(|&clip| {
            let item = Item { clip, start: at, frames: self.clips[clip] };
            at += item.frames;
            item
        });
        let items = items.collect();
        Plan { frames: at, items, beds: Vec::new() }
    }

    fn occurrences(&self, plan: &Plan, detector: &Detector) -> Vec<Occurrence> {
        let of = |item: &Item| {
            let class = self.material.class(item.clip)?;
            let start = item.start as u64;
            let word_end = start + self.material.word_end(item.clip) as u64;
            let occurrence = Occurrence { class, start, end: start + item.frames as u64, word_end };
            detector.keywords.iter().any(|&k| usize::from(k) == class).then_some(occurrence)
        };
        plan.items.iter().filter_map(of).collect()
    }

    fn trace(&self, model: &IntegerModel, detector: &Detector, plan: &Plan) -> Result<Trace, StreamError> {
        Trace::of(model, detector, |frame| self.material.play(plan, frame))
    }

    /// What the listener itself reports.
    fn heard(
        &self,
        model: &IntegerModel,
        detector: &Detector,
        plan: &Plan,
    ) -> Result<Vec<Heard>, StreamError> {
        let mut listener = Listener::new(model, detector)?;
        let (mut heard, mut failed) = (Vec::new(), None);
        self.material.play(plan, &mut |counts| match listener.frame(counts) {
            Ok(found) => heard.extend(found),
            Err(error) => failed = Some(error),
        });
        failed.map_or(Ok(heard), Err)
    }
}

/// Chooses the operating point on `validation`, then listens to `test`.
pub fn evaluate(
    model: &IntegerModel,
    detector: &Detector,
    validation: &dyn Material,
    test: &dyn Material,
    settings: &Settings,
) -> Result<EvalReport, EvalError> {
    let (chosen, validation) = operating_point(model, detector, validation, settings)?;
    let (stream, det_stream) = listen_with_curve(model, &chosen, test, settings)?;
    let sorted = Sorted::new(test, &chosen);
    let negatives = sorted.negatives();
    let trace = sorted.trace(model, &chosen, &negatives)?;
    let hours = negatives.frames as f64 / settings.rate / 3_600.0;
    let accepts = |threshold: u16| trace.heard(threshold, chosen.smoothing).len();
    let det = curve(&det_stream, &chosen, settings, &accepts, hours);
    let found = accepts(chosen.threshold);
    Ok(EvalReport {
        validation,
        stream,
        negatives: Negatives {
            clips: sorted.others.len(),
            hours,
            false_accepts: found,
            per_hour: per_hour(found, hours),
        },
        det_targets: det_stream.1.len(),
        det,
        detector: chosen,
    })
}

/// The detector with the fewest errors on a stream of `material`, and those.
pub fn operating_point(
    model: &IntegerModel,
    detector: &Detector,
    material: &dyn Material,
    settings: &Settings,
) -> Result<(Detector, StreamResult), EvalError> {
    let sorted = Sorted::new(material, detector);
    let (plan, targets) = all_targets(&sorted, detector, settings, "validation", model)?;
    let mut counts = Vec::new();
    material.play(&plan, &mut |row| counts.extend_from_slice(row));
    let best = search::Heardable { model, counts, targets }.search(detector, settings)?;
    Ok((best.detector, StreamResult::new(&plan, best.choice, settings)))
}

/// Listens to one stream of `material` with a detector that is settled.
pub fn listen(
    model: &IntegerModel,
    detector: &Detector,
    material: &dyn Material,
    settings: &Settings,
) -> Result<StreamResult, EvalError> {
    let sorted = Sorted::new(material, detector);
    let plan = sorted.plan(settings, settings.targets, settings.frames, settings.seed);
    let targets = sorted.occurrences(&plan, detector);
    if targets.is_empty() {
        return Err(no_targets("test", detector, model));
    }
    let counts = Counts::of(&targets, &sorted.heard(model, detector, &plan)?, settings.tolerance as u64);
    let choice = Choice { threshold: detector.threshold, smoothing: detector.smoothing, counts };
    Ok(StreamResult::new(&plan, choice, settings))
}

type Curve = (Trace, Vec<Occurrence>);

/// The test stream, and a longer one of all targets for the curve.
fn listen_with_curve(
    model: &IntegerModel,
    detector: &Detector,
    material: &dyn Material,
    settings: &Settings,
) -> Result<(StreamResult, Curve), EvalError> {
    let result = listen(model, detector, material, settings)?;
    let sorted = Sorted::new(material, detector);
    let (plan, targets) = all_targets(&sorted, detector, settings, "test", model)?;
    Ok((result, (sorted.trace(model, detector, &plan)?, targets)))
}

/// A stream of all targets, as dense as the test stream, and of another seed.
fn all_targets(
    sorted: &Sorted<'_>,
    detector: &Detector,
    settings: &Settings,
    part: &'static str,
    model: &IntegerModel,
) -> Result<(Plan, Vec<Occurrence>), EvalError> {
    let count = sorted.targets.len().min(MOST_TARGETS);
    if count == 0 {
        return Err(no_targets(part, detector, model));
    }
    let frames = settings.frames as f64 / settings.targets.max(1) as f64 * count as f64;
    let plan = sorted.plan(settings, count, frames as usize, settings.seed ^ 0x0d37);
    let targets = sorted.occurrences(&plan, detector);
    Ok((plan, targets))
}

fn curve(
    (trace, targets): &Curve,
    chosen: &Detector,
    settings: &Settings,
    accepts: &dyn Fn(u16) -> usize,
    hours: f64,
) -> Vec<DetPoint> {
    let point = |threshold: u16| {
        let heard = trace.heard(threshold, chosen.smoothing);
        let counts = Counts::of(targets, &heard, settings.tolerance as u64);
        DetPoint {
            threshold: f64::from(threshold) / f64::from(Detector::ONE),
            false_reject_rate: counts.reject_rate(),
            false_accepts_per_hour: per_hour(accepts(threshold), hours),
        }
    };
    thresholds().into_iter().map(point).collect()
}

fn per_hour(count: usize, hours: f64) -> f64 {
    if hours > 0.0 { count as f64 / hours } else { 0.0 }
}

fn no_targets(part: &'static str, detector: &Detector, model: &IntegerModel) -> EvalError {
    let keywords = detector.names(model.model.labels()).into_iter().map(String::from).collect();
    EvalError::NoTargets { part, keywords }
}
