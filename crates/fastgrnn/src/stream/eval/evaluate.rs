//! Plays streams to a model and counts what its detector reports.

use super::choose::{Choice, thresholds};
use super::count::{Counts, Occurrence};
use super::material::Material;
use super::report::{DetPoint, EvalReport, Negatives, StreamResult};
use super::schedule::{Schedule, ScheduleParts, ScheduledClip};
use super::search;
use super::settings::{EvalError, EvalSettings};
use super::trace::Trace;
use crate::stream::{Heard, Listener, StreamError};
use fastgrnn_core::rng::{Rng, stream};
use fastgrnn_model::quantize::{Detector, IntegerModel};

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
    fn schedule(&self, settings: &EvalSettings, targets: usize, frames: usize, seed: u64) -> Schedule {
        let mut chosen = self.targets.clone();
        Rng::keyed(seed, &[stream::LISTEN, 2]).shuffle(&mut chosen);
        chosen.truncate(targets);
        let recordings = self.material.recordings();
        let parts = ScheduleParts {
            clips: &self.clips,
            targets: &chosen,
            others: &self.others,
            recordings: &recordings,
            frames,
            share: SHARE,
            gap: settings.tolerance,
            snr: settings.snr,
        };
        parts.schedule(seed)
    }

    /// Other clips one after the other, without noise.
    fn negatives(&self) -> Schedule {
        let mut at = 0;
        let items = self.others.iter().map(|&clip| {
            let item = ScheduledClip { clip, start: at, frames: self.clips[clip] };
            at += item.frames;
            item
        });
        let items = items.collect();
        Schedule { frames: at, items, segments: Vec::new() }
    }

    fn occurrences(&self, schedule: &Schedule, detector: &Detector) -> Vec<Occurrence> {
        let of = |item: &ScheduledClip| {
            let class = self.material.class(item.clip)?;
            let start = item.start as u64;
            let word_end = start + self.material.word_end(item.clip) as u64;
            let occurrence = Occurrence { class, start, end: start + item.frames as u64, word_end };
            detector.keywords.iter().any(|&k| usize::from(k) == class).then_some(occurrence)
        };
        schedule.items.iter().filter_map(of).collect()
    }

    fn trace(
        &self,
        model: &IntegerModel,
        detector: &Detector,
        schedule: &Schedule,
    ) -> Result<Trace, StreamError> {
        Trace::of(model, detector, |frame| self.material.play(schedule, frame))
    }

    /// What the listener itself reports.
    fn heard(
        &self,
        model: &IntegerModel,
        detector: &Detector,
        schedule: &Schedule,
    ) -> Result<Vec<Heard>, StreamError> {
        let mut listener = Listener::new(model, detector)?;
        let (mut heard, mut failed) = (Vec::new(), None);
        self.material.play(schedule, &mut |counts| match listener.frame(counts) {
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
    settings: &EvalSettings,
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
    settings: &EvalSettings,
) -> Result<(Detector, StreamResult), EvalError> {
    let sorted = Sorted::new(material, detector);
    let (schedule, targets) = all_targets(&sorted, detector, settings, "validation", model)?;
    let mut counts = Vec::new();
    material.play(&schedule, &mut |row| counts.extend_from_slice(row));
    let best = search::RecordedStream { model, counts, targets }.search(detector, settings)?;
    Ok((best.detector, StreamResult::new(&schedule, best.choice, settings)))
}

/// Listens to one stream of `material` with a detector that is settled.
pub fn listen(
    model: &IntegerModel,
    detector: &Detector,
    material: &dyn Material,
    settings: &EvalSettings,
) -> Result<StreamResult, EvalError> {
    let sorted = Sorted::new(material, detector);
    let schedule = sorted.schedule(settings, settings.targets, settings.frames, settings.seed);
    let targets = sorted.occurrences(&schedule, detector);
    if targets.is_empty() {
        return Err(no_targets("test", detector, model));
    }
    let counts = Counts::of(&targets, &sorted.heard(model, detector, &schedule)?, settings.tolerance as u64);
    let choice = Choice { threshold: detector.threshold, smoothing: detector.smoothing, counts };
    Ok(StreamResult::new(&schedule, choice, settings))
}

type Curve = (Trace, Vec<Occurrence>);

/// The test stream, and a longer one of all targets for the curve.
fn listen_with_curve(
    model: &IntegerModel,
    detector: &Detector,
    material: &dyn Material,
    settings: &EvalSettings,
) -> Result<(StreamResult, Curve), EvalError> {
    let result = listen(model, detector, material, settings)?;
    let sorted = Sorted::new(material, detector);
    let (schedule, targets) = all_targets(&sorted, detector, settings, "test", model)?;
    Ok((result, (sorted.trace(model, detector, &schedule)?, targets)))
}

/// A stream of all targets, as dense as the test stream, and of another seed.
fn all_targets(
    sorted: &Sorted<'_>,
    detector: &Detector,
    settings: &EvalSettings,
    part: &'static str,
    model: &IntegerModel,
) -> Result<(Schedule, Vec<Occurrence>), EvalError> {
    let count = sorted.targets.len().min(MOST_TARGETS);
    if count == 0 {
        return Err(no_targets(part, detector, model));
    }
    let frames = settings.frames as f64 / settings.targets.max(1) as f64 * count as f64;
    let schedule = sorted.schedule(settings, count, frames as usize, settings.seed ^ 0x0d37);
    let targets = sorted.occurrences(&schedule, detector);
    Ok((schedule, targets))
}

fn curve(
    (trace, targets): &Curve,
    chosen: &Detector,
    settings: &EvalSettings,
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
