//! Streams made of clips and noise: what is played, what is heard, what is counted.

use fastgrnn::cells::{Cell, CellKind, MatrixForm, Nonlinearity, Start};
use fastgrnn::data::spectral::level;
use fastgrnn::data::{Examples, Labels, Normalize, Normalizer, Sequences};
use fastgrnn::features::{COUNT, Spec, extract};
use fastgrnn::model::{Model, Task};
use fastgrnn::net::Network;
use fastgrnn::quantize::{Detector, IntegerModel, Options, Reset, quantize};
use fastgrnn::random::RandomModel;
use fastgrnn::rng::Rng;
use fastgrnn::stream::eval::{
    EvalError, EvalSettings, Material, NoiseSegment, Recordings, Schedule, ScheduledClip, Trace, Words,
    evaluate, listen,
};
use fastgrnn::stream::{Heard, Listener};
use fastgrnn::window::Window;

const DIM: usize = 32;

fn sound(rng: &mut Rng, loud: f64) -> Vec<i16> {
    let start = rng.below(6_000);
    let inside = |i: usize| (start..start + 8_000).contains(&i);
    (0..16_000).map(|i| (rng.normal() * if inside(i) { loud } else { 10.0 }) as i16).collect()
}

fn examples(clips: usize, seed: u64) -> Examples {
    let mut rng = Rng::new(seed);
    let mut x = Sequences::new(DIM);
    (0..clips).for_each(|_| x.push(&extract(&Spec::default(), &sound(&mut rng, 2_000.0))));
    let index = (0..clips as u32).map(|i| u32::from(i % 4 == 0)).collect();
    Examples::new(x, Labels::Class { index, names: vec!["unknown".into(), "yes".into()] })
}

fn noise() -> Sequences {
    let mut rng = Rng::new(99);
    let mut x = Sequences::new(DIM);
    let hiss: Vec<i16> = (0..48_000).map(|_| (rng.normal() * 100.0) as i16).collect();
    x.push(&extract(&Spec::default(), &hiss));
    x
}

/// A network with random weights that hears such sounds.
fn model(examples: &Examples) -> IntegerModel {
    let all: Vec<u32> = (0..examples.len() as u32).collect();
    let mut model = RandomModel::new(Cell::new(CellKind::FastGrnn, DIM, 16), 2, 99).build().unwrap().model;
    model.task = Task::Classes { labels: vec!["yes".into(), "unknown".into()] };
    model.normalizer = Normalizer::fit(Normalize::PerFeature, &examples.x, &all).unwrap();
    model.audio = Some(Spec::default());
    quantize(&model, &examples.x, &all, &Options::default()).unwrap()
}

/// The same with an input layer of this window below the cell.
fn windowed(examples: &Examples, window: Window) -> IntegerModel {
    let projection = Cell::new(CellKind::Rnn, DIM * window.frames, 8)
        .with_forms(MatrixForm::Full, MatrixForm::Absent)
        .with_nonlinearities(Nonlinearity::Sigmoid, Nonlinearity::Relu);
    let layers = vec![projection, Cell::new(CellKind::FastGrnn, 8, 16)];
    let network = Network { window, ..Network::new(layers, 2) };
    let mut params = network.start(Start::Slow, 10, 4);
    let head = network.layout().view("head.w").unwrap().range();
    params[head].iter_mut().for_each(|w| *w *= 20.0);
    let plain = model(examples).model;
    let model = Model { network, params, ..plain };
    let all: Vec<u32> = (0..examples.len() as u32).collect();
    quantize(&model, &examples.x, &all, &Options::default()).unwrap()
}

#[test]
fn a_trace_tells_for_every_setting_what_the_listener_tells() {
    let examples = examples(12, 1);
    compare_with_the_listener(&examples, &model(&examples));
}

#[test]
fn the_detector_works_on_the_steps_of_a_network_with_a_stride() {
    let examples = examples(12, 1);
    for (frames, stride) in [(3, 2), (3, 3), (2, 1)] {
        compare_with_the_listener(&examples, &windowed(&examples, Window { frames, stride }));
    }
}

fn compare_with_the_listener(examples: &Examples, model: &IntegerModel) {
    let stride = model.network.window.stride;
    let noise = noise();
    let words = Words::new(model, examples, Some(&noise));
    let items = (0..12).map(|clip| ScheduledClip { clip, start: 60 + 150 * clip, frames: 99 }).collect();
    let segments = vec![NoiseSegment { start: 0, end: 2_000, recording: 0, offset: 7, snr: 10.0 }];
    let schedule = Schedule { frames: 2_000, items, segments };
    for reset in [Reset::Never, Reset::Every(130), Reset::Quiet { frames: 3, level: 1_000 }] {
        let own = model.detector_or_default().unwrap();
        let own = Detector { reset, warm_up: 9, refractory: 30, ..own };
        let trace = Trace::of(model, &own, |frame| words.play(&schedule, frame)).unwrap();
        assert_eq!(trace.steps(), 2_000 / stride);
        let mut total = 0;
        for (threshold, smoothing) in [(8_000, 0), (16_384, 0), (16_384, 3), (20_000, 1), (32_768, 2)] {
            let detector = Detector { threshold, smoothing, ..own.clone() };
            let mut listener = Listener::new(model, &detector).unwrap();
            let mut heard: Vec<Heard> = Vec::new();
            words.play(&schedule, &mut |counts| heard.extend(listener.frame(counts).unwrap()));
            assert!(heard.iter().all(|h| (h.frame + 1).is_multiple_of(stride as u64)));
            assert_eq!(trace.heard(threshold, smoothing), heard, "{reset:?} {threshold} {smoothing}");
            total += heard.len();
        }
        assert!(total > 5, "{total} detections are too few to compare");
    }
}

#[test]
fn noise_is_as_far_below_the_words_as_was_asked_for() {
    let examples = examples(9, 2);
    let model = model(&examples);
    let noise = noise();
    let words = Words::new(&model, &examples, Some(&noise));
    let mut speech: Vec<f32> = (0..9).map(|i| level(examples.x.get(i))).collect();
    speech.sort_by(f32::total_cmp);
    for snr in [0.0, 12.0] {
        let segments = vec![NoiseSegment { start: 0, end: 600, recording: 0, offset: 290, snr }];
        let mut values = Vec::new();
        words.play(&Schedule { frames: 600, items: Vec::new(), segments }, &mut |counts| {
            values.extend(counts.iter().map(|&n| f32::from(n) * COUNT));
        });
        let below = f64::from(speech[4] - level(&values)) * 10.0 / std::f64::consts::LN_10;
        assert!((below - snr).abs() < 0.5, "{below} dB, not {snr}");
    }
}

#[test]
fn without_noise_a_clip_is_played_as_it_is_and_gaps_are_at_the_floor() {
    let examples = examples(2, 3);
    let model = model(&examples);
    let words = Words::new(&model, &examples, None);
    let items = vec![ScheduledClip { clip: 1, start: 5, frames: 99 }];
    let mut rows: Vec<Vec<i16>> = Vec::new();
    words.play(&Schedule { frames: 110, items, segments: Vec::new() }, &mut |counts| {
        rows.push(counts.to_vec())
    });
    let mut expected = Vec::new();
    model.counts(examples.x.get(1), &mut expected);
    assert_eq!(rows[5..104].concat(), expected);
    assert!(rows[..5].iter().chain(&rows[104..]).flatten().all(|&n| n == -512));
}

#[test]
fn sound_and_features_of_one_plan_are_alike() {
    let mut rng = Rng::new(4);
    let clips: Vec<(Option<usize>, Vec<i16>)> = (0..3).map(|_| (Some(0), sound(&mut rng, 3_000.0))).collect();
    let hiss: Vec<i16> = (0..48_000).map(|_| (rng.normal() * 500.0) as i16).collect();
    let mut x = Sequences::new(DIM);
    clips.iter().for_each(|(_, samples)| x.push(&extract(&Spec::default(), samples)));
    let examples = Examples::new(x, Labels::Class { index: vec![0; 3], names: vec!["yes".into()] });
    let model = model(&examples);
    let mut noise = Sequences::new(DIM);
    noise.push(&extract(&Spec::default(), &hiss));
    let items = (0..3).map(|clip| ScheduledClip { clip, start: 20 + 130 * clip, frames: 99 }).collect();
    let segments = vec![NoiseSegment { start: 0, end: 400, recording: 0, offset: 0, snr: 15.0 }];
    let schedule = Schedule { frames: 400, items, segments };
    let play = |material: &dyn Material| {
        let mut counts: Vec<f64> = Vec::new();
        material
            .play(&schedule, &mut |row| counts.extend(row.iter().map(|&n| f64::from(n) * f64::from(COUNT))));
        counts
    };
    let noises = [hiss];
    let recordings = Recordings::new(&Spec::default(), &clips, &noises);
    let (sound, features) = (play(&recordings), play(&Words::new(&model, &examples, Some(&noise))));
    let n = sound.len().min(features.len());
    let (sound, features) = (&sound[..n], &features[..n]);
    let mean = |v: &[f64]| v.iter().sum::<f64>() / n as f64;
    let (ms, mf) = (mean(sound), mean(features));
    let product: f64 = sound.iter().zip(features).map(|(a, b)| (a - ms) * (b - mf)).sum();
    let spread = |v: &[f64], m: f64| v.iter().map(|a| (a - m).powi(2)).sum::<f64>().sqrt();
    let correlation = product / spread(sound, ms) / spread(features, mf);
    // Not 1: where word and noise are as loud, their phases decide, which log-mel does not know.
    assert!(correlation > 0.95 && (ms - mf).abs() < 0.3, "{correlation} {ms} {mf}");
    assert!(
        (0..3).all(|i| recordings.word_end(i).abs_diff(Words::new(&model, &examples, None).word_end(i)) <= 3)
    );
}

#[test]
fn an_evaluation_is_the_same_twice_and_its_numbers_fit_together() {
    let (validation, test) = (examples(40, 5), examples(60, 6));
    let model = model(&validation);
    let noise = noise();
    let settings = EvalSettings { targets: 10, frames: 6_000, ..EvalSettings::default() };
    let own = model.detector_or_default().unwrap();
    assert_eq!(own.names(model.model.labels()), ["yes"]);
    let run = || {
        let validation = Words::new(&model, &validation, Some(&noise));
        let test = Words::new(&model, &test, Some(&noise));
        evaluate(&model, &own, &validation, &test, &settings).unwrap()
    };
    let report = run();
    assert_eq!(report, run());
    let counts = &report.stream.counts;
    assert_eq!((counts.targets, report.validation.counts.targets, report.det_targets), (10, 10, 15));
    assert_eq!(counts.hits + counts.false_negatives, 10);
    assert_eq!((report.stream.minutes, report.negatives.clips), (1.0, 45));
    assert!((report.negatives.hours - 45.0 * 0.99 / 3_600.0).abs() < 1e-9);
    assert_eq!(report.detector.threshold, report.validation.threshold);
    let words = Words::new(&model, &test, Some(&noise));
    assert_eq!(listen(&model, &report.detector, &words, &settings).unwrap(), report.stream);
    assert!(report.svg().unwrap().contains("false accepts an hour"));
}

#[test]
fn a_part_without_the_keyword_is_refused() {
    let mut none = examples(6, 7);
    let model = model(&none);
    none.y = Labels::Class { index: vec![0; 6], names: vec!["unknown".into()] };
    let words = Words::new(&model, &none, None);
    let own = model.detector_or_default().unwrap();
    let error = evaluate(&model, &own, &words, &words, &EvalSettings::default()).unwrap_err();
    assert!(matches!(error, EvalError::NoTargets { part: "validation", .. }), "{error}");
}
