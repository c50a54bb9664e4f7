//! A listener hears the same however the stream is cut, computes what whole sequences give, and
//! neither drifts nor saturates in an hour of noise.

use fastgrnn::cells::{Cell, CellKind};
use fastgrnn::data::{Normalize, Normalizer, Sequences};
use fastgrnn::features::{Spec, extract};
use fastgrnn::model::Task;
use fastgrnn::quantize::{Detector, IntegerModel, Options, Reset, quantize};
use fastgrnn::random::RandomModel;
use fastgrnn::rng::Rng;
use fastgrnn::stream::{Heard, Listener, StreamError};

/// Sound with slow changes of loudness and colour.
fn noise(samples: usize, rng: &mut Rng) -> Vec<i16> {
    let (mut low, mut loud) = (0.0, 0.0);
    (0..samples)
        .map(|_| {
            loud = 0.9998 * loud + 0.02 * rng.normal();
            low = 0.9 * low + rng.normal();
            (low * 400.0 * f64::exp(loud)).clamp(-32_768.0, 32_767.0) as i16
        })
        .collect()
}

/// A network with random weights, its scales chosen on the features of noise, with three classes.
fn listening(kind: CellKind, seed: u64) -> IntegerModel {
    let spec = Spec::default();
    let mut rng = Rng::new(seed);
    let mut x = Sequences::new(spec.dim());
    for _ in 0..24 {
        x.push(&extract(&spec, &noise(16_000, &mut rng)));
    }
    let all: Vec<u32> = (0..x.len() as u32).collect();
    let random = RandomModel { seed, ..RandomModel::new(Cell::new(kind, spec.dim(), 24), 3, 99) };
    let mut model = random.build().unwrap().model;
    model.task = Task::Classes { labels: ["silence", "yes", "no"].map(String::from).to_vec() };
    model.normalizer = Normalizer::fit(Normalize::PerFeature, &x, &all).unwrap();
    model.audio = Some(spec);
    quantize(&model, &x, &all, &Options::default()).unwrap()
}

/// A detector that reports often, so that there is something to compare.
fn eager(model: &IntegerModel) -> Detector {
    let reset = Reset::Quiet { frames: 2, level: 3_200 };
    let own = model.detector_or_default().unwrap();
    Detector { threshold: 11_000, smoothing: 1, refractory: 5, warm_up: 1, reset, ..own }
}

#[test]
fn chunks_of_any_size_give_the_same_detections_and_states() {
    let model = listening(CellKind::FastGrnn, 1);
    let mut rng = Rng::new(7);
    let sound = noise(80_000, &mut rng);
    let hear = |chunks: &mut dyn FnMut(usize) -> usize| {
        let mut listener = Listener::new(&model, &eager(&model)).unwrap();
        let mut heard: Vec<Heard> = Vec::new();
        let mut at = 0;
        while at < sound.len() {
            let end = (at + chunks(sound.len() - at)).min(sound.len());
            listener.samples(&sound[at..end], &mut |h| heard.push(h)).unwrap();
            at = end;
        }
        listener.finish(&mut |h| heard.push(h));
        let (frames, resets) = (listener.frames(), listener.resets());
        (heard, listener.states().to_vec(), listener.scores().to_vec(), frames, resets)
    };
    let whole = hear(&mut |left| left);
    assert_eq!(whole.3, Spec::default().frames(sound.len()) as u64);
    assert!(whole.0.len() > 3 && whole.4 > 3, "{} detections, {} resets", whole.0.len(), whole.4);
    for seed in 0..8 {
        let mut rng = Rng::new(seed);
        let most = [1, 3, 160, 161, 400, 4_000][rng.below(6)];
        assert_eq!(hear(&mut |_| 1 + rng.below(most)), whole);
    }
}

#[test]
fn frames_one_by_one_give_the_scores_of_the_whole_sequence() {
    for kind in [CellKind::FastGrnn, CellKind::Gru, CellKind::Lstm, CellKind::FastRnn] {
        let model = listening(kind, 2);
        let mut x = Sequences::new(32);
        x.push(&extract(&Spec::default(), &noise(48_000, &mut Rng::new(3))));
        let batch = model.scores(&x, &[0], 1);
        let detector = Detector { reset: Reset::Never, ..eager(&model) };
        let mut listener = Listener::new(&model, &detector).unwrap();
        for row in x.get(0).chunks_exact(32) {
            listener.row(row).unwrap();
        }
        assert_eq!(listener.scores(), batch.scores, "{kind}");
        assert_eq!(listener.saturations(), &batch.saturations, "{kind}");
    }
}

#[test]
fn a_reset_network_is_a_fresh_one() {
    let model = listening(CellKind::FastGrnn, 4);
    let sound = extract(&Spec::default(), &noise(32_000, &mut Rng::new(5)));
    let states = |reset: Reset, rows: &[f32]| {
        let mut listener = Listener::new(&model, &Detector { reset, ..eager(&model) }).unwrap();
        rows.chunks_exact(32).for_each(|row| assert!(listener.row(row).is_ok()));
        listener.states().to_vec()
    };
    // Reset before frames 49, 99 and 149 of 199: the last 50 frames stand alone.
    let rows = &sound[..199 * 32];
    assert_eq!(states(Reset::Every(50), rows), states(Reset::Never, &rows[149 * 32..]));
    assert_ne!(states(Reset::Never, rows), states(Reset::Never, &rows[149 * 32..]));
}

/// Mean and deviation of every state.
#[derive(Default)]
struct Statistics {
    n: f64,
    sums: Vec<(f64, f64)>,
    largest: i16,
}

impl Statistics {
    fn add(&mut self, states: &[i16]) {
        self.sums.resize(states.len(), (0.0, 0.0));
        self.n += 1.0;
        for (sum, &h) in self.sums.iter_mut().zip(states) {
            sum.0 += f64::from(h);
            sum.1 += f64::from(h).powi(2);
        }
        self.largest = states.iter().map(|h| h.saturating_abs()).fold(self.largest, i16::max);
    }

    fn of(&self) -> Vec<(f64, f64)> {
        let moments = |&(sum, squares): &(f64, f64)| {
            let mean = sum / self.n;
            (mean, (squares / self.n - mean * mean).max(0.0).sqrt())
        };
        self.sums.iter().map(moments).collect()
    }
}

/// Asserts that the states of two stretches are alike, and inside their width.
fn alike(first: &Statistics, last: &Statistics) {
    for (unit, (a, b)) in first.of().iter().zip(last.of()).enumerate() {
        let spread = a.1.max(b.1).max(1.0);
        assert!((a.0 - b.0).abs() < 0.2 * spread, "unit {unit} drifts: {a:?} to {b:?}");
        assert!(a.1 / spread > 0.8 && b.1 / spread > 0.8, "unit {unit} spreads: {a:?} to {b:?}");
    }
    assert!(first.largest < i16::MAX && last.largest < i16::MAX);
}

#[test]
fn an_hour_of_noise_neither_drifts_nor_saturates() {
    const MINUTE: usize = 6_000;
    for kind in [CellKind::FastGrnn, CellKind::Gru] {
        let model = listening(kind, 6);
        // A minute of frames made from sound, then played in random order of its seconds.
        let spec = Spec::default();
        let minute = extract(&spec, &noise(60 * 16_000, &mut Rng::new(8)));
        let seconds: Vec<&[f32]> = minute.chunks_exact(100 * 32).collect();
        let detector = Detector { reset: Reset::Never, ..model.detector_or_default().unwrap() };
        let mut listener = Listener::new(&model, &detector).unwrap();
        let (mut first, mut last) = (Statistics::default(), Statistics::default());
        let mut rng = Rng::new(9);
        let mut frame = 0;
        while frame < 60 * MINUTE {
            for row in seconds[rng.below(seconds.len())].chunks_exact(32) {
                listener.row(row).unwrap();
                match frame / MINUTE {
                    1 => first.add(listener.states()),
                    59 => last.add(listener.states()),
                    _ => {}
                }
                frame += 1;
            }
        }
        alike(&first, &last);
        let saturations = listener.saturations();
        assert!(saturations.total() * 1_000 < saturations.steps, "{kind}: {:?}", saturations.rows());
    }
}

#[test]
fn minutes_of_sound_through_the_front_end_do_not_drift_either() {
    let model = listening(CellKind::FastGrnn, 10);
    let mut listener = Listener::new(&model, &model.detector_or_default().unwrap()).unwrap();
    let mut rng = Rng::new(11);
    let stretch = noise(20 * 16_000, &mut rng);
    let mut statistics = Vec::new();
    for _ in 0..9 {
        let mut own = Statistics::default();
        for chunk in stretch.chunks(160) {
            listener.samples(chunk, &mut |_| {}).unwrap();
            own.add(listener.states());
        }
        statistics.push(own);
    }
    alike(&statistics[1], &statistics[8]);
    assert_eq!(listener.frames(), (9 * 20 * 16_000 - 400) / 160 + 1);
}

#[test]
fn what_a_model_cannot_listen_to_is_said() {
    let mut model = listening(CellKind::FastGrnn, 12);
    let detector = model.detector_or_default().unwrap();
    let mut listener = Listener::new(&model, &detector).unwrap();
    assert!(matches!(listener.frame(&[0; 31]), Err(StreamError::Width { found: 31, expected: 32 })));
    let wrong = Detector { keywords: vec![3], ..detector.clone() };
    assert!(matches!(Listener::new(&model, &wrong), Err(StreamError::Detector(_))));
    model.model.audio = None;
    let mut rows = Listener::new(&model, &detector).unwrap();
    assert_eq!(rows.seconds(0), None);
    let error = rows.samples(&[0; 16], &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("32 features") && error.contains("give it rows"), "{error}");
    model.model.audio = Some("log-mel,filters=20".parse().unwrap());
    assert!(matches!(Listener::new(&model, &detector), Err(StreamError::FrontEnd { found: 20, .. })));
    model.model.audio = Some(Spec::default());
    model.network.input.lsb[4] = 0.5;
    assert!(matches!(Listener::new(&model, &detector), Err(StreamError::Count { feature: 4, .. })));
}
