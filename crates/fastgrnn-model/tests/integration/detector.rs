//! The runtime's detector computes, bit for bit, what section 9 of `docs/integer-arithmetic.md`
//! says, and the file of a model keeps its parameters.

use fastgrnn_core::cells::{Cell, CellKind};
use fastgrnn_model::any::AnyModel;
use fastgrnn_model::quantize::{Detector, DetectorProblem, IntegerModel, Reset};
use fastgrnn_model::random::RandomModel;
use fastgrnn_runtime::int::{self, Meaning, Posteriors};
use fastgrnn_testing::oracle::detector::{DetectorOracle, Parameters, Reset as OracleReset, posterior};
use proptest::prelude::*;

/// Meaning (its code), fraction bits of scores, parameters, and frames of counts and scores.
#[derive(Clone, Debug)]
struct Case {
    meaning: u8,
    f_s: i8,
    parameters: Parameters,
    frames: Vec<(Vec<i16>, Vec<i32>)>,
}

fn reset() -> impl Strategy<Value = OracleReset> {
    prop_oneof![
        Just(OracleReset::Never),
        (1..40_u64).prop_map(|n| OracleReset::Every { n }),
        (1..6_u64, any::<i16>()).prop_map(|(n, l)| OracleReset::Quiet { n, l: i64::from(l) }),
    ]
}

/// Scores that decide and scores that do not, and the extremes of their width.
fn score(f_s: i8) -> impl Strategy<Value = i32> {
    let unit = 2_f64.powi(i32::from(f_s));
    prop_oneof![
        4 => (-9.0..9.0_f64).prop_map(move |x| (x * unit) as i32),
        1 => any::<i32>(),
        1 => prop_oneof![Just(i32::MIN), Just(i32::MAX), Just(0)],
    ]
}

fn case() -> impl Strategy<Value = Case> {
    let shape = (0..3_u8, -8..=34_i8, 2..9_usize, 1..5_usize);
    shape.prop_flat_map(|(meaning, f_s, classes, inputs)| {
        let outputs = if meaning == 1 { 1 } else { classes };
        let classes = if meaning == 1 { 2 } else { classes };
        let keywords = proptest::sample::subsequence((0..classes as u16).collect::<Vec<_>>(), 1..=classes);
        let numbers = (1..=32768_u64, 0..=10_u32, 0..40_u64, 0..20_u64);
        let parameters = (keywords.prop_shuffle(), numbers, reset()).prop_map(
            |(keywords, (theta, s, n_r, n_w), reset)| Parameters { keywords, theta, s, n_r, n_w, reset },
        );
        let frame =
            (proptest::collection::vec(any::<i16>(), inputs), proptest::collection::vec(score(f_s), outputs));
        let frames = proptest::collection::vec((frame, 1..8_usize), 1..40).prop_map(|runs| {
            runs.into_iter().flat_map(|(frame, times)| std::iter::repeat_n(frame, times)).collect()
        });
        (parameters, frames).prop_map(move |(parameters, frames)| Case { meaning, f_s, parameters, frames })
    })
}

fn detector(parameters: &Parameters) -> Detector {
    Detector {
        keywords: parameters.keywords.clone(),
        threshold: parameters.theta as u16,
        smoothing: parameters.s as u8,
        refractory: parameters.n_r as u16,
        warm_up: parameters.n_w as u16,
        reset: match parameters.reset {
            OracleReset::Never => Reset::Never,
            OracleReset::Every { n } => Reset::Every(n as u16),
            OracleReset::Quiet { n, l } => Reset::Quiet { frames: n as u16, level: l as i16 },
        },
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_detector_equals_the_oracle(case in case()) {
        let meaning = Meaning::ALL[usize::from(case.meaning)];
        let detector = detector(&case.parameters);
        let detector: int::Detector<'_> = detector.view();
        let sums = vec![0; detector.keywords.len()];
        let outputs = case.frames[0].1.len();
        let mut state = detector.start(meaning, outputs, sums).unwrap();
        let mut oracle = DetectorOracle::new(case.parameters);
        for (counts, scores) in &case.frames {
            prop_assert_eq!(detector.hear(&mut state, counts), oracle.reset(counts));
            let posteriors = Posteriors::new(meaning, i32::from(case.f_s), scores);
            let wide: Vec<i64> = scores.iter().map(|s| i64::from(*s)).collect();
            for &k in detector.keywords {
                let expected = posterior(case.meaning, case.f_s, &wide, usize::from(k));
                prop_assert_eq!(u64::from(posteriors.of(usize::from(k))), expected);
            }
            let found = detector.step(&mut state, &posteriors);
            let expected = oracle.step(case.meaning, case.f_s, &wide);
            prop_assert_eq!(found.map(|d| (d.class as u16, u64::from(d.confidence))), expected);
            let sums: Vec<u64> = state.sums().iter().map(|a| u64::from(*a)).collect();
            prop_assert_eq!(&sums, &oracle.a);
        }
    }
}

#[test]
fn posteriors_are_the_softmax_and_the_sigmoid() {
    let scores = [1.5_f64, -0.25, 0.75, -6.0];
    let bits = 12;
    let fixed: Vec<i32> = scores.iter().map(|s| (s * 4096.0) as i32).collect();
    let whole: f64 = scores.iter().map(|s| s.exp()).sum();
    let softmax = Posteriors::new(Meaning::Classes, bits, &fixed);
    let each = Posteriors::new(Meaning::OneAgainstAll, bits, &fixed);
    for (k, s) in scores.iter().enumerate() {
        let near = |p: u16, exact: f64| assert!((f64::from(p) / 32768.0 - exact).abs() < 0.003, "{k} {p}");
        near(softmax.of(k), s.exp() / whole);
        near(each.of(k), 1.0 / (1.0 + (-s).exp()));
        let binary = Posteriors::new(Meaning::Binary, bits, &fixed[k..=k]);
        near(binary.of(1), 1.0 / (1.0 + (-s).exp()));
        near(binary.of(0), 1.0 / (1.0 + s.exp()));
    }
    assert_eq!(softmax.of(4), 0);
}

fn model() -> IntegerModel {
    RandomModel::new(Cell::new(CellKind::FastGrnn, 3, 8), 4, 20).build().unwrap()
}

#[test]
fn a_model_file_keeps_its_detector() {
    let mut model = model();
    let without = model.to_bytes().unwrap();
    assert_eq!(IntegerModel::from_bytes(&without).unwrap().detector(), None);
    let resets = [Reset::Never, Reset::Every(99), Reset::Quiet { frames: 50, level: -300 }];
    for reset in resets {
        let detector = Detector { reset, warm_up: 7, ..Detector::of(model.model.labels()).unwrap() };
        model.set_detector(Some(detector)).unwrap();
        let bytes = model.to_bytes().unwrap();
        let AnyModel::Integer(again) = AnyModel::from_bytes(&bytes).unwrap() else { panic!("float") };
        assert_eq!(*again, model);
        assert_eq!(again.to_bytes().unwrap(), bytes);
    }
    model.set_detector(None).unwrap();
    assert_eq!(model.to_bytes().unwrap(), without);
}

#[test]
fn a_file_with_a_detector_that_does_not_fit_is_refused() {
    let mut model = model();
    let good = Detector::of(model.model.labels()).unwrap();
    let wrong = Detector { keywords: vec![4], ..good.clone() };
    assert!(matches!(model.set_detector(Some(wrong)), Err(DetectorProblem::Parameters(_))));
    model.set_detector(Some(Detector { threshold: 30_001, ..good })).unwrap();
    let mut bytes = model.to_bytes().unwrap();
    let text = br#"\"threshold\":30001"#;
    let at = bytes.windows(text.len()).position(|w| w == text).expect("the threshold is in the metadata");
    bytes[at..at + text.len()].copy_from_slice(br#"\"threshold\":40001"#);
    let error = IntegerModel::from_bytes(&bytes).unwrap_err().to_string();
    assert!(error.contains("40001") && error.contains("32768"), "{error}");
}

#[test]
fn keywords_are_the_classes_that_are_not_called_silence_or_unknown() {
    let of = |labels: &[&str]| {
        let labels: Vec<String> = labels.iter().map(|l| l.to_string()).collect();
        Detector::of(&labels).map(|d| d.keywords)
    };
    assert_eq!(of(&["_silence_", "_unknown_", "yes", "no"]), Ok(vec![2, 3]));
    assert_eq!(of(&["marvin", "other"]), Ok(vec![0]));
    assert_eq!(of(&["still", "moving"]), Ok(vec![1]));
    assert!(matches!(of(&["Unknown", "_background_noise_"]), Err(DetectorProblem::NoKeyword { .. })));
    assert!(of(&[]).unwrap_err().to_string().contains("numbers"));
}
